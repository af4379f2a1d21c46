// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "bayloom/cost/cost_model.h"
#include "bayloom/cost/throughput_model.h"
#include "bayloom/cost/xgboost_model.h"

namespace bayloom::cost {

/// A pre-trained model that goes on learning: its scores from the first trial on, later corrected
/// by trees that are grown on what it got wrong.
///
/// A pre-trained model may be wrong for a task or for this machine. So its scores are compared with
/// what was then measured: where it puts too few pairs of a task's programs in the right order, the
/// task is left to a model that learns from this session alone. Tasks with few trials are judged by
/// those of all. Programs chosen for their scores are often alike, and say little about them: while
/// nothing is known, the model asks for one a batch that is not. Further trials may restore trust.
class PretrainedModel final : public CostModel {
 public:
  /// Two programs tell whether scores are right when one takes this much of the other's time, or
  /// less, and their scores differ by so much.
  static constexpr double kSignificantRatio = 0.9;
  static constexpr double kSignificantGap = 0.05;
  /// Part of a task's telling pairs that a model worth its name puts in the right order. A coin has
  /// one half; programs chosen for their scores differ in what the scores do not know.
  static constexpr double kMinAccuracy = 0.55;
  /// The same of all tasks, where many pairs are of one that was chosen and a control; and of a
  /// task where all speak against the model.
  static constexpr double kMinOverallAccuracy = 0.75;
  /// Fewer telling pairs say nothing; eight programs that all differ make 28.
  static constexpr int kMinPairs = 16;
  /// Pairs of one task that count when all are judged together: three tasks say something.
  static constexpr int kMaxPairsPerTask = 6;
  /// Programs of a task that each new one is compared with.
  static constexpr size_t kMaxCompared = 1000;

  explicit PretrainedModel(std::shared_ptr<const ThroughputModel> base,
                           const XgboostOptions& options = {});

  /// Scores as for a task of which nothing is known.
  std::vector<double> Predict(std::span<const feature::FeatureMatrix* const> programs) override;
  std::vector<double> PredictFor(uint64_t task,
                                 std::span<const feature::FeatureMatrix* const> programs) override;
  /// One while neither the task nor all together have told whether the scores are right.
  int ExplorationCount(uint64_t task) const override;
  bool IsInformed(uint64_t task) const override { return Trusts(task); }
  BatchMetrics Update(std::span<const Sample> batch) override;
  void Remember(std::span<const Sample> batch) override;

  /// Whether the pre-trained model is used for the task.
  bool Trusts(uint64_t task) const;

 private:
  /// What the base said of a program, and its runs per second (0 where it failed).
  struct Tried {
    double score, throughput;
  };
  struct Evidence {
    std::deque<Tried> tried;  ///< the newest
    double right = 0;         ///< pairs in the right order
    double pairs = 0;         ///< those that tell

    void Add(Tried next);
    bool Suffices() const { return pairs >= kMinPairs; }
    bool IsBelow(double accuracy) const { return Suffices() && right < accuracy * pairs; }
  };

  /// The task's own, if that suffices; null otherwise.
  const Evidence* EvidenceForTask(uint64_t task) const;
  Evidence EvidenceOfAll() const;
  std::vector<double> PredictBatch(std::span<const Sample> batch);
  void Judge(std::span<const Sample> batch, std::span<const double> base_scores);

  std::shared_ptr<const ThroughputModel> base_;
  XgboostModel corrections_;  ///< of the base's scores
  XgboostModel own_;          ///< without the base
  TaskBests bests_;
  std::unordered_map<uint64_t, Evidence> evidence_;
};

}  // namespace bayloom::cost
