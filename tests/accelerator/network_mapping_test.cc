// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/accelerator/network_mapping.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "bayloom/accelerator/earlier_mappings.h"
#include "bayloom/base/result.h"
#include "tests/temporary_folder.h"

namespace bayloom::accelerator {
namespace {

std::vector<NetworkLayer> TwoLayers() {
  return {{"small", mapspace::MatmulProblem(8, 8, 8), 3},
          {"large", mapspace::MatmulProblem(64, 128, 256), 1}};
}

MapOptions Options(int64_t evaluations, const std::string& mapper = "") {
  MapOptions options;
  options.search.run.budget.trials = evaluations;
  options.mapper = mapper;
  return options;
}

TEST(NetworkMapping, GivesEvaluationsWhereTheyCount) {
  NetworkMapping run(TwoLayers(), mapspace::ShippedArchitecture("gemmini"), {}, Options(2000));
  int turns = 0;
  EXPECT_EQ(run.Run({.on_trial = {}, .on_slot = [&](const run::RunStatus&) { ++turns; }}),
            trial::StopReason::kTrials);
  EXPECT_EQ(run.Status().trials, 2000);
  EXPECT_EQ(turns, 40);
  EXPECT_EQ(run.end(), trial::StopReason::kTrials);
  const auto spent = [&](int layer) { return run.layers()[layer].search->result().evaluations; };
  EXPECT_GT(spent(1), 4 * spent(0));
  EXPECT_GT(spent(0), 0);

  double energy = 0, cycles = 0;
  for (const NetworkMapping::Layer& layer : run.layers()) {
    const mapspace::Evaluation best = layer.model->Evaluate(*layer.search->result().best);
    EXPECT_EQ(best.EnergyPerMac(), layer.search->result().value);
    energy += layer.layer.count * best.energy_pj;
    cycles += layer.layer.count * static_cast<double>(best.cycles);
  }
  EXPECT_DOUBLE_EQ(run.Sum().energy_pj, energy);
  EXPECT_DOUBLE_EQ(run.Sum().cycles, cycles);
  EXPECT_EQ(run.Sum().mapped, 2);
}

TEST(NetworkMapping, EqualSharesAndStops) {
  MapOptions options = Options(400);
  options.search.objectives = {mapspace::MapObjective::kDelay};
  options.search.run.scheduler = "round-robin";
  NetworkMapping run(TwoLayers(), mapspace::ShippedArchitecture("gemmini"), {}, options);
  run.Run();
  EXPECT_EQ(run.layers()[0].search->result().evaluations, 200);
  options.search.run.budget.stop = [] { return true; };
  NetworkMapping stopped(TwoLayers(), mapspace::ShippedArchitecture("gemmini"), {}, options);
  EXPECT_EQ(stopped.Run(), trial::StopReason::kStopped);
  EXPECT_EQ(stopped.end(), trial::StopReason::kStopped);
  EXPECT_EQ(stopped.Sum().mapped, 0);
  EXPECT_THROW(NetworkMapping({}, mapspace::ShippedArchitecture("gemmini"), {}, options),
               InputError);
}

TEST(NetworkMapping, LayersLearnFromEachOther) {
  // Of eight layers of one size, each finds in few evaluations what one of them found.
  const std::vector<NetworkLayer> alike(8, {"layer", mapspace::MatmulProblem(64, 128, 256), 1});
  MapOptions options = Options(8 * 20, "bayesian");
  options.search.run.scheduler = "round-robin";
  NetworkMapping run(alike, mapspace::ShippedArchitecture("gemmini"), {}, options);
  run.Run();
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (const NetworkMapping::Layer& layer : run.layers()) {
    least = std::min(least, layer.search->result().value);
    most = std::max(most, layer.search->result().value);
  }
  EXPECT_LE(most, 1.05 * least);
}

TEST(NetworkMapping, ConstraintsHoldForTheLayersThatHaveTheDimension) {
  const mapspace::Problem conv = mapspace::ParseProblem("conv2d:8x8x16,32,3x3,pad=1");
  const mapspace::Problem product = mapspace::MatmulProblem(64, 128, 256);
  ASSERT_GE(conv.DimensionNamed("P"), 0);
  ASSERT_LT(product.DimensionNamed("P"), 0);
  const mapspace::Architecture gemmini = mapspace::ShippedArchitecture("gemmini");
  std::vector<mapspace::Directive> rules = {{.kind = mapspace::Directive::Kind::kTemporal,
                                             .target = gemmini.levels.front().name,
                                             .factors = {{.dimension = "P", .value = 2}}}};
  NetworkMapping run({{"conv", conv, 1}, {"product", product, 1}}, gemmini, rules, Options(400));
  run.Run();
  EXPECT_EQ(run.Sum().mapped, 2);
  const mapspace::Mapping& mapping = *run.layers()[0].search->result().best;
  EXPECT_EQ(mapping.levels.front().temporal[conv.DimensionNamed("P")], 2);

  rules[0].factors[0].dimension = "X";
  EXPECT_THROW(
      NetworkMapping({{"conv", conv, 1}, {"product", product, 1}}, gemmini, rules, Options(400)),
      InputError);
}

class RecordedMapping : public ::testing::Test {
 protected:
  std::unique_ptr<NetworkMapping> Make(int64_t evaluations, bool resume,
                                       const std::string& mapper) {
    MapOptions options = Options(evaluations, mapper);
    options.search.run.seed = 5;
    options.database = path_;
    options.resume = resume;
    return std::make_unique<NetworkMapping>(std::vector<NetworkLayer>{{"", problem_, 1}},
                                            architecture_, std::span<const mapspace::Directive>{},
                                            options);
  }

