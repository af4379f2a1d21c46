// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/bayes/objective_transform.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "bayloom/base/random.h"

namespace bayloom::optimizer {
namespace {

/// Normal after the power transform of this power.
std::vector<double> Values(double power, int count) {
  base::RandomStream random(7);
  std::vector<double> values;
  for (int i = 0; i < count; ++i) {
    const double normal = 0.2 * random.Normal();
    values.push_back(power == 0 ? std::exp(5 * normal) : std::pow(1 + power * normal, 1 / power));
  }
  return values;
}

TEST(ObjectiveTransformTest, FindsThePowerThatMadeTheValues) {
  for (double power : {-1.0, 0.0, 1.0}) {
    EXPECT_EQ(ObjectiveTransform(Values(power, 2000), model::ObjectiveScale::kAuto).power(), power);
  }
}

TEST(ObjectiveTransformTest, LeavesValuesThatAreNotPositiveAsTheyAre) {
  const std::vector<double> values = {3, 0, 5};
  for (model::ObjectiveScale scale : {model::ObjectiveScale::kAuto, model::ObjectiveScale::kLog,
                                      model::ObjectiveScale::kLinear}) {
    EXPECT_EQ(ObjectiveTransform(values, scale)(-2.5), -2.5);
  }
}

TEST(ObjectiveTransformTest, IsIncreasing) {
  for (double power : {-1.0, -0.5, 0.0, 0.5, 1.0}) {
    const ObjectiveTransform transform(Values(power, 500), model::ObjectiveScale::kAuto);
    for (double v = 0.1; v < 100; v *= 1.5) EXPECT_LT(transform(v), transform(1.5 * v));
  }
}

TEST(ObjectiveTransformTest, DoesAsTold) {
  const std::vector<double> values = Values(-1, 100);
  EXPECT_EQ(ObjectiveTransform(values, model::ObjectiveScale::kLog)(2), std::log(2));
  EXPECT_EQ(ObjectiveTransform(values, model::ObjectiveScale::kLinear)(2), 2);
}

TEST(ObjectiveTransformTest, BearsEqualValues) {
  const std::vector<double> values = {2, 2, 2};
  EXPECT_TRUE(std::isfinite(ObjectiveTransform(values, model::ObjectiveScale::kAuto)(2)));
}

}  // namespace
}  // namespace bayloom::optimizer
