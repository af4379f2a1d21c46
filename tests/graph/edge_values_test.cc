// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// What ONNX's text says of operators at the edges of their domains: infinite elements, integers
/// between floats, extents of 0, windows that do not cover an image.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "bayloom/base/result.h"
#include "tests/graph/one_operator.h"

namespace bayloom::graph {
namespace {

using tensor::DType;
using tensor::HostTensor;
using Doubles = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kMinInteger = std::numeric_limits<int64_t>::min();

HostTensor Int64s(const std::vector<int64_t>& values) {
  return Integers(DType::kInt64, {std::ssize(values)}, values);
}

// --- Interpolated integers -----------------------------------------------------------------------

/// Twice as long along the last axis, in halves and quarters between the elements.
HostTensor Doubled(const HostTensor& x, const std::string& mode, int opset = 13) {
  const HostTensor scales = Floats({4}, {1, 1, 1, 2});
  if (opset < 11) {
    return RunOperator({.op = opset < 10 ? "Upsample" : "Resize",
                        .inputs = {x, scales},
                        .attributes = {{"mode", mode}},
                        .opset = opset,
                        .constants = {1}})[0];
  }
  return RunOperator({.op = "Resize",
                      .inputs = {x, std::nullopt, scales},
                      .attributes = {{"mode", mode}},
                      .opset = opset,
                      .constants = {2}})[0];
}

TEST(Resize, IntegersAreInterpolatedAndRoundedToNearestEven) {
  // Between 83 and 26 lie 68.75 and 40.25, between 26 and 32 lie 27.5 and 30.5.
  const std::vector<int64_t> elements = {83, 26, 32};
  for (const DType dtype : {DType::kInt8, DType::kUInt8, DType::kInt16, DType::kUInt16,
                            DType::kInt32, DType::kInt64, DType::kUInt32}) {
    const HostTensor y = Doubled(Integers(dtype, {1, 1, 1, 3}, elements), "linear");
    EXPECT_EQ(y.dtype, dtype);
    EXPECT_EQ(Values(y), (Doubles{83, 69, 40, 28, 30, 32})) << tensor::ToString(dtype);
  }
}

TEST(Resize, EarlyVersionsInterpolateIntegers) {
  const HostTensor x = Integers(DType::kInt8, {1, 1, 1, 3}, {-83, 26, 33});
  for (const int opset : {9, 10}) {  // element i lies at i / 2
    EXPECT_EQ(Values(Doubled(x, "linear", opset)), (Doubles{-83, -28, 26, 30, 33, 33}));
  }
}

/// ONNX's own example of that version: the third element of four is the second of two.
TEST(Resize, TheFirstVersionRoundsUpWhereItShrinks) {
  const HostTensor y = RunOperator(
      {.op = "Resize",
       .inputs = {Floats({1, 1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}), Floats({4}, {1, 1, 0.6, 0.6})},
       .attributes = {{"mode", std::string("nearest")}},
       .opset = 10,
       .constants = {1}})[0];
  EXPECT_EQ(Values(y), (Doubles{1, 3}));
}

TEST(Resize, CubicIntegersStayInTheirRange) {
  // Beyond a step from 0 to 255 cubic weights reach outside of it.
  const HostTensor x = Integers(DType::kUInt8, {1, 1, 1, 4}, {0, 0, 255, 255});
  const Doubles y = Values(Doubled(x, "cubic"));
  EXPECT_EQ(y[1], 0);
  EXPECT_EQ(y[6], 255);
  EXPECT_EQ(y[3] + y[4], 255);
  EXPECT_GT(y[3], 30);
}

// --- Infinite elements ---------------------------------------------------------------------------

TEST(ReduceLogSumExp, OfInfiniteElements) {
  const HostTensor x =
      Floats({4, 2}, {-kInfinity, -kInfinity, kInfinity, 1, -kInfinity, 2, kInfinity, -kInfinity});
  const Doubles y = Values(RunOperator({.op = "ReduceLogSumExp",
                                        .inputs = {x, Int64s({1})},
                                        .attributes = {{"keepdims", int64_t{0}}},
                                        .opset = 18,
                                        .constants = {1}})[0]);
  EXPECT_EQ(y, (Doubles{-kInfinity, kInfinity, 2, kInfinity}));
}

TEST(LogSoftmax, OfAnElementThatIsNegativeInfinity) {
  const Doubles y =
      Values(RunOperator({.op = "LogSoftmax", .inputs = {Floats({1, 3}, {-kInfinity, 5, 5})}})[0]);
  EXPECT_EQ(y[0], -kInfinity);
  EXPECT_NEAR(y[1], -std::log(2), 1e-6);
}

TEST(Pow, OfOneHalfIsNoRootAtNegativeInfinityAndZero) {
  const HostTensor x = FloatVector({4, 0, -0.0, kInfinity, -kInfinity, -4});
  const Doubles y =
      Values(RunOperator({.op = "Pow", .inputs = {x, Floats({}, {0.5})}, .constants = {1}})[0]);
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(y[i], std::pow(x.Get(static_cast<int64_t>(i)), 0.5)) << i;
    EXPECT_FALSE(std::signbit(y[i])) << i;
  }
  EXPECT_TRUE(std::isnan(y[5]));
}

// --- Functions of integers -----------------------------------------------------------------------

/// The rows' reductions, cut to integers.
void ExpectReducedIntegers(const std::string& op, const Doubles& expected) {
  for (const DType dtype : {DType::kInt32, DType::kInt64, DType::kUInt32, DType::kUInt64}) {
    const HostTensor x = Integers(dtype, {3, 5}, {7, 1, 2, 2, 2, 7, 7, 5, 1, 1, 3, 4, 5, 4, 3});
    const HostTensor y = RunOperator({.op = op,
                                      .inputs = {x, Int64s({1})},
                                      .attributes = {{"keepdims", int64_t{0}}},
                                      .opset = 18,
                                      .constants = {1}})[0];
    EXPECT_EQ(y.dtype, dtype);
    EXPECT_EQ(Values(y), expected) << op << " of " << tensor::ToString(dtype);
  }
}

TEST(ReduceIntegers, ByWayOfFloats) {
  ExpectReducedIntegers("ReduceL2", {7, 11, 8});        // of 62, 125 and 75
  ExpectReducedIntegers("ReduceLogSum", {2, 3, 2});     // of 14, 21 and 19
  ExpectReducedIntegers("ReduceLogSumExp", {7, 7, 5});  // 7.02, 7.76, 5.78
}

// --- Extents of 0, steps beyond all extents
// -------------------------------------------------------

TEST(Einsum, SumsOverNothingAreZeros) {
  const HostTensor y = RunOperator({.op = "Einsum",
                                    .inputs = {Floats({2, 0}, {}), Floats({0, 3}, {})},
                                    .attributes = {{"equation", std::string("ij,jk->ik")}}})[0];
  EXPECT_EQ(Values(y), Doubles(6, 0));
}

TEST(Slice, TheLeastStepTakesTheFirstElementOnly) {
  const HostTensor y =
      RunOperator({.op = "Slice",
                   .inputs = {Floats({5}, {0, 1, 2, 3, 4}), Int64s({4}), Int64s({kMinInteger + 1}),
                              Int64s({-1}), Int64s({kMinInteger})},
                   .constants = {1, 2, 3, 4}})[0];
  EXPECT_EQ(Values(y), Doubles{4});
}

/// As the standard clamps it, and onnxruntime; ONNX's reference takes nothing.
TEST(Slice, BackwardsAStartBeforeTheFirstElementIsThatElement) {
  const HostTensor y = RunOperator({.op = "Slice",
                                    .inputs = {Floats({4}, {5, 6, 7, 8}), Int64s({-9}),
                                               Int64s({-20}), Int64s({0}), Int64s({-1})},
                                    .constants = {1, 2, 3, 4}})[0];
  EXPECT_EQ(Values(y), Doubles{5});
}

// --- Places of elements
// ---------------------------------------------------------------------------

TEST(CropAndResize, NearestRoundsHalvesUp) {
  // Positions 0, 0.5, 1, 1.5 and 2.
  const HostTensor y = RunOperator(
      {.op = "CropAndResize",
       .inputs = {Floats({1, 1, 1, 3}, {10, 11, 12}), Floats({1, 4}, {0, 0, 0, 1}),
                  Integers(DType::kInt32, {1}, {0}), Integers(DType::kInt32, {2}, {1, 5})},
       .attributes = {{"mode", std::string("nearest")}},
       .domain = "com.microsoft",
       .constants = {2, 3}})[0];
  EXPECT_EQ(Values(y), (Doubles{10, 11, 11, 12, 12}));
}

/// Of equal elements the first one in row-major order counts, also where indices are column-major.
TEST(MaxPool, TheFirstOfEqualElementsCounts) {
  for (const int64_t column_major : {0, 1}) {
    const auto outputs = RunOperator({.op = "MaxPool",
                                      .inputs = {Floats({1, 1, 2, 3}, {0, 5, 0, 5, 0, 0})},
                                      .attributes = {{"kernel_shape", std::vector<int64_t>{2, 3}},
                                                     {"storage_order", column_major}},
                                      .outputs = 2});
    EXPECT_EQ(Values(outputs[1]), Doubles{column_major != 0 ? 2.0 : 1.0});
  }
}

/// The indices that MaxPool gives count the elements of its input, which may be larger than what
/// the windows cover.
TEST(MaxUnpool, IndicesCountTheElementsOfTheOutput) {
  const HostTensor y =
      RunOperator({.op = "MaxUnpool",
                   .inputs = {Floats({1, 1, 1, 2}, {1, 2}),
                              Integers(DType::kInt64, {1, 1, 1, 2}, {1, 8}), Int64s({1, 1, 2, 5})},
                   .attributes = {{"kernel_shape", std::vector<int64_t>{2, 2}},
                                  {"strides", std::vector<int64_t>{2, 2}}},
                   .constants = {2}})[0];
  EXPECT_EQ(Values(y), (Doubles{0, 1, 0, 0, 0, 0, 0, 0, 2, 0}));
}

// --- Indices outside of the data
// ------------------------------------------------------------------

/// What the importer says of the node with the indices known.
std::string RefusalOfIndices(const std::string& op, const HostTensor& x, const HostTensor& indices,
                             const std::optional<HostTensor>& updates = std::nullopt) {
  OneOperator model{.op = op, .inputs = {x, indices}, .constants = {1}};
  if (updates) model.inputs.push_back(updates);
  try {
    RunOperator(model);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(KnownIndices, OutsideOfTheDataAreRefused) {
  const HostTensor x = FloatVector({1, 2, 3}), one = FloatVector({1});
  for (const int64_t index : {3, -4}) {
    const HostTensor list = Int64s({index}), tuple = Integers(DType::kInt64, {1, 1}, {index});
    for (const std::string& refusal :
         {RefusalOfIndices("Gather", x, list), RefusalOfIndices("GatherElements", x, list),
          RefusalOfIndices("GatherND", x, tuple), RefusalOfIndices("ScatterElements", x, list, one),
          RefusalOfIndices("ScatterND", x, tuple, one)}) {
      EXPECT_NE(refusal.find("in input 1 lies outside of an extent of 3"), std::string::npos)
          << refusal;
    }
  }
}

TEST(KnownIndices, CountFromEitherEnd) {
  const HostTensor x = FloatVector({1, 2, 3}), one = FloatVector({1});
  for (const int64_t index : {2, -3}) {
    const HostTensor list = Int64s({index}), tuple = Integers(DType::kInt64, {1, 1}, {index});
    EXPECT_EQ(RefusalOfIndices("Gather", x, list), "");
    EXPECT_EQ(RefusalOfIndices("GatherND", x, tuple), "");
    EXPECT_EQ(RefusalOfIndices("ScatterND", x, tuple, one), "");
  }
}

}  // namespace
}  // namespace bayloom::graph
