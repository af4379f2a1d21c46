// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cost/xgboost_model.h"

#include "bayloom/base/clock.h"

namespace bayloom::cost {

XgboostModel::XgboostModel(const XgboostOptions& options)
    : options_(options), random_(options.seed), trees_(options.trees) {}

std::vector<double> XgboostModel::Predict(std::span<const feature::FeatureMatrix* const> programs) {
  Train();
  return trees_.fitted() ? trees_.Predict(programs) : RandomScores(random_, programs.size());
}

BatchMetrics XgboostModel::Update(std::span<const Sample> batch) {
  const std::vector<double> predicted = Predict(FeaturesOf(batch));
  const int known = trees_.fitted() ? samples() : 0;
  Remember(batch);
  BatchMetrics metrics = EvaluateBatch(predicted, batch, bests_);
  metrics.training_samples = known;
  const double start = base::MonotonicSeconds();
  Train();
  metrics.update_seconds = base::MonotonicSeconds() - start;
  return metrics;
}

void XgboostModel::Remember(std::span<const Sample> batch) {
  for (const Sample& sample : batch) bests_.Add(sample);
  samples_.insert(samples_.end(), batch.begin(), batch.end());
  random_ = StreamAfter(options_.seed, samples());
  if (!batch.empty() && samples() >= options_.random_until) untrained_.push_back(samples());
}

/// Learns the batches that were only remembered, one after the other, as if each had been learnt
/// when it came; all before the last complete fit are skipped.
void XgboostModel::Train() {
  size_t next = 0;
  bool fit = false;
  for (size_t i = 0; i < untrained_.size(); ++i) {
    if (untrained_[i] < fitted_samples_ * (1 + options_.refit_growth)) continue;
    fitted_samples_ = untrained_[i];
    next = i;
    fit = true;
  }
  for (; next < untrained_.size(); ++next, fit = false) {
    const std::span<const Sample> known = std::span(samples_).first(untrained_[next]);
    fit ? trees_.Fit(known) : trees_.Extend(known, options_.rounds_per_batch);
  }
  untrained_.clear();
}

int XgboostModel::rounds() {
  Train();
  return trees_.rounds();
}

std::string XgboostModel::Save() {
  Train();
  return trees_.Save();
}

}  // namespace bayloom::cost
