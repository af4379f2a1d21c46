// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "bayloom/cost/throughput_model.h"
#include "bayloom/pretrain/active_learning.h"
#include "bayloom/pretrain/pool_filling.h"
#include "bayloom/record/program_pool.h"
#include "bayloom/record/store.h"
#include "bayloom/trial/budget.h"
#include "bayloom/tuning/program_evaluator.h"

namespace bayloom::pretrain {

struct PretrainingOptions {
  /// What the pool is filled with first; nullopt: it is used as it is.
  std::optional<PoolOptions> pool = PoolOptions{};
  /// Programs measured in all, those of earlier runs included, and the seconds of this run: when
  /// they are used up the model is trained on what there is. Without trials: `share` of the pool.
  trial::Budget budget;
  double share = 0.05;
  /// How programs are chosen and what is trained; its budget and stop follow from the above.
  ActiveLearningOptions learning;
};

struct PretrainingStatus {
  int64_t measured = 0;  ///< programs, those of earlier runs included
  int64_t budget = 0;    ///< programs to be measured
  int round = 0;         ///< from 1
  int rounds = 0;
  double seconds = 0;  ///< of this run
};

/// Called from the run's thread.
struct PretrainingObserver {
  std::function<void(const PoolStatus&)> on_task = {};          ///< filled with programs
  std::function<void(const PretrainingStatus&)> on_trial = {};  ///< measured
  std::function<void(const PretrainingStatus&)> on_round = {};
};

/// Trains a cost model for a target on few well-chosen measurements: fills a pool with programs,
/// then measures a part of them by active learning. Programs and measurements are kept as they are
/// made, so that the same run continues after an interruption.
///
///     Store store("pool.db");
///     ProgramPool pool("pool.db");
///     Measurer measurer(target, {});
///     MeasureEvaluator evaluator(measurer);
///     Pretraining pretraining(store, pool, target, evaluator,
///                             {.pool = {{.families = FamilyNames()}}});
///     if (pretraining.Run() != StopReason::kStopped) WriteModelFile(pretraining.model(),
///     "a.model");
class Pretraining {
 public:
  /// The first four must outlive it; `store` and `pool` are of the same file.
  Pretraining(record::Store& store, record::ProgramPool& pool, const target::Target& target,
              tuning::ProgramEvaluator& evaluator, PretrainingOptions options);

  /// Ends with a trained model, but for StopReason::kStopped, which takes less than a second.
  /// Throws InputError where nothing could be learnt from, SystemError where programs cannot be
  /// measured.
  trial::StopReason Run(const PretrainingObserver& observer = {});

  /// Programs that the model learnt from.
  int64_t measured() const { return learning_ ? learning_->measured() : 0; }
  /// After a run that was not stopped.
  const cost::ThroughputModel& model() const { return learning_->model(); }

 private:
  bool IsOver() const;
  int64_t ProgramsToMeasure(std::span<const record::TaskId> tasks);
  void Learn(const PretrainingObserver& observer);

  record::Store& store_;
  record::ProgramPool& pool_;
  target::Target target_;
  tuning::ProgramEvaluator& evaluator_;
  PretrainingOptions options_;
  double start_ = 0;
  PretrainingStatus status_;
  std::unique_ptr<ActiveLearning> learning_;
};

}  // namespace bayloom::pretrain
