// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// What the bayesian optimizers do better than chance.

#include "bayloom/optimizer/bayes/bayesian_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "bayloom/space/parameter.h"
#include "tests/optimizer/valley.h"

namespace bayloom::optimizer {
namespace {

using Objective = std::function<trial::Outcome(const space::Configuration&)>;

/// 16^4 tile sizes.
std::shared_ptr<const space::Space> Tiles() {
  space::Space::Builder builder;
  std::vector<double> values;
  for (int i = 1; i <= 16; ++i) values.push_back(8.0 * i);
  for (const char* name : {"a", "b", "c", "d"}) builder.Add(space::MakeOrdinal(name, values));
  return *builder.Build();
}

struct SearchResult {
  double best = 1e300;
  int failures = 0;
};

SearchResult Search(std::string_view name, const std::shared_ptr<const space::Space>& space,
                    const Objective& objective, int trials, OptimizerOptions options = {},
                    int batch = 1) {
  const auto optimizer = MakeOptimizer(name, space, options);
  SearchResult result;
  for (int i = 0; i < trials; i += batch) {
    for (const space::Configuration& c : optimizer->Ask(batch)) {
      const trial::Outcome outcome = objective(c);
      optimizer->Tell(c, outcome);
      if (outcome.ok()) result.best = std::min(result.best, outcome.value);
      result.failures += !outcome.ok();
    }
  }
  return result;
}

TEST(BayesianSearchTest, LeavesAPlateauOfEqualValues) {
  space::Space::Builder builder;
  builder.Add(space::MakeCategorical("kind", {"a", "b"}));
  builder.Add(space::MakeInteger("count", 1, 3));
  builder.Add(space::MakeInteger("share", 0, 1000));
  const std::shared_ptr<const space::Space> space = *builder.Build();
  const Objective count = [](const space::Configuration& c) {
    return trial::Outcome::Feasible(c.coordinates[0] == 0 ? 1 + c.coordinates[1] : 5);
  };
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    EXPECT_EQ(Search("bayesian", space, count, 30, {.seed = seed}).best, 1) << seed;
  }
}

TEST(BayesianSearchTest, FindsTheValleyOfASmoothObjective) {
  for (uint64_t seed : {1, 2, 3}) {
    EXPECT_LT(Search("bayesian", Tiles(), Valley, 40, {.seed = seed}).best, 1.03);
    EXPECT_GT(Search("random", Tiles(), Valley, 40, {.seed = seed}).best, 1.03);
  }
}

TEST(BayesianSearchTest, FindsItAskingForSeveralAtATime) {
  for (PendingPolicy policy : {PendingPolicy::kBeliever, PendingPolicy::kLiar}) {
    OptimizerOptions options;
    options.bayesian.pending = policy;
    EXPECT_LT(Search("bayesian", Tiles(), Valley, 48, options, 4).best, 1.03);
  }
}

TEST(BayesianSearchTest, FindsItByEveryAcquisition) {
  for (acquisition::AcquisitionKind kind : {acquisition::AcquisitionKind::kProbabilityOfImprovement,
                                            acquisition::AcquisitionKind::kConfidenceBound}) {
    OptimizerOptions options;
    options.bayesian.acquisition = kind;
    EXPECT_LT(Search("bayesian", Tiles(), Valley, 48, options).best, 1.05);
  }
}

TEST(BayesianSearchTest, ForestBeatsChance) {
  double forest = 0, random = 0;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    forest += std::log(Search("forest", Tiles(), Valley, 50, {.seed = seed}).best);
    random += std::log(Search("random", Tiles(), Valley, 50, {.seed = seed}).best);
  }
  EXPECT_LT(forest, 0.6 * random);
}

