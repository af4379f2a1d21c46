// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/learner.h"

#include <utility>

namespace bayloom::tuning {

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

std::vector<double> Learner::Score(uint64_t task,
                                   std::span<const sketch::Candidate* const> candidates) {
  if (model_ == nullptr) return std::vector<double>(candidates.size(), 1.0);
  const std::vector<feature::FeatureMatrix> features = Features(candidates);
  std::vector<const feature::FeatureMatrix*> pointers;
  for (const feature::FeatureMatrix& f : features) pointers.push_back(&f);
  return clock_.In(&run::PhaseTimes::predict, [&] { return model_->PredictFor(task, pointers); });
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

std::optional<cost::BatchMetrics> Learner::Learn(std::span<const TrainingSample> trials) {
  if (model_ == nullptr || trials.empty()) return std::nullopt;
  const std::vector<cost::Sample> samples = Samples(trials);
  return clock_.In(&run::PhaseTimes::train, [&] { return model_->Update(samples); });
}

void Learner::Remember(std::span<const TrainingSample> trials) {
  if (model_ == nullptr || trials.empty()) return;
  const std::vector<cost::Sample> samples = Samples(trials);
  clock_.In(&run::PhaseTimes::train, [&] { model_->Remember(samples); });
}

}  // namespace bayloom::tuning
