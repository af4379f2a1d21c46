// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// What surrogates cost in 10 dimensions. The argument is the number of observations. A suggestion
// of the optimizer is some thousand predictions, one observation added, and its share of a refit.
#include <benchmark/benchmark.h>

#include <cmath>

#include "bayloom/model/feasibility_forest.h"
#include "bayloom/model/gaussian_process.h"
#include "bayloom/model/learning_curve.h"
#include "bayloom/model/multi_task.h"
#include "bayloom/model/random_forest.h"

namespace bayloom {
namespace {

using Eigen::VectorXd;

constexpr int kDimensions = 10, kCandidates = 1000;
const model::ColumnGroups kGroups = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

/// Tile sizes, say: eight values a parameter.
model::RowMatrix DrawRows(int rows, base::RandomStream& random) {
  return model::RowMatrix::NullaryExpr(
      rows, kDimensions, [&] { return static_cast<double>(random.UniformInt(8)) / 7; });
}

VectorXd ValuesOf(const model::RowMatrix& rows, base::RandomStream& random) {
  VectorXd values(rows.rows());
  for (int i = 0; i < rows.rows(); ++i) {
    const auto x = rows.row(i);
    const double log_time = 2 * (x(0) - 0.3) * (x(0) - 0.3) + std::sin(4 * x(1)) * x(2) +
                            0.5 * std::abs(x(3) - x(4)) + 0.2 * x(5) + 0.05 * random.Normal();
    values(i) = std::exp(log_time);
  }
  return values;
}

struct Data {
  explicit Data(int n, uint64_t seed = 1) : random(seed) {
    rows = DrawRows(n, random);
    values = ValuesOf(rows, random);
    candidates = DrawRows(kCandidates, random);
  }
  base::RandomStream random;
  model::RowMatrix rows, candidates;
  VectorXd values;
};

void PredictAll(benchmark::State& state, const model::Surrogate& model,
                const model::RowMatrix& candidates) {
  VectorXd mean, variance;
  for (auto _ : state) {
    model.Predict(candidates, mean, variance);
    benchmark::DoNotOptimize(variance.data());
  }
  state.SetItemsProcessed(state.iterations() * candidates.rows());
}

/// From nothing: many starts, both scales of the objective.
void BM_GaussianProcessSearch(benchmark::State& state) {
  Data data(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    model::GaussianProcess model(kGroups);
    model.Fit(data.rows, data.values, data.random);
  }
}

/// As between searches: a tenth more observations than at the last fit.
void BM_GaussianProcessRefit(benchmark::State& state) {
  const int n = static_cast<int>(state.range(0));
  Data data(n);
  model::GaussianProcess fitted(kGroups);
  fitted.Fit(data.rows.topRows(n * 10 / 11), data.values.head(n * 10 / 11), data.random);
  for (auto _ : state) {
    model::GaussianProcess model = fitted;
    model.Fit(data.rows, data.values, data.random);
  }
}

void BM_GaussianProcessAdd(benchmark::State& state) {
  Data data(static_cast<int>(state.range(0)));
  model::GaussianProcess fitted(kGroups);
  fitted.Fit(data.rows, data.values, data.random);
  for (auto _ : state) {
    state.PauseTiming();
    model::GaussianProcess model = fitted;
    state.ResumeTiming();
    model.Add(data.candidates.topRows(1), VectorXd::Ones(1));
  }
}

void BM_GaussianProcessPredict(benchmark::State& state) {
  Data data(static_cast<int>(state.range(0)));
  model::GaussianProcess model(kGroups);
  model.Fit(data.rows, data.values, data.random);
  PredictAll(state, model, data.candidates);
}

void BM_ForestFit(benchmark::State& state) {
  Data data(static_cast<int>(state.range(0)));
  model::RandomForest model;
  for (auto _ : state) model.Fit(data.rows, data.values, data.random);
}

void BM_ForestPredict(benchmark::State& state) {
  Data data(static_cast<int>(state.range(0)));
  model::RandomForest model;
  model.Fit(data.rows, data.values, data.random);
  PredictAll(state, model, data.candidates);
}

void BM_FeasibilityFit(benchmark::State& state) {
  Data data(static_cast<int>(state.range(0)));
  std::vector<bool> feasible;
  for (const auto& row : data.rows.rowwise()) feasible.push_back(row(0) + row(1) < 1);
  model::FeasibilityForest model;
  for (auto _ : state) model.Fit(data.rows, feasible, data.random);
}

/// A refit with four earlier tasks of 50 observations each.
void BM_TransferRefit(benchmark::State& state) {
  Data data(static_cast<int>(state.range(0)));
  std::vector<model::TaskObservations> earlier;
  for (const uint64_t seed : {11, 12, 13, 14}) {
    const Data task(50, seed);
    earlier.push_back({task.rows, task.values});
  }
  model::TransferSurrogate fitted(kGroups, earlier);
  fitted.Fit(data.rows, data.values, data.random);
  for (auto _ : state) {
    model::TransferSurrogate model = fitted;
    model.Fit(data.rows, data.values, data.random);
  }
}

/// The forecast of a task's next 64 trials, after as many as the argument says.
void BM_LearningCurve(benchmark::State& state) {
  std::vector<double> performances;
  base::RandomStream random(1);
  for (int t = 1; t <= state.range(0); ++t) {
    performances.push_back(0.5 / (1 + std::pow(t / 30.0, -0.8)) * (1 - 0.3 * random.Uniform()));
  }
  for (auto _ : state) {
    const model::LearningCurve curve(performances, static_cast<double>(state.range(0)) + 64,
                                     random);
    benchmark::DoNotOptimize(curve.best());
  }
}

#define OBSERVATIONS \
  ->Arg(50)->Arg(100)->Arg(250)->Arg(500)->Arg(1000)->Unit(benchmark::kMillisecond)
BENCHMARK(BM_GaussianProcessSearch) OBSERVATIONS;
BENCHMARK(BM_GaussianProcessRefit) OBSERVATIONS;
BENCHMARK(BM_GaussianProcessAdd) OBSERVATIONS;
BENCHMARK(BM_GaussianProcessPredict) OBSERVATIONS;
BENCHMARK(BM_ForestFit) OBSERVATIONS;
BENCHMARK(BM_ForestPredict) OBSERVATIONS;
BENCHMARK(BM_FeasibilityFit) OBSERVATIONS;
BENCHMARK(BM_TransferRefit)->Arg(20)->Arg(100)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_LearningCurve)->Arg(64)->Arg(1024)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace bayloom
