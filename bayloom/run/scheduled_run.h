// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bayloom/base/clock.h"
#include "bayloom/run/failure_watch.h"
#include "bayloom/run/run_state.h"
#include "bayloom/trial/evaluator.h"
#include "bayloom/trial/trial_store.h"

namespace bayloom::run {

/// A task as a ScheduledRun sees it: something that gets better when it is given trials.
template <typename Candidate>
class RunTask {
 public:
  virtual ~RunTask() = default;

  /// Trials that come before the slots that the scheduler gives, as RunState::SetOpening.
  virtual int64_t OpeningTrials() const { return 0; }
  /// Its turn begins.
  virtual void BeginSlot() {}
  /// Up to `n` candidates to try. Fewer: there is nothing else to try, or not before `interrupted`
  /// became true, which long searches for a candidate ask now and then.
  virtual std::vector<Candidate> Propose(int n, const std::function<bool()>& interrupted) = 0;
  /// Whether the last Propose gave fewer because it found no more with bounded effort, although
  /// there may be more.
  virtual bool GaveUp() const { return false; }
  /// What it has to say since it was last asked about how it searches, each a line.
  virtual std::vector<std::string> TakeNotices() { return {}; }
  /// Tries its candidates. Tasks may share one.
  virtual trial::Evaluator<Candidate>& evaluator() = 0;
  /// Learns what a candidate answered; by now that is durable. `elapsed`: seconds that the run had
  /// spent by then.
  virtual TrialValue Tell(Candidate&& candidate, const trial::Outcome& outcome, double elapsed) = 0;
  /// Whether it has not improved for as long as it should.
  virtual bool HasConverged() const { return false; }
  /// Whether what it has found is as good as was asked for.
  virtual bool HasReachedTarget() const { return false; }
  /// Its turn is over; called only if there were trials in it. `interrupted`: the run was asked to
  /// stop and is to end soon, so only what it needs to be resumed is to be done.
  virtual void EndSlot([[maybe_unused]] bool interrupted) {}

  /// Where its trials are kept; null: nowhere.
  virtual trial::TrialStore* store() { return nullptr; }
  /// `candidate`, `key` and `proposer` of a trial's record. Only called if there is a store.
  virtual trial::TrialRecord RecordOf(const Candidate&) { return {}; }
};

/// Gives trials to tasks until a budget is spent: the one loop behind tuning a network, searching
/// scenarios, mapping layers and collecting measurements.
///
/// The scheduler picks the task of the next slot. The task proposes candidates as its evaluator has
/// room; every outcome is written to the task's store before the task learns from it. A trial that
/// is lost is tried again after a pause, kMaxAttempts times in all; if it is still lost the run
/// ends (kLost) and can be resumed, as after any other end: tell the tasks of the earlier trials,
/// then
///
///     ScheduledRun<Configuration> run(options);
///     const int index = run.AddTask(task, {.name = "blur"});
///     for (const EarlierTrial& trial : earlier) run.Restore(index, task.Tell(...));
///     run.RestoreSlotEnd(index);
///     const StopReason reason = run.Run({.on_trial = PrintTrial});
template <typename Candidate>
class ScheduledRun {
 public:
  static constexpr int kMaxAttempts = 3;

  /// Throws InputError for an unknown scheduler.
  explicit ScheduledRun(RunOptions options)
      : state_(std::move(options)), failures_(state_.options().failures_alike) {}

  /// `task` must outlive the run. `max_trials`: of this task alone, earlier ones included. Returns
  /// its index.
  int AddTask(RunTask<Candidate>& task, scheduling::TaskProgress progress,
              int64_t max_trials = trial::Budget::kUnlimited) {
    tasks_.push_back(&task);
    return state_.AddTask(std::move(progress), max_trials);
  }

  /// As RunState::SetAlternatives.
  void SetAlternatives(std::vector<scheduling::TaskAlternative> alternatives) {
    state_.SetAlternatives(std::move(alternatives));
  }

