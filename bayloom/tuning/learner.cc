// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/learner.h"

#include <algorithm>
#include <utility>

#include "bayloom/cost/xgboost_model.h"
#include "bayloom/model/fit_failure.h"

namespace bayloom::tuning {
namespace {

/// What programs count at least, in bytes: less is no difference worth learning.
constexpr double kMinBytes = 4096;
/// Sizes have no noise, so that few programs are enough to learn from.
constexpr int kRandomUntil = 16;

}  // namespace

Learner::Learner(cost::CostModel* model, base::ThreadPool& pool, run::PhaseClock& clock,
                 const std::vector<ProgramObjective>& objectives)
    : model_(model), pool_(pool), clock_(clock) {
  if (model_ == nullptr) return;
  for (const ProgramObjective objective : objectives) {
    if (objective == ProgramObjective::kLatency) continue;
    cost::XgboostOptions options;
    options.random_until = kRandomUntil;
    further_.push_back({objective, std::make_unique<cost::XgboostModel>(options)});
  }
}

std::vector<ProgramObjective> Learner::further() const {
  std::vector<ProgramObjective> objectives;
  for (const Further& each : further_) objectives.push_back(each.objective);
  return objectives;
}

std::vector<feature::FeatureMatrix> Learner::Features(
    std::span<const sketch::Candidate* const> candidates) {
  return clock_.In(&run::PhaseTimes::features, [&] {
    std::vector<feature::FeatureMatrix> features(candidates.size());
    pool_.ParallelFor(static_cast<int64_t>(candidates.size()), [&](int64_t i) {
      features[i] = feature::ExtractFeatures(candidates[i]->program);
    });
    return features;
  });
}

std::vector<double> Learner::Predict(cost::CostModel& model, uint64_t task,
                                     std::span<const sketch::Candidate* const> candidates) {
  const std::vector<feature::FeatureMatrix> features = Features(candidates);
  std::vector<const feature::FeatureMatrix*> pointers;
  for (const feature::FeatureMatrix& f : features) pointers.push_back(&f);
  return clock_.In(&run::PhaseTimes::predict, [&] {
    try {
      return model.PredictFor(task, pointers);
    } catch (const model::FitFailure&) {
      return std::vector<double>(candidates.size(), 1.0);
    }
  });
}

std::vector<double> Learner::Score(uint64_t task,
                                   std::span<const sketch::Candidate* const> candidates) {
  if (model_ == nullptr) return std::vector<double>(candidates.size(), 1.0);
  return Predict(*model_, task, candidates);
}

std::vector<double> Learner::ScoreFor(ProgramObjective objective, uint64_t task,
                                      std::span<const sketch::Candidate* const> candidates) {
  return Predict(*std::ranges::find(further_, objective, &Further::objective)->model, task,
                 candidates);
}

std::vector<cost::Sample> Learner::Samples(std::span<const TrainingSample> trials) {
  std::vector<const sketch::Candidate*> candidates;
  for (const TrainingSample& sample : trials) candidates.push_back(sample.candidate);
  std::vector<feature::FeatureMatrix> features = Features(candidates);
  std::vector<cost::Sample> samples;
  for (size_t i = 0; i < trials.size(); ++i) {
    const trial::Outcome& outcome = *trials[i].outcome;
    samples.push_back({.task = trials[i].task,
                       .features = std::move(features[i]),
                       .seconds = outcome.ok() ? std::optional(outcome.value) : std::nullopt});
  }
  return samples;
}

std::vector<cost::Sample> Learner::SamplesFor(ProgramObjective objective,
                                              std::span<const TrainingSample> trials,
                                              std::vector<cost::Sample> samples) {
  for (size_t i = 0; i < trials.size(); ++i) {
    const std::optional<ProgramCost> cost = CostOf(*trials[i].outcome);
    samples[i].seconds.reset();
    if (!cost) continue;
    samples[i].seconds = std::max(kMinBytes, cost->ValueFor(trials[i].calls, objective));
  }
  return samples;
}

std::optional<cost::BatchMetrics> Learner::Learn(std::span<const TrainingSample> trials) {
  if (model_ == nullptr || trials.empty()) return std::nullopt;
  const std::vector<cost::Sample> samples = Samples(trials);
  return clock_.In(&run::PhaseTimes::train, [&]() -> std::optional<cost::BatchMetrics> {
    try {
      for (const Further& each : further_) {
        each.model->Update(SamplesFor(each.objective, trials, samples));
      }
      return model_->Update(samples);
    } catch (const model::FitFailure&) {
      return std::nullopt;
    }
  });
}

void Learner::Remember(std::span<const TrainingSample> trials) {
  if (model_ == nullptr || trials.empty()) return;
  const std::vector<cost::Sample> samples = Samples(trials);
  clock_.In(&run::PhaseTimes::train, [&] {
    try {
      for (const Further& each : further_) {
        each.model->Remember(SamplesFor(each.objective, trials, samples));
      }
      model_->Remember(samples);
    } catch (const model::FitFailure&) {
      // As in Learn.
    }
  });
}

}  // namespace bayloom::tuning
