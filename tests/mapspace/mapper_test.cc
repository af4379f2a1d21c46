// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/mapper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "bayloom/base/result.h"
#include "bayloom/trial/inline_evaluator.h"
#include "tests/mapspace/random_mapping.h"
#include "tests/trial/evaluate_one.h"
#include "tests/trial/list_store.h"

namespace bayloom::mapspace {
namespace {

using testing::HasSubstr;

bool Never() { return false; }

MapperOptions Evaluations(int64_t evaluations, uint64_t seed = 0) {
  MapperOptions options;
  options.run.budget.trials = evaluations;
  options.run.seed = seed;
  return options;
}

class MapperTest : public testing::Test {
 protected:
  MapperResult Run(std::string_view name, const MapperOptions& options) {
    return RunMapper(name, mapspace_, model_, *evaluator_, options);
  }
  /// Proposes `in_flight` at a time and tells of them backwards.
  MapperResult RunBackwards(std::string_view name, int in_flight, MapperOptions options) {
    MapperTask task(name, mapspace_, model_, *evaluator_, options);
    while (task.result().evaluations < options.run.budget.trials) {
      std::vector<Mapping> proposed = task.Propose(in_flight, Never);
      if (proposed.empty()) break;
      EXPECT_LE(std::ssize(proposed), in_flight);
      for (size_t i = proposed.size(); i-- > 0;) {
        EXPECT_TRUE(model_.Fits(proposed[i]));
        const trial::Outcome outcome =
            EvaluateByModel(model_, {{MapObjective::kEnergy}}, proposed[i]);
        task.Tell(std::move(proposed[i]), outcome, 0);
      }
    }
    return task.result();
  }

