// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/program_repeats.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "bayloom/measure/measurement_details.h"
#include "bayloom/run/scheduled_run.h"
#include "bayloom/tuning/program_front.h"
#include "bayloom/tuning/restore.h"
#include "bayloom/tuning/untuned_program.h"

namespace bayloom::tuning {
namespace {

/// Part of a measured time that may be noise even if its spread is smaller.
constexpr double kMinNoise = 0.05;
/// Trials looked at for each candidate wanted: some cannot be made again any more.
constexpr int kTrialsPerCandidate = 4;
/// Programs of a task's front that are measured again besides, the fastest of them.
constexpr size_t kMaxOfFront = 8;
/// What a repeat takes, in the time of a trial's measurement.
constexpr double kRepeatCost = 0.5;

double NoiseOf(const trial::Outcome& outcome) {
  const measure::MeasurementDetails details = measure::DetailsOf(outcome);
  return std::max({kMinNoise, details.spread, std::abs(details.drift - 1)});
}

/// Whether noise explains that one was slower than the best.
bool MayBeBest(const trial::Outcome& outcome, const trial::Outcome& best) {
  return outcome.value * (1 - std::min(0.5, NoiseOf(outcome))) <= best.value * (1 + NoiseOf(best));
}

}  // namespace

/// The programs of one task that are measured in turns.
class ProgramRepeats::Comparison final : public run::RunTask<ProgramTrial> {
 public:
  /// `weight`: what the task's time counts.
  Comparison(record::Store& store, const Session& session, const TuningTask& task, double weight,
             ProgramEvaluator& evaluator, const RepeatOptions& options)
      : store_(store),
        task_(task),
        weight_(weight),
        evaluator_(evaluator),
        rounds_(options.rounds) {
    identity_.run = session.id();
    identity_.after = session.Status().trials;
    identity_.task = task.id();
    identity_.target = store.FindTarget(task.space().target()).value_or(0);
    std::optional<trial::Outcome> best;
    for (const record::StoredTrial& trial :
         store.BestOf(task.id(), identity_.target, options.candidates * kTrialsPerCandidate)) {
      if (std::ssize(finalists_) == options.candidates) break;
      if (best && !MayBeBest(trial.outcome, *best)) break;
      Result<sketch::Candidate> candidate = RestoreCandidate(task.space(), trial);
      if (!candidate) continue;
      if (!best) best = trial.outcome;
      finalists_.push_back(
          {*std::move(candidate), trial.run, trial.ordinal, measure::DetailsOf(trial.outcome), {}});
    }
    if (finalists_.empty()) return;
    if (session.objectives().size() > 1) AddFront(session.objectives());
    finalists_.push_back({PlainCandidate(task.space()), 0, 0, {}, {}});
  }

  const std::string& name() const { return task_.name(); }
  /// There is no program, recorded and still made, that could be measured.
  bool empty() const { return finalists_.empty(); }
  double importance() const { return weight_ * task_.best()->outcome.value; }
  /// How many may be chosen from.
  int candidates() const { return static_cast<int>(finalists_.size()) - 1; }
  int64_t turns() const { return TurnsFor(candidates()); }
  bool is_complete() const { return is_complete_; }

  /// What it will probably take with so many of the candidates and the untuned program.
  double EstimatedSeconds(int candidates) const {
    double compiling = finalists_.front().details.build_seconds;
    for (int i = 0; i < candidates; ++i) compiling += finalists_[i].details.build_seconds;
    return compiling + kRepeatCost * finalists_.front().details.measure_seconds *
                           static_cast<double>(TurnsFor(candidates));
  }
  /// Leaves out all but the best so many.
  void Keep(int candidates) {
    finalists_.erase(finalists_.begin() + candidates, finalists_.end() - 1);
  }

  std::vector<ProgramTrial> Propose(int n, const std::function<bool()>&) override {
    std::vector<ProgramTrial> trials;
    while (std::ssize(trials) < n && proposed_ < turns()) {
      // The untuned program, which is the last, is measured in the first round only.
      const int64_t all = std::ssize(finalists_);
      const int64_t place = proposed_ < all ? proposed_ : (proposed_ - all) % (all - 1);
      trials.push_back(
          {&task_.space().workload(), finalists_[place].candidate, /*is_repeat=*/true});
      ++proposed_;
    }
    return trials;
  }
  trial::Evaluator<ProgramTrial>& evaluator() override { return evaluator_; }
  run::TrialValue Tell(ProgramTrial&& trial, const trial::Outcome& outcome, double) override {
    // The untuned program may be a candidate as well.
    const auto finalist = std::ranges::find_if(finalists_, [&](const Finalist& f) {
      return f.candidate.hash == trial.candidate.hash && std::ssize(f.outcomes) < TurnsOf(f);
    });
    finalist->outcomes.push_back(outcome);
    if (++told_ == turns()) Record();
    return {.cost = outcome.value, .feasible = outcome.ok()};
  }

