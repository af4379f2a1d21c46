#include "bayloom/tuning/learner.h"

#include <utility>

namespace bayloom {

std::vector<FeatureMatrix> Learner::Features(std::span<const Candidate* const> candidates) {
  return clock_.In(&PhaseTimes::features, [&] {
    std::vector<FeatureMatrix> features(candidates.size());
    pool_.ParallelFor(static_cast<int64_t>(candidates.size()),
                      [&](int64_t i) { features[i] = ExtractFeatures(candidates[i]->program); });
    return features;
  });
}

std::vector<double> Learner::Score(uint64_t task, std::span<const Candidate* const> candidates) {
  if (model_ == nullptr) return std::vector<double>(candidates.size(), 1.0);
  const std::vector<FeatureMatrix> features = Features(candidates);
  std::vector<const FeatureMatrix*> pointers;
  for (const FeatureMatrix& f : features) pointers.push_back(&f);
  return clock_.In(&PhaseTimes::predict, [&] { return model_->PredictFor(task, pointers); });
}

std::vector<Sample> Learner::Samples(std::span<const TrainingSample> trials) {
  std::vector<const Candidate*> candidates;
  for (const TrainingSample& sample : trials) candidates.push_back(sample.candidate);
  std::vector<FeatureMatrix> features = Features(candidates);
  std::vector<Sample> samples;
  for (size_t i = 0; i < trials.size(); ++i) {
    const Outcome& outcome = *trials[i].outcome;
    samples.push_back({.task = trials[i].task,
                       .features = std::move(features[i]),
                       .seconds = outcome.ok() ? std::optional(outcome.value) : std::nullopt});
  }
  return samples;
}

std::optional<BatchMetrics> Learner::Learn(std::span<const TrainingSample> trials) {
  if (model_ == nullptr || trials.empty()) return std::nullopt;
  const std::vector<Sample> samples = Samples(trials);
  return clock_.In(&PhaseTimes::train, [&] { return model_->Update(samples); });
}

void Learner::Remember(std::span<const TrainingSample> trials) {
  if (model_ == nullptr || trials.empty()) return;
  const std::vector<Sample> samples = Samples(trials);
  clock_.In(&PhaseTimes::train, [&] { model_->Remember(samples); });
}

}  // namespace bayloom
