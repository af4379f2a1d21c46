#include "bayloom/tuning/network_mapping.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "bayloom/base/result.h"
#include "bayloom/tuning/map_records.h"
#include "tests/temporary_folder.h"

namespace bayloom {
namespace {

std::vector<NetworkLayer> TwoLayers() {
  return {{"small", MatmulProblem(8, 8, 8), 3}, {"large", MatmulProblem(64, 128, 256), 1}};
}

NetworkMapping::EvaluatorFactory Modelled(MapObjective objective) {
  return [=](const Mapspace&, const AnalyticalModel& model, MapperOptions&) {
    return MakeModelEvaluator(model, objective);
  };
}

TEST(NetworkMapping, GivesEvaluationsWhereTheyCount) {
  NetworkMappingOptions options;
  options.max_evaluations = 2000;
  NetworkMapping mapping(TwoLayers(), ShippedArchitecture("gemmini"), {},
                         Modelled(MapObjective::kEnergy), options);
  int turns = 0;
  mapping.Run([&] { ++turns; });
  EXPECT_EQ(mapping.evaluations(), 2000);
  EXPECT_EQ(turns, 40);
  EXPECT_EQ(mapping.end(), MapperEnd::kEvaluations);
  const auto spent = [&](int layer) {
    return mapping.layers()[layer].search->result().evaluations;
  };
  EXPECT_GT(spent(1), 4 * spent(0));
  EXPECT_GT(spent(0), 0);

  double energy = 0, cycles = 0;
  for (const NetworkMapping::Layer& layer : mapping.layers()) {
    const Evaluation best = layer.model->Evaluate(*layer.search->result().best);
    EXPECT_EQ(best.EnergyPerMac(), layer.search->result().value);
    energy += layer.layer.count * best.energy_pj;
    cycles += layer.layer.count * static_cast<double>(best.cycles);
  }
  EXPECT_DOUBLE_EQ(mapping.Sum().energy_pj, energy);
  EXPECT_DOUBLE_EQ(mapping.Sum().cycles, cycles);
  EXPECT_EQ(mapping.Sum().mapped, 2);
}

TEST(NetworkMapping, EqualSharesAndStops) {
  NetworkMappingOptions options;
  options.max_evaluations = 400;
  options.scheduler = "round-robin";
  NetworkMapping mapping(TwoLayers(), ShippedArchitecture("gemmini"), {},
                         Modelled(MapObjective::kDelay), options);
  mapping.Run([] {});
  EXPECT_EQ(mapping.layers()[0].search->result().evaluations, 200);
  options.search.stop = [] { return true; };
  NetworkMapping stopped(TwoLayers(), ShippedArchitecture("gemmini"), {},
                         Modelled(MapObjective::kDelay), options);
  stopped.Run([] {});
  EXPECT_EQ(stopped.end(), MapperEnd::kStopped);
  EXPECT_EQ(stopped.Sum().mapped, 0);
  EXPECT_THROW(NetworkMapping({}, ShippedArchitecture("gemmini"), {},
                              Modelled(MapObjective::kDelay), options),
               InputError);
}

TEST(NetworkMapping, LayersLearnFromEachOther) {
  // Of eight layers of one size, each finds in few evaluations what one of them found.
  const std::vector<NetworkLayer> alike(8, {"layer", MatmulProblem(64, 128, 256), 1});
  NetworkMappingOptions options;
  options.mapper = "bayesian";
  options.scheduler = "round-robin";
  options.max_evaluations = 8 * 20;
  NetworkMapping mapping(alike, ShippedArchitecture("gemmini"), {}, Modelled(MapObjective::kEnergy),
                         options);
  mapping.Run([] {});
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (const NetworkMapping::Layer& layer : mapping.layers()) {
    least = std::min(least, layer.search->result().value);
    most = std::max(most, layer.search->result().value);
  }
  EXPECT_LE(most, 1.05 * least);
}

class MapRecords : public testing::Test {
 protected:
  /// Runs so many evaluations of a search and tells how many of them were new.
  MapperResult Search(int64_t evaluations, bool resume, int64_t& recalled) {
    SearchRecords records(path_);
    RecordedEvaluator evaluator(
        MakeModelEvaluator(model_, MapObjective::kEnergy),
        {mapspace_.problem(), mapspace_.architecture(), "energy", "model", "genetic", 5}, records,
        resume);
    recalled = evaluator.recalled();
    MapperOptions options;
    options.seed = 5;
    options.max_evaluations = evaluations;
    return RunMapper("genetic", mapspace_, model_, evaluator, options);
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_ / "records.db";
  Mapspace mapspace_{MatmulProblem(32, 16, 64), ShippedArchitecture("gemmini")};
  AnalyticalModel model_{mapspace_.problem(), mapspace_.architecture()};
};

TEST_F(MapRecords, AResumedSearchGoesOnAsIfItHadNeverStopped) {
  int64_t recalled = 0;
  Search(100, false, recalled);
  EXPECT_EQ(recalled, 0);
  const MapperResult resumed = Search(300, true, recalled);
  EXPECT_GT(recalled, 80);
  EXPECT_LE(recalled, 100);  // genetic mappers meet some mappings twice
  const MapperResult whole = Search(300, false, recalled);
  EXPECT_EQ(recalled, 0);
  EXPECT_EQ(resumed.value, whole.value);
  EXPECT_EQ(resumed.drawn, whole.drawn);
}

TEST_F(MapRecords, EarlierMappingsCanBeReadBack) {
  int64_t recalled = 0;
  const MapperResult result = Search(100, false, recalled);
  SearchRecords records(path_);
  const std::vector<EarlierMappings> earlier = ReadEarlierMappings(records, "energy");
  ASSERT_EQ(earlier.size(), 1u);
  EXPECT_EQ(earlier[0].problem, mapspace_.problem());
  EXPECT_EQ(std::ranges::min(earlier[0].values), result.value);
  for (size_t i = 0; i < earlier[0].mappings.size(); ++i) {
    EXPECT_EQ(model_.Evaluate(earlier[0].mappings[i]).EnergyPerMac(), earlier[0].values[i]);
  }
  EXPECT_TRUE(ReadEarlierMappings(records, "delay").empty());
}

}  // namespace
}  // namespace bayloom
