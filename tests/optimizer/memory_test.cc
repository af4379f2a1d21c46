// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/bayes/memory.h"

#include <gtest/gtest.h>

#include "bayloom/base/result.h"
#include "bayloom/space/parameter.h"

namespace bayloom::optimizer {
namespace {

class MemoryTest : public testing::Test {
 protected:
  static std::shared_ptr<const space::Space> Numbers() {
    space::Space::Builder builder;
    builder.Add(space::MakeInteger("n", 0, 9));
    return *builder.Build();
  }
  static space::Configuration At(double n) { return {{n}}; }
  static trial::Outcome Value(double value) {
    trial::Outcome outcome;
    outcome.value = value;
    return outcome;
  }

  Memory memory_{Numbers()};
};

TEST_F(MemoryTest, AskedIsPendingUntilTold) {
  memory_.MarkAsked(At(3));
  memory_.MarkAsked(At(5));
  EXPECT_TRUE(memory_.Knows(At(3)));
  EXPECT_EQ(memory_.OutcomeOf(At(3)), nullptr);
  memory_.Record(At(3), Value(1));
  EXPECT_EQ(memory_.pending(), std::vector{At(5)});
  ASSERT_NE(memory_.OutcomeOf(At(3)), nullptr);
  EXPECT_EQ(memory_.OutcomeOf(At(3))->value, 1);
  EXPECT_EQ(memory_.known(), 2u);
}

TEST_F(MemoryTest, BestIsTheLeastFeasibleValue) {
  EXPECT_EQ(memory_.best(), nullptr);
  memory_.Record(At(1), trial::Outcome::Infeasible(trial::Verdict::kCrash, "no"));
  EXPECT_EQ(memory_.best(), nullptr);
  memory_.Record(At(2), Value(5));
  memory_.Record(At(3), Value(4));
  memory_.Record(At(4), Value(6));
  EXPECT_EQ(memory_.best()->configuration, At(3));
}

TEST_F(MemoryTest, BestFollowsOutcomesThatChange) {
  memory_.Record(At(2), Value(5));
  memory_.Record(At(3), Value(4));
  memory_.Record(At(3), Value(9));
  EXPECT_EQ(memory_.best()->configuration, At(2));
  memory_.Record(At(2), trial::Outcome::Infeasible(trial::Verdict::kCrash, "after all"));
  EXPECT_EQ(memory_.best()->configuration, At(3));
  EXPECT_EQ(memory_.trials().size(), 2u);
}

TEST_F(MemoryTest, RefusesWhatIsNotInTheSpace) {
  EXPECT_THROW(memory_.Record(At(10), Value(1)), InputError);
  EXPECT_THROW(memory_.Record(At(2.5), Value(1)), InputError);
  EXPECT_EQ(memory_.known(), 0u);
}

}  // namespace
}  // namespace bayloom::optimizer
