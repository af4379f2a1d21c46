#include "bayloom/cost/pretrained_model.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "bayloom/base/clock.h"
#include "bayloom/cost/metrics.h"

namespace bayloom {

PretrainedModel::PretrainedModel(std::shared_ptr<const ThroughputModel> base,
                                 const XgboostOptions& options)
    : base_(std::move(base)), corrections_(options), own_(options) {}

std::vector<double> PretrainedModel::Predict(std::span<const FeatureMatrix* const> programs) {
  std::vector<double> scores = base_->Predict(programs);
  if (corrections_.rounds() == 0) return scores;
  const std::vector<double> corrections = corrections_.Predict(programs);
  for (size_t i = 0; i < scores.size(); ++i) scores[i] += corrections[i];
  return scores;
}

std::vector<double> PretrainedModel::PredictFor(uint64_t task,
                                                std::span<const FeatureMatrix* const> programs) {
  return Trusts(task) ? Predict(programs) : own_.Predict(programs);
}

BatchMetrics PretrainedModel::Update(std::span<const Sample> batch) {
  const std::vector<double> predicted = PredictBatch(batch);
  const int known = corrections_.samples();
  Remember(batch);
  BatchMetrics metrics = EvaluateBatch(predicted, batch, bests_);
  metrics.training_samples = std::max(1, known);
  const double start = MonotonicSeconds();
  corrections_.rounds();  // trains
  metrics.update_seconds = MonotonicSeconds() - start;
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

bool PretrainedModel::Trusts(uint64_t task) const {
  const auto known = evidence_.find(task);
  if (known != evidence_.end() && known->second.Suffices()) return !known->second.IsBad();
  const auto count = [&](auto which) {
    return std::count_if(evidence_.begin(), evidence_.end(),
                         [&](const auto& one) { return which(one.second); });
  };
  const auto judged = count([](const Evidence& evidence) { return evidence.Suffices(); });
  const auto bad = count([](const Evidence& evidence) { return evidence.IsBad(); });
  return judged < kLeastTasks || 2 * bad <= judged;
}

std::vector<double> PretrainedModel::PredictBatch(std::span<const Sample> batch) {
  std::vector<double> scores;
  for (const Sample& sample : batch) {
    const FeatureMatrix* features = &sample.features;
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
    if (slow > kTellingRatio * fast || fast == 0) continue;
    ++pairs;
    const double agreement = (next.score - earlier.score) * (next.throughput - earlier.throughput);
    right += agreement > 0 ? 1 : agreement == 0 ? 0.5 : 0;
  }
  tried.push_back(next);
}

}  // namespace bayloom
