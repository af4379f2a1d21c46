// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// What operators do in operator sets after 17, against naive computations of it.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tests/graph/text_model.h"

namespace bayloom::graph {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pointwise;

using Numbers = std::vector<double>;

std::string IntsAttribute(const std::string& name, const std::vector<int64_t>& values) {
  return fmt::format("attribute {{ name: '{}' type: INTS ints: [{}] }} ", name,
                     fmt::join(values, ", "));
}
std::string TextAttribute(const std::string& name, const std::string& value) {
  return fmt::format("attribute {{ name: '{}' type: STRING s: '{}' }} ", name, value);
}

/// y = op(x, lists of integers...): an empty name leaves an input out.
onnx::ModelProto OneNode(int opset, const std::string& op, const std::vector<int64_t>& shape,
                         const std::vector<std::vector<int64_t>>& lists,
                         const std::string& attributes, int type = 1) {
  std::string graph = "input { " + Declare("x", type, shape) + " } output { name: 'y' } ";
  std::string node = "node { op_type: '" + op + "' output: 'y' input: 'x' ";
  for (size_t i = 0; i < lists.size(); ++i) {
    if (lists[i].empty()) {
      node += "input: '' ";
      continue;
    }
    graph += Integers(fmt::format("n{}", i), lists[i]);
    node += fmt::format("input: 'n{}' ", i);
  }
  return TextModel(opset, graph + node + attributes + "}");
}

Numbers SineValues(int64_t count) {
  Numbers numbers;
  for (int64_t i = 0; i < count; ++i) numbers.push_back(std::sin(static_cast<double>(3 * i + 1)));
  return numbers;
}

TEST(OpsetDifferences, SplitIntoANumberOfParts) {
  const std::string graph = "input { " + Declare("x", 1, {7}) +
                            " } output { name: 'b' } output { name: 'c' } node { op_type: 'Split' "
                            "input: 'x' output: 'a' output: 'b' output: 'c' ";
  const auto parts = Compute(TextModel(18, graph + IntAttribute("num_outputs", 3) + "}"),
                             {Floats({7}, {0, 1, 2, 3, 4, 5, 6})});
  EXPECT_THAT(Values(parts[0]), ElementsAre(3, 4, 5));
  EXPECT_THAT(Values(parts[1]), ElementsAre(6));
  EXPECT_THAT(RefusalOf(TextModel(18, graph + IntAttribute("num_outputs", 4) + "}")),
              HasSubstr("num_outputs = 4"));
}

TEST(OpsetDifferences, PadsOfSomeAxesAndWrapping) {
  const auto x = Floats({2, 3}, {0, 1, 2, 3, 4, 5});
  EXPECT_THAT(Values(Compute(OneNode(18, "Pad", {2, 3}, {{1, 0}, {}, {-1}}, ""), {x})[0]),
              ElementsAre(0, 0, 1, 2, 0, 3, 4, 5));
  EXPECT_THAT(
      Values(Compute(OneNode(19, "Pad", {2, 3}, {{4, 2}, {}, {1}}, TextAttribute("mode", "wrap")),
                     {x})[0]),
      ElementsAre(2, 0, 1, 2, 0, 1, 2, 0, 1, 5, 3, 4, 5, 3, 4, 5, 3, 4));
  // What is cropped is not wrapped around: 1 2 | 1 2 | 1.
  EXPECT_THAT(
      Values(Compute(OneNode(19, "Pad", {2, 3}, {{-1, 3}, {}, {1}}, TextAttribute("mode", "wrap")),
                     {x})[0]),
      ElementsAre(1, 2, 1, 2, 1, 4, 5, 4, 5, 4));
}

TEST(OpsetDifferences, ReductionsTakeTheirAxesAsAnInput) {
  const auto x = Floats({2, 2}, {1, -2, 3, 4});
  EXPECT_THAT(Values(Compute(OneNode(18, "ReduceL1", {2, 2}, {{0}}, ""), {x})[0]),
              ElementsAre(4, 6));
  EXPECT_THAT(Values(Compute(OneNode(18, "ReduceMean", {2, 2}, {}, ""), {x})[0]), ElementsAre(1.5));
  const std::string noop = IntAttribute("noop_with_empty_axes", 1);
  EXPECT_THAT(Values(Compute(OneNode(18, "ReduceSumSquare", {2, 2}, {}, noop), {x})[0]),
              ElementsAre(1, 4, 9, 16));
  EXPECT_THAT(Values(Compute(OneNode(18, "ReduceMax", {2, 2}, {}, noop), {x})[0]),
              ElementsAre(1, -2, 3, 4));
  const auto flags = TensorOf(tensor::DType::kBool, {2, 2}, {0, 1, 0, 0});
  EXPECT_THAT(Values(Compute(OneNode(20, "ReduceMax", {2, 2}, {{1}}, "", 9), {flags})[0]),
              ElementsAre(1, 0));
  EXPECT_THAT(Values(Compute(OneNode(20, "ReduceMin", {2, 2}, {{0}}, "", 9), {flags})[0]),
              ElementsAre(0, 0));
}

TEST(OpsetDifferences, AveragesOfDilatedWindows) {
  const Numbers x = SineValues(11);
  for (const bool with_padding : {false, true}) {
    for (const bool ceil_mode : {false, true}) {
      const int64_t kernel = 3, dilation = 2, stride = 3, low = 2, high = 1;
      const std::string attributes =
          IntsAttribute("kernel_shape", {kernel}) + IntsAttribute("dilations", {dilation}) +
          IntsAttribute("strides", {stride}) + IntsAttribute("pads", {low, high}) +
          IntAttribute("count_include_pad", with_padding) + IntAttribute("ceil_mode", ceil_mode);
      Numbers expected;
      const int64_t room = 11 + low + high - ((kernel - 1) * dilation + 1);
      const int64_t windows = (room + (ceil_mode ? stride - 1 : 0)) / stride + 1;
      for (int64_t w = 0; w < windows; ++w) {
        double sum = 0, count = 0;
        for (int64_t k = 0; k < kernel; ++k) {
          const int64_t at = w * stride - low + k * dilation;
          if (at >= 0 && at < 11) sum += x[at];
          count += with_padding ? at < 11 + high : at >= 0 && at < 11;
        }
        expected.push_back(sum / count);
      }
      const auto y = Compute(OneNode(19, "AveragePool", {1, 1, 11}, {}, attributes),
                             {Floats({1, 1, 11}, x)})[0];
      EXPECT_THAT(Values(y), Pointwise(DoubleNear(1e-6), expected));
    }
  }
}

/// y[n, c, i] = (x - mean of the group) / deviation * scale + bias; both of the group or channel.
TEST(OpsetDifferences, GroupNormalizationScalesGroupsAndThenChannels) {
  const int64_t batch = 2, groups = 2, channels = 4, size = 5;
  const Numbers x = SineValues(batch * channels * size);
  for (const int opset : {18, 21}) {
    const int64_t count = opset == 18 ? groups : channels;
    std::string graph = "input { " + Declare("x", 1, {batch, channels, size}) +
                        " } output { name: 'y' } node { op_type: 'GroupNormalization' input: 'x' "
                        "input: 's' input: 'b' output: 'y' " +
                        IntAttribute("num_groups", groups) + "}";
    Numbers scale = SineValues(count), bias = SineValues(count + 3);
    bias.resize(count);
    for (const auto& [name, values] : {std::pair("s", scale), std::pair("b", bias)}) {
      graph += fmt::format("initializer {{ name: '{}' data_type: 1 dims: {} float_data: [{}] }}",
                           name, count, fmt::join(values, ", "));
    }
    const auto y = Compute(TextModel(opset, graph), {Floats({batch, channels, size}, x)})[0];
    const int64_t length = channels / groups * size;
    for (int64_t i = 0; i < batch * channels * size; ++i) {
      const int64_t first = i / length * length, channel = i / size % channels;
      double mean = 0, variance = 0;
      for (int64_t k = first; k < first + length; ++k) mean += x[k] / length;
      for (int64_t k = first; k < first + length; ++k)
        variance += std::pow(x[k] - mean, 2) / length;
      const int64_t p = opset == 18 ? channel / (channels / groups) : channel;
      const double expected = (x[i] - mean) / std::sqrt(variance + 1e-5) * scale[p] + bias[p];
      EXPECT_NEAR(y.Get(i), expected, 1e-5) << i;
    }
  }
}

TEST(OpsetDifferences, GeluByTanh) {
  const Numbers x = SineValues(8);
  const auto y = Compute(OneNode(20, "Gelu", {8}, {}, TextAttribute("approximate", "tanh")),
                         {Floats({8}, x)})[0];
  for (int64_t i = 0; i < 8; ++i) {
    const double inner = std::sqrt(2 / std::numbers::pi) * (x[i] + 0.044715 * std::pow(x[i], 3));
    EXPECT_NEAR(y.Get(i), x[i] / 2 * (1 + std::tanh(inner)), 1e-6);
  }
}

/// What blocks become in the depth, DepthToSpace makes them again.
TEST(OpsetDifferences, SpaceToDepthHasBothModes) {
  const Numbers x = SineValues(1 * 2 * 4 * 6);
  for (const char* mode : {"DCR", "CRD"}) {
    const std::string attributes = IntAttribute("blocksize", 2) + TextAttribute("mode", mode) + "}";
    const auto y = Compute(
        TextModel(28, "input { " + Declare("x", 1, {1, 2, 4, 6}) +
                          " } output { name: 'd' } output { name: 'y' } node { op_type: "
                          "'SpaceToDepth' input: 'x' output: 'd' " +
                          attributes + "node { op_type: 'DepthToSpace' input: 'd' output: 'y' " +
                          attributes),
        {Floats({1, 2, 4, 6}, x)});
    EXPECT_EQ(y[0].shape, (std::vector<int64_t>{1, 8, 2, 3}));
    EXPECT_THAT(Values(y[1]), Pointwise(DoubleNear(1e-7), x));
    // The second channel: in DCR the first place of the other input channel, in CRD the next place.
    EXPECT_NEAR(y[0].Get(6), mode[0] == 'D' ? x[24] : x[1], 1e-7);
  }
}

TEST(OpsetDifferences, RemaindersOfFloatsTakeTheDivisorsSign) {
  const std::string graph = "input { " + Declare("x", 1, {4}) + " } input { " +
                            Declare("d", 1, {4}) +
                            " } output { name: 'y' } node { op_type: 'Mod' input: 'x' input: 'd' "
                            "output: 'y' }";
  const auto y =
      Compute(TextModel(28, graph), {Floats({4}, {7, -7, 7, -7}), Floats({4}, {3, 3, -3, -3})})[0];
  EXPECT_THAT(Values(y), ElementsAre(1, 2, -2, -1));
  EXPECT_THAT(RefusalOf(TextModel(13, graph)), HasSubstr("need fmod = 1"));
}

// --- Before operator set 7 ---------------------------------------------------------------------

TEST(OpsetDifferences, BroadcastingWasAskedForByAttributes) {
  const std::string graph = "input { " + Declare("x", 1, {2, 3, 2}) + " } input { " +
                            Declare("z", 1, {3}) +
                            " } output { name: 'y' } node { op_type: 'Add' input: 'x' input: 'z' "
                            "output: 'y' ";
  const auto x = Floats({2, 3, 2}, Numbers(12, 0)), z = Floats({3}, {1, 2, 3});
  const onnx::ModelProto model =
      TextModel(6, graph + IntAttribute("broadcast", 1) + IntAttribute("axis", 1) + "}");
  EXPECT_THAT(Values(Compute(model, {x, z})[0]), ElementsAre(1, 1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 3));
  EXPECT_THAT(RefusalOf(TextModel(6, graph + "}")), HasSubstr("broadcast is not set"));
  EXPECT_THAT(
      RefusalOf(TextModel(6, graph + IntAttribute("broadcast", 1) + IntAttribute("axis", 3) + "}")),
      HasSubstr("axis = 3"));
}

TEST(OpsetDifferences, OlderFormsThatAreNotKnownAreRefused) {
  EXPECT_THAT(RefusalOf(TextModel(5, "input { " + Declare("x", 1, {2, 4}) +
                                         " } output { name: 'y' } node { op_type: 'PRelu' input: "
                                         "'x' input: 'x' output: 'y' }")),
              HasSubstr("operator set 5 is not supported"));
}

// --- Resize ------------------------------------------------------------------------------------

/// One axis, half a pixel between coordinates: a triangle as wide as the distance of the outputs.
TEST(OpsetDifferences, ResizeFiltersWhatItMakesSmaller) {
  const Numbers x = SineValues(12);
  for (const int64_t out : {1, 5, 8}) {
    const double scale = static_cast<double>(out) / 12;
    Numbers expected;
    for (int64_t i = 0; i < out; ++i) {
      const double at = (static_cast<double>(i) + 0.5) / scale - 0.5;
      double sum = 0, weights = 0;
      for (int64_t k = -12; k < 24; ++k) {
        const double weight = std::max(0.0, 1 - std::abs(static_cast<double>(k) - at) * scale);
        sum += weight * x[std::clamp<int64_t>(k, 0, 11)];
        weights += weight;
      }
      expected.push_back(sum / weights);
    }
    const auto y = Compute(OneNode(18, "Resize", {1, 12}, {{}, {}, {out}},
                                   IntsAttribute("axes", {-1}) + IntAttribute("antialias", 1) +
                                       TextAttribute("mode", "linear")),
                           {Floats({1, 12}, x)})[0];
    EXPECT_THAT(Values(y), Pointwise(DoubleNear(1e-6), expected));
  }
}

TEST(OpsetDifferences, ResizeKeepsTheRatio) {
  // Scales 12/7 and 8/4: the smaller one gives 6.86 rows, the larger one 14 columns.
  const std::vector<std::pair<std::string, std::vector<int64_t>>> shapes = {
      {"not_larger", {1, 1, 7, 12}}, {"not_smaller", {1, 1, 8, 14}}, {"stretch", {1, 1, 8, 12}}};
  for (const auto& [policy, shape] : shapes) {
    const Graph graph = Import(
        OneNode(18, "Resize", {1, 1, 4, 7}, {{}, {}, {12, 8}},
                IntsAttribute("axes", {3, 2}) + TextAttribute("keep_aspect_ratio_policy", policy)));
    EXPECT_EQ(graph.values[graph.outputs[0].value].shape, shape) << policy;
  }
}

}  // namespace
}  // namespace bayloom::graph