  const mapspace::Problem problem_ = mapspace::MatmulProblem(8, 4, 16);
  const mapspace::Architecture architecture_ = mapspace::ShippedArchitecture("gemmini");
  TemporaryFolder folder_;
  const std::string path_ = folder_ / "records.db";
};

class RecordedMapRun : public RecordedMapping, public ::testing::WithParamInterface<const char*> {};

TEST_P(RecordedMapRun, GoesOnFromItsTrialsAndEvaluatesNothingTwice) {
  const bool is_slow = std::string(GetParam()) == "bayesian";
  const int64_t first_part = is_slow ? 15 : 100, whole = is_slow ? 30 : 300;
  mapspace::MapperResult before;
  {
    const std::unique_ptr<NetworkMapping> run = Make(first_part, false, GetParam());
    EXPECT_EQ(run->Run(), trial::StopReason::kTrials);
    before = run->layers()[0].search->result();
    EXPECT_EQ(before.evaluations, first_part);
  }
  record::Store store(path_);
  const std::vector<record::RunRecord> runs = store.Runs(record::RunKind::kMap);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_TRUE(runs[0].finished);
  // What the model was asked twice is kept once.
  const int64_t kept = store.CountTrials(runs[0].id);
  EXPECT_LE(kept, first_part);
  EXPECT_GT(kept, first_part / 2);

  const std::unique_ptr<NetworkMapping> run = Make(whole, true, GetParam());
  EXPECT_EQ(run->layers()[0].run->record().id, runs[0].id);
  EXPECT_EQ(run->Status().trials, kept) << "earlier evaluations count";
  EXPECT_EQ(run->layers()[0].search->result().evaluations, kept);
  EXPECT_EQ(run->layers()[0].search->result().value, before.value);
  EXPECT_EQ(run->layers()[0].search->result().best, before.best);
  EXPECT_EQ(run->Run(), trial::StopReason::kTrials);
  const mapspace::MapperResult& after = run->layers()[0].search->result();
  EXPECT_EQ(after.evaluations, whole);
  EXPECT_LE(after.value, before.value);
  const std::vector<record::StoredTrial> trials = store.TrialsOfRun(runs[0].id);
  EXPECT_EQ(std::ssize(trials), whole) << "what was evaluated again would be left out";
  std::set<std::string> distinct;
  for (const record::StoredTrial& trial : trials)
    EXPECT_TRUE(distinct.insert(trial.candidate).second);

  // Nothing is left of the budget.
  EXPECT_EQ(Make(whole, true, GetParam())->Run(), trial::StopReason::kTrials);
  EXPECT_EQ(store.CountTrials(runs[0].id), whole);
  // Without `resume`, a search of its own.
  EXPECT_EQ(Make(3, false, GetParam())->Status().trials, 0);
  EXPECT_EQ(store.Runs(record::RunKind::kMap).size(), 2u);
}

INSTANTIATE_TEST_SUITE_P(Mappers, RecordedMapRun,
                         ::testing::Values("genetic", "annealing", "random-pruned", "exhaustive",
                                           "bayesian"),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST_F(RecordedMapping, GoesOnOnlyWithTheSameConstraintsAndCounting) {
  const auto trials_known = [&](std::span<const mapspace::Directive> constraints,
                                mapspace::ReuseCounting counting) {
    MapOptions options = Options(20, "genetic");
    options.database = path_;
    options.resume = true;
    options.counting = counting;
    NetworkMapping run({{"", problem_, 1}}, architecture_, constraints, options);
    const int64_t known = run.Status().trials;
    run.Run();
    return known;
  };
  const std::vector<mapspace::Directive> constraints = {
      {.kind = mapspace::Directive::Kind::kTemporal,
       .target = architecture_.levels.front().name,
       .factors = {{.dimension = problem_.dimensions[0], .value = 1}}}};
  constexpr auto kExact = mapspace::ReuseCounting::kExact;
  constexpr auto kTimeloop = mapspace::ReuseCounting::kTimeloop;
  EXPECT_EQ(trials_known({}, kExact), 0);
  EXPECT_EQ(trials_known(constraints, kExact), 0);
  EXPECT_EQ(trials_known({}, kTimeloop), 0);
  EXPECT_GT(trials_known({}, kExact), 0);
  EXPECT_GT(trials_known(constraints, kExact), 0);
  EXPECT_GT(trials_known({}, kTimeloop), 0);
}

TEST_P(RecordedMapRun, ItsMappingsCanBeReadBack) {
  const std::unique_ptr<NetworkMapping> run = Make(20, false, GetParam());
  run->Run();
  record::Store store(path_);
  const std::vector<mapspace::EarlierMappings> earlier = ReadEarlierMappings(store, "energy");
  ASSERT_EQ(earlier.size(), 1u);
  EXPECT_EQ(earlier[0].problem, problem_);
  EXPECT_EQ(std::ranges::min(earlier[0].values), run->layers()[0].search->result().value);
  const mapspace::AnalyticalModel model(problem_, architecture_);
  for (size_t i = 0; i < earlier[0].mappings.size(); ++i) {
    EXPECT_EQ(model.Evaluate(earlier[0].mappings[i]).EnergyPerMac(), earlier[0].values[i]);
  }
  EXPECT_TRUE(ReadEarlierMappings(store, "delay").empty());
}

}  // namespace
}  // namespace bayloom::accelerator
