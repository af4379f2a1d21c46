// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/accelerator/design_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "bayloom/accelerator/network_mapping.h"
#include "bayloom/base/result.h"
#include "bayloom/pareto/front.h"
#include "tests/accelerator/small_design_space.h"
#include "tests/temporary_folder.h"

namespace bayloom::accelerator {
namespace {

std::vector<DesignNetwork> TwoNetworks() {
  return {{"first",
           {{"a", mapspace::MatmulProblem(32, 32, 32), 2},
            {"b", mapspace::MatmulProblem(16, 64, 8), 1}}},
          {"second", {{"c", mapspace::MatmulProblem(32, 32, 32), 1}}}};
}

DesignOptions Options(const TemporaryFolder& folder, int64_t trials) {
  DesignOptions options;
  options.database = folder / "designs.db";
  options.run.budget.trials = trials;
  options.evaluation.evaluations = 100;
  return options;
}

DesignEvaluatorOptions Effort(int64_t evaluations, uint64_t seed = 0) {
  DesignEvaluatorOptions options;
  options.evaluations = evaluations;
  options.seed = seed;
  return options;
}

DesignSpace Small() { return DesignSpace::Parse(kSmallDesignSpace, "small.yaml"); }

TEST(DesignEvaluator, CostsAreThoseOfTheMappingsFound) {
  const mapspace::Technology node = mapspace::ShippedTechnology("45nm");
  const mapspace::Architecture chip = mapspace::ShippedArchitecture("gemmini16x16", &node);
  DesignEvaluator evaluator(TwoNetworks(), node, Effort(200, 3));
  ASSERT_EQ(evaluator.layers().size(), 2u);  // a and c are one problem
  EXPECT_EQ(evaluator.layers()[0].count, 3);
  const auto outcome = evaluator.Evaluate(chip, [] { return false; });
  ASSERT_TRUE(outcome && outcome->ok());

  MapOptions options;
  options.search.objectives = {mapspace::MapObjective::kEnergyDelay};
  options.search.run.seed = 3;
  options.search.run.budget.trials = 400;
  NetworkMapping run(evaluator.layers(), chip, {}, options);
  run.Run();
  double energy[2], cycles[2];
  for (int l = 0; l < 2; ++l) {
    const NetworkMapping::Layer& layer = run.layers()[l];
    const mapspace::Evaluation best = layer.model->Evaluate(*layer.search->result().best);
    energy[l] = best.energy_pj;
    cycles[l] = static_cast<double>(best.cycles);
  }
  const double first = (2 * energy[0] + energy[1]) * (2 * cycles[0] + cycles[1]);
  const double second = energy[0] * cycles[0];
  EXPECT_NEAR(outcome->value / std::sqrt(first * second), 1, 1e-9);
  EXPECT_NEAR(outcome->Get("energy_pj", 0), 3 * energy[0] + energy[1], 1e-3);
  EXPECT_EQ(outcome->Get("cycles", 0), 3 * cycles[0] + cycles[1]);
  EXPECT_DOUBLE_EQ(outcome->Get("area_mm2", 0), mapspace::AreaOf(chip, node));
}

TEST(DesignEvaluator, BeginsWithTheMappingsOfEarlierDesigns) {
  const mapspace::Technology node = mapspace::ShippedTechnology("45nm");
  const mapspace::Architecture chip = mapspace::ShippedArchitecture("gemmini16x16", &node);
  const std::vector<DesignNetwork> networks = {
      {"net", {{"a", mapspace::MatmulProblem(96, 128, 64), 1}}}};
  const auto value = [&](DesignEvaluator& evaluator) {
    return evaluator.Evaluate(chip, [] { return false; })->value;
  };
  DesignEvaluator evaluator(networks, node, Effort(60));
  // The same design again can only get better: what was found is evaluated first.
  double last = value(evaluator);
  for (int i = 0; i < 4; ++i) {
    const double next = value(evaluator);
    EXPECT_LE(next, last);
    last = next;
  }
  DesignEvaluator fresh(networks, node, Effort(60));
  EXPECT_LT(last, value(fresh));
}

TEST(DesignEvaluator, RefusesWhatExceedsTheLimitsAndStops) {
  const mapspace::Technology node = mapspace::ShippedTechnology("45nm");
  const mapspace::Architecture chip = mapspace::ShippedArchitecture("gemmini16x16", &node);
  const auto refusal = [&](const std::string& limit) {
    DesignEvaluatorOptions options = Effort(20);
    AddDesignLimit(limit, options.limits);
    DesignEvaluator evaluator(TwoNetworks(), node, options);
    return evaluator.Evaluate(chip, [] { return false; })->reason;
  };
  EXPECT_THAT(refusal("area=0.01mm2"), ::testing::HasSubstr("area"));
  EXPECT_THAT(refusal("energy=1nJ"), ::testing::HasSubstr("energy"));
  EXPECT_THAT(refusal("cycles=3"), ::testing::HasSubstr("cycles"));
  EXPECT_EQ(refusal("area=1e9um2"), "");
  DesignLimits limits;
  for (const char* wrong : {"area", "area=2", "area=-1mm2", "volume=3mm3", "energy=mJ", "=1mm2"}) {
    EXPECT_THROW(AddDesignLimit(wrong, limits), InputError) << wrong;
  }
  DesignEvaluator evaluator(TwoNetworks(), node, {});
  EXPECT_FALSE(evaluator.Evaluate(chip, [] { return true; }).has_value());
}

TEST(DesignSearch, FindsTheBestOfAllDesigns) {
  const TemporaryFolder folder;
  DesignOptions options = Options(folder, 100);
  options.optimizer = "random";
  DesignSearch search(Small(), TwoNetworks(), options);
  EXPECT_EQ(search.technology().name, "7nm");
  EXPECT_EQ(search.Run(), trial::StopReason::kExhausted);
  const std::vector<search::StudyTrial> all = search.Trials();
  ASSERT_EQ(all.size(), 30u);
  const std::vector<search::StudyTrial> best = search.BestDesigns(3);
  ASSERT_EQ(best.size(), 3u);
  for (const search::StudyTrial& trial : all) {
    ASSERT_TRUE(trial.outcome.ok()) << trial.outcome.reason;
    EXPECT_GE(trial.outcome.value, best[0].outcome.value);
  }
  // No design of the front is beaten, every other is.
  std::set<int64_t> front;
  for (const search::StudyTrial& trial : search.Front()) front.insert(trial.ordinal);
  const auto costs = [](const search::StudyTrial& trial) {
    return std::vector<double>{trial.outcome.Get("area_mm2", 0), trial.outcome.Get("energy_pj", 0),
                               trial.outcome.Get("cycles", 0)};
  };
  for (const search::StudyTrial& trial : all) {
    const bool is_beaten = std::ranges::any_of(all, [&](const search::StudyTrial& other) {
      return pareto::Dominates(costs(other), costs(trial));
    });
    EXPECT_EQ(front.contains(trial.ordinal), !is_beaten) << trial.ordinal;
  }
  const auto sensitivity = search.Sensitivity();
  ASSERT_EQ(sensitivity.size(), 3u);
  EXPECT_GE(sensitivity[0].index.total.value, sensitivity[2].index.total.value);
}

TEST(DesignSearch, FindsTheDesignsThatNoneBeatsInAllObjectives) {
  const TemporaryFolder folder;
  DesignOptions options = Options(folder, 100);
  options.optimizer = "random";
  options.evaluation.objectives = {DesignObjective::kEnergy, DesignObjective::kArea};
  {
    DesignSearch search(Small(), TwoNetworks(), options);
    EXPECT_EQ(search.Run(), trial::StopReason::kExhausted);
    const auto costs = [](const search::StudyTrial& trial) {
      return std::vector<double>{trial.outcome.value, trial.outcome.Get("area", 0)};
    };
    std::set<int64_t> front;
    for (const search::StudyTrial& trial : search.Front()) front.insert(trial.ordinal);
    EXPECT_GT(front.size(), 1u);
    const std::vector<search::StudyTrial> all = search.Trials();
    for (const search::StudyTrial& trial : all) {
      EXPECT_EQ(trial.outcome.Get("area", 0), trial.outcome.Get("area_mm2", -1));
      const bool is_beaten = std::ranges::any_of(all, [&](const search::StudyTrial& other) {
        return pareto::Dominates(costs(other), costs(trial));
      });
      EXPECT_EQ(front.contains(trial.ordinal), !is_beaten) << trial.ordinal;
    }
  }
  // With other objectives it is another search.
  options.resume = true;
  options.evaluation.objectives = {DesignObjective::kEnergy, DesignObjective::kDelay};
  EXPECT_THROW(DesignSearch(Small(), TwoNetworks(), options), InputError);
}

TEST(DesignSearch, EvaluatesSeveralDesignsAtATime) {
  const TemporaryFolder folder;
  DesignOptions options = Options(folder, 100);
  options.optimizer = "random";
  options.evaluation.evaluations = 2000;
  std::map<std::string, double> values;
  double differences = 0;
  for (const int jobs : {1, 3}) {
    options.jobs = jobs;
    options.database = folder / (std::to_string(jobs) + ".db");
    DesignSearch search(Small(), TwoNetworks(), options);
    EXPECT_EQ(search.Run(), trial::StopReason::kExhausted);
    ASSERT_EQ(search.Trials().size(), 30u);
    for (const search::StudyTrial& trial : search.Trials()) {
      const std::string design = search.design().space().ToString(trial.configuration);
      const double value = values.emplace(design, trial.outcome.value).first->second;
      differences += std::abs(std::log(trial.outcome.value / value));
    }
  }
  EXPECT_EQ(values.size(), 30u);
  // Values depend on the designs before, but not by much.
  EXPECT_LT(differences / 30, 0.1);
}

TEST(DesignObjective, MappingsAreSearchedForWhatTheObjectivesName) {
  using enum DesignObjective;
  const auto of = [](std::vector<DesignObjective> objectives) {
    return MappingObjectiveOf(objectives);
  };
  EXPECT_EQ(of({kEnergy}), mapspace::MapObjective::kEnergy);
  EXPECT_EQ(of({kArea, kDelay}), mapspace::MapObjective::kDelay);
  EXPECT_EQ(of({kEnergy, kDelay}), mapspace::MapObjective::kEnergyDelay);
  EXPECT_EQ(of({kArea}), mapspace::MapObjective::kEnergyDelay);
  EXPECT_EQ(of({kEnergyDelay, kEnergy}), mapspace::MapObjective::kEnergyDelay);
  for (const DesignObjective objective : {kEnergy, kDelay, kEnergyDelay, kArea}) {
    const std::vector<std::string> name = {std::string(ToString(objective))};
    EXPECT_EQ(ParseDesignObjectives(name), std::vector<DesignObjective>{objective});
  }
  EXPECT_THROW(ParseDesignObjectives(std::vector<std::string>{"edp", "edp"}), InputError);
  EXPECT_THROW(ParseDesignObjectives(std::vector<std::string>{"volume"}), InputError);
}

TEST(DesignSearch, GoesOnWhereItWasInterrupted) {
  const TemporaryFolder folder;
  DesignOptions options = Options(folder, 12);
  int trials = 0;
  options.run.budget.stop = [&trials] { return trials >= 5; };
  {
    DesignSearch search(Small(), TwoNetworks(), options);
    run::RunObserver observer;
    observer.on_trial = [&](const run::RunStatus&, const trial::Outcome&) { ++trials; };
    EXPECT_EQ(search.Run(observer), trial::StopReason::kStopped);
    EXPECT_EQ(search.Trials().size(), 5u);
  }
  options.run.budget.stop = [] { return false; };
  options.resume = true;
  {
    DesignSearch search(Small(), TwoNetworks(), options);
    EXPECT_TRUE(search.resumed());
    EXPECT_EQ(search.Run(), trial::StopReason::kTrials);
    std::set<std::string> designs;
    for (const search::StudyTrial& trial : search.Trials()) {
      designs.insert(search.design().space().ToString(trial.configuration));
    }
    EXPECT_EQ(designs.size(), 12u);  // none twice
  }
  options.evaluation.limits.area_mm2 = 1;
  EXPECT_THROW(DesignSearch(Small(), TwoNetworks(), options), InputError);
}

TEST(DesignSearch, StaysWithinTheLimit) {
  const TemporaryFolder folder;
  DesignOptions options = Options(folder, 30);
  DesignSearch free_search(Small(), TwoNetworks(), options);
  free_search.Run();
  const double area = free_search.BestDesigns(1)[0].outcome.Get("area_mm2", 0);
  options.evaluation.limits.area_mm2 = 0.9 * area;
  options.database = folder / "limited.db";
  DesignSearch search(Small(), TwoNetworks(), options);
  EXPECT_EQ(search.Run(), trial::StopReason::kExhausted);
  ASSERT_FALSE(search.BestDesigns(1).empty());
  for (const search::StudyTrial& trial : search.BestDesigns(30)) {
    EXPECT_LE(trial.outcome.Get("area_mm2", 0), 0.9 * area);
  }
  // No trial is spent on larger ones, and all others are tried.
  EXPECT_EQ(search.Status().feasible_trials, search.Status().trials);
  const std::vector<search::StudyTrial> all = free_search.Trials();
  EXPECT_EQ(search.Status().trials, std::ranges::count_if(all, [&](const auto& trial) {
              return trial.outcome.Get("area_mm2", 0) <= 0.9 * area;
            }));
}

}  // namespace
}  // namespace bayloom::accelerator
