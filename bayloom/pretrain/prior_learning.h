// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/base/thread_pool.h"
#include "bayloom/cost/selection/selection.h"
#include "bayloom/strategy/fresh_samples.h"
#include "bayloom/trial/budget.h"
#include "bayloom/tuning/earlier_trials.h"
#include "bayloom/tuning/program_evaluator.h"

namespace bayloom::pretrain {

/// Lets learning wait for a quiet machine.
struct QuietWatch {
  /// Processors that other processes have used since the last call, or since the watch was made.
  std::function<double()> taken;
  /// More than this disturbs measurements.
  double limit = 0.5;
  /// Waits so many seconds; less where a stop is requested.
  std::function<void(double)> wait;
};

struct PriorLearningOptions {
  trial::Budget budget;                  ///< programs to measure, seconds, and what ends it at once
  std::optional<QuietWatch> quiet = {};  ///< nullopt: measures in any case
  /// Operators to learn of besides, drawn from these families (FamilyNames).
  std::vector<std::string> families = {};
  int tasks_per_family = 10;
  int candidates = 192;  ///< of which a batch is selected
  int batch = 8;         ///< programs measured between two looks at the machine
  uint64_t seed = 0;
  int threads = 0;  ///< for drawing programs; 0: one per hardware thread
};

struct PriorLearningStatus {
  int64_t measured = 0;   ///< programs, in this run
  int64_t disturbed = 0;  ///< measured and not kept, as others used the machine meanwhile
  int64_t tasks = 0;      ///< that something was measured of
  double seconds = 0;     ///< of this run
  double waited = 0;      ///< seconds of these that others had the machine
  double taken = 0;       ///< processors that others used at the last look
  bool is_waiting = false;
};

/// Measures programs of the operators that were tuned on this machine, for the cost model that the
/// next tuning begins with (EarlierTrials) to learn from.
///
/// Operators take turns, those of which least was measured first. Of each, programs are drawn, half
/// at random and half bred from the best known; the present model scores them, and those are
/// measured that the selection chooses (Bi et al. 2023, section 3). What is measured is kept batch
/// by batch, and what comes next follows from what is kept: interrupted anywhere, the next run goes
/// on.
class PriorLearning {
 public:
  /// `store` and `samples` are of the same file; all must outlive this. Throws InputError where
  /// nothing is known of the target, and no families are given.
  PriorLearning(record::Store& store, record::SampleStore& samples, const target::Target& target,
                tuning::ProgramEvaluator& evaluator, PriorLearningOptions options);

  /// Ends by the budget, within a second by its stop, or when nothing new is found. Throws
  /// SystemError where programs cannot be measured.
  trial::StopReason Run(const std::function<void(const PriorLearningStatus&)>& on_status = {});

 private:
  bool IsOver() const;
  /// Until others leave the machine alone; false where the budget ended before.
  bool WaitForQuiet();
  void Report();
  std::vector<record::TaskId> Turns();
  /// Measures a batch of the task; false where there is nothing new to measure.
  bool MeasureSome(record::TaskId task);
  std::vector<strategy::CandidatePtr> Draw(const sketch::SpaceGenerator& space,
                                           const record::TaskSamples& known);
  std::vector<strategy::CandidatePtr> Select(std::vector<strategy::CandidatePtr> drawn,
                                             const record::TaskSamples& known, int count);
  std::vector<record::MeasuredSample> Measure(const tensor::Workload& workload,
                                              std::span<const strategy::CandidatePtr> programs);

  record::Store& store_;
  target::Target target_;
  tuning::ProgramEvaluator& evaluator_;
  PriorLearningOptions options_;
  tuning::EarlierTrials trials_;
  std::unique_ptr<cost::SelectionMethod> selection_;
  base::ThreadPool threads_;
  std::optional<tuning::TrialPrior> prior_;
  std::vector<record::TaskId> drawn_tasks_;  ///< of families
  double start_ = 0;
  PriorLearningStatus status_;
  std::set<record::TaskId> measured_tasks_;
  std::function<void(const PriorLearningStatus&)> on_status_;
};

}  // namespace bayloom::pretrain