  Mapspace mapspace_{MatmulProblem(8, 4, 16), ShippedArchitecture("gemmini")};
  AnalyticalModel model_{mapspace_.problem(), mapspace_.architecture()};
  std::unique_ptr<trial::Evaluator<Mapping>> evaluator_ =
      MakeModelEvaluator(model_, {MapObjective::kEnergy});
};

TEST_F(MapperTest, AllComeCloseToTheBest) {
  const MapperResult exhaustive = Run("exhaustive", Evaluations(10'000'000));
  EXPECT_EQ(exhaustive.end, trial::StopReason::kExhausted);
  ASSERT_TRUE(exhaustive.best.has_value());
  for (std::string_view name : MapperNames()) {
    if (name == "exhaustive" || name == "exact" || name == "bayesian" || name == "forest") continue;
    const MapperResult result = Run(name, Evaluations(1500));
    SCOPED_TRACE(name);
    EXPECT_EQ(result.evaluations, 1500);
    EXPECT_EQ(result.end, trial::StopReason::kTrials);
    EXPECT_GE(result.value, exhaustive.value);
    EXPECT_LE(result.value, 1.3 * exhaustive.value);
    EXPECT_EQ(result.value, trial::EvaluateOne(*evaluator_, *result.best).value);
    EXPECT_EQ(result.BestAfter(1500), result.value);
    EXPECT_GE(result.BestAfter(10), result.value);
  }
}

TEST_F(MapperTest, ExactFindsTheBestAndProvesIt) {
  const MapperResult exhaustive = Run("exhaustive", Evaluations(10'000'000));
  const MapperResult exact = Run("exact", Evaluations(1500));
  EXPECT_EQ(exact.end, trial::StopReason::kExhausted);
  EXPECT_NEAR(exact.value, exhaustive.value, 1e-9 * exhaustive.value);
  ASSERT_TRUE(exact.certificate.has_value());
  EXPECT_TRUE(exact.certificate->is_whole);
  EXPECT_EQ(exact.certificate->value, exact.value);
  // Accesses move blocks here, of which bounds count parts.
  EXPECT_LE(exact.certificate->bound, exhaustive.value);
  EXPECT_LT(exact.certificate->Gap(), 0.2);
}

/// What a change of the search may change, but nothing else.
TEST_F(MapperTest, OneAfterTheOtherTheyFindWhatTheyAlwaysFound) {
  struct Known {
    const char* mapper;
    int64_t evaluations;
    double value;
    int64_t drawn;
    size_t improvements;
  };
  const Known all[] = {{"random-pruned", 700, 58.647456030150757, 700, 6},
                       {"exhaustive", 700, 64.207443467336688, 700, 5},
                       {"genetic", 700, 58.647456030150757, 700, 3},
                       {"annealing", 700, 58.647456030150757, 700, 6},
                       {"bayesian", 30, 58.647456030150757, 30, 3},
                       {"random", 700, 58.647456030150757, 984, 3}};
  for (const Known& known : all) {
    const MapperResult result = Run(known.mapper, Evaluations(known.evaluations, 1));
    SCOPED_TRACE(known.mapper);
    EXPECT_EQ(result.evaluations, known.evaluations);
    EXPECT_DOUBLE_EQ(result.value, known.value);
    EXPECT_EQ(result.drawn, known.drawn);
    EXPECT_EQ(result.improvements.size(), known.improvements);
  }
}

TEST_F(MapperTest, OneSeedOneResult) {
  for (std::string_view name : {"random-pruned", "genetic", "annealing", "random"}) {
    const auto values = [&](uint64_t seed) {
      std::vector<double> improvements;
      for (const auto& improvement : Run(name, Evaluations(200, seed)).improvements) {
        improvements.push_back(improvement.value);
      }
      return improvements;
    };
    EXPECT_EQ(values(1), values(1)) << name;
    EXPECT_NE(values(1), values(2)) << name;
  }
}

TEST_F(MapperTest, TurnsChangeNothing) {
  for (std::string_view name :
       {"random-pruned", "genetic", "annealing", "exhaustive", "bayesian"}) {
    SCOPED_TRACE(name);
    const MapperOptions options = Evaluations(name == "bayesian" ? 30 : 500);
    const MapperResult whole = Run(name, options);
    MapperTask task(name, mapspace_, model_, *evaluator_, options);
    run::ScheduledRun<Mapping> run(
        {.budget = options.run.budget, .scheduler = "round-robin", .trials_per_slot = 7});
    run.AddTask(task, {});
    EXPECT_EQ(run.Run({.on_trial = {},
                       .on_slot =
                           [&](const run::RunStatus& status) {
                             EXPECT_TRUE(status.trials % 7 == 0 ||
                                         status.trials == options.run.budget.trials);
                           }}),
              trial::StopReason::kTrials);
    EXPECT_EQ(task.result().evaluations, options.run.budget.trials);
    EXPECT_EQ(task.result().value, whole.value);
    EXPECT_EQ(task.result().drawn, whole.drawn);
  }
}

TEST_F(MapperTest, SeveralAtATimeToldInAnyOrderAllFitAndComeAsClose) {
  const double best = Run("exhaustive", Evaluations(10'000'000)).value;
  for (std::string_view name : MapperNames()) {
    if (name == "exhaustive" || name == "exact") continue;
    SCOPED_TRACE(name);
    const bool is_slow = name == "bayesian" || name == "forest";
    const MapperResult result = RunBackwards(name, 4, Evaluations(is_slow ? 60 : 1500, 3));
    EXPECT_EQ(result.evaluations, is_slow ? 60 : 1500);
    EXPECT_LE(result.value, (is_slow ? 1.6 : 1.3) * best);
  }
}

TEST_F(MapperTest, NothingIsEvaluatedTwiceWhereThatCosts) {
  for (std::string_view name : {"random-pruned", "genetic", "annealing", "random"}) {
    for (const int in_flight : {1, 4}) {
      SCOPED_TRACE(name);
      std::set<std::string> seen;
      trial::InlineEvaluator<Mapping> evaluator(
          [&](const Mapping& mapping) {
            EXPECT_TRUE(seen.insert(PrintCompact(mapping, mapspace_.problem())).second);
            return EvaluateByModel(model_, {{MapObjective::kEnergy}}, mapping);
          },
          in_flight);
      MapperOptions options = Evaluations(400);
      options.evaluate_once = true;
      EXPECT_EQ(RunMapper(name, mapspace_, model_, evaluator, options).evaluations, 400);
      EXPECT_EQ(seen.size(), 400u);
    }
  }
}

TEST_F(MapperTest, ATrialIsKeptAsItsLevels) {
  trial::ListStore store;
  MapperTask task("genetic", mapspace_, model_, *evaluator_, Evaluations(5), &store);
  run::ScheduledRun<Mapping> run({.budget = Evaluations(5).run.budget});
  run.AddTask(task, {});
  run.Run();
  ASSERT_EQ(store.trials.size(), 5u);
  for (const trial::TrialRecord& trial : store.trials) {
    EXPECT_EQ(trial.proposer, "genetic");
    EXPECT_EQ(trial.candidate.front(), '[');
    EXPECT_EQ(trial.key, 0u);
  }
}

class SmallMapspace : public testing::Test {
 protected:
  const Mapspace mapspace_{MatmulProblem(2, 2, 1), ShippedArchitecture("gemmini")};
  const AnalyticalModel model_{mapspace_.problem(), mapspace_.architecture()};
  std::unique_ptr<trial::Evaluator<Mapping>> evaluator_ =
      MakeModelEvaluator(model_, {MapObjective::kEnergy});
};

TEST_F(SmallMapspace, IsSearchedThrough) {
  const MapperOptions options = Evaluations(10'000);
  const MapperResult all = RunMapper("exhaustive", mapspace_, model_, *evaluator_, options);
  for (std::string_view name : {"bayesian", "forest", "ensemble"}) {
    const MapperResult result = RunMapper(name, mapspace_, model_, *evaluator_, options);
    EXPECT_EQ(result.end, trial::StopReason::kExhausted) << name;
    EXPECT_EQ(result.evaluations, all.evaluations) << name;
    EXPECT_EQ(result.value, all.value) << name;
  }
}

TEST_F(SmallMapspace, IsEnumeratedOnceByAnyNumberAtATime) {
  std::set<std::string> fitting;
  for (int64_t tiling = 0; tiling < mapspace_.TilingCount(); ++tiling) {
    mapspace_.ForEachOfTiling(tiling, [&](const Mapping& mapping) {
      if (model_.Fits(mapping)) fitting.insert(PrintCompact(mapping, mapspace_.problem()));
      return true;
    });
  }
  for (const int capacity : {1, 3, 4, 100, 10000}) {
    std::set<std::string> tried;
    int64_t evaluations = 0;
    trial::InlineEvaluator<Mapping> evaluator(
        [&](const Mapping& mapping) {
          ++evaluations;
          tried.insert(PrintCompact(mapping, mapspace_.problem()));
          return EvaluateByModel(model_, {{MapObjective::kEnergy}}, mapping);
        },
        capacity);
    const MapperResult result =
        RunMapper("exhaustive", mapspace_, model_, evaluator, Evaluations(1'000'000));
    EXPECT_EQ(result.end, trial::StopReason::kExhausted);
    EXPECT_EQ(tried, fitting) << capacity;
    EXPECT_EQ(evaluations, std::ssize(fitting)) << capacity;
    EXPECT_EQ(result.evaluations, evaluations) << capacity;
  }
}

/// Of all mappings of the least energy the fastest is best, and the other way round.
TEST(TieBreak, DecidesBetweenEqualValues) {
  for (const MapObjective objective : {MapObjective::kEnergy, MapObjective::kDelay}) {
    Architecture architecture = SmallArchitecture();
    architecture.arithmetic.mac_energy_pj = 1;
    for (StorageLevel& level : architecture.levels) {
      // Where memory costs nothing, all mappings take the same energy.
      if (objective == MapObjective::kEnergy) level.access_energy_pj = 0;
    }
    const Mapspace mapspace(MatmulProblem(4, 4, 2), architecture);
    const AnalyticalModel model(mapspace.problem(), architecture);
    std::map<int64_t, std::set<double>> seen;  // what breaks ties, by millionths of the value
    int drawn = 0;
    trial::InlineEvaluator<Mapping> evaluator([&](const Mapping& mapping) {
      const Evaluation evaluation = model.Evaluate(mapping);
      const double value = ValueOf(evaluation, objective);
      seen[std::llround(1e6 * value)].insert(ValueOf(evaluation, TieBreakOf(objective)));
      const double noise = drawn++ % 2 == 0 ? 1e-14 : 0;  // as sums in another order have
      return FeasibleWithTieBreak(value * (1 + noise), objective,
                                  ValueOf(evaluation, TieBreakOf(objective)));
    });
    MapperOptions options = Evaluations(20'000);
    options.objectives = {objective};
    for (const char* name : {"random-pruned", "genetic"}) {
      seen.clear();
      const MapperResult result = RunMapper(name, mapspace, model, evaluator, options);
      const auto& [least, others] = *seen.begin();
      ASSERT_GT(others.size(), 1u) << "or there are no ties";
      EXPECT_EQ(std::llround(1e6 * result.value), least);
      EXPECT_EQ(ValueOf(model.Evaluate(*result.best), TieBreakOf(objective)), *others.begin())
          << name << " " << ToString(objective);
    }
  }
}

/// A tiling of more mappings than are buffered at a time.
TEST(LargeTiling, IsEnumeratedWhole) {
  const Mapspace mapspace(MatmulProblem(64, 64, 64), ShippedArchitecture("gemmini"));
  int64_t tiling = 0, count = 0;
  for (int64_t t = 0; t < mapspace.TilingCount() && count <= 100; ++t) {
    count = 0;
    mapspace.ForEachOfTiling(t, [&](const Mapping&) { return ++count <= 100; });
    tiling = t;
  }
  ASSERT_GT(count, 100);
  // An enumeration that is broken off and one that begins where it was see the same.
  std::vector<std::string> first, all;
  EXPECT_FALSE(mapspace.ForEachOfTiling(tiling, [&](const Mapping& mapping) {
    if (first.size() == 50) return false;
    first.push_back(PrintCompact(mapping, mapspace.problem()));
    return true;
  }));
  EXPECT_TRUE(mapspace.ForEachOfTiling(tiling, [&](const Mapping& mapping) {
    all.push_back(PrintCompact(mapping, mapspace.problem()));
    return true;
  }));
  EXPECT_TRUE(std::ranges::equal(first, std::span(all).first(50)));
  EXPECT_EQ(std::set(all.begin(), all.end()).size(), all.size());
}

TEST_F(MapperTest, ConvergenceAStopAndTimeEndASearch) {
  MapperOptions options;
  options.victory = 50;
  const MapperResult result = Run("random-pruned", options);
  EXPECT_EQ(result.end, trial::StopReason::kConverged);
  EXPECT_EQ(result.evaluations, result.improvements.back().evaluations + 50);
  options = {};
  options.run.budget.stop = [] { return true; };
  EXPECT_EQ(Run("genetic", options).end, trial::StopReason::kStopped);
  options = {};
  options.run.budget.seconds = 0;
  EXPECT_EQ(Run("annealing", options).end, trial::StopReason::kTime);
}

/// A stop is heard while a mapper looks for a mapping that fits.
TEST(NothingFits, AStopEndsTheDrawing) {
  Architecture architecture = ShippedArchitecture("gemmini");
  for (size_t l = 1; l + 1 < architecture.levels.size(); ++l) architecture.levels[l].words = 1;
  architecture.levels[0].words = 1;
  const Mapspace mapspace(MatmulProblem(64, 64, 64), architecture);
  const AnalyticalModel model(mapspace.problem(), architecture);
  const auto evaluator = MakeModelEvaluator(model, {MapObjective::kEnergy});
  for (std::string_view name : {"random-pruned", "genetic", "annealing"}) {
    MapperOptions options;
    int asked = 0;
    options.run.budget.stop = [&] { return ++asked > 3; };
    const MapperResult result = RunMapper(name, mapspace, model, *evaluator, options);
    if (result.evaluations > 0) continue;  // something fits after all
    EXPECT_EQ(result.end, trial::StopReason::kStopped) << name;
  }
}

TEST_F(MapperTest, RefusesWhatItCannotDo) {
  EXPECT_THROW(Run("oracle", {}), InputError);
  const Mapspace large(MatmulProblem(512, 512, 512), ShippedArchitecture("gemmini"));
  EXPECT_THROW(RunMapper("exhaustive", large, model_, *evaluator_, {}), InputError);
}

TEST_F(MapperTest, CommandsEvaluateMappings) {
  const Mapping mapping = OutermostMapping(mapspace_.problem(), mapspace_.architecture());
  const auto evaluate = [&](const std::string& command) {
    SimulatorOptions options;
    options.command = command;
    options.timeout_seconds = 60;
    return trial::EvaluateOne(
        *MakeSimulatorEvaluator(mapspace_.problem(), mapspace_.architecture(), options), mapping);
  };
  // Counts the directives of the mapping: three for each level without fanout would be twelve.
  const trial::Outcome counted = evaluate("grep -c 'type: temporal' {mapping}");
  EXPECT_EQ(counted.value, 4);
  EXPECT_EQ(evaluate("grep -c read-write {problem}").value, 1);
  EXPECT_EQ(evaluate("grep -c entries {arch}").value, 3);
  EXPECT_EQ(evaluate("echo nothing").verdict, trial::Verdict::kInvalidAnswer);
  EXPECT_EQ(evaluate("exit 3").verdict, trial::Verdict::kCrash);
  EXPECT_THAT(evaluate("exit 3").reason, HasSubstr("exit code 3"));
  EXPECT_THAT(evaluate("echo no such level >&2; echo >&2; exit 3").reason,
              HasSubstr("3: no such level"));
  EXPECT_THAT(evaluate("bayloom-has-no-such-command").reason, HasSubstr("exit code 127"));
  EXPECT_THAT(evaluate("if").reason, HasSubstr("yntax error"));
  EXPECT_EQ(evaluate("test \"$PWD\" = '" + std::filesystem::current_path().string() + "' && echo 7")
                .value,
            7);
  // The files are gone afterwards.
  const std::string path = evaluate("echo {mapping} >&2; exit 1").reason;
  EXPECT_FALSE(std::filesystem::exists(path.substr(path.find('/'))));
}

TEST_F(MapperTest, SimulatorsEvaluateSeveralMappingsAtATime) {
  SimulatorOptions options;
  options.command = "echo {mapping} | wc -c";
  options.jobs = 4;
  const auto evaluator =
      MakeSimulatorEvaluator(mapspace_.problem(), mapspace_.architecture(), options);
  EXPECT_EQ(evaluator->Capacity(), 4);
  MapperOptions search = Evaluations(22);
  search.evaluate_once = true;
  const MapperResult result = RunMapper("genetic", mapspace_, model_, *evaluator, search);
  EXPECT_EQ(result.evaluations, 22);
  EXPECT_TRUE(result.failure.empty()) << result.failure;
}

TEST(TimeloopStats, GiveTheValue) {
  const std::string stats =
      "Level 1\n    Cycles               : 99\nSummary Stats\n-------------\n"
      "Utilization: 1.00\nCycles: 512\nEnergy: 0.50 uJ\n";
  EXPECT_EQ(*ParseTimeloopStats(stats, 1000, MapObjective::kEnergy), 500);
  EXPECT_EQ(*ParseTimeloopStats(stats, 1000, MapObjective::kDelay), 512);
  EXPECT_EQ(*ParseTimeloopStats(stats, 1000, MapObjective::kEnergyDelay), 512 * 0.5e6);
  // Where the parts add up to the summary, they tell it to more digits.
  const std::string parts =
      "    Energy (total)               : 65.50 pJ\n        Energy (total)   : 161.75 pJ\n"
      "        Energy (per-instance)        : 161.75 pJ\n"
      "        Temporal Reduction Energy (total)     : 0.50 pJ\nCycles: 2\nEnergy: ";
  EXPECT_EQ(*ParseTimeloopStats(parts + "0.00 uJ\n", 1, MapObjective::kEnergy), 227.75);
  EXPECT_EQ(*ParseTimeloopStats(parts + "0.50 uJ\n", 1, MapObjective::kEnergy), 0.5e6);
  EXPECT_FALSE(ParseTimeloopStats("Cycles: 4\n", 1, MapObjective::kEnergy).ok());
}

}  // namespace
}  // namespace bayloom::mapspace
