// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/cost/selection/selection.h"
#include "bayloom/cost/throughput_model.h"
#include "bayloom/record/program_pool.h"

namespace bayloom::pretrain {

struct ActiveLearningOptions {
  std::string selection = "greedy";  ///< see cost::SelectionMethods
  cost::SelectionOptions selection_options = {};
  std::string model = "xgboost";  ///< see ThroughputModelNames
  /// Programs measured in all, those known before included, divided equally between the rounds;
  /// the first round's are drawn at random.
  int64_t budget = 0;
  int rounds = 5;
  uint64_t seed = 0;
  std::function<bool()> stop = {};  ///< asked between rounds and tasks
};

/// Seconds of a program; nullopt: infeasible.
using Label = std::optional<double>;

/// Trains a model on few programs of a pool, chosen by what the model does not know yet (Bi et al.
/// 2023, figure 3): train, select the same part of every task's programs, measure, add, and again.
///
/// Features are read from the pool chunk by chunk; only those of measured programs stay in memory.
class ActiveLearning {
 public:
  /// Measures programs of a task; labels by place, fewer if it was stopped.
  using Labeller =
      std::function<std::map<int64_t, Label>(record::TaskId, std::span<const int64_t>)>;

  /// Where the seconds went.
  struct Times {
    double train = 0, predict = 0, select = 0, measure = 0;
  };
  /// After a round: the labels of what it measured, relative to each task's best known by then.
  struct Round {
    int number = 0;  ///< from 1
    int64_t measured = 0;
    std::vector<double> labels;
    Times times;
  };

  /// `pool` must outlive this.
  ActiveLearning(record::ProgramPool& pool, ActiveLearningOptions options);

  /// Adds a task with those of its programs that may be measured and those that were.
  void AddTask(record::TaskId task, std::vector<int64_t> open,
               const std::map<int64_t, Label>& measured);

  /// Runs rounds until the budget is used up, nothing is left to measure or a stop is requested.
  void Run(const Labeller& labeller, const std::function<void(const Round&)>& on_round = {});

  /// Trains the model on everything. Throws InputError where nothing could be learnt from.
  void Finish();

  int64_t measured() const { return static_cast<int64_t>(samples_.size()); }
  const Times& times() const { return times_; }
  /// To be used after Finish.
  const cost::ThroughputModel& model() const { return *model_; }

 private:
  struct Task {
    record::TaskId id = 0;
    std::vector<int64_t> open;  ///< ascending places
    std::vector<size_t> samples;
  };
  struct Scored;

  void Train();
  std::vector<int> Shares(int64_t wanted);
  std::vector<int64_t> Choose(Task& task, int count);
  Scored Score(const Task& task);
  std::vector<const feature::FeatureMatrix*> MeasuredFeatures(const Task& task) const;
  std::vector<double> Disagreement(std::span<const feature::FeatureMatrix* const> programs) const;
  void Learn(Task& task, const std::map<int64_t, Label>& labels);
  std::vector<double> LabelsFrom(size_t first) const;

  record::ProgramPool& pool_;
  ActiveLearningOptions options_;
  std::unique_ptr<cost::SelectionMethod> selection_;
  std::unique_ptr<cost::ThroughputModel> model_;
  /// Models trained on resampled data, where the selection asks for uncertainty.
  std::vector<std::unique_ptr<cost::ThroughputModel>> committee_;
  base::RandomStream random_;
  std::vector<Task> tasks_;
  std::vector<cost::Sample> samples_;
  cost::TaskBests bests_;
  Times times_;
};

}  // namespace bayloom::pretrain
