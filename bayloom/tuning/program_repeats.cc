// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/program_repeats.h"

#include <algorithm>
#include <set>
#include <utility>

#include "bayloom/base/quantile.h"
#include "bayloom/measure/measurement_details.h"
#include "bayloom/run/repeat_task.h"
#include "bayloom/tuning/finalists.h"
#include "bayloom/tuning/program_front.h"
#include "bayloom/tuning/turns.h"
#include "bayloom/tuning/zero_trial_program.h"

namespace bayloom::tuning {
namespace {

/// Programs of a task's front that are measured again besides, the fastest of them.
constexpr size_t kMaxOfFront = 8;
/// What a repeat takes, in the time of a trial's measurement.
constexpr double kRepeatCost = 0.5;

}  // namespace

/// The programs of one task that are measured in turns.
class ProgramRepeats::Comparison final : public run::RepeatTask<ProgramTrial> {
 public:
  /// `weight`: what the task's time counts.
  Comparison(record::Store& store, const Session& session, const TuningTask& task, double weight,
             ProgramEvaluator& evaluator, const run::RepeatOptions& options)
      : RepeatTask(evaluator),
        store_(store),
        task_(task),
        weight_(weight),
        rounds_(options.rounds) {
    identity_.run = session.id();
    identity_.after = session.Status().trials;
    identity_.task = task.id();
    identity_.target = store.FindTarget(task.space().target()).value_or(0);
    for (Finalist& finalist : FinalistsOf(store, task, identity_.target, options.candidates)) {
      finalists_.push_back({std::move(finalist), {}});
    }
    if (finalists_.empty()) return;
    if (session.objectives().size() > 1) AddFront(session.objectives());
    finalists_.push_back({{.candidate = DefaultCandidate(task.space())}, {}});
  }

  const std::string& name() const { return task_.name(); }
  /// There is no program, recorded and still made, that could be measured.
  bool empty() const { return finalists_.empty(); }
  double importance() const { return weight_ * task_.best()->outcome.value; }
  /// How many may be chosen from.
  int candidates() const { return static_cast<int>(finalists_.size()) - 1; }
  /// The best one, and the zero-trial program where that is another.
  int least_candidates() const {
    return std::min(candidates(), finalists_[0].candidate.hash == BestHash() ? 1 : 2);
  }
  double weight() const { return weight_; }
  /// Of each round, of the zero-trial and the chosen program; empty where there is no choice.
  const std::vector<double>& zero_trial_seconds() const { return zero_trial_seconds_; }
  const std::vector<double>& chosen_seconds() const { return chosen_seconds_; }

  /// What it will probably take with so many of the candidates and the default program.
  double EstimatedSeconds(int candidates) const {
    double compiling = finalists_.front().details.build_seconds;
    for (int i = 0; i < candidates; ++i) compiling += finalists_[i].details.build_seconds;
    return compiling + kRepeatCost * finalists_.front().details.measure_seconds *
                           static_cast<double>(candidates * RoundsFor(candidates) + 1);
  }
  /// Plans to measure no more than the best so many, and in the first round the default program.
  void Plan(int candidates) {
    finalists_.erase(finalists_.begin() + candidates, finalists_.end() - 1);
    std::vector<run::RepeatTurn> turns;
    for (int round = 0; round < RoundsFor(candidates); ++round) {
      for (int place = 0; place < candidates; ++place) turns.push_back({place, round});
      if (round == 0) turns.push_back({candidates, round});
    }
    SetTurns(std::move(turns));
  }

 private:
  struct Measured : Finalist {
    std::vector<trial::Outcome> outcomes;
  };

  ProgramTrial CandidateAt(int place) const override {
    return {&task_.space().workload(), finalists_[place].candidate, /*is_repeat=*/true};
  }
  bool IsAt(const ProgramTrial& trial, int place) const override {
    return trial.candidate.hash == finalists_[place].candidate.hash;
  }
  void Take(const run::RepeatTurn& turn, const trial::Outcome& outcome) override {
    finalists_[turn.place].outcomes.push_back(outcome);
  }

  uint64_t BestHash() const { return task_.best()->candidate.hash; }

  /// Adds the programs on the task's front, so that all their times are of the same moment.
  void AddFront(const std::vector<ProgramObjective>& objectives) {
    const size_t most = finalists_.size() + kMaxOfFront;
    for (FrontProgram& program : ProgramFront(store_, task_.space(), task_.weight(), objectives)) {
      if (finalists_.size() == most) return;
      const bool is_there = std::ranges::any_of(finalists_, [&](const Measured& other) {
        return other.candidate.hash == program.candidate.hash;
      });
      if (is_there) continue;
      const record::StoredTrial& trial = program.trial;
      finalists_.push_back({{.candidate = std::move(program.candidate),
                             .trial_run = trial.run,
                             .trial = trial.ordinal,
                             .seconds = trial.outcome.value,
                             .details = measure::DetailsOf(trial.outcome)},
                            {}});
    }
  }

