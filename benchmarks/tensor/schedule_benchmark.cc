/// Replaying traces, the search's hot path: a tiled conv2d + bias + relu with its epilogue in the
/// tile and its padding placed, about thirty instructions.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>

#include "bayloom/tensor/operators.h"
#include "bayloom/tensor/schedule.h"

namespace bayloom {
namespace {

Workload Conv(int64_t size, int64_t channels) {
  Conv2dShape shape;
  shape.height = shape.width = size;
  shape.in_channels = shape.out_channels = channels;
  shape.kernel = {3, 3};
  shape.options.pad_before = shape.options.pad_after = {1, 1};
  shape.epilogue.bias = shape.epilogue.relu = true;
  return Conv2dWorkload(shape);
}

template <typename T>
T Must(Result<T> result) {
  if (result) return *std::move(result);
  std::cerr << result.error().message << "\n";
  std::exit(1);
}

Trace ConvTrace(const Workload& workload) {
  Schedule s(workload, 3);
  const BlockVar conv = Must(s.GetBlock("conv"));
  const BlockVar bias = Must(s.GetBlock("add_bias"));
  const BlockVar relu = Must(s.GetBlock("relu"));
  Must(s.ReverseComputeInline(relu));
  const std::vector<LoopVar> loops = Must(s.GetLoops(conv));
  std::vector<LoopVar> levels[6];
  for (size_t i = 0; i < loops.size(); ++i) {
    const bool spatial = i < 4;
    const std::vector<ValueVar> tile = Must(s.SamplePerfectTile(loops[i], spatial ? 4 : 2, 64));
    const std::vector<LoopVar> parts = Must(s.Split(loops[i], tile));
    const std::vector<int> places = spatial ? std::vector{0, 1, 3, 5} : std::vector{2, 4};
    for (size_t k = 0; k < parts.size(); ++k) levels[places[k]].push_back(parts[k]);
  }
  std::vector<LoopVar> order;
  for (const auto& level : levels) order.insert(order.end(), level.begin(), level.end());
  Must(s.Reorder(order));
  Must(s.ReverseComputeAt(bias, levels[1].back()));
  const BlockVar pad = Must(s.GetBlock("conv_pad"));
  const LoopVar place = Must(s.SampleComputeLocation(pad));
  Must(s.ComputeAt(pad, place));
  const ValueVar unroll = Must(s.SampleCategorical({0, 16, 64, 512}, {0.25, 0.25, 0.25, 0.25}));
  Must(s.Annotate(conv, "unroll", unroll));
  const LoopVar fused = Must(s.Fuse(levels[0]));
  Must(s.Parallelize(fused));
  Must(s.Vectorize(levels[5].back()));
  Must(s.DecomposeReduction(conv, levels[2].front()));
  Must(s.RewriteLayout(conv, 1));
  return s.trace();
}

void BM_ReplayWithItsDecisions(benchmark::State& state) {
  const Workload workload = Conv(56, 64);
  const Trace trace = ConvTrace(workload);
  const RandomStream random(1);
  for (auto _ : state) benchmark::DoNotOptimize(Replay(workload, trace, random));
  state.counters["instructions"] = static_cast<double>(trace.instructions().size());
}
BENCHMARK(BM_ReplayWithItsDecisions)->Unit(benchmark::kMicrosecond);

/// Other decisions each time, some of which are refused.
void BM_ReplayWithNewDecisions(benchmark::State& state) {
  const Workload workload = Conv(56, 64);
  const Trace space = ConvTrace(workload).WithoutDecisions();
  RandomStream random(1);
  int64_t refused = 0;
  for (auto _ : state) refused += !Replay(workload, space, random.Fork());
  state.counters["refused"] =
      benchmark::Counter(static_cast<double>(refused), benchmark::Counter::kAvgIterations);
}
BENCHMARK(BM_ReplayWithNewDecisions)->Unit(benchmark::kMicrosecond);

void BM_TraceJsonRoundTrip(benchmark::State& state) {
  const Trace trace = ConvTrace(Conv(56, 64));
  for (auto _ : state) benchmark::DoNotOptimize(Trace::FromJson(trace.ToJson()));
}
BENCHMARK(BM_TraceJsonRoundTrip)->Unit(benchmark::kMicrosecond);

void BM_SamplePerfectTile(benchmark::State& state) {
  RandomStream random(1);
  for (auto _ : state) benchmark::DoNotOptimize(SamplePerfectTiling(1024, 4, 64, random));
}
BENCHMARK(BM_SamplePerfectTile);

}  // namespace
}  // namespace bayloom
