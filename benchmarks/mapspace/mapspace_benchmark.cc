/// Mappings evaluated a second and core: what fits of Timeloop's random draws, energy and cycles
/// with all counts.

#include <benchmark/benchmark.h>

#include <vector>

#include "bayloom/mapspace/mapspace.h"
#include "bayloom/mapspace/model.h"

namespace bayloom {
namespace {

Problem Matmul() { return MatmulProblem(512, 512, 512); }

/// The convolution of Kannan 2023.
Problem Convolution() {
  return Conv2dProblem({.r = 3, .s = 3, .p = 56, .q = 56, .c = 144, .m = 24, .n = 16});
}

std::vector<Mapping> FittingMappings(const Mapspace& mapspace, const AnalyticalModel& model) {
  RandomStream random(1);
  std::vector<Mapping> mappings;
  while (mappings.size() < 1000) {
    Mapping mapping;
    if (!mapspace.SampleTiling(random, mapping) || !model.Fits(mapping)) continue;
    mapspace.ShuffleOrders(random, mapping);
    mappings.push_back(mapping);
  }
  return mappings;
}

void Evaluate(benchmark::State& state, const Problem& problem, const char* architecture,
              ReuseCounting counting) {
  const Mapspace mapspace(problem, ShippedArchitecture(architecture));
  const AnalyticalModel model(problem, mapspace.architecture(), counting);
  const std::vector<Mapping> mappings = FittingMappings(mapspace, model);
  size_t i = 0;
  for (auto _ : state) {
    const Mapping& mapping = mappings[i++ % mappings.size()];
    if (model.Fits(mapping)) benchmark::DoNotOptimize(model.Evaluate(mapping));
  }
  state.SetItemsProcessed(state.iterations());
}

void BM_Matmul(benchmark::State& state) {
  Evaluate(state, Matmul(), "gemmini", ReuseCounting::kExact);
}
BENCHMARK(BM_Matmul);

void BM_Convolution(benchmark::State& state) {
  Evaluate(state, Convolution(), "gemmini", ReuseCounting::kExact);
}
BENCHMARK(BM_Convolution);

void BM_ConvolutionAsTimeloop(benchmark::State& state) {
  Evaluate(state, Convolution(), "gemmini", ReuseCounting::kTimeloop);
}
BENCHMARK(BM_ConvolutionAsTimeloop);

void BM_ConvolutionOnAnArray(benchmark::State& state) {
  Evaluate(state, Convolution(), "gemmini16x16", ReuseCounting::kExact);
}
BENCHMARK(BM_ConvolutionOnAnArray);

/// Drawing included, as a random search does it.
void BM_DrawAndEvaluate(benchmark::State& state) {
  const Mapspace mapspace(Convolution(), ShippedArchitecture("gemmini"));
  const AnalyticalModel model(mapspace.problem(), mapspace.architecture());
  RandomStream random(1);
  for (auto _ : state) {
    Mapping mapping;
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
