// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/output_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/tensor/operators.h"
#include "bayloom/tensor/primitives.h"

namespace bayloom::measure {
namespace {

Status Check(const std::vector<float>& actual, const std::vector<float>& expected,
             Tolerance tolerance) {
  return CheckOutput("y", tensor::DType::kFloat32,
                     reinterpret_cast<const std::byte*>(actual.data()),
                     reinterpret_cast<const std::byte*>(expected.data()),
                     static_cast<int64_t>(actual.size()), tolerance);
}

TEST(OutputCheck, DeviationsAreRelativeToTheTensor) {
  const std::vector<float> expected = {1, -1, 0, 1e-4F};
  const Tolerance tolerance = {.relative = 1e-3, .of_tensor = true};
  EXPECT_TRUE(Check(expected, expected, tolerance));
  EXPECT_TRUE(Check({1.0005F, -1, 0.0005F, 0}, expected, tolerance));
  EXPECT_EQ(Check({1, -1, 0.01F, 1e-4F}, expected, tolerance).error().message,
            "element 2 of 'y' is 0.01, expected 0 (1 of 4 elements differ, 0 of them unwritten)");
}

TEST(OutputCheck, TheAbsoluteToleranceIsAFloor) {
  const std::vector<float> expected = {1e-9F, 0, 1};
  const Tolerance tolerance = {.relative = 1e-3, .absolute = 1e-6};
  EXPECT_TRUE(Check({-5e-7F, 1e-6F, 1.0005F}, expected, tolerance));
  EXPECT_FALSE(Check({1e-9F, 2e-6F, 1}, expected, tolerance));
  EXPECT_FALSE(Check({1e-9F, 0, 1.002F}, expected, tolerance));
}

TEST(OutputCheck, DeviationsMayBeRelativeToTheLargestElement) {
  const std::vector<float> expected = {10, 1, 0, -2};
  const Tolerance tolerance = {.relative = 1e-3, .of_tensor = true, .of_largest = 0.1};
  EXPECT_TRUE(Check({10.9F, 1.9F, -0.9F, -2}, expected, tolerance));
  EXPECT_FALSE(Check({10, 1, 0, -3.1F}, expected, tolerance));
  EXPECT_TRUE(Check({11.9F, 1, 0, -2}, expected, {.relative = 0.2, .of_largest = 0.1}));
}

TEST(OutputCheck, SpecialValuesMustBeTheSame) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  const Tolerance tolerance = {1e-3, 0};
  EXPECT_TRUE(Check({nan, inf, -inf, 1}, {nan, inf, -inf, 1}, tolerance));
  EXPECT_FALSE(Check({0, 1}, {nan, 1}, tolerance));
  EXPECT_FALSE(Check({nan, 1}, {0, 1}, tolerance));
  EXPECT_FALSE(Check({inf, 1}, {-inf, 1}, tolerance));
  EXPECT_FALSE(Check({inf, 1}, {3e38F, 1}, tolerance));
  EXPECT_FALSE(Check({3e38F, 1}, {inf, 1}, tolerance));
}

TEST(OutputCheck, OutliersAreCounted) {
  std::vector<float> expected(1000, 1), actual = expected;
  actual[3] = 2;
  EXPECT_TRUE(Check(actual, expected, {1e-3, 1e-3}));
  actual[4] = 2;
  EXPECT_FALSE(Check(actual, expected, {1e-3, 1e-3}));
}

TEST(OutputCheck, IntegersAreExact) {
  const std::vector<int32_t> expected = {1000000, -1}, actual = {1000001, -1};
  const auto check = [&](const std::vector<int32_t>& values) {
    return CheckOutput("i", tensor::DType::kInt32,
                       reinterpret_cast<const std::byte*>(values.data()),
                       reinterpret_cast<const std::byte*>(expected.data()), 2, {1, 0});
  };
  EXPECT_TRUE(check(expected));
  EXPECT_THAT(check(actual).error().message, testing::HasSubstr("is 1000001, expected 1000000"));
}

tensor::Workload MatmulOf(int64_t k, tensor::DType dtype) {
  tensor::WorkloadBuilder b("matmul");
  tensor::Tensor x = b.Input("x", {4, k}, dtype), w = b.Input("w", {k, 4}, dtype);
  return b.Build({tensor::Matmul(b, "c", x, w)});
}

/// The tolerance lets another order of summation pass and a missing term not.
TEST(OutputCheck, TheToleranceSeparatesRoundingFromErrors) {
  base::RandomStream random(3);
  for (int64_t k : {16, 512, 4608, 25088}) {
    const double relative = ToleranceOf(MatmulOf(k, tensor::DType::kFloat32)).relative;
    double worst_rounding = 0, min_error = 1e9, square = 0;
    for (int trial = 0; trial < 50; ++trial) {
      std::vector<float> terms;
      for (int64_t i = 0; i < k; ++i) {
        terms.push_back(
            static_cast<float>((2 * random.Uniform() - 1) * (2 * random.Uniform() - 1)));
      }
      float forwards = 0, lanes[8] = {};
      for (int64_t i = 0; i < k; ++i) forwards += terms[i];
      for (int64_t i = 0; i < k; ++i) lanes[i % 8] += terms[i];
      float by_lanes = 0;
      for (float lane : lanes) by_lanes += lane;
      square += forwards * forwards / 50.0;
      worst_rounding = std::max(worst_rounding, double{std::abs(forwards - by_lanes)});
      // A typical term: the size of an error that drops or repeats one.
      double mean = 0;
      for (float term : terms) mean += std::abs(term) / static_cast<double>(k);
      min_error = std::min(min_error, mean);
    }
    const double allowed = relative * std::sqrt(square);
    EXPECT_LT(worst_rounding * 4, allowed) << k;
    EXPECT_LT(allowed * 4, min_error) << k;
  }
}

TEST(OutputCheck, ToleranceFollowsTheElementType) {
  const double f32 = ToleranceOf(MatmulOf(64, tensor::DType::kFloat32)).relative;
  EXPECT_DOUBLE_EQ(ToleranceOf(MatmulOf(64, tensor::DType::kFloat16)).relative, f32 * 0x1p13);
  EXPECT_DOUBLE_EQ(ToleranceOf(MatmulOf(64, tensor::DType::kFloat64)).relative, f32 * 0x1p-29);
  EXPECT_EQ(ToleranceOf(MatmulOf(64, tensor::DType::kInt32)).relative, 0);
}

/// Programs of a derivation differ from others by what the derivation is allowed to be off.
TEST(OutputCheck, DerivationsHaveTheErrorsTheyAreExpectedToHave) {
  const auto convolution = [](int64_t kernel, int64_t channels) {
    tensor::WorkloadBuilder b("convolution");
    tensor::Tensor x = b.Input("x", {1, 14, 14, channels});
    tensor::Tensor w = b.Constant("w", {kernel, kernel, channels, 8});
    return b.Build({tensor::Conv2d(b, "y", x, w)});
  };
  const Tolerance few = ToleranceOf(convolution(3, 16)), many = ToleranceOf(convolution(3, 256));
  EXPECT_GT(few.of_largest, 1e-6);
  EXPECT_LT(few.of_largest, many.of_largest);
  EXPECT_LE(many.of_largest, tensor::kMaxDerivationError);
  EXPECT_EQ(ToleranceOf(convolution(1, 16)).of_largest, 0);
  EXPECT_EQ(ToleranceOf(MatmulOf(64, tensor::DType::kFloat32)).of_largest, 0);
}

TEST(OutputCheck, OnlyWorkloadsWithStepsMayHaveOutliers) {
  EXPECT_EQ(ToleranceOf(MatmulOf(64, tensor::DType::kFloat32)).outliers, 0);
  tensor::WorkloadBuilder b("round");
  tensor::Tensor x = b.Input("x", {4});
  tensor::Tensor y = b.Compute(
      "y", {4}, [&](const auto& i) { return tensor::Unary(tensor::ExprOp::kRound, x(i[0])); });
  EXPECT_GT(ToleranceOf(b.Build({y})).outliers, 0);
}

}  // namespace
}  // namespace bayloom::measure
