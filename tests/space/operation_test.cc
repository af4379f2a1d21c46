// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/space/operation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bayloom/base/random.h"

namespace bayloom::space {
namespace {

constexpr Operation kFirst = Operation::kAdd;
constexpr Operation kLast = Operation::kSelect;

bool IsTruthOperation(Operation operation) {
  return operation == Operation::kAnd || operation == Operation::kOr ||
         operation == Operation::kNot;
}

double Draw(base::RandomStream& random) {
  const double number = static_cast<double>(random.UniformInt(13) - 6);
  return random.UniformInt(4) == 0 ? number / 2 : number;
}

Interval DrawInterval(base::RandomStream& random, bool truth) {
  if (truth) {
    const double low = static_cast<double>(random.UniformInt(2));
    return {low, random.UniformInt(2) == 0 ? low : 1};
  }
  const double a = Draw(random);
  const double b = random.UniformInt(3) == 0 ? a : Draw(random);
  return {std::min(a, b), std::max(a, b)};
}

double Within(const Interval& interval, base::RandomStream& random, bool truth) {
  if (truth) return interval.IsPoint() || random.UniformInt(2) == 0 ? interval.low : interval.high;
  const double wish = Draw(random);
  return std::clamp(wish, interval.low, interval.high);
}

bool Holds(const Interval& interval, double value) {
  if (std::isnan(value)) {
    return std::isnan(interval.low) || std::isinf(interval.low) || std::isinf(interval.high);
  }
  return interval.low <= value && value <= interval.high;
}

// The pruning of trees rests on this.
TEST(Operation, IntervalsHoldAllResults) {
  base::RandomStream random(1);
  for (int op = static_cast<int>(kFirst); op <= static_cast<int>(kLast); ++op) {
    const auto operation = static_cast<Operation>(op);
    const bool truths = IsTruthOperation(operation);
    const bool selects = operation == Operation::kSelect;
    int undecided = 0;
    for (int i = 0; i < 20000; ++i) {
      const Interval a = DrawInterval(random, truths || selects);
      const Interval b = DrawInterval(random, truths);
      const Interval c = DrawInterval(random, false);
      const Interval wide = Apply(operation, a, b, c);
      undecided += !wide.IsPoint();
      const double x = Within(a, random, truths || selects);
      const double y = Within(b, random, truths);
      const double z = Within(c, random, false);
      const double result = Apply(operation, x, y, z);
      ASSERT_TRUE(Holds(wide, result)) << op << ": " << x << " " << y << " " << z << " -> "
                                       << result << " not in " << wide.low << ".." << wide.high;
      // One operand known: not wider than before.
      const Interval narrow = Apply(operation, Interval::Point(x), b, c);
      ASSERT_TRUE(Holds(narrow, result))
          << op << ": " << x << " " << y << " " << z << " -> " << result << " not in " << narrow.low
          << ".." << narrow.high;
      if (wide.IsPoint()) {
        ASSERT_TRUE(narrow.IsPoint()) << op << ": " << x << ", " << b.low << ".." << b.high;
      }
    }
    EXPECT_GT(undecided, 0) << op;
  }
}

TEST(Operation, RoundsDownAsPythonDoes) {
  EXPECT_EQ(Apply(Operation::kFloorDivide, -7, 2), -4);
  EXPECT_EQ(Apply(Operation::kModulo, -7, 2), 1);
  EXPECT_EQ(Apply(Operation::kModulo, 7, -2), -1);
  EXPECT_EQ(Apply(Operation::kFloorDivide, 1, 0.1), 9);
  EXPECT_EQ(Apply(Operation::kFloorDivide, 6, 0.1), 59);
  EXPECT_TRUE(std::isnan(Apply(Operation::kModulo, 1, 0)));
  EXPECT_TRUE(std::isnan(Apply(Operation::kFloorDivide, 1, 0)));
}

}  // namespace
}  // namespace bayloom::space
