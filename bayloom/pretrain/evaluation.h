// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <string>
#include <vector>

#include "bayloom/cost/throughput_model.h"
#include "bayloom/pretrain/active_learning.h"
#include "bayloom/record/program_pool.h"

namespace bayloom::pretrain {

/// How well a model predicts programs of tasks that it may never have seen (Zheng et al. 2021,
/// section 5). Labels are relative to the task's best among the programs evaluated on.
struct ModelEvaluation {
  int tasks = 0;
  int64_t programs = 0;
  /// Best seconds over the best seconds of the k best-predicted programs, both summed over a
  /// group's tasks by weight; the mean over groups.
  double top1 = 0, top5 = 0;
  // Means over tasks.
  double rmse = 0;
  double r2 = 0;
  double pairwise_accuracy = 0;
};

/// Evaluates on the measured programs of the groups' tasks; tasks with fewer than
/// `min_programs` feasible ones are left out.
ModelEvaluation EvaluateModel(const cost::ThroughputModel& model, record::ProgramPool& pool,
                              const std::vector<record::PoolGroup>& groups,
                              const std::map<record::TaskId, std::map<int64_t, Label>>& measured,
                              int min_programs = 16);

}  // namespace bayloom::pretrain