  /// A single candidate is only compared with the default program, which is measured once.
  int RoundsFor(int candidates) const { return candidates == 1 ? 1 : rounds_; }

  /// Marks what the turns say is to be used, the zero-trial program where that is not clear.
  void Choose() {
    if (!task_.zero_trial() || finalists_[0].candidate.hash != task_.zero_trial()->hash) return;
    Turns turns(candidates());
    for (int round = 0; round < RoundsFor(candidates()); ++round) {
      std::vector<double> seconds;
      for (int i = 0; i < candidates(); ++i) {
        const trial::Outcome& outcome = finalists_[i].outcomes[round];
        if (!outcome.ok()) return;  // what fails is not used (Store::BestOf)
        seconds.push_back(outcome.value);
      }
      turns.AddRound(seconds);
    }
    turns.Drop(turns.Noise());
    zero_trial_seconds_ = turns.SecondsOf(0);
    chosen_seconds_ = turns.SecondsOf(turns.Chosen());
    for (trial::Outcome& outcome : finalists_[turns.Chosen()].outcomes)
      outcome.Set(record::kChosen, 1);
  }

  void End() override {
    Choose();
    std::vector<record::Repeat> repeats;
    for (int round = 0; round < rounds_; ++round) {
      for (const Measured& finalist : finalists_) {
        if (round >= std::ssize(finalist.outcomes)) continue;
        record::Repeat& repeat = repeats.emplace_back(identity_);
        repeat.trial_run = finalist.trial_run;
        repeat.trial = finalist.trial;
        repeat.round = round;
        repeat.outcome = finalist.outcomes[round];
      }
    }
    store_.AddRepeats(repeats);
  }

  record::Store& store_;
  const TuningTask& task_;
  double weight_;
  int rounds_;
  record::Repeat identity_;          ///< what all its repeats have in common
  std::vector<Measured> finalists_;  ///< the default program is the last
  std::vector<double> zero_trial_seconds_, chosen_seconds_;
};

ProgramRepeats::ProgramRepeats(record::Store& store, const Session& session,
                               ProgramEvaluator& evaluator, const run::RepeatOptions& options,
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
    const double least = comparison->EstimatedSeconds(comparison->least_candidates());
    if (least > left) return true;
    left -= least;
    return false;
  });
  for (const auto& comparison : comparisons_) {
    int candidates = comparison->candidates();
    const double least = comparison->EstimatedSeconds(comparison->least_candidates());
    const auto more = [&] { return comparison->EstimatedSeconds(candidates) - least; };
    while (more() > left) --candidates;
    left -= more();
    comparison->Plan(candidates);
  }
}

ProgramRepeats::~ProgramRepeats() = default;

std::optional<GainInTurns> ProgramRepeats::Gain() const {
  size_t rounds = 0;
  for (const auto& comparison : comparisons_) {
    rounds = std::max(rounds, comparison->zero_trial_seconds().size());
  }
  if (rounds == 0) return std::nullopt;
  std::vector<double> zero_trial(rounds), chosen(rounds);
  for (const auto& comparison : comparisons_) {
    const size_t own = comparison->zero_trial_seconds().size();
    for (size_t round = 0; own > 0 && round < rounds; ++round) {
      const size_t place = std::min(round, own - 1);
      zero_trial[round] += comparison->weight() * comparison->zero_trial_seconds()[place];
      chosen[round] += comparison->weight() * comparison->chosen_seconds()[place];
    }
  }
  return GainInTurns{.zero_trial_seconds = base::Median(zero_trial),
                     .tuned_seconds = base::Median(chosen),
                     .ratio = measure::RatioInTurns(zero_trial, chosen)};
}

trial::StopReason ProgramRepeats::Run(
    const trial::Budget& budget, const std::function<void(const run::RepeatStatus&)>& observer) {
  run::RunOptions options;
  options.budget = budget;
  options.budget.trials = trial::Budget::kUnlimited;
  options.scheduler = "round-robin";  // a slot each, in their order
  run::ScheduledRun<ProgramTrial> run(std::move(options));
  for (const auto& comparison : comparisons_) {
    run.AddTask(*comparison, {.name = comparison->name()}, comparison->turns());
  }
  run::RepeatStatus status{.done = 0, .all = static_cast<int>(comparisons_.size())};
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
