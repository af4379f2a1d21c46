// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/optimizer/optimizer_contract.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "bayloom/base/random.h"
#include "bayloom/base/result.h"

namespace bayloom::optimizer {

TEST_P(OptimizerContract, AsksOnceForFeasibleConfigurations) {
  const auto optimizer = Make();
  for (int i = 0; i < Enough(); ++i) {
    const std::vector<space::Configuration> asked = Ask(*optimizer, 1);
    ASSERT_EQ(asked.size(), 1u) << "trial " << i;
    optimizer->Tell(asked[0], Evaluate(asked[0]));
  }
}

TEST_P(OptimizerContract, AsksInBatches) {
  const auto optimizer = Make();
  while (std::ssize(met_) < Enough()) {
    const std::vector<space::Configuration> asked = Ask(*optimizer, 7);
    ASSERT_FALSE(asked.empty());
    for (const space::Configuration& c : asked) optimizer->Tell(c, Evaluate(c));
  }
}

TEST_P(OptimizerContract, ExhaustsSmallSpacesExactly) {
  if (space_->CountFeasible() > 200) GTEST_SKIP() << "not small";
  const auto optimizer = Make();
  for (;;) {
    const std::vector<space::Configuration> asked = Ask(*optimizer, 9);
    for (const space::Configuration& c : asked) optimizer->Tell(c, Evaluate(c));
    if (asked.size() < 9) break;
  }
  EXPECT_EQ(static_cast<double>(met_.size()), space_->CountFeasible());
  EXPECT_TRUE(optimizer->Ask(3).empty());
}

TEST_P(OptimizerContract, AsksBeforeAnythingIsTold) {
  const auto optimizer = Make();
  int asked = 0;
  while (asked < Enough()) {
    const size_t now = Ask(*optimizer, 2).size();
    ASSERT_GT(now, 0u);
    asked += static_cast<int>(now);
  }
}

TEST_P(OptimizerContract, IsToldInAnyOrder) {
  const auto optimizer = Make();
  std::vector<space::Configuration> waiting;
  for (int i = 0; i < Enough(); i += 2) {
    for (space::Configuration& c : Ask(*optimizer, 2)) waiting.push_back(std::move(c));
    // The newest first, and always one left behind.
    while (waiting.size() > 1) {
      optimizer->Tell(waiting.back(), Evaluate(waiting.back()));
      waiting.pop_back();
    }
  }
}

TEST_P(OptimizerContract, NeverAsksForWhatItWasToldBefore) {
  base::RandomStream random(5);
  const auto optimizer = Make();
  for (int i = 0; i < Enough() / 2; ++i) {
    const space::Configuration c = *space_->Sample(random);
    met_.insert(c);
    optimizer->Tell(c, Evaluate(c));
  }
  const double left = space_->CountFeasible() - static_cast<double>(met_.size());
  for (int i = 0; i < std::min(10.0, left); ++i) {
    const std::vector<space::Configuration> asked = Ask(*optimizer, 1);
    ASSERT_EQ(asked.size(), 1u);
    optimizer->Tell(asked[0], Evaluate(asked[0]));
  }
}

TEST_P(OptimizerContract, SameSeedAndOutcomesGiveTheSameQuestions) {
  const auto one = Make(3), two = Make(3);
  for (int i = 0; i < Enough(); i += 2) {
    const std::vector<space::Configuration> asked = one->Ask(2);
    ASSERT_EQ(asked, two->Ask(2)) << "trial " << i;
    for (const space::Configuration& c : asked) {
      one->Tell(c, Evaluate(c));
      two->Tell(c, Evaluate(c));
    }
  }
}

TEST_P(OptimizerContract, GoesOnWhereEverythingFails) {
  const auto optimizer = Make();
  for (int i = 0; i < std::min(20, Enough()); ++i) {
    const std::vector<space::Configuration> asked = Ask(*optimizer, 1);
    ASSERT_EQ(asked.size(), 1u);
    optimizer->Tell(asked[0], trial::Outcome::Infeasible(trial::Verdict::kCrash, "it always does"));
  }
}

TEST_P(OptimizerContract, GoesOnWhereSomeFailAndValuesAreEqualOrNegative) {
  const auto optimizer = Make();
  for (int i = 0; i < std::min(30, Enough()); ++i) {
    const std::vector<space::Configuration> asked = Ask(*optimizer, 1);
    ASSERT_EQ(asked.size(), 1u);
    trial::Outcome outcome = Evaluate(asked[0]);
    outcome.value = i < 12 ? 1 : -outcome.value;
    if (i % 3 == 2) outcome = trial::Outcome::Infeasible(trial::Verdict::kTimeout, "slow");
    optimizer->Tell(asked[0], outcome);
  }
}

TEST_P(OptimizerContract, RefusesWhatIsNoNumberOrNotInTheSpace) {
  const auto optimizer = Make();
  const std::vector<space::Configuration> asked = Ask(*optimizer, 1);
  ASSERT_EQ(asked.size(), 1u);
  trial::Outcome outcome;
  for (double value :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
        -std::numeric_limits<double>::infinity()}) {
    outcome.value = value;
    EXPECT_THROW(optimizer->Tell(asked[0], outcome), InputError);
  }
  outcome.value = 1;
  space::Configuration outside = asked[0];
  outside.coordinates[0] = -1e9;
  EXPECT_THROW(optimizer->Tell(outside, outcome), InputError);
  EXPECT_THROW(optimizer->Tell(space::Configuration{}, outcome), InputError);
  optimizer->Tell(asked[0], outcome);
}

