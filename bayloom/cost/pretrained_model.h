#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "bayloom/cost/cost_model.h"
#include "bayloom/cost/throughput_model.h"
#include "bayloom/cost/xgboost_model.h"

namespace bayloom {

/// A pre-trained model that goes on learning: its scores from the first trial on, later corrected
/// by trees that are grown on what it got wrong.
///
/// A pre-trained model may be wrong for a task or for this machine. So its scores of every batch
/// (small ones are put together) are compared with what was then measured: where their mean rank
/// correlation is below `kLeastCorrelation`, the task is left to a model that learns from this
/// session alone, as it is for tasks to come once most tasks were lost this way. Further batches
/// may restore the trust.
class PretrainedModel final : public CostModel {
 public:
  /// Of a batch's best-predicted programs little can be asked: they are all alike.
  static constexpr double kLeastCorrelation = 0.1;
  /// Fewer samples of a task say nothing about ranks.
  static constexpr int kLeastSamples = 8;
  /// Fewer tasks say nothing about the machine.
  static constexpr int kLeastTasks = 3;

  explicit PretrainedModel(std::shared_ptr<const ThroughputModel> base,
                           const XgboostOptions& options = {});

  /// Scores as for a task of which nothing is known.
  std::vector<double> Predict(std::span<const FeatureMatrix* const> programs) override;
  std::vector<double> PredictFor(uint64_t task,
                                 std::span<const FeatureMatrix* const> programs) override;
  BatchMetrics Update(std::span<const Sample> batch) override;
  void Remember(std::span<const Sample> batch) override;

  /// Whether the pre-trained model is used for the task.
  bool Trusts(uint64_t task) const;

 private:
  struct Evidence {
    double correlation = 0;  ///< sum over samples of their batch's
    int samples = 0;
    /// Not judged yet, as they are too few: what the base said, and what was measured.
    std::vector<double> scores;
    std::vector<std::optional<double>> seconds;

    bool IsBad() const { return correlation < kLeastCorrelation * samples; }
  };

  std::vector<double> PredictBatch(std::span<const Sample> batch);
  void Judge(std::span<const Sample> batch, std::span<const double> base_scores);

  std::shared_ptr<const ThroughputModel> base_;
  XgboostModel corrections_;  ///< of the base's scores
  XgboostModel own_;          ///< without the base
  TaskBests bests_;
  std::unordered_map<uint64_t, Evidence> evidence_;
};

}  // namespace bayloom
