#include "bayloom/cost/pretrained_model.h"

#include <algorithm>
#include <map>
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
  if (known != evidence_.end()) return !known->second.IsBad();
  const auto bad = std::count_if(evidence_.begin(), evidence_.end(),
                                 [](const auto& one) { return one.second.IsBad(); });
  return static_cast<int>(evidence_.size()) < kLeastTasks ||
         2 * bad <= static_cast<int64_t>(evidence_.size());
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
  std::map<uint64_t, std::pair<std::vector<double>, std::vector<double>>> by_task;
  for (size_t i = 0; i < batch.size(); ++i) {
    auto& [scores, labels] = by_task[batch[i].task];
    scores.push_back(base_scores[i]);
    labels.push_back(bests_.Label(batch[i].task, batch[i].seconds));
  }
  for (const auto& [task, values] : by_task) {
    const auto& [scores, labels] = values;
    const int count = static_cast<int>(scores.size());
    if (count < kLeastSamples) continue;
    Evidence& evidence = evidence_[task];
    evidence.correlation += count * SpearmanCorrelation(scores, labels);
    evidence.samples += count;
  }
}

}  // namespace bayloom
