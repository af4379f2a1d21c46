// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// What a candidate costs before it is compiled: replaying its trace and extracting its features.
#include <benchmark/benchmark.h>

#include "bayloom/base/random.h"
#include "bayloom/feature/program_features.h"
#include "bayloom/sketch/design_space.h"
#include "bayloom/tensor/operator_shorthand.h"

namespace bayloom {
namespace {

/// Random candidates of all design spaces.
std::vector<sketch::Candidate> DrawCandidates(const sketch::SpaceGenerator& generator, int count) {
  base::RandomStream random(1);
  std::vector<sketch::Candidate> candidates;
  while (static_cast<int>(candidates.size()) < count) {
    const auto space = static_cast<int>(candidates.size() % generator.spaces().size());
    Result<sketch::Candidate> candidate = generator.Sample(space, random.Fork());
    if (candidate) candidates.push_back(*std::move(candidate));
  }
  return candidates;
}

struct Fixture {
  sketch::SpaceGenerator generator{
      tensor::ParseOperator("conv2d:28x28x128,128,3x3,pad=1,bias,relu"), target::Target{}};
  std::vector<sketch::Candidate> candidates = DrawCandidates(generator, 64);
};
const Fixture& Convolution() {
  static const Fixture fixture;
  return fixture;
}

void BM_ExtractFeatures(benchmark::State& state) {
  const std::vector<sketch::Candidate>& candidates = Convolution().candidates;
  size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(feature::ExtractFeatures(candidates[i++ % candidates.size()].program));
  }
}
BENCHMARK(BM_ExtractFeatures)->Unit(benchmark::kMicrosecond);

void BM_Replay(benchmark::State& state) {
  const Fixture& fixture = Convolution();
  size_t i = 0;
  for (auto _ : state) {
    const sketch::Candidate& candidate = fixture.candidates[i++ % fixture.candidates.size()];
    benchmark::DoNotOptimize(
        fixture.generator.Replay(candidate.space, candidate.trace, base::RandomStream(1)));
  }
}
BENCHMARK(BM_Replay)->Unit(benchmark::kMicrosecond);

void BM_ReplayAndExtractFeatures(benchmark::State& state) {
  const Fixture& fixture = Convolution();
  size_t i = 0;
  for (auto _ : state) {
    const sketch::Candidate& candidate = fixture.candidates[i++ % fixture.candidates.size()];
    const Result<sketch::Candidate> replayed =
        fixture.generator.Replay(candidate.space, candidate.trace, base::RandomStream(1));
    benchmark::DoNotOptimize(feature::ExtractFeatures(replayed->program));
  }
}
BENCHMARK(BM_ReplayAndExtractFeatures)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace bayloom
