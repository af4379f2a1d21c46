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
    : objectives_{objectives.front()}, pool_(pool), clock_(clock) {
  if (model == nullptr) return;
  objectives_ = objectives;
  models_ = {model};
  while (models_.size() < objectives_.size()) {
    cost::XgboostOptions options;
    options.random_until = kRandomUntil;
    own_models_.push_back(std::make_unique<cost::XgboostModel>(options));
    models_.push_back(own_models_.back().get());
  }
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

std::vector<double> Learner::Score(size_t objective, uint64_t task,
                                   std::span<const sketch::Candidate* const> candidates) {
  if (models_.empty()) return std::vector<double>(candidates.size(), 1.0);
  const std::vector<feature::FeatureMatrix> features = Features(candidates);
  std::vector<const feature::FeatureMatrix*> pointers;
  for (const feature::FeatureMatrix& f : features) pointers.push_back(&f);
  return clock_.In(&run::PhaseTimes::predict, [&] {
    try {
      return models_[objective]->PredictFor(task, pointers);
    } catch (const model::FitFailure&) {
      return std::vector<double>(candidates.size(), 1.0);
    }
  });
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

std::vector<cost::Sample> Learner::SamplesFor(size_t objective,
                                              std::span<const TrainingSample> trials,
                                              std::vector<cost::Sample> samples) const {
  if (objectives_[objective] == ProgramObjective::kLatency) return samples;
  for (size_t i = 0; i < trials.size(); ++i) {
    const std::optional<ProgramCost> cost = CostOf(*trials[i].outcome);
    samples[i].seconds.reset();
    if (!cost) continue;
    samples[i].seconds =
        std::max(kMinBytes, cost->ValueFor(trials[i].calls, objectives_[objective]));
  }
  return samples;
}

std::optional<cost::BatchMetrics> Learner::Learn(std::span<const TrainingSample> trials) {
  if (models_.empty() || trials.empty()) return std::nullopt;
  const std::vector<cost::Sample> samples = Samples(trials);
  return clock_.In(&run::PhaseTimes::train, [&]() -> std::optional<cost::BatchMetrics> {
    try {
      std::optional<cost::BatchMetrics> metrics;
      for (size_t k = models_.size(); k-- > 0;) {
        metrics = models_[k]->Update(SamplesFor(k, trials, samples));
      }
      return metrics;
    } catch (const model::FitFailure&) {
      return std::nullopt;
    }
  });
}

void Learner::Remember(std::span<const TrainingSample> trials) {
  if (models_.empty() || trials.empty()) return;
  const std::vector<cost::Sample> samples = Samples(trials);
  clock_.In(&run::PhaseTimes::train, [&] {
    try {
      for (size_t k = models_.size(); k-- > 0;) {
        models_[k]->Remember(SamplesFor(k, trials, samples));
      }
    } catch (const model::FitFailure&) {
      // As in Learn.
    }
  });
}

}  // namespace bayloom::tuning
