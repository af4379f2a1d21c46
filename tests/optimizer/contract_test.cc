// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// What every optimizer promises, on every kind of space.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <unordered_set>

#include "bayloom/base/result.h"
#include "bayloom/optimizer/optimizer.h"
#include "tests/optimizer/spaces.h"

namespace bayloom::optimizer {
namespace {

using Case = std::tuple<std::string_view, SpaceCase>;

class OptimizerContract : public testing::TestWithParam<Case> {
 protected:
  std::unique_ptr<Optimizer> Make(uint64_t seed = 1) const {
    return MakeOptimizer(std::get<0>(GetParam()), space_, {.seed = seed, .initial_samples = 6});
  }
  /// Asks, checks and marks as asked.
  std::vector<space::Configuration> Ask(Optimizer& optimizer, int n) {
    std::vector<space::Configuration> asked = optimizer.Ask(n);
    EXPECT_LE(std::ssize(asked), n);
    for (const space::Configuration& c : asked) {
      EXPECT_TRUE(space_->Contains(c));
      EXPECT_TRUE(met_.insert(c).second) << "asked before";
    }
    return asked;
  }
  /// How many trials the slower optimizers can do in a test.
  int Enough() const { return static_cast<int>(std::min(40.0, space_->CountFeasible())); }

  const std::shared_ptr<const space::Space> space_ = std::get<1>(GetParam()).make();
  std::unordered_set<space::Configuration> met_;
};

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

std::string CaseName(const testing::TestParamInfo<Case>& info) {
  std::string name = std::string(std::get<0>(info.param)) + "_" + std::get<1>(info.param).name;
  for (char& c : name) {
    if (c == '-') c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, OptimizerContract,
                         testing::Combine(testing::ValuesIn(OptimizerNames().begin(),
                                                            OptimizerNames().end()),
                                          testing::ValuesIn(AllSpaceCases())),
                         CaseName);

TEST(MakeOptimizerTest, NamesTheChoicesWhenAskedForAnother) {
  const auto space = AllSpaceCases()[0].make();
  try {
    MakeOptimizer("gradient", space);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("bayesian"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace bayloom::optimizer