  /// Counts a trial of before the run was resumed; `elapsed`: seconds that it had spent by then.
  void Restore(int task, const TrialValue& value, double elapsed = 0) {
    state_.Count(task, value);
    state_.RestoreSeconds(elapsed);
  }
  /// A slot of before ended with the last trial restored.
  void RestoreSlotEnd(int task) { state_.EndSlot(task, /*is_restored=*/true); }

  /// Until the budget is spent or no task has anything left to try. Throws what evaluators and
  /// stores throw; what was recorded by then stays, and nothing is left running.
  trial::StopReason Run(const RunObserver& observer = {}) {
    state_.Start();
    for (size_t i = 0; i < tasks_.size(); ++i) {
      state_.SetOpening(static_cast<int>(i), tasks_[i]->OpeningTrials());
    }
    while (true) {
      if (const std::optional<trial::StopReason> spent = state_.Spent()) return *spent;
      if (In(&PhaseTimes::schedule, [&] { return state_.GainsTooLittle(); })) {
        return trial::StopReason::kGain;
      }
      const int task = In(&PhaseTimes::schedule, [&] { return state_.NextTask(); });
      if (task < 0) return state_.Exhaustion();
      RunSlot(task, observer);
      if (!lost_.empty()) return trial::StopReason::kLost;
    }
  }

  RunStatus Status() const { return state_.Status(); }
  const RunState& state() const { return state_; }
  /// As RunState::GainPerMinute.
  std::optional<double> GainPerMinute() { return state_.GainPerMinute(); }
  /// Why trials cannot be carried out, after an end by kLost.
  const std::string& lost() const { return lost_; }

 private:
  /// How long to wait for an outcome before looking at the budget again.
  static constexpr double kPollSeconds = 0.1;

  struct InFlight {
    Candidate candidate;
    int attempts = 1;
    double retry_at = 0;  ///< on the monotonic clock; 0: it is with the evaluator
  };
  using Flight = std::map<trial::TrialId, InFlight>;

  /// Ends the evaluator's trials however a slot is left.
  class CancelOnExit {
   public:
    CancelOnExit(trial::Evaluator<Candidate>& evaluator, const Flight& flight)
        : evaluator_(evaluator), flight_(flight) {}
    ~CancelOnExit() {
      if (!flight_.empty()) evaluator_.Cancel();
    }
    CancelOnExit(const CancelOnExit&) = delete;
    CancelOnExit& operator=(const CancelOnExit&) = delete;

   private:
    trial::Evaluator<Candidate>& evaluator_;
    const Flight& flight_;
  };

  template <typename Work>
  auto In(PhaseClock::Phase phase, Work&& work) {
    PhaseClock* const phases = state_.options().phases;
    return phases != nullptr ? phases->In(phase, std::forward<Work>(work)) : work();
  }

  static void Pass(const std::vector<std::string>& notices, const RunObserver& observer) {
    if (!observer.on_notice) return;
    for (const std::string& notice : notices) observer.on_notice(notice);
  }

