// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/search/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"
#include "bayloom/space/configuration_json.h"

namespace bayloom::search {

std::vector<StudyTrial> ParetoSet(std::span<const StudyTrial> trials,
                                  std::span<const Objective> objectives) {
  std::vector<StudyTrial> feasible;
  std::vector<pareto::Point> points;
  for (const StudyTrial& trial : trials) {
    if (!trial.outcome.ok()) continue;
    points.push_back(MinimizedValues(trial.outcome, objectives));
    feasible.push_back(trial);
  }
  std::vector<int> front = pareto::FrontOf(points);
  std::ranges::stable_sort(front, {}, [&](int place) { return points[place]; });
  std::vector<StudyTrial> set;
  for (int place : front) set.push_back(std::move(feasible[place]));
  return set;
}

Study::Study(const Scenario& scenario, std::unique_ptr<optimizer::Optimizer> optimizer,
             trial::TrialStore* store)
    : space_(scenario.space),
      has_fidelities_(scenario.optimizer_options.fidelity.has_value()),
      objectives_(scenario.objectives),
      first_(scenario.known.begin(), scenario.known.end()),
      proposer_(scenario.optimizer),
      optimizer_(std::move(optimizer)),
      store_(store),
      stop_(scenario.stop, objectives_) {
  if (!scenario.contexts.empty()) {
    throw InputError(fmt::format(
        "scenario '{}' has contexts, which 'bayloom search' searches together; one alone cannot be "
        "asked and told",
        base::SingleLine(scenario.name)));
  }
  if (scenario.default_configuration) {
    first_.push_front(*scenario.default_configuration);
  } else if (const auto defaults = space_->Parse({})) {
    notices_.push_back(fmt::format("the defaults are not tried: the constraints do not allow {}",
                                   base::SingleLine(space_->ToString(*defaults), 300)));
  }
}

std::vector<std::string> Study::TakeNotices() {
  std::vector<std::string> taken = std::exchange(notices_, {});
  for (std::string& notice : optimizer_->TakeNotices()) taken.push_back(std::move(notice));
  return taken;
}

std::vector<space::Configuration> Study::Ask(int n) {
  std::vector<space::Configuration> asked;
  const auto add = [&](const space::Configuration& configuration) {
    const bool is_new = !told_.contains(configuration) && asked_.insert(configuration).second;
    if (is_new) asked.push_back(configuration);
    return is_new;
  };
  while (!first_.empty() && static_cast<int>(asked.size()) < n) {
    add(first_.front());
    first_.pop_front();
  }
  bool is_exhausted = false;
  while (!is_exhausted && static_cast<int>(asked.size()) < n) {
    is_exhausted = true;
    // The optimizer may choose the default itself while that is still being evaluated.
    for (const space::Configuration& choice : optimizer_->Ask(n - static_cast<int>(asked.size()))) {
      add(choice);
      is_exhausted = false;
    }
  }
  return asked;
}

bool Study::Tell(const space::Configuration& configuration, const trial::Outcome& outcome,
                 double elapsed) {
  if (told_.contains(configuration)) return false;
  if (outcome.ok()) (void)ValuesOf(outcome, objectives_);  // refused before it is recorded
  if (store_ != nullptr) {
    trial::TrialRecord record = RecordOf(configuration);
    record.outcome = outcome;
    record.elapsed = elapsed;
    store_->Add(record);
  }
  Learn(configuration, outcome, elapsed);
  return true;
}

trial::TrialRecord Study::RecordOf(const space::Configuration& configuration) const {
  trial::TrialRecord record;
  record.candidate = space::ToJson(*space_, configuration).dump();
  record.proposer = proposer_;
  return record;
}

void Study::Learn(const space::Configuration& configuration, const trial::Outcome& outcome,
                  double elapsed) {
  told_.insert(configuration);
  last_ = StudyTrial{trials_++, configuration, outcome, elapsed};
  trial::Outcome minimized = outcome;
  std::optional<pareto::Point> point;
  if (outcome.ok()) {
    ++feasible_trials_;
    point = MinimizedValues(outcome, objectives_);
    minimized.value = point->front();
    for (size_t k = 1; k < point->size(); ++k) minimized.Set(objectives_[k].name, (*point)[k]);
  }
  if (IsFull(configuration)) Judge(point);
  optimizer_->Tell(configuration, minimized);
}

void Study::Judge(const std::optional<pareto::Point>& point) {
  if (!point) return stop_.Add(std::nullopt, false);
  const double value = last_->outcome.value;
  const bool is_better =
      !best_ || (maximize() ? value > best_->outcome.value : value < best_->outcome.value);
  if (is_better) best_ = last_;
  const bool extends = ExtendFront();
  if (extends) last_improvement_ = last_->ordinal;
  stop_.Add(point, extends);
}

bool Study::ExtendFront() {
  const auto point_of = [&](const StudyTrial& trial) {
    return MinimizedValues(trial.outcome, objectives_);
  };
  if (!pareto::ExtendFront(front_, *last_, point_of)) return false;
  std::ranges::sort(front_, {}, point_of);
  return true;
}

}  // namespace bayloom::search
