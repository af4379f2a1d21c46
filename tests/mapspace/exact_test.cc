// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/base/result.h"
#include "bayloom/mapspace/exact/certificate.h"
#include "bayloom/mapspace/exact/exact_search.h"
#include "bayloom/mapspace/exact/partial_mapping.h"
#include "bayloom/mapspace/uneven.h"
#include "tests/mapspace/random_accelerator.h"

namespace bayloom::mapspace {
namespace {

constexpr double kMaxEnumerated = 1e5;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

constexpr std::array kObjectives = {MapObjective::kEnergy, MapObjective::kDelay,
                                    MapObjective::kEnergyDelay};

/// The least value of each objective of everything that fits; infinite if nothing does.
std::array<double, 3> EnumerateAll(const Mapspace& mapspace, const AnalyticalModel& model) {
  std::array<double, 3> least = {kInfinity, kInfinity, kInfinity};
  for (int64_t tiling = 0; tiling < mapspace.TilingCount(); ++tiling) {
    (void)mapspace.ForEachOfTiling(tiling, [&](const Mapping& mapping) {
      if (!model.Fits(mapping)) return true;
      const Evaluation evaluation = model.Evaluate(mapping);
      for (size_t i = 0; i < kObjectives.size(); ++i) {
        least[i] = std::min(least[i], ValueOf(evaluation, kObjectives[i]));
      }
      return true;
    });
  }
  return least;
}

/// By how much sums may differ; the model's cycles, rounded up, by one.
double Rounding(const Evaluation& evaluation, MapObjective objective) {
  const double energy = objective == MapObjective::kDelay ? 1 : evaluation.energy_pj;
  return objective == MapObjective::kEnergy ? 1e-9 * energy : 1.001 * energy;
}

TileIndex IndexOf(const PartialMappingModel& costs, const Extents& extents) {
  TileIndex tile = {};
  for (int d = 0; d < costs.problem().DimensionCount(); ++d) {
    const std::vector<int64_t>& divisors = costs.Divisors(d);
    tile[d] = static_cast<uint8_t>(std::ranges::find(divisors, extents[d]) - divisors.begin());
  }
  return tile;
}

/// The decisions of a mapping, one by one, each with the bound on what follows.
PartialMapping Replay(PartialMappingModel& costs, const Mapping& mapping,
                      std::vector<double>& bounds) {
  PartialMapping partial = costs.Empty();
  Extents tile = kUnitExtents;
  const auto bound = [&](Position position) {
    bounds.push_back(costs.LowerBound(partial, position, kInfinity));
  };
  const int dimensions = costs.problem().DimensionCount();
  for (int l = 0; l < std::ssize(mapping.levels); ++l) {
    const MappingLevel& level = mapping.levels[l];
    bound({l, false});
    for (int d = 0; d < dimensions; ++d) tile[d] *= level.spatial[d];
    costs.Spread(partial, IndexOf(costs, tile));
    bound({l, true});
    for (int i = 0; i < dimensions; ++i) {
      const int d = level.order[i];
      if (level.temporal[d] == 1) continue;
      tile[d] *= level.temporal[d];
      costs.Loop(partial, d, IndexOf(costs, tile)[d]);
      bound({l, true});
    }
    costs.Place(partial, l, level.keep);
  }
  costs.Finish(partial);
  return partial;
}

TEST(PartialMappingTest, CostsAreTheModelsAndBoundsAreBelow) {
  base::RandomStream random(2);
  for (int i = 0; i < 1000; ++i) {
    const Problem problem = RandomProblem(random);
    Architecture architecture = RandomAccelerator(problem, random);
    if (i % 2 == 1) architecture = SplitMemories(architecture, problem);
    const Mapspace mapspace(problem, architecture);
    const AnalyticalModel model(problem, architecture);
    Mapping mapping;
    if (!mapspace.SampleTiling(random, mapping)) continue;
    mapspace.ShuffleOrders(random, mapping);
    SCOPED_TRACE(testing::Message()
                 << "case " << i << ": " << problem.Describe() << " on " << architecture.Describe()
                 << PrintLoopNest(mapping, problem, architecture));
    for (const MapObjective objective : kObjectives) {
      PartialMappingModel costs(mapspace, model, objective);
      std::vector<double> bounds;
      const PartialMapping finished = Replay(costs, mapping, bounds);
      const Evaluation evaluation = model.Evaluate(mapping);
      const double value = objective == MapObjective::kEnergy ? evaluation.energy_pj
                                                              : ValueOf(evaluation, objective);
      ASSERT_NEAR(costs.ValueOf(finished), value, Rounding(evaluation, objective))
          << ToString(objective);
      if (!model.Fits(mapping)) continue;  // bounds are of mappings that fit
      for (const double bound : bounds) ASSERT_LE(bound, value * (1 + 1e-9)) << ToString(objective);
    }
  }
}

/// How many random cases; more than by default by an environment variable.
int Cases() {
  const char* more = std::getenv("BAYLOOM_EXACT_CASES");
  return more != nullptr ? std::atoi(more) : 200;
}

/// Of even mappings, and of uneven ones, of which there are many more.
class ExactTest : public testing::TestWithParam<MappingKind> {};

TEST_P(ExactTest, FindsWhatFullEnumerationFinds) {
  base::RandomStream random(1);
  int with_mapping = 0;
  for (int i = 0; i < Cases(); ++i) {
    const Problem problem = RandomProblem(random);
    Architecture architecture = RandomAccelerator(problem, random);
    const std::vector<Directive> constraints = RandomConstraints(problem, architecture, random);
    if (GetParam() == MappingKind::kUneven) {
      architecture = SplitMemories(architecture, problem, constraints);
    }
    const Mapspace mapspace(problem, architecture, constraints);
    if (mapspace.Size() > kMaxEnumerated) continue;
    const AnalyticalModel model(problem, architecture);
    SCOPED_TRACE(testing::Message() << "case " << i << ": " << problem.Describe() << " on "
                                    << architecture.Describe());
    ASSERT_EQ(WhyNotExact(mapspace, model), "");
    const std::array<double, 3> all = EnumerateAll(mapspace, model);
    for (size_t o = 0; o < kObjectives.size(); ++o) {
      const MapObjective objective = kObjectives[o];
      const double least = all[o];
      ExactOptions options;
      options.objective = objective;
      options.known_value = kInfinity;
      const ExactResult result = SearchExactly(mapspace, model, options);
      SCOPED_TRACE(ToString(objective));
      ASSERT_TRUE(result.is_whole);
      ASSERT_EQ(result.best.has_value(), least < kInfinity);
      if (!result.best) continue;
      ++with_mapping;
      EXPECT_TRUE(model.Fits(*result.best));
      EXPECT_TRUE(
          Satisfies(*result.best, mapspace.constraints(), problem, mapspace.architecture()));
      const double rounding = Rounding(model.Evaluate(*result.best), objective);
      ASSERT_NEAR(result.value, least, rounding);
      EXPECT_NEAR(result.bound, least, rounding);
    }
  }
  EXPECT_GT(with_mapping, Cases() / 4);
}

INSTANTIATE_TEST_SUITE_P(Kinds, ExactTest,
                         testing::Values(MappingKind::kEven, MappingKind::kUneven),
                         [](const auto& kind) {
                           return kind.param == MappingKind::kEven ? "Even" : "Uneven";
                         });

Certificate CertificateOf(const Mapspace& mapspace, const AnalyticalModel& model,
                          MapObjective objective) {
  ExactOptions options;
  options.objective = objective;
  options.known_value = kInfinity;
  // Known to be a little worse than the best, so that bounds cut off.
  options.known_value = 1.02 * SearchExactly(mapspace, model, options).value;
  ExactResult result = SearchExactly(mapspace, model, options);
  Certificate certificate;
  certificate.problem = mapspace.problem().Describe();
  certificate.objective = objective;
  certificate.mapping = *result.best;
  certificate.value = result.value;
  certificate.bound = result.bound;
  certificate.is_whole = result.is_whole;
  certificate.mapspace_size = mapspace.Size();
  certificate.counts = result.counts;
  certificate.sample = std::move(result.sample);
  return certificate;
}

class CertificateTest : public testing::Test {
 protected:
  const Mapspace mapspace_{MatmulProblem(32, 24, 48), ShippedArchitecture("gemmini")};
  const AnalyticalModel model_{mapspace_.problem(), mapspace_.architecture()};
  const Certificate certificate_ = CertificateOf(mapspace_, model_, MapObjective::kEnergyDelay);
};

TEST_F(CertificateTest, IsReadAsItWasWrittenAndHolds) {
  const Certificate read = CertificateFromJson(ToJson(certificate_, mapspace_), mapspace_);
  EXPECT_EQ(ToJson(read, mapspace_), ToJson(certificate_, mapspace_));
  EXPECT_TRUE(read.is_whole);
  EXPECT_GT(read.counts.made, read.counts.bounded + read.counts.dominated);
  const Result<CertificateCheck> check = CheckCertificate(read, mapspace_, model_, 1);
  ASSERT_TRUE(check) << check.error().message;
  EXPECT_GT(check->mappings, 1000);
  EXPECT_GT(check->completions, 100);
}

/// What is decided of a memory's parts stays as it is in completions.
TEST(UnevenCertificateTest, Holds) {
  const Problem problem = MatmulProblem(32, 58, 48);
  const Mapspace mapspace(problem, SplitMemories(ShippedArchitecture("gemmini"), problem));
  const AnalyticalModel model(problem, mapspace.architecture());
  for (const MapObjective objective : {MapObjective::kEnergy, MapObjective::kEnergyDelay}) {
    const Certificate certificate = CertificateOf(mapspace, model, objective);
    const Result<CertificateCheck> check = CheckCertificate(certificate, mapspace, model, 1);
    ASSERT_TRUE(check) << check.error().message;
    EXPECT_FALSE(certificate.sample.empty());
    EXPECT_GT(check->completions, 100);
  }
}

TEST_F(CertificateTest, WrongClaimsAreFound) {
  const auto message = [&](const Certificate& certificate) {
    const Result<CertificateCheck> check = CheckCertificate(certificate, mapspace_, model_, 1);
    return check ? "" : check.error().message;
  };
  Certificate wrong = certificate_;
  wrong.value *= 0.99;
  wrong.bound = wrong.value;
  EXPECT_THAT(message(wrong), testing::HasSubstr("by the model"));
  // A mapping that is not the best one: a neighbour is better.
  wrong = certificate_;
  wrong.mapping = OutermostMapping(model_.problem(), model_.architecture());
  wrong.mapping.levels[0].keep = wrong.mapping.levels[3].keep = 7;
  wrong.mapping.levels[1].keep = 1 << model_.problem().TensorNamed("Outputs");
  wrong.mapping.levels[2].keep = 7 & ~wrong.mapping.levels[1].keep;
  wrong.value = wrong.bound = ValueOf(model_.Evaluate(wrong.mapping), MapObjective::kEnergyDelay);
  EXPECT_THAT(message(wrong), testing::HasSubstr("below the bound"));
  wrong = certificate_;
  wrong.mapspace_size *= 2;
  EXPECT_THAT(message(wrong), testing::HasSubstr("mappings"));
  wrong = certificate_;
  ASSERT_FALSE(wrong.sample.empty());
  wrong.sample[0].bound *= 1e6;
  EXPECT_THAT(message(wrong), testing::HasSubstr("completion"));
}

TEST_F(CertificateTest, OfAnotherProblemItIsRefused) {
  const Mapspace other(MatmulProblem(32, 24, 49), mapspace_.architecture());
  EXPECT_THROW((void)CertificateFromJson(ToJson(certificate_, mapspace_), other), InputError);
  EXPECT_THROW((void)CertificateFromJson(nlohmann::json::object(), mapspace_), InputError);
}

TEST(ExactSearchTest, StoppedItBoundsWhatIsLeft) {
  const Problem problem = MatmulProblem(64, 48, 96);
  const Mapspace mapspace(problem, ShippedArchitecture("gemmini"));
  const AnalyticalModel model(problem, mapspace.architecture());
  ExactOptions options;
  options.known_value = kInfinity;
  const double least = SearchExactly(mapspace, model, options).value;
  options.known_value = 2 * least;
  int asked = 0;
  options.interrupted = [&] { return ++asked > 6; };
  const ExactResult stopped = SearchExactly(mapspace, model, options);
  EXPECT_FALSE(stopped.is_whole);
  EXPECT_LE(stopped.bound, least);
  EXPECT_GT(stopped.bound, 0.2 * least);
  options.interrupted = [] { return false; };
  options.max_made = 3000;
  const ExactResult given_up = SearchExactly(mapspace, model, options);
  EXPECT_FALSE(given_up.is_whole);
  EXPECT_LE(given_up.bound, least);
  options.max_made = 300'000;
  EXPECT_TRUE(SearchExactly(mapspace, model, options).is_whole);
}

TEST(ExactSearchTest, SaysWhatItDoesNotCover) {
  const Architecture architecture = ShippedArchitecture("gemmini");
  const auto why_not = [&](const Problem& problem, ReuseCounting counting) {
    const Mapspace mapspace(problem, architecture);
    return WhyNotExact(mapspace, AnalyticalModel(problem, architecture, counting));
  };
  Problem sparse = MatmulProblem(8, 8, 8);
  sparse.tensors[0].word_bits = 4;
  EXPECT_THAT(why_not(sparse, ReuseCounting::kExact), testing::HasSubstr("sparse"));
  const Problem convolution = ParseProblem("conv2d:14x14x64,64,3x3,pad=1");
  EXPECT_EQ(why_not(convolution, ReuseCounting::kExact), "");
  EXPECT_THAT(why_not(convolution, ReuseCounting::kTimeloop), testing::HasSubstr("exact"));
  EXPECT_EQ(why_not(MatmulProblem(8, 8, 8), ReuseCounting::kTimeloop), "");
}

}  // namespace
}  // namespace bayloom::mapspace
