// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bayloom/pretrain/active_learning.h"
#include "bayloom/pretrain/evaluation.h"
#include "bayloom/pretrain/task_split.h"
#include "bayloom/record/program_pool.h"
#include "bayloom/record/store.h"
#include "bayloom/target/target.h"
#include "bayloom/tuning/program_evaluator.h"

namespace bayloom {

struct ComparisonOptions {
  std::vector<std::string>
      held_out;        ///< groups that are not trained on; empty: a tenth of all tasks
  uint64_t seed = 0;   ///< of that tenth
  int64_t budget = 0;  ///< programs measured; 0: share of those that may be
  double share = 0.05;
};

/// What was chosen and learnt in one run of the loop.
struct Training {
  std::unique_ptr<pretrain::ActiveLearning> learning;
  /// Of every round's programs: the task's best known seconds over theirs, 0 if infeasible.
  std::vector<std::vector<double>> labels_by_round;
  pretrain::ModelEvaluation evaluation;

  /// Of what was measured, the part that is at least half as fast as its task's best.
  double FastShare() const;
};

/// Selections compared on the measurements of one pool (Bi et al. 2023, table 1).
class SelectionComparison {
 public:
  /// Throws InputError where there is no pool, or no such group.
  SelectionComparison(const std::string& database, const target::Target& target,
                      ComparisonOptions options);

  /// Chooses among recorded measurements, as if they were made again. Of `options` the budget is
  /// that of the comparison.
  Training Simulate(pretrain::ActiveLearningOptions options);
  /// Measures what was not measured before.
  Training Measure(pretrain::ActiveLearningOptions options, tuning::ProgramEvaluator& evaluator);

 private:
  using Labels = std::map<int64_t, pretrain::Label>;
  using Measured = std::vector<std::pair<record::TaskId, pretrain::Label>>;

  int64_t Budget(bool is_simulated);
  Training Run(pretrain::ActiveLearningOptions options, bool is_simulated,
               const pretrain::ActiveLearning::Labeller& labeller);
  std::vector<std::vector<double>> RelativeLabels(const Measured& measured,
                                                  const std::vector<size_t>& round_ends) const;

  target::Target target_;
  ComparisonOptions options_;
  record::Store store_;
  record::ProgramPool pool_;
  pretrain::TaskSplit split_;
  std::map<record::TaskId, Labels> known_;
};

}  // namespace bayloom
