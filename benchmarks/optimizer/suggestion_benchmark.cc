// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// What a suggestion costs when so many trials are known already: ten parameters, the refits that
// fall among the next suggestions included. Long searches: by every optimizer up to 100,000 trials;
// the time has to stay level, and memory to go with the trials alone.

#include <benchmark/benchmark.h>
#include <malloc.h>

#include <cmath>
#include <string>

#include "bayloom/optimizer/optimizer.h"
#include "bayloom/space/parameter.h"

namespace bayloom {
namespace {

/// 1e11 configurations of ten tile sizes, unroll factors and choices.
std::shared_ptr<const space::Space> TenParameters() {
  space::Space::Builder builder;
  std::vector<double> powers;
  for (double p = 1; p <= 1024; p *= 2) powers.push_back(p);
  for (int i = 0; i < 5; ++i) {
    builder.Add(space::MakeOrdinal("tile" + std::to_string(i), powers, space::Scale::kLog));
  }
  for (int i = 0; i < 2; ++i) builder.Add(space::MakeInteger("unroll" + std::to_string(i), 1, 32));
  builder.Add(space::MakePermutation("order", 5));
  builder.Add(space::MakeCategorical("schedule", {"static", "dynamic", "guided"}));
  builder.Add(space::MakeCategorical("vectorize", {"yes", "no"}));
  return *builder.Build();
}

/// 7,776 configurations, for tuners that look at all of them (peers/autotuners/suggest.py).
std::shared_ptr<const space::Space> SmallSpace() {
  space::Space::Builder builder;
  for (int i = 0; i < 5; ++i) {
    builder.Add(space::MakeOrdinal("p" + std::to_string(i), {1, 2, 4}, space::Scale::kLog));
  }
  for (int i = 5; i < 10; ++i) builder.Add(space::MakeInteger("p" + std::to_string(i), 0, 1));
  return *builder.Build();
}

/// As many as a compiler has flags and thresholds.
std::shared_ptr<const space::Space> FourHundredParameters() {
  space::Space::Builder builder;
  for (int i = 0; i < 200; ++i) {
    builder.Add(space::MakeCategorical("flag" + std::to_string(i), {"off", "on"}));
    builder.Add(space::MakeInteger("threshold" + std::to_string(i), 1, 1000, space::Scale::kLog));
  }
  return *builder.Build();
}

trial::Outcome Evaluate(const space::Space& space, const space::Configuration& configuration) {
  double sum = 0.1;
  for (int i = 0; i < space.size(); ++i) {
    const auto last = static_cast<double>(space.parameter(i).Cardinality() - 1);
    const double position = configuration.coordinates[i] / last - 0.1 * (i % 10);
    sum += position * position / (1 + i % 4);
  }
  trial::Outcome outcome;
  outcome.value = std::exp(30 * sum / space.size());
  return outcome;
}

void Suggestion(benchmark::State& state, std::string_view name,
                const std::shared_ptr<const space::Space>& space, bool some_fail) {
  constexpr int kSuggestions = 20;
  const auto known = static_cast<int>(state.range(0));
  const auto answer = [&](const space::Configuration& c) {
    if (some_fail && c.coordinates[0] + c.coordinates[1] > 14) {
      return trial::Outcome::Infeasible(trial::Verdict::kMemory, "tiles too large");
    }
    return Evaluate(*space, c);
  };
  for (auto _ : state) {
    state.PauseTiming();
    const auto optimizer = optimizer::MakeOptimizer(name, space, {.seed = 1});
    base::RandomStream random(1);
    for (int i = 0; i < known - kSuggestions / 2; ++i) {
      const space::Configuration c = *space->Sample(random);
      optimizer->Tell(c, answer(c));
    }
    // The first suggestion learns everything at once, which no search does.
    for (const space::Configuration& c : optimizer->Ask(1)) optimizer->Tell(c, answer(c));
    state.ResumeTiming();
    for (int i = 0; i < kSuggestions; ++i) {
      for (const space::Configuration& c : optimizer->Ask(1)) optimizer->Tell(c, answer(c));
    }
  }
  state.counters["each"] =
      benchmark::Counter(static_cast<double>(state.iterations() * kSuggestions),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

/// After one suggestion that learns everything at once, so many that a model of bounded size is
/// fitted again several times.
void LongSearch(benchmark::State& state, std::string_view name,
                const std::shared_ptr<const space::Space>& space) {
  constexpr int kSuggestions = 210;
  const auto known = static_cast<int>(state.range(0));
  for (auto _ : state) {
    state.PauseTiming();
    const size_t before = mallinfo2().uordblks;
    auto optimizer = optimizer::MakeOptimizer(name, space, {.seed = 1});
    base::RandomStream random(1);
    for (int i = 0; i < known; ++i) {
      const space::Configuration c = *space->Sample(random);
      optimizer->Tell(c, Evaluate(*space, c));
    }
    for (const space::Configuration& c : optimizer->Ask(1)) optimizer->Tell(c, Evaluate(*space, c));
    state.ResumeTiming();
    for (int i = 0; i < kSuggestions; ++i) {
      for (const space::Configuration& c : optimizer->Ask(1)) {
        optimizer->Tell(c, Evaluate(*space, c));
      }
    }
    state.PauseTiming();
    state.counters["MiB"] = static_cast<double>(mallinfo2().uordblks - before) / (1 << 20);
    optimizer.reset();
    state.ResumeTiming();
  }
  state.counters["each"] =
      benchmark::Counter(static_cast<double>(state.iterations() * kSuggestions),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void RegisterLongSearches() {
  for (const std::string& name : optimizer::Optimizers().Names()) {
    const auto run = [name](benchmark::State& state) { LongSearch(state, name, TenParameters()); };
    benchmark::RegisterBenchmark(("LongSearch/" + std::string(name)).c_str(), run)
        ->ArgsProduct({{250, 1000, 2000, 5000, 20'000, 100'000}})
        ->Unit(benchmark::kMillisecond)
        ->Iterations(1);
  }
}

[[maybe_unused]] const bool kRegistered = (RegisterLongSearches(), true);

void Sizes(benchmark::internal::Benchmark* benchmark) {
  for (int known : {50, 100, 250, 500, 1000}) benchmark->Arg(known);
  benchmark->Unit(benchmark::kMillisecond);
}

BENCHMARK_CAPTURE(Suggestion, bayesian, "bayesian", TenParameters(), false)->Apply(Sizes);
BENCHMARK_CAPTURE(Suggestion, bayesian_some_fail, "bayesian", TenParameters(), true)->Apply(Sizes);
BENCHMARK_CAPTURE(Suggestion, forest, "forest", TenParameters(), false)->Apply(Sizes);
BENCHMARK_CAPTURE(Suggestion, bayesian_400_parameters, "bayesian", FourHundredParameters(), false)
    ->Arg(50)
    ->Arg(300)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);
BENCHMARK_CAPTURE(Suggestion, bayesian_small_space, "bayesian", SmallSpace(), false)->Apply(Sizes);

}  // namespace
}  // namespace bayloom