TEST_P(OptimizerContract, TakesTheLaterOfTwoOutcomes) {
  const auto optimizer = Make();
  for (const space::Configuration& c : Ask(*optimizer, 8)) {
    optimizer->Tell(c, Evaluate(c));
    optimizer->Tell(c, trial::Outcome::Infeasible(trial::Verdict::kCrash, "the second time"));
    optimizer->Tell(c, Evaluate(c));
  }
  if (Enough() > 8) {
    EXPECT_EQ(Ask(*optimizer, 1).size(), 1u);
  }
}

/// Half of the values are the usual penalty of maximizing, the others as told.
TEST_P(OptimizerContract, GoesOnWithValuesOfAnyMagnitude) {
  constexpr double kMaxDouble = std::numeric_limits<double>::max();
  constexpr double kDenormal = std::numeric_limits<double>::denorm_min();
  base::RandomStream random(9);
  const std::function<double(int, double)> answers[] = {
      [&](int i, double value) { return i % 2 == 0 ? kMaxDouble : -value; },
      [&](int i, double value) { return i % 2 == 0 ? kMaxDouble : value; },
      [&](int i, double) { return i % 2 == 0 ? kMaxDouble : -kMaxDouble; },
      [&](int, double value) { return 1e200 * (value - 2); },
      [&](int i, double) { return kDenormal * (i % 9 - 4); },
      [&](int i, double) { return kDenormal * (1 + i % 9); },
      [&](int, double) { return -kMaxDouble; },
      [&](int i, double value) { return i < 12       ? value
                                        : i % 2 == 0 ? -1e155
                                                     : 1e155; },
      [&](int, double value) {
        return (random.UniformInt(2) == 0 ? -value : value) *
               std::pow(10, -300 + 600 * random.Uniform());
      }};
  const int trials = std::min(26, Enough());
  for (const auto& answer : answers) {
    const auto optimizer = Make(), resumed = Make();
    met_.clear();
    for (int i = 0; i < trials; i += 2) {
      for (const space::Configuration& c : Ask(*optimizer, 2)) {
        const double value = answer(static_cast<int>(met_.size()), Evaluate(c).value);
        optimizer->Tell(c, trial::Outcome::Feasible(value));
        resumed->Tell(c, trial::Outcome::Feasible(value));
      }
    }
    EXPECT_GE(std::ssize(met_), trials - 1);
    EXPECT_TRUE(optimizer->TakeNotices().empty()) << "a model failed";
    if (space_->CountFeasible() > static_cast<double>(met_.size()) + 2) {
      EXPECT_EQ(Ask(*resumed, 2).size(), 2u);
    }
    EXPECT_TRUE(resumed->TakeNotices().empty()) << "a model failed";
  }
}

}  // namespace bayloom::optimizer