/// Expects the same of everything, and counts how often it is asked.
class Indifferent final : public model::Surrogate {
 public:
  explicit Indifferent(int& asked) : asked_(asked) {}
  void Fit(const model::RowMatrix&, const Eigen::VectorXd&, base::RandomStream&) override {}
  void Add(const model::RowMatrix&, const Eigen::VectorXd&) override {}
  void Predict(const model::RowMatrix& rows, Eigen::VectorXd& mean,
               Eigen::VectorXd& variance) const override {
    ++asked_;
    mean = Eigen::VectorXd::Zero(rows.rows());
    variance = Eigen::VectorXd::Ones(rows.rows());
  }
  double Transform(double value) const override { return value; }
  double Untransform(double prediction) const override { return prediction; }
  std::unique_ptr<model::Surrogate> Clone() const override {
    return std::make_unique<Indifferent>(asked_);
  }

 private:
  int& asked_;
};

TEST(BayesianSearchTest, SurrogatesTakeTurns) {
  space::Space::Builder builder;
  builder.Add(space::MakeInteger("a", 1, 16));
  builder.Add(space::MakeInteger("b", 1, 16));
  int asked[] = {0, 0};
  std::vector<BayesianSearch::SurrogateFactory> surrogates;
  for (int& count : asked) {
    surrogates.emplace_back([&count](const Features&, const BayesianOptions&) {
      return std::make_unique<Indifferent>(count);
    });
  }
  BayesianSearch search(*builder.Build(), surrogates, {.initial_samples = 5});
  trial::Outcome outcome;
  outcome.value = 1;
  for (int i = 0; i < 25; ++i) search.Tell(search.Ask(1).at(0), outcome);
  EXPECT_EQ(asked[0], 10);
  EXPECT_EQ(asked[1], 10);
}

TEST(BayesianSearchTest, LearnsWhatFails) {
  const Objective half_fails = [](const space::Configuration& c) {
    if (c.coordinates[0] + c.coordinates[1] > 16) {
      return trial::Outcome::Infeasible(trial::Verdict::kMemory, "too large");
    }
    return Valley(c);
  };
  int with = 0, without = 0;
  for (uint64_t seed : {1, 2, 3}) {
    OptimizerOptions options;
    options.seed = seed;
    const SearchResult learnt = Search("bayesian", Tiles(), half_fails, 50, options);
    EXPECT_LT(learnt.best, 1.1);
    with += learnt.failures;
    options.bayesian.learn_feasibility = false;
    without += Search("bayesian", Tiles(), half_fails, 50, options).failures;
  }
  EXPECT_LT(with, without);
}

TEST(BayesianSearchTest, UsersPriorsHelpAtFirstAndDoNotHurtForLong) {
  const auto with_prior = [](int good_rank) {
    space::Space::Builder builder;
    for (const char* name : {"a", "b", "c", "d"}) {
      auto parameter = space::MakeInteger(name, 1, 16);
      std::vector<double> weights(16, 0.1);
      if (std::string_view(name) == "a") weights[static_cast<size_t>(good_rank)] = 3;
      EXPECT_TRUE(parameter->SetPrior(weights).ok());
      builder.Add(std::move(parameter));
    }
    return *builder.Build();
  };
  const auto mean_of = [&](int good_rank, int trials) {
    double sum = 0;
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      sum +=
          std::log(Search("bayesian", with_prior(good_rank), Valley, trials, {.seed = seed}).best);
    }
    return sum / 3;
  };
  EXPECT_LE(mean_of(11, 16), mean_of(0, 16));
  EXPECT_LT(mean_of(0, 60), 0.1);
}

TEST(BayesianSearchTest, AsksOnlyForWhatStandsForOthers) {
  OptimizerOptions options;
  options.canonical = [](const space::Configuration& c) {  // the last parameter means nothing
    space::Configuration canonical = c;
    canonical.coordinates[3] = 0;
    return canonical;
  };
  const auto optimizer = MakeOptimizer("bayesian", Tiles(), options);
  for (int i = 0; i < 30; ++i) {
    const space::Configuration c = optimizer->Ask(1).at(0);
    EXPECT_EQ(c.coordinates[3], 0);
    optimizer->Tell(c, Valley(c));
  }
}

