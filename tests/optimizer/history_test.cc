// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/bayes/history.h"

#include <gtest/gtest.h>

#include "bayloom/base/result.h"
#include "bayloom/space/parameter.h"

namespace bayloom::optimizer {
namespace {

class HistoryTest : public testing::Test {
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

  History history_{Numbers()};
};

TEST_F(HistoryTest, AskedIsPendingUntilTold) {
  history_.MarkAsked(At(3));
  history_.MarkAsked(At(5));
  EXPECT_TRUE(history_.Knows(At(3)));
  EXPECT_EQ(history_.OutcomeOf(At(3)), nullptr);
  history_.Record(At(3), Value(1));
  EXPECT_EQ(history_.pending(), std::vector{At(5)});
  ASSERT_NE(history_.OutcomeOf(At(3)), nullptr);
  EXPECT_EQ(history_.OutcomeOf(At(3))->value, 1);
  EXPECT_EQ(history_.known(), 2u);
}

TEST_F(HistoryTest, BestIsTheLeastFeasibleValue) {
  EXPECT_EQ(history_.best(), nullptr);
  history_.Record(At(1), trial::Outcome::Infeasible(trial::Verdict::kCrash, "no"));
  EXPECT_EQ(history_.best(), nullptr);
  history_.Record(At(2), Value(5));
  history_.Record(At(3), Value(4));
  history_.Record(At(4), Value(6));
  EXPECT_EQ(history_.best()->configuration, At(3));
}

TEST_F(HistoryTest, BestFollowsOutcomesThatChange) {
  history_.Record(At(2), Value(5));
  history_.Record(At(3), Value(4));
  history_.Record(At(3), Value(9));
  EXPECT_EQ(history_.best()->configuration, At(2));
  history_.Record(At(2), trial::Outcome::Infeasible(trial::Verdict::kCrash, "after all"));
  EXPECT_EQ(history_.best()->configuration, At(3));
  EXPECT_EQ(history_.trials().size(), 2u);
}

TEST_F(HistoryTest, RefusesWhatIsNotInTheSpace) {
  EXPECT_THROW(history_.Record(At(10), Value(1)), InputError);
  EXPECT_THROW(history_.Record(At(2.5), Value(1)), InputError);
  EXPECT_EQ(history_.known(), 0u);
}

}  // namespace
}  // namespace bayloom::optimizer
