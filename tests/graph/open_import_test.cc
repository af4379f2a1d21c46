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
#include "tests/graph/text_models.h"

namespace bayloom::graph {
namespace {

using testing::AllOf;
using testing::FloatNear;
using testing::HasSubstr;
using testing::Pointwise;

/// A model with open dimensions.
struct OpenModel {
  std::string name;
  std::vector<Symbol> symbols;
  std::string text;
  std::map<std::string, std::string> sums = {};
  int opset = 14;

  ImportOptions Options() const {
    ImportOptions options;
    options.symbols = symbols;
    options.sums = sums;
    return options;
  }
  Graph Open() const { return ImportOpen("model", ParseModel(text, opset), Options()); }
  ImportOptions FixedOptions(const SymbolValues& lengths) const {
    ImportOptions options = Options();
    options.symbols.clear();
    for (size_t s = 0; s < symbols.size(); ++s) options.dimensions[symbols[s].name] = lengths[s];
    return options;
  }
  Graph Fixed(const SymbolValues& lengths) const {
    return ImportText(text, opset, FixedOptions(lengths));
  }
  Graph ToCompare(const SymbolValues& lengths) const {
    KnownInitializers initializers;
    return ImportToCompare("model", ParseModel(text, opset), FixedOptions(lengths), initializers);
  }
  SymbolValues RandomLengths(base::RandomStream& stream) const {
    SymbolValues lengths;
    for (const Symbol& symbol : symbols) {
      lengths.push_back(symbol.smallest + stream.UniformInt(symbol.ValueCount()) * symbol.step);
    }
    return lengths;
  }
};
void PrintTo(const OpenModel& model, std::ostream* out) { *out << model.name; }

std::vector<OpenModel> Catalogue() {
  const Symbol batch = {"b", 1, 5}, sequence = {"s", 1, 24}, past = {"p", 0, 9};
  return {
      {"elementwise",
       {batch, sequence},
       "g (float[b, s, 4] x, float[4] y) => (float[b, s, 4] z) { t = Add(x, y) z = Relu(t) }"},
      {"matmul_of_rows",
       {batch, sequence},
       "g (float[b, s, 4] x) => (float[b, s, 3] z) "
       "<float[4, 3] w = {1,2,3,4,5,6,7,8,9,10,11,12}> { z = MatMul(x, w) }"},
      {"matmul_of_columns",
       {sequence},
       "g (float[2, s, 4] x, float[2, 4, s] y) => (float[2, s, s] z) { z = MatMul(x, y) }"},
      {"matmul_over_the_open_axis",
       {sequence},
       "g (float[2, s, 4] x, float[2, 3, s] y) => (float[2, 3, 4] z) { z = MatMul(y, x) }"},
      {"softmax", {sequence}, "g (float[3, s] x) => (float[3, s] z) { z = Softmax<axis = 1>(x) }"},
      {"mean",
       {batch, sequence},
       "g (float[b, s, 4] x) => (float[b, 4] z) { z = ReduceMean<axes = [1], keepdims = 0>(x) }"},
      {"transpose_of_heads",
       {batch, sequence},
       "g (float[b, s, 6] x) => (float[b, 2, s, 3] z) <int64[4] h = {0, 0, 2, 3}> "
       "{ y = Reshape(x, h) z = Transpose<perm = [0, 2, 1, 3]>(y) }"},
      {"rows_together",
       {batch, sequence},
       "g (float[b, s, 6] x) => (float[r, 6] z) <int64[2] h = {-1, 6}> { z = Reshape(x, h) }"},
      {"rows_apart",
       {batch, sequence},
       "g (float[b, s, 6] x) => (float[r, b, 6] z) <int64[1] k = {1}, int64[1] l = {6}, "
       "int64[1] i = {0}> { h = Shape(x) n = Gather(h, i) m = Gather(h, k) "
       "d = Concat<axis = 0>(m, n, l) z = Reshape(x, d) }"},
      {"flatten",
       {{"h", 8, 64, 8}, {"w", 16, 48, 16}},
       "g (float[1, 2, h, w] x) => (float[1, 2, q] z) <int64[3] d = {1, 2, -1}> "
       "{ y = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(x) z = Reshape(y, d) }"},
      {"convolution",
       {batch, {"h", 8, 64, 8}, {"w", 16, 48, 16}},
       "g (float[b, 1, h, w] x) => (float[b, 1, i, j] z) <float[1, 1, 3, 3] k = "
       "{1,2,3,4,5,6,7,8,9}> { z = Conv<pads = [1, 1, 1, 1], strides = [2, 2]>(x, k) }"},
      {"upsampling",
       {{"h", 8, 64, 8}, {"w", 16, 48, 16}},
       "g (float[1, 1, h, w] x) => (float[1, 1, i, j] z) <float[4] k = {1, 1, 2, 2}> "
       "{ z = Resize<mode = \"nearest\", coordinate_transformation_mode = \"asymmetric\", "
       "nearest_mode = \"floor\">(x, , k) }"},
      {"bilinear_upsampling",
       {{"h", 8, 64, 8}, {"w", 16, 48, 16}},
       "g (float[1, 1, h, w] x) => (float[1, 1, i, j] z) <float[4] k = {1, 1, 2, 2}> "
       "{ z = Resize<mode = \"linear\", coordinate_transformation_mode = \"half_pixel\">"
       "(x, , k) }"},
      {"batched_matmul",
       {batch, sequence},
       "g (float[b, s, 4] x, float[b, 4, 3] y) => (float[b, s, 3] z) { z = MatMul(x, y) }"},
      {"append",
       {past, {"s", 1, 6}},
       "g (float[2, p, 3] x, float[2, s, 3] y) => (float[2, t, 3] z) "
       "{ z = Concat<axis = 1>(x, y) }"},
      {"sum_of_lengths",
       {past, {"s", 1, 6}},
       "g (float[2, p, 3] x, float[2, s, 3] y, float[2, t] m) => (float[2, t, 3] z) "
       "<int64[1] a = {2}> { c = Concat<axis = 1>(x, y) n = Unsqueeze(m, a) z = Mul(c, n) }",
       {{"t", "p+s"}}},
      {"positions",
       {sequence},
       "g (float[s, 2] x) => (float[s, 2] z) <int64 zero = {0}, int64 one = {1}, int64[1] a = {1}, "
       "float[24, 2] table = {" +
           [] {
             std::string numbers = "0";
             for (int i = 1; i < 48; ++i) numbers += "," + std::to_string(i);
             return numbers;
           }() +
           "}> { h = Shape(x) n = Gather(h, zero) r = Range(zero, n, one) e = Gather(table, r) "
           "z = Add(x, e) }"},
      {"positions_behind_the_past",
       {past, {"s", 1, 6}},
       "g (float[p, 2] x, float[s, 2] y) => (float[s, 2] z) <int64 zero = {0}, int64 one = {1}, "
       "int64[1] a = {1}> { h = Shape(x) n = Gather(h, zero) i = Shape(y) m = Gather(i, zero) "
       "t = Add(n, m) r = Range(n, t, one) f = Cast<to = 1>(r) u = Unsqueeze(f, a) "
       "z = Mul(y, u) }"},
      {"causal_mask",
       {past, {"s", 1, 6}},
       "g (float[s, t] x, float[p, 2] y) => (float[s, t] z) <int64 zero = {0}, int64 one = {1}, "
       "int64[1] a = {1}, float low = {-9}> { h = Shape(x) m = Gather(h, zero) "
       "n = Gather(h, one) k = Shape(y) p = Gather(k, zero) q = Add(p, m) r = Range(p, q, one) "
       "c = Range(zero, n, one) u = Unsqueeze(r, a) l = LessOrEqual(c, u) z = Where(l, x, low) }",
       {{"t", "p+s"}}},
      {"scale_by_a_length",
       {sequence},
       "g (float[s, 2] x) => (float[s, 2] z) <int64 zero = {0}> { h = Shape(x) "
       "n = Gather(h, zero) f = Cast<to = 1>(n) z = Div(x, f) }"},
      {"shape_as_output", {batch, sequence}, "g (float[b, s] x) => (int64[2] z) { z = Shape(x) }"},
      {"broadcast",
       {batch, sequence},
       "g (float[b, 1, s] x, float[b, s, 1] y) => (float[b, s, s] z) { z = Add(x, y) }"},
      {"expand",
       {sequence},
       "g (float[1, s] x, float[s, 2] y) => (float[s, s] z) <int64[1] i = {0}> { h = Shape(y) "
       "n = Gather(h, i) e = Concat<axis = 0>(n, n) z = Expand(x, e) }"},
      {"last_row",
       {sequence},
       "g (float[s, 3] x) => (float[1, 3] z) <int64[1] f = {-1}, int64[1] e = {9999}, "
       "int64[1] a = {0}> { z = Slice(x, f, e, a) }"},
      {"global_pool",
       {{"h", 8, 64, 8}, {"w", 16, 48, 16}},
       "g (float[1, 2, h, w] x) => (float[1, 2, 1, 1] z) { z = GlobalAveragePool(x) }"},
      {"gather_of_ids",
       {batch, sequence},
       "g (int64[b, s] x) => (float[b, s, 2] z) <float[3, 2] w = {1,2,3,4,5,6}, "
       "int64 three = {3}> { i = Mod(x, three) z = Gather(w, i) }"},
  };
}

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
  const Graph open = ImportText(model.text, model.opset, model.Options());
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

INSTANTIATE_TEST_SUITE_P(Catalogue, OpenImports, testing::ValuesIn(Catalogue()),
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
  // Recurrent operators are unrolled over the steps that there are.
  EXPECT_THAT(Refusal({"steps",
                       {{"s", 1, 9}},
                       "g (float[s, 1, 2] x) => (float[s, 1, 1, 1] z) <float[1, 1, 2] w = {1, 2}, "
                       "float[1, 1, 1] r = {3}> { z, h = RNN<hidden_size = 1>(x, w, r) }"}),
              AllOf(HasSubstr("node '"), HasSubstr("with s=8"), HasSubstr("are unrolled")));
}

TEST(OpenImportRefuses, ExtentsThatAreNoPolynomialsAndNamesMultiples) {
  const std::string pool =
      "g (float[1, 1, h, 4] x) => (float[1, 1, i, 2] z) "
      "{ z = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(x) }";
  EXPECT_THAT(Refusal({"halves", {{"h", 2, 640}}, pool}), HasSubstr("multiples"));
  EXPECT_EQ(Refusal({"even", {{"h", 2, 640, 2}}, pool}), "");
}

TEST(OpenImportRefuses, LengthsForWhichSomethingIsCutOffAndSaysFromWhichOnNothingIs) {
  const OpenModel first_ten = {
      "slice",
      {{"s", 1, 40}},
      "g (float[s] x) => (float[r] z) <int64[1] f = {0}, int64[1] e = {10}> "
      "{ z = Slice(x, f, e) }"};
  EXPECT_THAT(Refusal(first_ten), AllOf(HasSubstr("node 'z"), HasSubstr("give s=10..40")));
}

TEST(OpenImportRefuses, KernelsOfTheLibraryOverOpenDimensions) {
  EXPECT_THAT(Refusal({"scan",
                       {{"s", 2, 9}},
                       "g (float[s, 2] x) => (float[s, 2] z) <int64 a = {0}> "
                       "{ z = CumSum(x, a) }"}),
              AllOf(HasSubstr("node 'z"), HasSubstr("kernel of the library"), HasSubstr("s")));
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
