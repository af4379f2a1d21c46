// What it takes to propose a batch of candidates: drawing, mutating, replaying, features and
// predictions. A batch of 64 must not take more than a fifth of the time that measuring it takes,
// some 6 seconds.
#include <benchmark/benchmark.h>

#include "bayloom/base/clock.h"
#include "bayloom/cost/xgboost_model.h"
#include "bayloom/search/fresh_samples.h"
#include "bayloom/search/mutator.h"
#include "bayloom/search/strategy.h"
#include "bayloom/tensor/operator_shorthand.h"
#include "bayloom/tuning/learner.h"

namespace bayloom {
namespace {

Target FourCores() {
  Target target;
  target.cores = 4;
  return target;
}

/// A 3 x 3 convolution of ResNet-50 with bias and ReLU.
const SpaceGenerator& Convolution() {
  static const SpaceGenerator generator(ParseOperator("conv2d:28x28x128,128,3x3,pad=1,bias,relu"),
                                        FourCores());
  return generator;
}

std::vector<CandidatePtr> Draw(int count, ThreadPool& pool) {
  HashSet known;
  RandomStream random(1);
  return DrawUnknown(Convolution(), count, known, random, pool);
}

/// Teaches a model and a strategy `count` trials with times drawn at random: nothing to learn,
/// so the trees grow as deep as they may.
void Teach(int count, Learner& learner, SearchStrategy& strategy, ThreadPool& pool) {
  RandomStream random(2);
  const std::vector<CandidatePtr> candidates = Draw(count, pool);
  std::vector<Outcome> outcomes(candidates.size());
  std::vector<TrainingSample> samples;
  for (size_t i = 0; i < candidates.size(); ++i) {
    outcomes[i].value = 1e-3 * (1 + random.Uniform());
    samples.push_back({1, candidates[i].get(), &outcomes[i]});
    strategy.Notify({candidates[i].get(), 1}, {&outcomes[i], 1});
  }
  learner.Learn(samples);
}

/// One batch of 64 by the named strategy, after 512 trials. Arguments: threads.
void BM_Batch(benchmark::State& state, const char* name) {
  ThreadPool pool(static_cast<int>(state.range(0)));
  PhaseClock clock(MonotonicSeconds);
  XgboostModel model;
  Learner learner(&model, pool, clock);
  const auto strategy = CreateStrategy(
      name, {.space = &Convolution(),
             .pool = &pool,
             .scorer = [&](std::span<const Candidate* const> c) { return learner.Score(1, c); },
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

void BM_Mutate(benchmark::State& state, std::unique_ptr<Mutator> (*make)()) {
  ThreadPool pool(1);
  const std::vector<CandidatePtr> parents = Draw(64, pool);
  const std::unique_ptr<Mutator> mutator = make();
  RandomStream random(3);
  size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(mutator->Mutate(*parents[i++ % parents.size()], random));
  }
}
BENCHMARK_CAPTURE(BM_Mutate, tile, MakeTileMutator)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_Mutate, unroll, MakeUnrollMutator)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(
    BM_Mutate, location, +[] { return MakeComputeLocationMutator(Convolution().workload()); })
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace bayloom
