// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// What it takes to propose a batch of candidates: drawing, mutating, replaying, features and
// predictions. A batch of 64 must not take more than a fifth of the time that measuring it takes,
// some 6 seconds.
#include <benchmark/benchmark.h>

#include "bayloom/base/clock.h"
#include "bayloom/cost/xgboost_model.h"
#include "bayloom/strategy/fresh_samples.h"
#include "bayloom/strategy/mutator.h"
#include "bayloom/strategy/strategy.h"
#include "bayloom/tensor/operator_shorthand.h"
#include "bayloom/tuning/learner.h"

namespace bayloom {
namespace {

target::Target FourCores() {
  target::Target target;
  target.cores = 4;
  return target;
}

/// A 3 x 3 convolution of ResNet-50 with bias and ReLU.
const sketch::SpaceGenerator& Convolution() {
  static const sketch::SpaceGenerator generator(
      tensor::ParseOperator("conv2d:28x28x128,128,3x3,pad=1,bias,relu"), FourCores());
  return generator;
}

std::vector<strategy::CandidatePtr> Draw(int count, base::ThreadPool& pool) {
  strategy::HashSet known;
  base::RandomStream random(1);
  return strategy::DrawUnknown(Convolution(), count, known, random, pool);
}

/// Teaches a model and a strategy `count` trials with times drawn at random: nothing to learn,
/// so the trees grow as deep as they may.
void Teach(int count, tuning::Learner& learner, strategy::SearchStrategy& strategy,
           base::ThreadPool& pool) {
  base::RandomStream random(2);
  const std::vector<strategy::CandidatePtr> candidates = Draw(count, pool);
  std::vector<trial::Outcome> outcomes(candidates.size());
  std::vector<tuning::TrainingSample> samples;
  for (size_t i = 0; i < candidates.size(); ++i) {
    outcomes[i].value = 1e-3 * (1 + random.Uniform());
    samples.push_back({1, candidates[i].get(), &outcomes[i]});
    strategy.Notify({candidates[i].get(), 1}, {&outcomes[i], 1});
  }
  learner.Learn(samples);
}

/// One batch of 64 by the named strategy, after 512 trials. Arguments: threads.
void BM_Batch(benchmark::State& state, const char* name) {
  base::ThreadPool pool(static_cast<int>(state.range(0)));
  run::PhaseClock clock(base::MonotonicSeconds);
  cost::XgboostModel model;
  tuning::Learner learner(&model, pool, clock);
  const auto strategy = strategy::CreateStrategy(
      name, {.space = &Convolution(),
             .pool = &pool,
             .objectives = {{[&](std::span<const sketch::Candidate* const> c) {
               return learner.Score(0, 1, c);
             }}},
             .evolutionary = {}});
  Teach(512, learner, *strategy, pool);
  clock.times() = {};
  for (auto _ : state) benchmark::DoNotOptimize(strategy->GenerateCandidates(64));
  state.counters["features_s"] =
      benchmark::Counter(clock.times().features, benchmark::Counter::kAvgIterations);
  state.counters["predict_s"] =
      benchmark::Counter(clock.times().predict, benchmark::Counter::kAvgIterations);
}
BENCHMARK_CAPTURE(BM_Batch, evolutionary, "evolutionary")
    ->Arg(1)
    ->Arg(2)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(BM_Batch, bayes, "bayes")
    ->Arg(1)
    ->Arg(2)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(BM_Batch, random, "random")->Arg(1)->Unit(benchmark::kMillisecond)->UseRealTime();

void BM_Mutate(benchmark::State& state, std::unique_ptr<strategy::Mutator> (*make)()) {
  base::ThreadPool pool(1);
  const std::vector<strategy::CandidatePtr> parents = Draw(64, pool);
  const std::unique_ptr<strategy::Mutator> mutator = make();
  base::RandomStream random(3);
  size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(mutator->Mutate(*parents[i++ % parents.size()], random));
  }
}
BENCHMARK_CAPTURE(BM_Mutate, tile, strategy::MakeTileMutator)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_Mutate, unroll, strategy::MakeUnrollMutator)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(
    BM_Mutate, location,
    +[] { return strategy::MakeComputeLocationMutator(Convolution().workload()); })
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace bayloom
