// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/search/scenario_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "bayloom/base/quantile.h"
#include "bayloom/base/result.h"
#include "bayloom/run/repeat_task.h"
#include "bayloom/scheduling/default_scheduler.h"
#include "bayloom/search/evaluator.h"

namespace bayloom::search {
namespace {

void Check(std::span<const SearchMember> members, const run::RepeatOptions& repeat) {
  if (members.empty()) throw InputError("there is no scenario to search");
  std::set<std::string> names;
  for (const SearchMember& member : members) {
    const Scenario& scenario = member.scenario;
    if (!names.insert(scenario.name).second) {
      throw InputError(
          fmt::format("two scenarios are named '{}': give one another 'name'", scenario.name));
    }
    if (scenario.evaluator.kind == EvaluatorKind::kNone) {
      throw InputError(fmt::format("scenario '{}' does not say how a configuration is evaluated",
                                   scenario.name));
    }
    if (scenario.objectives.size() > 1 && (members.size() > 1 || repeat.candidates > 0)) {
      throw InputError(fmt::format(
          "scenario '{}' has several objectives: it cannot {}", scenario.name,
          members.size() > 1 ? "share a budget with others, search it alone"
                             : "be told which configurations are best to evaluate again"));
    }
    if (scenario.optimizer_options.fidelity && members.size() > 1) {
      throw InputError(fmt::format(
          "scenario '{}' has several fidelities: it cannot share a budget with others, search it "
          "alone",
          scenario.name));
    }
    if (repeat.candidates > 0 && scenario.evaluator.kind == EvaluatorKind::kRecorded) {
      throw InputError(fmt::format(
          "scenario '{}' looks its values up in a recorded space: evaluated again, configurations "
          "have the same",
          scenario.name));
    }
  }
}

/// Where a repeat belongs: the ordinal of the trial and the round.
using RepeatPlace = std::pair<int64_t, int>;

std::map<RepeatPlace, trial::Outcome> RepeatsAfter(record::Store& store, record::RunId run,
                                                   int64_t after) {
  std::map<RepeatPlace, trial::Outcome> outcomes;
  for (record::Repeat& repeat : store.RepeatsOf(run)) {
    if (repeat.after != after) continue;
    outcomes[{repeat.trial, repeat.round}] = std::move(repeat.outcome);
  }
  return outcomes;
}

/// Median and spread of the outcomes, if all have a value.
void Summarize(RepeatedConfiguration& repeated) {
  std::vector<double> values;
  for (const trial::Outcome& outcome : repeated.outcomes) {
    repeated.ok = repeated.ok && outcome.ok();
    values.push_back(outcome.value);
  }
  if (!repeated.ok) {
    repeated.median = repeated.spread = std::numeric_limits<double>::quiet_NaN();
    return;
  }
  repeated.median = base::Median(values);
  const double range = base::Quantile(values, 0.75) - base::Quantile(values, 0.25);
  repeated.spread = range > 0 ? range / std::abs(repeated.median) : 0;
}

/// Evaluates the best trials of a search again; each outcome is in the store before the next
/// begins.
class BestAgain final : public run::RepeatTask<space::Configuration> {
 public:
  BestAgain(std::vector<StudyTrial> best, int rounds, const record::Repeat& identity,
            record::Store& store, trial::Evaluator<space::Configuration>& evaluator)
      : RepeatTask(evaluator), best_(std::move(best)), identity_(identity), store_(store) {
    const auto known = RepeatsAfter(store, identity.run, identity.after);
    std::vector<run::RepeatTurn> turns;
    for (int round = 0; round < rounds; ++round) {
      for (int place = 0; place < std::ssize(best_); ++place) {
        const bool is_known = known.contains({best_[place].ordinal, round});
        if (!is_known) turns.push_back({place, round});
      }
    }
    SetTurns(std::move(turns));
  }

 private:
  space::Configuration CandidateAt(int place) const override { return best_[place].configuration; }
  bool IsAt(const space::Configuration& configuration, int place) const override {
    return configuration == best_[place].configuration;
  }
  void Take(const run::RepeatTurn& turn, const trial::Outcome& outcome) override {
    record::Repeat repeat = identity_;
    repeat.trial = best_[turn.place].ordinal;
    repeat.round = turn.round;
    repeat.outcome = outcome;
    store_.AddRepeats({&repeat, 1});
  }

