// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cost/xgboost_model.h"

#include <unordered_map>
#include <utility>

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
  given_ += static_cast<int>(batch.size());
  random_ = StreamAfter(options_.seed, samples());
  if (kept() > options_.max_samples + options_.max_samples / 4) Thin();
  if (!batch.empty() && samples() >= options_.random_until) untrained_.push_back(kept());
}

/// The next training is a complete fit, before which nothing counts.
void XgboostModel::Thin() {
  std::unordered_map<uint64_t, size_t> best;  // of each task
  for (size_t i = 0; i < samples_.size(); ++i) {
    if (!samples_[i].seconds) continue;
    const auto [known, is_new] = best.try_emplace(samples_[i].task, i);
    if (!is_new && *samples_[i].seconds < *samples_[known->second].seconds) known->second = i;
  }
  std::vector<char> stays(samples_.size(), 0);
  for (const auto& [task, place] : best) stays[place] = 1;
  const size_t newest = static_cast<size_t>(options_.max_samples) / 2;
  const size_t older = samples_.size() - newest;
  for (size_t i = 0; i < newest; ++i) {
    stays[older + i] = 1;
    stays[i * older / newest] = 1;
  }
  size_t place = 0;
  for (size_t i = 0; i < samples_.size(); ++i) {
    if (!stays[i]) continue;
    if (place != i) samples_[place] = std::move(samples_[i]);
    ++place;
  }
  samples_.resize(place);
  untrained_.clear();
  fitted_samples_ = 0;
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
