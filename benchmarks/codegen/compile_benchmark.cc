// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// What it takes to compile one candidate of a design space to an object. Compiling is the tuner's
// time: 40 ms a candidate on one core are the budget.
#include <benchmark/benchmark.h>

#include <algorithm>

#include "bayloom/base/clock.h"
#include "bayloom/codegen/compile.h"
#include "bayloom/codegen/host.h"
#include "bayloom/sketch/design_space.h"
#include "bayloom/tensor/operator_shorthand.h"

namespace bayloom {
namespace {

constexpr int kCandidates = 200;

std::vector<sketch::Candidate> RandomCandidates(const tensor::Workload& workload,
                                                const target::Target& target) {
  const sketch::SpaceGenerator generator(workload, target);
  base::RandomStream random(1);
  std::vector<sketch::Candidate> candidates;
  while (candidates.size() < kCandidates) {
    const auto space = random.UniformInt(static_cast<int64_t>(generator.spaces().size()));
    Result<sketch::Candidate> drawn = generator.Sample(static_cast<int>(space), random.Fork());
    if (drawn) candidates.push_back(*std::move(drawn));
  }
  return candidates;
}

/// Another random candidate in each iteration; the counters are quantiles in milliseconds.
void BM_Compile(benchmark::State& state, const char* line) {
  const target::Target target = codegen::HostTarget();
  const std::vector<sketch::Candidate> candidates =
      RandomCandidates(tensor::ParseOperator(line), target);
  std::vector<double> milliseconds;
  for (auto _ : state) {
    const sketch::Candidate& candidate = candidates[milliseconds.size() % candidates.size()];
    const double start = base::MonotonicSeconds();
    benchmark::DoNotOptimize(codegen::CompileProgram(candidate.program, target, "kernel"));
    milliseconds.push_back(1e3 * (base::MonotonicSeconds() - start));
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  const auto quantile = [&](double q) {
    return milliseconds[static_cast<size_t>(q * static_cast<double>(milliseconds.size() - 1))];
  };
  state.counters["median_ms"] = quantile(0.5);
  state.counters["p95_ms"] = quantile(0.95);
}

void AllOnce(benchmark::internal::Benchmark* benchmark) {
  benchmark->Iterations(kCandidates)->Unit(benchmark::kMillisecond);
}
BENCHMARK_CAPTURE(BM_Compile, conv2d_3x3, "conv2d:56x56x64,64,3x3,pad=1,bias,relu")->Apply(AllOnce);
BENCHMARK_CAPTURE(BM_Compile, conv1, "conv2d:224x224x3,64,7x7,stride=2,pad=3,bias,relu")
    ->Apply(AllOnce);
BENCHMARK_CAPTURE(BM_Compile, depthwise, "depthwise:56x56x144,3x3,pad=1,bias,relu")->Apply(AllOnce);
BENCHMARK_CAPTURE(BM_Compile, matmul, "matmul:512,512,512")->Apply(AllOnce);

}  // namespace
}  // namespace bayloom
