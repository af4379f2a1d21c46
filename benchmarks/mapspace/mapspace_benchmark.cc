// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Mappings evaluated a second and core: what fits of Timeloop's random draws, energy and cycles
/// with all counts.

#include <benchmark/benchmark.h>

#include <vector>

#include "bayloom/mapspace/mapspace.h"
#include "bayloom/mapspace/model.h"

namespace bayloom {
namespace {

mapspace::Problem Matmul() { return mapspace::MatmulProblem(512, 512, 512); }

/// The convolution of Kannan 2023.
mapspace::Problem Convolution() {
  return mapspace::Conv2dProblem({.r = 3, .s = 3, .p = 56, .q = 56, .c = 144, .m = 24, .n = 16});
}

std::vector<mapspace::Mapping> FittingMappings(const mapspace::Mapspace& mapspace,
                                               const mapspace::AnalyticalModel& model) {
  base::RandomStream random(1);
  std::vector<mapspace::Mapping> mappings;
  while (mappings.size() < 1000) {
    mapspace::Mapping mapping;
    if (!mapspace.SampleTiling(random, mapping) || !model.Fits(mapping)) continue;
    mapspace.ShuffleOrders(random, mapping);
    mappings.push_back(mapping);
  }
  return mappings;
}

void Evaluate(benchmark::State& state, const mapspace::Problem& problem,
              const mapspace::Architecture& architecture, mapspace::ReuseCounting counting) {
  const mapspace::Mapspace mapspace(problem, architecture);
  const mapspace::AnalyticalModel model(problem, mapspace.architecture(), counting);
  const std::vector<mapspace::Mapping> mappings = FittingMappings(mapspace, model);
  size_t i = 0;
  for (auto _ : state) {
    const mapspace::Mapping& mapping = mappings[i++ % mappings.size()];
    if (model.Fits(mapping)) benchmark::DoNotOptimize(model.Evaluate(mapping));
  }
  state.SetItemsProcessed(state.iterations());
}

void BM_Matmul(benchmark::State& state) {
  Evaluate(state, Matmul(), mapspace::ShippedArchitecture("gemmini"),
           mapspace::ReuseCounting::kExact);
}
BENCHMARK(BM_Matmul);

void BM_Convolution(benchmark::State& state) {
  Evaluate(state, Convolution(), mapspace::ShippedArchitecture("gemmini"),
           mapspace::ReuseCounting::kExact);
}
BENCHMARK(BM_Convolution);

void BM_ConvolutionAsTimeloop(benchmark::State& state) {
  Evaluate(state, Convolution(), mapspace::ShippedArchitecture("gemmini"),
           mapspace::ReuseCounting::kTimeloop);
}
BENCHMARK(BM_ConvolutionAsTimeloop);

void BM_ConvolutionOnAnArray(benchmark::State& state) {
  Evaluate(state, Convolution(), mapspace::ShippedArchitecture("gemmini16x16"),
           mapspace::ReuseCounting::kExact);
}
BENCHMARK(BM_ConvolutionOnAnArray);

/// Weights compressed at all levels that keep them, sums skipped where a weight is zero: what the
/// counts of sparse tensors add to a mapping.
mapspace::Architecture SkippingGemmini() {
  mapspace::Architecture gemmini = mapspace::ShippedArchitecture("gemmini");
  int ranks = 0;
  for (mapspace::StorageLevel& level : gemmini.levels) {
    mapspace::TensorFormat format{
        .tensor = "Weights", .ranks = {}, .inner_to_outer = true, .where = ""};
    ranks += mapspace::kMaxDimensions;  // as many as loops from here inwards
    format.ranks.assign(ranks, {.format = mapspace::RankFormat::kOffsetPair, .flattened = {}});
    format.ranks.back().format = mapspace::RankFormat::kCoordinatePayload;
    level.sparsity.formats.push_back(std::move(format));
  }
  gemmini.levels[0].sparsity.actions.push_back(
      {.kind = mapspace::ActionOptimization::Kind::kSkipping,
       .options = {{"Inputs", {"Weights"}}},
       .where = ""});
  return gemmini;
}

void BM_SparseConvolution(benchmark::State& state) {
  mapspace::Problem problem = Convolution();
  problem.tensors[0].density = mapspace::ParseDensity("0.3");
  Evaluate(state, problem, SkippingGemmini(), mapspace::ReuseCounting::kExact);
}
BENCHMARK(BM_SparseConvolution);

/// Drawing included, as a random search does it.
void BM_DrawAndEvaluate(benchmark::State& state) {
  const mapspace::Mapspace mapspace(Convolution(), mapspace::ShippedArchitecture("gemmini"));
  const mapspace::AnalyticalModel model(mapspace.problem(), mapspace.architecture());
  base::RandomStream random(1);
  for (auto _ : state) {
    mapspace::Mapping mapping;
    while (!mapspace.SampleTiling(random, mapping) || !model.Fits(mapping)) {
    }
    mapspace.ShuffleOrders(random, mapping);
    benchmark::DoNotOptimize(model.Evaluate(mapping));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_DrawAndEvaluate);

}  // namespace
}  // namespace bayloom