  std::vector<StudyTrial> best_;
  record::Repeat identity_;  ///< what all repeats have in common
  record::Store& store_;
};

}  // namespace

ScenarioSearch::ScenarioSearch(std::vector<SearchMember> members, SearchOptions options)
    : members_(std::move(members)), options_(std::move(options)) {
  Check(members_, options_.repeat);
  run::RunOptions defaults = {.scheduler = scheduling::kDefaultScheduler, .trials_per_slot = 8};
  // Contexts learn of each other's last trials.
  if (AreContexts()) defaults = {.scheduler = "round-robin", .trials_per_slot = 1};
  options_.run = run::WithDefaults(std::move(options_.run), defaults);
  ShareContexts();
  // First: an evaluator that cannot be made leaves no database behind.
  for (const SearchMember& member : members_) AddEvaluator(member.scenario);
  for (const SearchMember& member : members_) {
    stores_.push_back(std::make_unique<record::Store>(member.database));
    studies_.push_back(
        std::make_unique<DurableStudy>(member.scenario, *stores_.back(), options_.resume));
  }
  run::RunOptions run = options_.run;
  // One of several scenarios may fail without the others. A recorded space may have few records.
  if ((members_.size() == 1 || AreContexts()) &&
      members_[0].scenario.evaluator.kind != EvaluatorKind::kRecorded) {
    run.failures_alike = run::kMaxFailuresAlike;
  }
  // A single scenario takes no turns, and need not wait for the end of a slot.
  if (members_.size() == 1) run.trials_per_slot = 0;
  run_ = std::make_unique<run::ScheduledRun<space::Configuration>>(std::move(run));
  for (size_t i = 0; i < members_.size(); ++i) AddTask(static_cast<int>(i));
}

ScenarioSearch::~ScenarioSearch() = default;

bool ScenarioSearch::AreContexts() const {
  const auto joint = [](const SearchMember& member) {
    const auto& context = member.scenario.optimizer_options.context;
    return context ? context->joint.get() : nullptr;
  };
  return joint(members_[0]) != nullptr && std::ranges::all_of(members_, [&](const auto& member) {
           return joint(member) == joint(members_[0]);
         });
}

void ScenarioSearch::ShareContexts() {
  std::map<const space::Space*, std::shared_ptr<optimizer::ContextModel>> models;
  for (SearchMember& member : members_) {
    optimizer::OptimizerOptions& options = member.scenario.optimizer_options;
    if (!options.context) continue;
    auto& model = models[options.context->joint.get()];
    if (model == nullptr) model = optimizer::MakeContextModel(options.context->joint, options);
    options.context->model = model;
  }
}

void ScenarioSearch::AddEvaluator(const Scenario& scenario) {
  const int64_t trials =
      std::min(options_.run.budget.trials, scenario.max_trials.value_or(trial::Budget::kUnlimited));
  const auto jobs =
      static_cast<int>(std::min<int64_t>(options_.jobs, std::max<int64_t>(1, trials)));
  const EvaluatorOptions& evaluator = scenario.evaluator;
  limits_.push_back(std::make_shared<TimeLimit>(evaluator.timeout, evaluator.timeout_over_best));
  evaluators_.push_back(options_.make_evaluator ? options_.make_evaluator(scenario) : nullptr);
  if (evaluators_.back() == nullptr) {
    evaluators_.back() = MakeEvaluator(scenario.space, evaluator, jobs, limits_.back());
  }
}

void ScenarioSearch::AddTask(int member) {
  const SearchMember& added = members_[member];
  DurableStudy& study = *studies_[member];
  StudyTask& task = *tasks_.emplace_back(
      std::make_unique<StudyTask>(study.study(), *evaluators_[member], limits_[member].get()));
  scheduling::TaskProgress progress;
  progress.name = added.scenario.name;
  progress.weight = added.weight;
  run_->AddTask(task, std::move(progress),
                added.scenario.max_trials.value_or(trial::Budget::kUnlimited));
  // Slots are not recorded: they were as long as they are now.
  const int64_t count = std::ssize(study.earlier());
  for (int64_t i = 0; i < count; ++i) {
    run_->Restore(member,
                  task.ValueOf(study.earlier()[i].configuration, study.earlier()[i].outcome),
                  study.earlier()[i].elapsed);
    if ((i + 1) % options_.run.trials_per_slot == 0 || i + 1 == count) run_->RestoreSlotEnd(member);
  }
}

trial::StopReason ScenarioSearch::Run(
    const run::RunObserver& observer,
    const std::function<void(const run::RepeatStatus&)>& on_repeat) {
  const trial::StopReason reason = run_->Run(observer);
  lost_ = run_->lost();
  if (trial::CanResume(reason)) return reason;
  const trial::StopReason end = options_.repeat.candidates > 0 ? RepeatBest(on_repeat) : reason;
  if (trial::CanResume(end)) return end;
  for (const auto& study : studies_) study->Finish();
  return reason;
}

bool ScenarioSearch::IsBetter(int member, double a, double b) const {
  return study(member).maximize() ? a > b : a < b;
}

std::vector<StudyTrial> ScenarioSearch::BestOf(int member) const {
  std::vector<StudyTrial> trials = TrialsOf(member);
  std::erase_if(trials, [&](const StudyTrial& trial) {
    return !trial.outcome.ok() || !members_[member].scenario.IsFull(trial.configuration);
  });
  std::ranges::stable_sort(
      trials, [&](double a, double b) { return IsBetter(member, a, b); },
      [](const StudyTrial& trial) { return trial.outcome.value; });
  if (std::ssize(trials) > options_.repeat.candidates) {
    trials.erase(trials.begin() + options_.repeat.candidates, trials.end());
  }
  const std::optional<StudyTrial> baseline =
      options_.repeat_baseline ? BaselineOf(member) : std::nullopt;
  if (baseline && !std::ranges::count(trials, baseline->ordinal, &StudyTrial::ordinal)) {
    trials.push_back(*baseline);
  }
  return trials;
}

std::optional<StudyTrial> ScenarioSearch::BaselineOf(int member) const {
  const Scenario& scenario = members_[member].scenario;
  for (StudyTrial& trial : TrialsOf(member)) {
    if (!scenario.IsFull(trial.configuration)) continue;
    if (trial.outcome.ok()) return std::move(trial);
    if (scenario.default_configuration) return std::nullopt;
  }
  return std::nullopt;
}

trial::StopReason ScenarioSearch::RepeatBest(
    const std::function<void(const run::RepeatStatus&)>& observer) {
  run::RunOptions options;
  options.budget.stop = options_.run.budget.stop;
  options.scheduler = "sequential";
  options.trials_per_slot = 1;  // one evaluation at a time
  run::ScheduledRun<space::Configuration> run(std::move(options));
  std::vector<std::unique_ptr<BestAgain>> repeats;
  run::RepeatStatus status;
  for (int member = 0; member < std::ssize(members_); ++member) {
    record::Repeat identity;
    identity.run = identity.trial_run = record(member).id;
    identity.after = study(member).trials();
    std::vector<StudyTrial> best = BestOf(member);
    const auto all = static_cast<int>(best.size()) * options_.repeat.rounds;
    repeats.push_back(std::make_unique<BestAgain>(std::move(best), options_.repeat.rounds, identity,
                                                  *stores_[member], *evaluators_[member]));
    const auto left = static_cast<int>(repeats.back()->turns());
    status.all += all;
    status.done += all - left;
    run.AddTask(*repeats.back(), {.name = members_[member].scenario.name}, left);
  }
  run::RunObserver listener;
  if (observer) {
    observer(status);
    listener.on_trial = [&](const run::RunStatus&, const trial::Outcome&) {
      ++status.done;
      observer(status);
    };
  }
  const trial::StopReason reason = run.Run(listener);
  lost_ = run.lost();
  return reason;
}

std::vector<RepeatedConfiguration> ScenarioSearch::RepeatedOf(int member) const {
  const auto repeats = RepeatsAfter(*stores_[member], record(member).id, study(member).trials());
  if (repeats.empty()) return {};
  const std::vector<StudyTrial> trials = TrialsOf(member);
  std::map<int64_t, RepeatedConfiguration> by_trial;
  for (const auto& [place, outcome] : repeats) {
    RepeatedConfiguration& repeated = by_trial[place.first];
    repeated.trial = trials.at(place.first);
    repeated.outcomes.push_back(outcome);
  }
  const std::optional<StudyTrial> baseline = BaselineOf(member);
  std::vector<RepeatedConfiguration> sorted;
  for (auto& [trial, repeated] : by_trial) {
    Summarize(repeated);
    repeated.is_baseline = baseline && baseline->ordinal == trial;
    sorted.push_back(std::move(repeated));
  }
  std::ranges::stable_sort(sorted, [&](const auto& a, const auto& b) {
    return a.ok && b.ok ? IsBetter(member, a.median, b.median) : a.ok && !b.ok;
  });
  return sorted;
}

std::vector<StudyTrial> ScenarioSearch::TrialsOf(int member) const {
  return ReadStudyTrials(*members_[member].scenario.space, *stores_[member], record(member).id);
}

}  // namespace bayloom::search
