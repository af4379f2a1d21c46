// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "bayloom/optimizer/contexts.h"
#include "bayloom/optimizer/optimizer.h"
#include "bayloom/space/parameter.h"

namespace bayloom::optimizer {
namespace {

constexpr int kContextSizes = 12;

/// 12^3 configurations, and sizes of a problem behind them: all, or one of them.
std::shared_ptr<const space::Space> TilesAndSize(int only = -1,
                                                 const std::string& constraint = "") {
  space::Space::Builder builder;
  std::vector<double> values, sizes;
  for (int i = 1; i <= 12; ++i) values.push_back(8.0 * i);
  for (int i = 0; i < kContextSizes; ++i) sizes.push_back(std::pow(2, i));
  for (const char* name : {"a", "b", "c"}) builder.Add(space::MakeOrdinal(name, values));
  if (only >= 0) sizes = {sizes[static_cast<size_t>(only)]};
  builder.Add(space::MakeOrdinal("size", sizes, space::Scale::kLog));
  if (!constraint.empty()) (void)builder.AddConstraint(constraint);
  return *builder.Build();
}

/// A valley whose lowest point moves with the size, in values that grow with it a lot.
double ShiftedValley(const space::Configuration& c, int size) {
  const double at[] = {2 + size * 0.6, 9 - size * 0.4, 5};
  double sum = 0;
  for (size_t i = 0; i < 3; ++i) sum += std::pow((c.coordinates[i] - at[i]) / 12, 2);
  return std::pow(2, size) * std::exp(3 * sum);
}

double LeastAt(int size) {
  double least = 1e300;
  TilesAndSize()->ForEach([&](const space::Configuration& c) {
    least = std::min(least, ShiftedValley(c, size));
    return true;
  });
  return least;
}

struct ContextsInTurns {
  explicit ContextsInTurns(uint64_t seed, bool shares = true, const std::string& constraint = "") {
    const auto joint = TilesAndSize(-1, constraint);
    OptimizerOptions options;
    options.seed = seed;
    const auto model = MakeContextModel(joint, options);
    for (int size = 0; size < kContextSizes; ++size) {
      options.context = {joint, shares ? model : nullptr, {3}, {static_cast<double>(size)}};
      optimizers.push_back(MakeOptimizer("bayesian", TilesAndSize(size, constraint), options));
    }
  }
  /// In turns, one trial each.
  void Run(int trials, double sign = 1) {
    for (int trial = 0; trial < trials; ++trial) {
      for (int size = 0; size < kContextSizes; ++size) {
        for (const space::Configuration& c : optimizers[static_cast<size_t>(size)]->Ask(1)) {
          const double value = ShiftedValley(c, size);
          asked[size].push_back(c);
          best[size] = best.contains(size) ? std::min(best[size], value) : value;
          optimizers[static_cast<size_t>(size)]->Tell(
              c, trial::Outcome::Feasible(sign > 0 ? value : -1 / value));
        }
      }
    }
  }
  /// How far what was found lies above the least values, in the mean of their logarithms.
  double Regret() const {
    double sum = 0;
    for (const auto& [size, value] : best) sum += std::log(value / LeastAt(size)) / kContextSizes;
    return sum;
  }

  std::vector<std::unique_ptr<Optimizer>> optimizers;
  std::map<int, std::vector<space::Configuration>> asked;
  std::map<int, double> best;
};

TEST(ContextSearch, FindsTheBestOfEachInFewTrialsThatEachAloneDoesNot) {
  double together = 0, alone = 0;
  for (const uint64_t seed : {1, 2, 3}) {
    ContextsInTurns sharing(seed), lonely(seed, false);
    sharing.Run(8);
    lonely.Run(8);
    together += sharing.Regret() / 3;
    alone += lonely.Regret() / 3;
  }
  EXPECT_LT(together, 0.05) << "of 1,728 configurations";
  EXPECT_GT(alone, 3 * together);
}

TEST(ContextSearch, TakesMaximizedValuesAsWell) {
  ContextsInTurns search(4);
  search.Run(8, /*sign=*/-1);  // rates, which are negated on their way
  EXPECT_LT(search.Regret(), 0.04);
}

TEST(ContextSearch, IsReproducibleAndRepeatsNothing) {
  ContextsInTurns one(7), other(7);
  one.Run(6);
  other.Run(6);
  EXPECT_EQ(one.asked, other.asked);
  for (const auto& [size, configurations] : one.asked) {
    std::set<std::vector<double>> distinct;
    for (const space::Configuration& c : configurations) distinct.insert(c.coordinates);
    EXPECT_EQ(distinct.size(), configurations.size());
  }
}

TEST(ContextSearch, TriesElsewhereWhatIsBestInAContext) {
  ContextsInTurns search(5);
  search.Run(12);
  int shared = 0;
  for (int size = 1; size < kContextSizes; ++size) {
    std::set<std::vector<double>> below;
    for (const space::Configuration& c : search.asked[size - 1]) below.insert(c.coordinates);
    for (const space::Configuration& c : search.asked[size])
      shared += below.contains(c.coordinates);
  }
  EXPECT_GE(shared, 2 * (kContextSizes - 1)) << "neighbours have configurations in common";
}

TEST(ContextSearch, KeepsConstraintsThatNameAContext) {
  ContextsInTurns search(6, true, "a <= 8 * size");
  search.Run(5);
  for (const auto& [size, configurations] : search.asked) {
    for (const space::Configuration& c : configurations) {
      EXPECT_LE(8 * (c.coordinates[0] + 1), 8 * std::pow(2, size));
    }
  }
}

TEST(ContextSearch, LearnsFromFailuresOfOtherContexts) {
  ContextsInTurns search(8);
  int failures_late = 0;
  for (int trial = 0; trial < 16; ++trial) {
    for (int size = 0; size < kContextSizes; ++size) {
      for (const space::Configuration& c : search.optimizers[static_cast<size_t>(size)]->Ask(1)) {
        const bool fails = c.coordinates[2] < 4;  // a third of all
        if (trial >= 12) failures_late += fails;
        search.optimizers[static_cast<size_t>(size)]->Tell(
            c, fails ? trial::Outcome::Infeasible(trial::Verdict::kCrash, "too small")
                     : trial::Outcome::Feasible(ShiftedValley(c, size)));
      }
    }
  }
  EXPECT_LE(failures_late, 4 * kContextSizes / 6) << "a third would, at random";
}

TEST(ContextSearch, ListsSmallSpacesToTheirEnd) {
  space::Space::Builder joint_builder, own_builder;
  joint_builder.Add(space::MakeOrdinal("a", std::vector<double>{1, 2, 3}));
  joint_builder.Add(space::MakeOrdinal("size", std::vector<double>{1, 2}));
  own_builder.Add(space::MakeOrdinal("a", std::vector<double>{1, 2, 3}));
  own_builder.Add(space::MakeOrdinal("size", std::vector<double>{2}));
  OptimizerOptions options;
  options.context = {*joint_builder.Build(), nullptr, {1}, {1}};
  const auto optimizer = MakeOptimizer("bayesian", *own_builder.Build(), options);
  for (int i = 0; i < 3; ++i) {
    const auto asked = optimizer->Ask(1);
    ASSERT_EQ(asked.size(), 1u);
    optimizer->Tell(asked[0], trial::Outcome::Feasible(i));
  }
  EXPECT_TRUE(optimizer->Ask(1).empty());
  EXPECT_FALSE(optimizer->gave_up());
}

}  // namespace
}  // namespace bayloom::optimizer
