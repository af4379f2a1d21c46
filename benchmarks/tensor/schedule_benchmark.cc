// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Replaying traces, the search's hot path: a tiled conv2d + bias + relu with its epilogue in the
/// tile and its padding placed, about thirty instructions.

#include <benchmark/benchmark.h>

#include <nlohmann/json.hpp>

#include "bayloom/tensor/operator_shorthand.h"
#include "bayloom/tensor/schedule.h"
#include "benchmarks/must.h"

namespace bayloom {
namespace {

tensor::Trace ConvTrace(const tensor::Workload& workload) {
  tensor::Schedule s(workload, 3);
  const tensor::BlockVar conv = Must(s.GetBlock("conv"));
  const tensor::BlockVar bias = Must(s.GetBlock("add_bias"));
  const tensor::BlockVar relu = Must(s.GetBlock("relu"));
  Must(s.ReverseComputeInline(relu));
  const std::vector<tensor::LoopVar> loops = Must(s.GetLoops(conv));
  std::vector<tensor::LoopVar> levels[6];
  for (size_t i = 0; i < loops.size(); ++i) {
    const bool spatial = i < 4;
    const std::vector<tensor::ValueVar> tile =
        Must(s.SamplePerfectTile(loops[i], spatial ? 4 : 2, 64));
    const std::vector<tensor::LoopVar> parts = Must(s.Split(loops[i], tile));
    const std::vector<int> places = spatial ? std::vector{0, 1, 3, 5} : std::vector{2, 4};
    for (size_t k = 0; k < parts.size(); ++k) levels[places[k]].push_back(parts[k]);
  }
  std::vector<tensor::LoopVar> order;
  for (const auto& level : levels) order.insert(order.end(), level.begin(), level.end());
  Must(s.Reorder(order));
  Must(s.ReverseComputeAt(bias, levels[1].back()));
  const tensor::BlockVar pad = Must(s.GetBlock("conv_pad"));
  const tensor::LoopVar place = Must(s.SampleComputeLocation(pad));
  Must(s.ComputeAt(pad, place));
  const tensor::ValueVar unroll =
      Must(s.SampleCategorical({0, 16, 64, 512}, {0.25, 0.25, 0.25, 0.25}));
  Must(s.Annotate(conv, "unroll", unroll));
  const tensor::LoopVar fused = Must(s.Fuse(levels[0]));
  Must(s.Parallelize(fused));
  Must(s.Vectorize(levels[5].back()));
  Must(s.DecomposeReduction(conv, levels[2].front()));
  Must(s.RewriteLayout(conv, 1));
  return s.trace();
}

void BM_ReplayWithItsDecisions(benchmark::State& state) {
  const tensor::Workload workload = tensor::ParseOperator("conv2d:56x56x64,64,3x3,pad=1,bias,relu");
  const tensor::Trace trace = ConvTrace(workload);
  const base::RandomStream random(1);
  for (auto _ : state) benchmark::DoNotOptimize(tensor::Replay(workload, trace, random));
  state.counters["instructions"] = static_cast<double>(trace.instructions().size());
}
BENCHMARK(BM_ReplayWithItsDecisions)->Unit(benchmark::kMicrosecond);

/// Other decisions each time, some of which are refused.
void BM_ReplayWithNewDecisions(benchmark::State& state) {
  const tensor::Workload workload = tensor::ParseOperator("conv2d:56x56x64,64,3x3,pad=1,bias,relu");
  const tensor::Trace space = ConvTrace(workload).WithoutDecisions();
  base::RandomStream random(1);
  int64_t refused = 0;
  for (auto _ : state) refused += !tensor::Replay(workload, space, random.Fork());
  state.counters["refused"] =
      benchmark::Counter(static_cast<double>(refused), benchmark::Counter::kAvgIterations);
}
BENCHMARK(BM_ReplayWithNewDecisions)->Unit(benchmark::kMicrosecond);

void BM_TraceJsonRoundTrip(benchmark::State& state) {
  const tensor::Trace trace =
      ConvTrace(tensor::ParseOperator("conv2d:56x56x64,64,3x3,pad=1,bias,relu"));
  for (auto _ : state) benchmark::DoNotOptimize(tensor::Trace::FromJson(trace.ToJson()));
}
BENCHMARK(BM_TraceJsonRoundTrip)->Unit(benchmark::kMicrosecond);

void BM_SamplePerfectTile(benchmark::State& state) {
  base::RandomStream random(1);
  for (auto _ : state) benchmark::DoNotOptimize(tensor::SamplePerfectTiling(1024, 4, 64, random));
}
BENCHMARK(BM_SamplePerfectTile);

}  // namespace
}  // namespace bayloom
