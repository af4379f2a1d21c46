// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// What a parallel loop costs beyond its work: handing it to the pool's threads and waiting for
// them. Kernels of some ten microseconds feel every one of it.
#include <benchmark/benchmark.h>

#include <chrono>
#include <thread>

#include "bayloom/base/clock.h"
#include "bayloom/codegen/runtime/bayloom_runtime.h"

namespace bayloom {
namespace {

constexpr int64_t kExtent = 16;

void Nothing(void*, int64_t, int64_t, int32_t) {}

/// Loops of 16 empty iterations one after the other. Arguments: threads.
void BM_ParallelFor(benchmark::State& state) {
  bayloom_set_threads(static_cast<int>(state.range(0)));
  for (auto _ : state) bayloom_parallel_for(kExtent, Nothing, nullptr);
}
BENCHMARK(BM_ParallelFor)->Arg(1)->Arg(2)->Unit(benchmark::kMicrosecond);

/// The same after the pool had nothing to do. Arguments: threads, microseconds.
void BM_ParallelForAfterRest(benchmark::State& state) {
  bayloom_set_threads(static_cast<int>(state.range(0)));
  const std::chrono::microseconds rest(state.range(1));
  for (auto _ : state) {
    std::this_thread::sleep_for(rest);
    const double start = base::MonotonicSeconds();
    bayloom_parallel_for(kExtent, Nothing, nullptr);
    state.SetIterationTime(base::MonotonicSeconds() - start);
  }
}
BENCHMARK(BM_ParallelForAfterRest)
    ->Args({2, 10})
    ->Args({2, 1000})
    ->UseManualTime()
    ->Iterations(500)
    ->Unit(benchmark::kMicrosecond);

/// Iterations that take a microsecond each: the time beyond a fair share per thread is overhead.
/// Arguments: threads.
void BM_ParallelForBalanced(benchmark::State& state) {
  const auto threads = static_cast<int>(state.range(0));
  bayloom_set_threads(threads);
  const auto work = [](void*, int64_t begin, int64_t end, int32_t) {
    const double until = base::MonotonicSeconds() + 1e-6 * static_cast<double>(end - begin);
    while (base::MonotonicSeconds() < until) {
    }
  };
  for (auto _ : state) bayloom_parallel_for(kExtent, work, nullptr);
  state.counters["fair_us"] = static_cast<double>(kExtent) / threads;
}
BENCHMARK(BM_ParallelForBalanced)->Arg(1)->Arg(2)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace bayloom