 private:
  /// A program that may be the best; the untuned one has no trial.
  struct Finalist {
    sketch::Candidate candidate;
    record::RunId trial_run = 0;
    int64_t trial = 0;
    measure::MeasurementDetails details;  ///< of the trial
    std::vector<trial::Outcome> outcomes;
  };

  /// Adds the programs on the task's front, so that all their times are of the same moment.
  void AddFront(const std::vector<ProgramObjective>& objectives) {
    const size_t most = finalists_.size() + kMaxOfFront;
    for (FrontProgram& program : ProgramFront(store_, task_.space(), task_.weight(), objectives)) {
      if (finalists_.size() == most) return;
      const bool is_there = std::ranges::any_of(finalists_, [&](const Finalist& other) {
        return other.candidate.hash == program.candidate.hash;
      });
      if (is_there) continue;
      const record::StoredTrial& trial = program.trial;
      finalists_.push_back({std::move(program.candidate),
                            trial.run,
                            trial.ordinal,
                            measure::DetailsOf(trial.outcome),
                            {}});
    }
  }

  /// A single candidate is only compared with the untuned program, which is measured once.
  int RoundsFor(int candidates) const { return candidates == 1 ? 1 : rounds_; }
  int64_t TurnsFor(int candidates) const { return int64_t{candidates} * RoundsFor(candidates) + 1; }
  int TurnsOf(const Finalist& finalist) const {
    return finalist.trial_run == 0 ? 1 : RoundsFor(candidates());
  }

  void Record() {
    std::vector<record::Repeat> repeats;
    for (int round = 0; round < rounds_; ++round) {
      for (const Finalist& finalist : finalists_) {
        if (round >= std::ssize(finalist.outcomes)) continue;
        record::Repeat& repeat = repeats.emplace_back(identity_);
        repeat.trial_run = finalist.trial_run;
        repeat.trial = finalist.trial;
        repeat.round = round;
        repeat.outcome = finalist.outcomes[round];
      }
    }
    store_.AddRepeats(repeats);
    is_complete_ = true;
  }

  record::Store& store_;
  const TuningTask& task_;
  double weight_;
  ProgramEvaluator& evaluator_;
  int rounds_;
  record::Repeat identity_;  ///< what all its repeats have in common
  std::vector<Finalist> finalists_;
  int64_t proposed_ = 0;
  int64_t told_ = 0;
  bool is_complete_ = false;
};

ProgramRepeats::ProgramRepeats(record::Store& store, const Session& session,
                               ProgramEvaluator& evaluator, const RepeatOptions& options,
                               double seconds) {
  const SessionStatus status = session.Status();
  std::set<record::TaskId> compared;
  for (const record::Repeat& repeat : store.RepeatsOf(session.id())) {
    if (repeat.after == status.trials) compared.insert(repeat.task);
  }
  for (size_t i = 0; i < session.tasks().size(); ++i) {
    const auto& task = session.tasks()[i];
    // What others have taken the place of, and cannot come back, is left out.
    const double weight = status.tasks[i].importance();
    if (!task->best() || weight == 0 || compared.contains(task->id())) continue;
    auto comparison =
        std::make_unique<Comparison>(store, session, *task, weight, evaluator, options);
    if (!comparison->empty()) comparisons_.push_back(std::move(comparison));
  }
  std::ranges::stable_sort(comparisons_, std::ranges::greater(),
                           [](const auto& comparison) { return comparison->importance(); });
  double left = seconds;
  std::erase_if(comparisons_, [&](const auto& comparison) {
    const double least = comparison->EstimatedSeconds(1);
    if (least > left) return true;
    left -= least;
    return false;
  });
  for (const auto& comparison : comparisons_) {
    int candidates = comparison->candidates();
    const auto more = [&] {
      return comparison->EstimatedSeconds(candidates) - comparison->EstimatedSeconds(1);
    };
    while (more() > left) --candidates;
    left -= more();
    comparison->Keep(candidates);
  }
}

ProgramRepeats::~ProgramRepeats() = default;

trial::StopReason ProgramRepeats::Run(const trial::Budget& budget,
                                      const std::function<void(const RepeatStatus&)>& observer) {
  run::RunOptions options;
  options.budget = budget;
  options.budget.trials = trial::Budget::kUnlimited;
  options.scheduler = "round-robin";  // a slot each, in their order
  run::ScheduledRun<ProgramTrial> run(std::move(options));
  for (const auto& comparison : comparisons_) {
    run.AddTask(*comparison, {.name = comparison->name()}, comparison->turns());
  }
  RepeatStatus status{.done = 0, .all = static_cast<int>(comparisons_.size())};
  if (observer && status.all > 0) observer(status);
  run::RunObserver listener;
  listener.on_slot = [&](const run::RunStatus&) {
    status.done = static_cast<int>(std::ranges::count_if(
        comparisons_, [](const auto& comparison) { return comparison->is_complete(); }));
    if (observer) observer(status);
  };
  const trial::StopReason reason = run.Run(listener);
  lost_ = run.lost();
  return reason;
}

}  // namespace bayloom::tuning
