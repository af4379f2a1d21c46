// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/model/sobol_indices.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/model/test_data.h"

namespace bayloom::model {
namespace {

using Eigen::VectorXd;

auto ByRow(std::function<double(const Eigen::RowVectorXd&)> function) {
  return [function](const RowMatrix& rows) { return Evaluate(rows, function); };
}

void ExpectNear(const Estimate& estimate, double truth) {
  EXPECT_NEAR(estimate.value, truth, 2 * estimate.half_width + 1e-12);
  EXPECT_LT(estimate.half_width, 0.06);
}

TEST(SobolIndices, OfTheIshigamiFunction) {
  const double pi = std::numbers::pi;
  auto ishigami = [pi](const Eigen::RowVectorXd& u) {
    const Eigen::RowVectorXd x = (2 * pi * u.array() - pi).matrix();
    const double s = std::sin(x(1));
    return std::sin(x(0)) * (1 + 0.1 * std::pow(x(2), 4)) + 7 * s * s;
  };
  base::RandomStream random(1);
  const RowMatrix a = UniformRows(8000, 3, random), b = UniformRows(8000, 3, random);
  const auto indices = SobolIndices(ByRow(ishigami), a, b, {0, 1, 2}, random);
  // Ishigami and Homma (1990): with a = 7, b = 0.1.
  const double v1 = 0.5 * std::pow(1 + 0.1 * std::pow(pi, 4) / 5, 2), v2 = 49.0 / 8;
  const double v13 = 0.01 * std::pow(pi, 8) * 8 / 225, v = v1 + v2 + v13;
  ExpectNear(indices[0].first, v1 / v);
  ExpectNear(indices[1].first, v2 / v);
  ExpectNear(indices[2].first, 0);
  ExpectNear(indices[0].total, (v1 + v13) / v);
  ExpectNear(indices[1].total, v2 / v);
  ExpectNear(indices[2].total, v13 / v);
}

TEST(SobolIndices, OfTheGFunction) {
  const std::vector<double> a = {0, 1, 4.5, 9};
  auto g = [a](const Eigen::RowVectorXd& x) {
    double product = 1;
    for (int i = 0; i < 4; ++i) product *= (std::abs(4 * x(i) - 2) + a[i]) / (1 + a[i]);
    return product;
  };
  base::RandomStream random(2);
  const RowMatrix first = UniformRows(8000, 4, random), second = UniformRows(8000, 4, random);
  const auto indices = SobolIndices(ByRow(g), first, second, {0, 1, 2, 3}, random);
  // V_i = 1 / (3 (1 + a_i)^2) and V = product(1 + V_i) - 1 (Saltelli and Sobol 1995).
  double product = 1;
  std::vector<double> parts;
  for (const double ai : a) {
    parts.push_back(1 / (3 * (1 + ai) * (1 + ai)));
    product *= 1 + parts.back();
  }
  for (int i = 0; i < 4; ++i) {
    ExpectNear(indices[i].first, parts[i] / (product - 1));
    ExpectNear(indices[i].total, parts[i] * product / (1 + parts[i]) / (product - 1));
  }
}

TEST(SobolIndices, GroupsOfColumnsMoveTogether) {
  base::RandomStream random(3);
  const RowMatrix a = UniformRows(4000, 3, random), b = UniformRows(4000, 3, random);
  auto function = [](const Eigen::RowVectorXd& x) { return x(0) * x(2) + x(1); };
  const auto indices = SobolIndices(ByRow(function), a, b, {0, 1, 0}, random);
  ASSERT_EQ(indices.size(), 2u);
  // Var(x0 x2) = 1/9 - 1/16, Var(x1) = 1/12; nothing interacts between groups.
  const double v0 = 1.0 / 9 - 1.0 / 16, v = v0 + 1.0 / 12;
  ExpectNear(indices[0].first, v0 / v);
  ExpectNear(indices[0].total, v0 / v);
  ExpectNear(indices[1].total, 1 - v0 / v);
}

TEST(SobolIndices, OfAConstantAreZero) {
  base::RandomStream random(4);
  const RowMatrix a = UniformRows(50, 2, random), b = UniformRows(50, 2, random);
  const auto indices =
      SobolIndices(ByRow([](const Eigen::RowVectorXd&) { return 2.5; }), a, b, {0, 1}, random);
  EXPECT_EQ(indices[1].first.value, 0);
  EXPECT_EQ(indices[1].total.half_width, 0);
}

TEST(SobolIndices, ConfidenceIntervalsShrinkWithTheSquareRootOfTheRows) {
  base::RandomStream random(5);
  auto half_width = [&](int rows) {
    const RowMatrix a = UniformRows(rows, 2, random), b = UniformRows(rows, 2, random);
    return SobolIndices(ByRow(Bowl), a, b, {0, 1}, random)[1].total.half_width;
  };
  EXPECT_NEAR(half_width(400) / half_width(6400), 4, 1.2);
}

}  // namespace
}  // namespace bayloom::model
