#include "bayloom/mapspace/mapper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "bayloom/base/result.h"

namespace bayloom {
namespace {

using testing::HasSubstr;

class Mapper : public testing::Test {
 protected:
  MapperResult Run(std::string_view name, MapperOptions options) {
    return RunMapper(name, mapspace_, model_, *evaluator_, options);
  }

  Mapspace mapspace_{MatmulProblem(8, 4, 16), ShippedArchitecture("gemmini")};
  AnalyticalModel model_{mapspace_.problem(), mapspace_.architecture()};
  std::unique_ptr<MappingEvaluator> evaluator_ = MakeModelEvaluator(model_, MapObjective::kEnergy);
};

TEST_F(Mapper, AllComeCloseToTheBest) {
  MapperOptions all;
  all.max_evaluations = 10'000'000;
  const MapperResult exhaustive = Run("exhaustive", all);
  EXPECT_EQ(exhaustive.end, MapperEnd::kExhausted);
  ASSERT_TRUE(exhaustive.best.has_value());
  for (std::string_view name : MapperNames()) {
    if (name == "exhaustive" || name == "bayesian" || name == "forest") continue;
    MapperOptions options;
    options.max_evaluations = 1500;
    const MapperResult result = Run(name, options);
    SCOPED_TRACE(name);
    EXPECT_EQ(result.evaluations, 1500);
    EXPECT_EQ(result.end, MapperEnd::kEvaluations);
    EXPECT_GE(result.value, exhaustive.value);
    EXPECT_LE(result.value, 1.3 * exhaustive.value);
    EXPECT_EQ(result.value, evaluator_->Evaluate(*result.best).value);
    EXPECT_EQ(result.BestAfter(1500), result.value);
    EXPECT_GE(result.BestAfter(10), result.value);
  }
}

TEST_F(Mapper, OneSeedOneResult) {
  for (std::string_view name : {"random-pruned", "genetic", "annealing", "random"}) {
    const auto values = [&](uint64_t seed) {
      MapperOptions options;
      options.seed = seed;
      options.max_evaluations = 200;
      std::vector<double> improvements;
      for (const auto& improvement : Run(name, options).improvements) {
        improvements.push_back(improvement.value);
      }
      return improvements;
    };
    EXPECT_EQ(values(1), values(1)) << name;
    EXPECT_NE(values(1), values(2)) << name;
  }
}

TEST_F(Mapper, PausesChangeNothing) {
  for (std::string_view name : {"genetic", "annealing", "exhaustive", "bayesian"}) {
    SCOPED_TRACE(name);
    MapperOptions options;
    options.max_evaluations = name == "bayesian" ? 30 : 500;
    const MapperResult whole = Run(name, options);
    MapperSearch search(name, mapspace_, model_, *evaluator_, options);
    for (int64_t count = 7; !search.finished(); count += 7) {
      search.Continue(count);
      EXPECT_EQ(search.result().evaluations, std::min(count, options.max_evaluations));
    }
    EXPECT_EQ(search.result().value, whole.value);
    EXPECT_EQ(search.result().drawn, whole.drawn);
    EXPECT_EQ(search.result().end, MapperEnd::kEvaluations);
  }
}

TEST(SmallMapspace, IsSearchedThrough) {
  const Mapspace mapspace(MatmulProblem(2, 2, 1), ShippedArchitecture("gemmini"));
  const AnalyticalModel model(mapspace.problem(), mapspace.architecture());
  const auto evaluator = MakeModelEvaluator(model, MapObjective::kEnergy);
  MapperOptions options;
  options.max_evaluations = 10'000;
  const MapperResult all = RunMapper("exhaustive", mapspace, model, *evaluator, options);
  for (std::string_view name : {"bayesian", "forest", "ensemble"}) {
    const MapperResult result = RunMapper(name, mapspace, model, *evaluator, options);
    EXPECT_EQ(result.end, MapperEnd::kExhausted) << name;
    EXPECT_EQ(result.evaluations, all.evaluations) << name;
    EXPECT_EQ(result.value, all.value) << name;
  }
}

TEST_F(Mapper, VictoryEndsASearch) {
  MapperOptions options;
  options.victory = 50;
  const MapperResult result = Run("random-pruned", options);
  EXPECT_EQ(result.end, MapperEnd::kVictory);
  EXPECT_EQ(result.evaluations, result.improvements.back().evaluations + 50);
  options = {};
  options.stop = [] { return true; };
  EXPECT_EQ(Run("genetic", options).end, MapperEnd::kStopped);
  options = {};
  options.max_seconds = 0;
  EXPECT_EQ(Run("annealing", options).end, MapperEnd::kTime);
}

TEST_F(Mapper, RefusesWhatItCannotDo) {
  EXPECT_THROW(Run("oracle", {}), InputError);
  const Mapspace large(MatmulProblem(512, 512, 512), ShippedArchitecture("gemmini"));
  EXPECT_THROW(RunMapper("exhaustive", large, model_, *evaluator_, {}), InputError);
}

TEST_F(Mapper, CommandsEvaluateMappings) {
  const Mapping mapping = OutermostMapping(mapspace_.problem(), mapspace_.architecture());
  const auto evaluate = [&](const std::string& command) {
    return MakeCommandEvaluator(mapspace_.problem(), mapspace_.architecture(), {command, 5})
        ->Evaluate(mapping);
  };
  // Counts the directives of the mapping: three for each level without fanout would be twelve.
  const Outcome counted = evaluate("echo levels: $(grep -c 'type: temporal' {mapping})");
  EXPECT_EQ(counted.value, 4);
  EXPECT_EQ(evaluate("grep -c read-write {problem}").value, 1);
  EXPECT_EQ(evaluate("grep -c entries {arch}").value, 3);
  EXPECT_EQ(evaluate("echo nothing").verdict, Verdict::kWrongOutput);
  EXPECT_EQ(evaluate("exit 3").verdict, Verdict::kCrash);
  EXPECT_THAT(evaluate("exit 3").reason, HasSubstr("exit code 3"));
  EXPECT_THAT(evaluate("echo no such level; echo; exit 3").reason, HasSubstr("3: no such level"));
  EXPECT_THROW(evaluate("bayloom-has-no-such-command"), InputError);
  EXPECT_THAT(evaluate("if").reason, HasSubstr("yntax error"));
  EXPECT_EQ(evaluate("test \"$PWD\" = '" + std::filesystem::current_path().string() + "' && echo 7")
                .value,
            7);
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
}  // namespace bayloom
