// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// What the cost model costs: learning a batch, and scoring a generation of candidates.
#include <benchmark/benchmark.h>

#include <cmath>

#include "bayloom/base/random.h"
#include "bayloom/cost/selection/selection.h"
#include "bayloom/cost/throughput_model.h"
#include "bayloom/cost/xgboost_model.h"
#include "bayloom/sketch/design_space.h"
#include "bayloom/tensor/operator_shorthand.h"

namespace bayloom {
namespace {

/// Random programs of a convolution with bias and ReLU. Their times are made up from how much
/// memory they touch and how they are vectorized: it is the model that is timed here.
std::vector<cost::Sample> MakeSamples(int count) {
  const sketch::SpaceGenerator generator(
      tensor::ParseOperator("conv2d:28x28x128,128,3x3,pad=1,bias,relu"), target::Target{});
  base::RandomStream random(1);
  std::vector<cost::Sample> samples;
  while (static_cast<int>(samples.size()) < count) {
    const auto space = static_cast<int>(samples.size() % generator.spaces().size());
    const Result<sketch::Candidate> candidate = generator.Sample(space, random.Fork());
    if (!candidate) continue;
    cost::Sample sample{
        .task = 1, .features = feature::ExtractFeatures(candidate->program), .seconds = {}};
    double cost = 0.1 * random.Uniform();
    for (int row = 0; row < sample.features.rows; ++row) {
      const std::span<const float> columns = sample.features.Row(row);
      cost += 0.3 * columns[feature::BufferColumnOf(0, feature::BufferFeature::kLines)] -
              0.2 * columns[feature::kVectorizedColumn + feature::kAnnotatedInnermost] -
              0.1 * columns[feature::BufferColumnOf(1, feature::BufferFeature::kReuseCount)];
    }
    sample.seconds = std::exp2(cost);
    samples.push_back(std::move(sample));
  }
  return samples;
}

void BM_Refit(benchmark::State& state) {
  const std::vector<cost::Sample> samples = MakeSamples(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    cost::XgboostModel model;
    model.Remember(samples);
    benchmark::DoNotOptimize(model.rounds());
  }
}
BENCHMARK(BM_Refit)->Arg(64)->Arg(1000)->Arg(4000)->Unit(benchmark::kMillisecond);

/// The usual batch: between two complete fits.
void BM_LearnBatch(benchmark::State& state) {
  const std::vector<cost::Sample> samples = MakeSamples(static_cast<int>(state.range(0)) + 64);
  for (auto _ : state) {
    state.PauseTiming();
    cost::XgboostModel model;
    model.Remember(std::span(samples).first(samples.size() - 64));
    model.rounds();
    state.ResumeTiming();
    benchmark::DoNotOptimize(model.Update(std::span(samples).last(64)));
  }
}
BENCHMARK(BM_LearnBatch)->Arg(1000)->Arg(4000)->Unit(benchmark::kMillisecond);

void BM_Predict(benchmark::State& state) {
  const std::vector<cost::Sample> samples = MakeSamples(2560);
  cost::XgboostModel model;
  model.Remember(std::span(samples).first(1000));
  const std::vector<const feature::FeatureMatrix*> programs = cost::FeaturesOf(samples);
  for (auto _ : state) benchmark::DoNotOptimize(model.Predict(programs));
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(programs.size()));
}
BENCHMARK(BM_Predict)->Unit(benchmark::kMillisecond);

/// Pre-trained models on one thread. The goal: 10,000 programs a second.
void BM_Score(benchmark::State& state, const char* name) {
  const std::vector<cost::Sample> samples = MakeSamples(2560);
  const std::unique_ptr<cost::ThroughputModel> model = cost::CreateThroughputModel(name, 1);
  model->Fit(std::span(samples).first(1000));
  const std::vector<const feature::FeatureMatrix*> programs = cost::FeaturesOf(samples);
  for (auto _ : state) benchmark::DoNotOptimize(model->Predict(programs));
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(programs.size()));
}
BENCHMARK_CAPTURE(BM_Score, xgboost, "xgboost")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Score, mlp, "mlp")->Unit(benchmark::kMillisecond);

/// Choosing 20 of so many programs whose scores are known, 20 being measured.
void BM_Select(benchmark::State& state, const char* name) {
  base::RandomStream random(1);
  std::vector<double> scores(state.range(0)), measured(20);
  for (double& score : scores) score = random.Uniform();
  for (double& score : measured) score = random.Uniform();
  const std::unique_ptr<cost::SelectionMethod> selection = cost::CreateSelection(name);
  cost::SelectionTask task;
  task.scores = scores;
  task.measured_scores = task.measured_labels = measured;
  for (auto _ : state) benchmark::DoNotOptimize(selection->Select(task, 20, random));
}
BENCHMARK_CAPTURE(BM_Select, biased_diversity, "biased-diversity")->Arg(400)->Arg(4000);

}  // namespace
}  // namespace bayloom
