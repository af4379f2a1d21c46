// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cost/pretrained_model.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "bayloom/base/clock.h"
#include "bayloom/cost/metrics.h"

namespace bayloom::cost {

PretrainedModel::PretrainedModel(std::shared_ptr<const ThroughputModel> base,
                                 const XgboostOptions& options)
    : base_(std::move(base)), corrections_(options), own_(options) {}

std::vector<double> PretrainedModel::Predict(
    std::span<const feature::FeatureMatrix* const> programs) {
  std::vector<double> scores = base_->Predict(programs);
  if (corrections_.rounds() == 0) return scores;
  const std::vector<double> corrections = corrections_.Predict(programs);
  for (size_t i = 0; i < scores.size(); ++i) scores[i] += corrections[i];
  return scores;
}

std::vector<double> PretrainedModel::PredictFor(
    uint64_t task, std::span<const feature::FeatureMatrix* const> programs) {
  return Trusts(task) ? Predict(programs) : own_.Predict(programs);
}

BatchMetrics PretrainedModel::Update(std::span<const Sample> batch) {
  const std::vector<double> predicted = PredictBatch(batch);
  const int known = corrections_.samples();
  Remember(batch);
  BatchMetrics metrics = EvaluateBatch(predicted, batch, bests_);
  metrics.training_samples = std::max(1, known);
  const double start = base::MonotonicSeconds();
  corrections_.rounds();  // trains
  metrics.update_seconds = base::MonotonicSeconds() - start;
  return metrics;
}

void PretrainedModel::Remember(std::span<const Sample> batch) {
  for (const Sample& sample : batch) bests_.Add(sample);
  const std::vector<double> base_scores = base_->Predict(FeaturesOf(batch));
  Judge(batch, base_scores);
  own_.Remember(batch);
  std::vector<Sample> corrected(batch.begin(), batch.end());
  for (size_t i = 0; i < corrected.size(); ++i) corrected[i].prior = base_scores[i];
  corrections_.Remember(corrected);
}

const PretrainedModel::Evidence* PretrainedModel::EvidenceForTask(uint64_t task) const {
  const auto known = evidence_.find(task);
  return known != evidence_.end() && known->second.Suffices() ? &known->second : nullptr;
}

PretrainedModel::Evidence PretrainedModel::EvidenceOfAll() const {
  Evidence all;
  for (const auto& [hash, one] : evidence_) {
    const double counted = std::min<double>(one.pairs, kMaxPairsPerTask);
    if (counted == 0) continue;
    all.pairs += counted;
    all.right += one.right * counted / one.pairs;
  }
  return all;
}

bool PretrainedModel::Trusts(uint64_t task) const {
  const bool is_wrong_elsewhere = EvidenceOfAll().IsBelow(kMinOverallAccuracy);
  const Evidence* own = EvidenceForTask(task);
  if (!own) return !is_wrong_elsewhere;
  return !own->IsBelow(is_wrong_elsewhere ? kMinOverallAccuracy : kMinAccuracy);
}

int PretrainedModel::ExplorationCount(uint64_t task) const {
  return EvidenceForTask(task) || EvidenceOfAll().Suffices() ? 0 : 1;
}

std::vector<double> PretrainedModel::PredictBatch(std::span<const Sample> batch) {
  std::vector<double> scores;
  for (const Sample& sample : batch) {
    const feature::FeatureMatrix* features = &sample.features;
    scores.push_back(PredictFor(sample.task, {&features, 1})[0]);
  }
  return scores;
}

void PretrainedModel::Judge(std::span<const Sample> batch, std::span<const double> base_scores) {
  for (size_t i = 0; i < batch.size(); ++i) {
    const std::optional<double>& seconds = batch[i].seconds;
    evidence_[batch[i].task].Add({base_scores[i], seconds ? 1 / *seconds : 0});
  }
}

void PretrainedModel::Evidence::Add(Tried next) {
  for (const Tried& earlier : tried) {
    const auto [slow, fast] = std::minmax(next.throughput, earlier.throughput);
    const double gap = next.score - earlier.score;
    if (fast == 0 || slow > kSignificantRatio * fast || std::abs(gap) < kSignificantGap) continue;
    ++pairs;
    right += (gap > 0) == (next.throughput > earlier.throughput) ? 1 : 0;
  }
  tried.push_back(next);
  if (tried.size() > kMaxCompared) tried.pop_front();
}

}  // namespace bayloom::cost
