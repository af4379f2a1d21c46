// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "bayloom/base/random.h"
#include "bayloom/base/result.h"
#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/open/import_open.h"
#include "bayloom/graph/open/instantiate.h"
#include "bayloom/graph/open/same_network.h"
#include "bayloom/graph/random_inputs.h"
#include "tests/graph/open_models.h"
#include "tests/graph/text_models.h"

namespace bayloom::graph {
namespace {

using testing::AllOf;
using testing::FloatNear;
using testing::HasSubstr;
using testing::Pointwise;

std::vector<float> ValuesOf(const tensor::HostTensor& tensor) {
  std::vector<float> values;
  for (int64_t i = 0; i < tensor.ElementCount(); ++i) {
    values.push_back(static_cast<float>(tensor.Get(i)));
  }
  return values;
}

class OpenImports : public testing::TestWithParam<OpenModel> {};

TEST_P(OpenImports, IsTheModelForAllLengths) {
  const OpenModel& model = GetParam();
  const Graph open = model.Open();
  base::RandomStream stream(7);
  for (int i = 0; i < 6; ++i) {
    const SymbolValues lengths = model.RandomLengths(stream);
    SCOPED_TRACE(testing::PrintToString(lengths));
    const Graph instance = Instantiate(open, lengths), fixed = model.Fixed(lengths);
    EXPECT_EQ(FirstDifference(instance, model.ToCompare(lengths)), "")
        << Print(open) << Print(instance);
    const std::vector<tensor::HostTensor> inputs = MakeRandomInputs(fixed, 5);
    const std::vector<tensor::HostTensor> expected = EvaluateGraph(fixed, inputs);
    const std::vector<tensor::HostTensor> actual = EvaluateGraph(instance, inputs);
    for (size_t k = 0; k < expected.size(); ++k) {
      EXPECT_EQ(actual[k].shape, expected[k].shape);
      EXPECT_THAT(ValuesOf(actual[k]), Pointwise(FloatNear(1e-5f), ValuesOf(expected[k])));
    }
  }
}

TEST_P(OpenImports, KnowsHowLongInputsAndOutputsAre) {
  const OpenModel& model = GetParam();
  const Graph open = model.Imported();
  base::RandomStream stream(9);
  const SymbolValues lengths = model.RandomLengths(stream);
  const Graph fixed = model.Fixed(lengths);
  const auto expect_shape = [&](ValueId value, ValueId expected) {
    std::vector<int64_t> shape = open.values[value].shape;
    for (size_t d = 0; d < shape.size(); ++d) {
      const ValueId bound = open.values[value].BoundOf(d);
      if (bound < 0) continue;
      EXPECT_EQ(open.values[bound].size->Range(open.symbols).largest, shape[d]);
      shape[d] = open.values[bound].size->Evaluate(lengths);
    }
    EXPECT_EQ(shape, fixed.values[expected].shape);
  };
  for (size_t i = 0; i < open.inputs.size(); ++i) expect_shape(open.inputs[i], fixed.inputs[i]);
  for (size_t i = 0; i < open.outputs.size(); ++i) {
    expect_shape(open.outputs[i].value, fixed.outputs[i].value);
  }
}

INSTANTIATE_TEST_SUITE_P(Catalogue, OpenImports, testing::ValuesIn(OpenModels()),
                         [](const auto& model) { return model.param.name; });

/// Why the model is not one network for all these lengths.
std::string Refusal(const OpenModel& model) {
  try {
    model.Open();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(OpenImportRefuses, NodesThatAreOtherOnesForOtherLengths) {
  // Loops are unrolled until a condition ends them.
  EXPECT_THAT(
      Refusal({"steps",
               {{"s", 2, 9}},
               "g (float[s] x, float[1] i) => (float[1] t) <int64[1] k = {0}, bool o = {1}, "
               "int64 l = {1}, int64 v = {100}> { h = Shape(x) n = Gather(h, k) "
               "t = Loop<body = b (int64 j, bool c, float[1] a) => (bool e, float[1] d) "
               "{ d = Tanh(a) m = Add(j, l) e = Less(m, n) }>(v, o, i) }"}),
      AllOf(HasSubstr("node '"), HasSubstr("with s="), HasSubstr("are unrolled")));
}

TEST(OpenImportRefuses, LengthsThatDoNotFitAndNamesMultiplesThatDo) {
  const std::string skip =
      "g (float[b, 1, h, 8] x) => (float[b, 1, h, 8] z) <float[1, 1, 2, 2] k = {1, 1, 1, 1}> "
      "{ y = MaxPool<kernel_shape = [4, 4], strides = [4, 4]>(x) "
      "u = ConvTranspose<strides = [2, 2]>(y, k) v = ConvTranspose<strides = [2, 2]>(u, k) "
      "z = Add(v, x) }";
  EXPECT_THAT(Refusal({"skip", {{"b", 1, 4}, {"h", 5, 640}}, skip}),
              AllOf(HasSubstr("with b=4 h=639"), HasSubstr("one network with b=1..4 h=8..640:4")));
  EXPECT_EQ(Refusal({"multiples", {{"b", 1, 4}, {"h", 8, 640, 4}}, skip}), "");
}

TEST(OpenImportRefuses, LengthsForWhichSomethingIsCutOffAndSaysFromWhichOnNothingIs) {
  const OpenModel first_ten = {
      "slice",
      {{"s", 1, 40}},
      "g (float[s] x) => (float[r] z) <int64[1] f = {0}, int64[1] e = {10}> "
      "{ z = Slice(x, f, e) }"};
  EXPECT_THAT(Refusal(first_ten), AllOf(HasSubstr("node 'z"), HasSubstr("give s=10..40")));
}

TEST(OpenImportRefuses, KernelsThatGoBeyondOpenDimensions) {
  EXPECT_THAT(Refusal({"scatter",
                       {{"s", 2, 9}},
                       "g (float[9, 2] x, int64[s, 2] i, float[s, 2] u) => (float[9, 2] z) "
                       "{ z = ScatterElements<axis = 1>(x, i, u) }"}),
              AllOf(HasSubstr("node 'z"), HasSubstr("beyond an open dimension"), HasSubstr("s")));
  EXPECT_THAT(Refusal({"last",
                       {{"s", 2, 9}},
                       "g (float[s, 2] x) => (int64[1, 2] z) "
                       "{ z = ArgMax<axis = 0, select_last_index = 1>(x) }"}),
              AllOf(HasSubstr("node 'z"), HasSubstr("last of equal elements"), HasSubstr("s")));
}

TEST(OpenImportRefuses, LengthsThatTheModelCannotHave) {
  EXPECT_THAT(Refusal({"broadcast",
                       {{"a", 2, 9}, {"b", 2, 9}},
                       "g (float[a] x, float[b] y) => (float[r] z) { z = Add(x, y) }"}),
              AllOf(HasSubstr("with a=8 b=9"), HasSubstr("Add")));
}

TEST(OpenImport, PrintsNamesOfOpenDimensions) {
  const Graph open =
      ImportText("g (float[2, s, 4] x) => (float[2, s, 4] z) { z = Relu(x) }", 14, [] {
        ImportOptions options;
        options.symbols = {{"s", 1, 24}};
        return options;
      }());
  EXPECT_THAT(Print(open), AllOf(HasSubstr("open s=1..24"), HasSubstr("x: float32[2, s, 4]")));
}

}  // namespace
}  // namespace bayloom::graph
