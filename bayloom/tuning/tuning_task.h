// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bayloom/cost/cost_model.h"
#include "bayloom/record/run_record.h"
#include "bayloom/run/scheduled_run.h"
#include "bayloom/sketch/design_space.h"
#include "bayloom/strategy/strategy.h"
#include "bayloom/tuning/first_programs.h"
#include "bayloom/tuning/learner.h"
#include "bayloom/tuning/measured_candidate.h"
#include "bayloom/tuning/program_evaluator.h"

namespace bayloom::tuning {

/// A workload to be tuned and how much it matters.
struct TaskSpec {
  std::string name;
  tensor::Workload workload;
  /// How often one run of the whole (a network) runs it, unless others take its place.
  double weight = 1;
  double lower_bound = 0;  ///< seconds that no program can beat; 0 if unknown
  /// Seconds of one run as the machine's limits let expect, right but for a factor that all tasks
  /// share; 0 if unknown.
  double expected_seconds = 0;
};

/// A trial as a task learns from it.
struct TuningTrial {
  sketch::Candidate candidate;  ///< only its hash if it is not usable
  trial::Outcome outcome;
  /// False for a recorded trial whose program the design spaces do not make any more: its program
  /// is not tried again, and nothing is learnt from it.
  bool is_usable = true;
};

/// A task of a session: a workload with its design spaces, the strategy that searches them, and
/// the best program so far. It learns at the end of a slot, from all of the slot's trials together.
class TuningTask final : public run::RunTask<ProgramTrial> {
 public:
  /// Called at the end of a slot with how many trials it had and how well they were predicted.
  using SlotObserver =
      std::function<void(const TuningTask&, int64_t, const std::optional<cost::BatchMetrics>&)>;

  /// `learner` and `evaluator` must outlive the task; `strategy` searches `space`.
  TuningTask(const TaskSpec& spec, record::TaskId id,
             std::unique_ptr<const sketch::SpaceGenerator> space,
             std::unique_ptr<strategy::SearchStrategy> strategy, Learner& learner,
             ProgramEvaluator& evaluator, std::unique_ptr<trial::TrialStore> store,
             SlotObserver on_slot);

  const std::string& name() const { return name_; }
  double weight() const { return weight_; }  ///< as TaskSpec::weight
  record::TaskId id() const { return id_; }  ///< the store's
  uint64_t workload_hash() const { return workload_hash_; }
  const sketch::SpaceGenerator& space() const { return *space_; }
  /// nullopt while no program was feasible.
  const std::optional<MeasuredCandidate>& best() const { return best_; }

  /// Considers a recorded trial for the best program.
  run::TrialValue Restore(const TuningTrial& trial);
  /// Lets the strategy learn from a trial; what the cost model is to learn from it, if anything.
  /// `trial` must outlive the sample.
  std::optional<TrainingSample> Learn(const TuningTrial& trial);

  /// Proposes these before the strategy's own, but none that was tried; the first `opening_trials`
  /// before other tasks get more.
  void TryFirst(FirstPrograms first, int64_t opening_trials);
  /// The program that the task has without any trial, where it was said.
  const std::optional<sketch::Candidate>& zero_trial() const { return zero_trial_; }
  /// ... and beside it for small lengths.
  const std::vector<SmallCandidate>& zero_trial_small() const { return zero_trial_small_; }

  int64_t OpeningTrials() const override;
  void BeginSlot() override;
  std::vector<ProgramTrial> Propose(int n, const std::function<bool()>& interrupted) override;
  trial::Evaluator<ProgramTrial>& evaluator() override { return evaluator_; }
  run::TrialValue Tell(ProgramTrial&& trial, const trial::Outcome& outcome,
                       double elapsed) override;
  void EndSlot(bool interrupted) override;
  trial::TrialStore* store() override { return store_.get(); }
  trial::TrialRecord RecordOf(const ProgramTrial& trial) override;

 private:
  std::vector<TrainingSample> LearnAll(std::span<const TuningTrial> trials);

  std::string name_;
  double weight_;
  record::TaskId id_;
  std::unique_ptr<const sketch::SpaceGenerator> space_;
  uint64_t workload_hash_;
  std::unique_ptr<strategy::SearchStrategy> strategy_;
  Learner& learner_;
  ProgramEvaluator& evaluator_;
  std::unique_ptr<trial::TrialStore> store_;
  SlotObserver on_slot_;
  std::optional<MeasuredCandidate> best_;
  std::optional<sketch::Candidate> zero_trial_;
  std::vector<SmallCandidate> zero_trial_small_;
  int64_t opening_trials_ = 0;
  std::vector<sketch::Candidate> first_;  ///< to be proposed next
  std::vector<TuningTrial> slot_;         ///< trials of this slot
  std::vector<TuningTrial> unlearnt_;     ///< trials of a slot that was interrupted
  bool evaluator_knows_best_ = false;
};

}  // namespace bayloom::tuning