  void RunSlot(int index, const RunObserver& observer) {
    RunTask<Candidate>& task = *tasks_[index];
    trial::Evaluator<Candidate>& evaluator = task.evaluator();
    const std::function<bool()> interrupted = [this] { return state_.Spent().has_value(); };
    const int64_t trials_before = state_.trials();
    int64_t open = state_.SlotTrials(index);  // trials not proposed yet
    const auto is_done = [&] { return task.HasConverged() || task.HasReachedTarget(); };
    bool wants_more = !is_done();
    Flight flight;
    const CancelOnExit cancel(evaluator, flight);
    task.BeginSlot();
    while (lost_.empty()) {
      if (state_.Spent()) break;
      const int64_t room = evaluator.Capacity() - static_cast<int64_t>(flight.size());
      const int wanted = static_cast<int>(std::min({room, open, int64_t{1} << 20}));
      if (wants_more && wanted > 0) {
        wants_more = Begin(task, wanted, interrupted, flight);
        open -= wanted;
        Pass(task.TakeNotices(), observer);
      }
      if (flight.empty()) {
        if (!wants_more && !state_.Spent()) {
          state_.Finish(index, task.HasReachedTarget() ? trial::StopReason::kTarget
                               : task.HasConverged()   ? trial::StopReason::kConverged
                               : task.GaveUp()         ? trial::StopReason::kGaveUp
                                                       : trial::StopReason::kExhausted);
        }
        break;
      }
      RetryLost(task, flight);
      for (trial::FinishedTrial& finished :
           In(&PhaseTimes::measure, [&] { return evaluator.Collect(kPollSeconds, interrupted); })) {
        Take(index, std::move(finished), flight, observer);
      }
      Pass(evaluator.TakeNotices(), observer);
      if (is_done()) wants_more = false;
    }
    if (state_.trials() == trials_before) return;
    state_.EndSlot(index);
    task.EndSlot(state_.Spent() == trial::StopReason::kStopped);
    if (observer.on_slot) observer.on_slot(state_.Status());
  }

  /// Begins up to `wanted` trials. False if the task had fewer to propose.
  bool Begin(RunTask<Candidate>& task, int wanted, const std::function<bool()>& interrupted,
             Flight& flight) {
    std::vector<Candidate> candidates =
        In(&PhaseTimes::search, [&] { return task.Propose(wanted, interrupted); });
    const bool wants_more = static_cast<int>(candidates.size()) == wanted;
    for (Candidate& candidate : candidates) {
      const auto place = flight.emplace_hint(flight.end(), next_id_++, std::move(candidate));
      task.evaluator().Submit(place->first, place->second.candidate);
    }
    return wants_more;
  }

  /// Begins again the lost trials whose pause is over; if there are no others, waits a little.
  void RetryLost(RunTask<Candidate>& task, Flight& flight) {
    int paused = 0;
    for (auto& [id, trial] : flight) {
      if (trial.retry_at == 0) continue;
      if (base::MonotonicSeconds() < trial.retry_at) {
        ++paused;
        continue;
      }
      trial.retry_at = 0;
      task.evaluator().Submit(id, trial.candidate);
    }
    if (paused == std::ssize(flight)) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }

  /// Records an outcome, then learns from it; a lost trial is begun again later.
  void Take(int index, trial::FinishedTrial finished, Flight& flight, const RunObserver& observer) {
    RunTask<Candidate>& task = *tasks_[index];
    const auto place = flight.find(finished.id);
    if (place == flight.end()) return;
    InFlight& trial = place->second;
    if (!finished.outcome) {
      if (trial.attempts++ < kMaxAttempts) {
        const double pause = state_.options().retry_seconds * (trial.attempts - 1);
        trial.retry_at = base::MonotonicSeconds() + pause;
      } else {
        lost_ = finished.lost.empty() ? "a trial was lost" : finished.lost;
      }
      return;
    }
    const double elapsed = state_.Seconds();
    if (trial::TrialStore* const store = task.store()) {
      In(&PhaseTimes::record, [&] {
        trial::TrialRecord record = task.RecordOf(trial.candidate);
        record.outcome = *finished.outcome;
        record.elapsed = elapsed;
        store->Add(record);
      });
    }
    state_.Count(index, task.Tell(std::move(trial.candidate), *finished.outcome, elapsed));
    flight.erase(place);
    failures_.Look(*finished.outcome);
    if (failures_.Fired() && state_.trials() == state_.options().failures_alike &&
        !state_.Spent()) {
      lost_ = "the first " + std::to_string(state_.trials()) +
              " all failed alike: " + finished.outcome->reason +
              "; resumed, it goes on in spite of that";
    }
    if (observer.on_trial) observer.on_trial(state_.Status(), *finished.outcome);
  }

  RunState state_;
  std::vector<RunTask<Candidate>*> tasks_;
  FailureWatch failures_;
  trial::TrialId next_id_ = 0;
  std::string lost_;
};

}  // namespace bayloom::run