TEST(BayesianSearchTest, StartsWithTheDefault) {
  space::Space::Builder builder;
  for (const char* name : {"a", "b"}) {
    auto parameter = space::MakeInteger(name, 0, 99);
    EXPECT_TRUE(parameter->SetDefault(int64_t{42}).ok());
    builder.Add(std::move(parameter));
  }
  const auto optimizer = MakeOptimizer("bayesian", *builder.Build());
  EXPECT_EQ(optimizer->Ask(1)[0], (space::Configuration{{42, 42}}));
}

TEST(BayesianSearchTest, BeginsNearTheDefaultWithEveryOtherOfManyParameters) {
  constexpr int kParameters = 100;
  space::Space::Builder builder;
  for (int i = 0; i < kParameters; ++i) {
    auto parameter = space::MakeInteger("p" + std::to_string(i), 0, 99);
    EXPECT_TRUE(parameter->SetDefault(int64_t{42}).ok());
    builder.Add(std::move(parameter));
  }
  ASSERT_TRUE(builder.AddConstraint("p0 + p1 <= 84").ok());
  const auto space = *builder.Build();
  const auto optimizer = MakeOptimizer("bayesian", space);
  for (int trial = 0; trial < 12; ++trial) {
    const space::Configuration c = optimizer->Ask(1).at(0);
    EXPECT_TRUE(space->Contains(c));
    const auto changed = kParameters - std::ranges::count(c.coordinates, 42);
    if (trial == 0) {
      EXPECT_EQ(changed, 0);
    } else if (trial % 2 == 1) {
      EXPECT_TRUE(changed > 0 && changed < 30) << changed;
    } else {
      EXPECT_GT(changed, 90);
    }
    optimizer->Tell(c, trial::Outcome::Feasible(1 + trial));
  }
  // What is suggested then differs from the best, here the default, in a few of them.
  for (int trial = 12; trial < 20; ++trial) {
    const space::Configuration c = optimizer->Ask(1).at(0);
    EXPECT_TRUE(space->Contains(c));
    const auto changed = kParameters - std::ranges::count(c.coordinates, 42);
    EXPECT_TRUE(changed > 0 && changed < 20) << changed;
    optimizer->Tell(c, trial::Outcome::Feasible(1 + trial));
  }
}

// Five of 60 parameters have to be changed, 25 must not be, and half have no effect.
TEST(BayesianSearchTest, ImprovesWhatFewOfManyParametersDecide) {
  constexpr int kParameters = 60;
  space::Space::Builder builder;
  for (int i = 0; i < kParameters; ++i) {
    auto parameter = space::MakeCategorical("p" + std::to_string(i), {"on", "off"});
    EXPECT_TRUE(parameter->SetDefault(std::string("on")).ok());
    builder.Add(std::move(parameter));
  }
  const std::shared_ptr<const space::Space> space = *builder.Build();
  const auto objective = [](const space::Configuration& c) {
    double value = 10;
    for (int i = 0; i < kParameters; i += 2) value += c.coordinates[i] * (i % 7 == 0 ? -1 : 0.5);
    return value;  // at least 5, and 10 by default
  };
  for (int seed = 1; seed <= 3; ++seed) {
    const auto optimizer = MakeOptimizer("bayesian", space, {.seed = static_cast<uint64_t>(seed)});
    double best = std::numeric_limits<double>::infinity();
    for (int trial = 0; trial < 80; ++trial) {
      const space::Configuration c = optimizer->Ask(1).at(0);
      best = std::min(best, objective(c));
      optimizer->Tell(c, trial::Outcome::Feasible(objective(c)));
    }
    EXPECT_LE(best, 7) << seed;
  }
}

}  // namespace
}  // namespace bayloom::optimizer
