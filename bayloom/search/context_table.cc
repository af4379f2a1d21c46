// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/search/context_table.h"

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "bayloom/space/configuration_json.h"

namespace bayloom::search {
namespace {

/// Of each context so many of its best may serve others, of all together about that many.
constexpr int kMaxOfEach = 8, kMaxCandidates = 400;

/// A configuration's values in one context, as far as they are known: infeasible ones are nullopt.
using Values = std::unordered_map<space::Configuration, std::optional<double>>;

/// The same configuration in every context.
space::Configuration Anywhere(space::Configuration configuration,
                              const optimizer::ContextOptions& context) {
  for (const int place : context.places) configuration.coordinates[place] = 0;
  return configuration;
}

bool IsBetter(const Objective& objective, double a, double b) {
  return objective.maximize ? a > b : a < b;
}

double LossOf(const Objective& objective, double value, double best) {
  if (value == best) return 1;
  const double ratio = objective.maximize == (best > 0) ? best / value : value / best;
  return ratio > 0 ? std::max(1.0, ratio) : std::numeric_limits<double>::infinity();
}

Values ValuesIn(const ScenarioSearch& search, int member,
                const optimizer::ContextOptions& context) {
  Values values;
  for (const StudyTrial& trial : search.TrialsOf(member)) {
    values[Anywhere(trial.configuration, context)] =
        trial.outcome.ok() ? std::optional(trial.outcome.value) : std::nullopt;
  }
  for (const RepeatedConfiguration& repeated : search.RepeatedOf(member)) {
    values[Anywhere(repeated.trial.configuration, context)] =
        repeated.ok ? std::optional(repeated.median) : std::nullopt;
  }
  return values;
}

/// The configurations with a value, the best first.
std::vector<std::pair<double, space::Configuration>> Ranked(const Values& values,
                                                            const Objective& objective) {
  std::vector<std::pair<double, space::Configuration>> ranked;
  for (const auto& [configuration, value] : values) {
    if (value) ranked.emplace_back(*value, configuration);
  }
  std::ranges::sort(ranked, [&](const auto& a, const auto& b) {
    if (a.first != b.first) return IsBetter(objective, a.first, b.first);
    return a.second.coordinates < b.second.coordinates;
  });
  return ranked;
}

}  // namespace

nlohmann::json ContextTable::ValuesOf(const space::Configuration& configuration) const {
  nlohmann::json values = space::ToJson(*joint, configuration);
  for (const std::string& context : contexts) values.erase(context);
  return values;
}

ContextTable TableOf(const ScenarioSearch& search, const std::string& name) {
  ContextTable table;
  table.name = name;
  const Scenario& any = search.members()[0].scenario;
  table.objective = any.objectives[0];
  table.joint = any.optimizer_options.context->joint;
  for (const int place : any.optimizer_options.context->places) {
    table.contexts.push_back(table.joint->parameter(place).name());
  }
  std::vector<Values> values;
  std::map<std::vector<double>, space::Configuration> candidates;
  const auto count = static_cast<int>(search.members().size());
  const int each = std::clamp(kMaxCandidates / count, 1, kMaxOfEach);
  for (int member = 0; member < count; ++member) {
    const Scenario& scenario = search.members()[member].scenario;
    const optimizer::ContextOptions& context = *scenario.optimizer_options.context;
    ContextTable::Row& row = table.rows.emplace_back();
    // The name of a context is that of the scenario and its own.
    row.name = scenario.name.substr(std::min(scenario.name.size(), name.size() + 1));
    row.place.assign(context.coordinates.begin(), context.coordinates.end());
    row.trials = search.study(member).trials();
    if (const auto baseline = search.BaselineOf(member)) row.first = baseline->outcome.value;
    values.push_back(ValuesIn(search, member, context));
    auto ranked = Ranked(values.back(), table.objective);
    // What was evaluated again decides which is best, if anything was.
    const std::vector<RepeatedConfiguration> repeated = search.RepeatedOf(member);
    if (!repeated.empty() && repeated[0].ok) {
      const auto best = Anywhere(repeated[0].trial.configuration, context);
      std::ranges::stable_partition(ranked, [&](const auto& one) { return one.second == best; });
      for (const RepeatedConfiguration& one : repeated) {
        if (one.is_baseline && one.ok) row.first = one.median;
      }
    }
    if (ranked.empty()) continue;
    row.value = ranked[0].first;
    row.best = ranked[0].second;
    for (int i = 0; i < std::min<int>(each, std::ssize(ranked)); ++i) {
      candidates.emplace(ranked[i].second.coordinates, ranked[i].second);
    }
  }
  for (auto& [coordinates, configuration] : candidates) {
    ContextTable::Candidate& candidate = table.candidates.emplace_back();
    for (size_t row = 0; row < values.size(); ++row) {
      std::optional<double>& loss = candidate.losses.emplace_back();
      const auto found = values[row].find(configuration);
      if (found == values[row].end()) continue;
      loss = found->second && table.rows[row].best
                 ? LossOf(table.objective, *found->second, table.rows[row].value)
                 : std::numeric_limits<double>::infinity();
    }
    candidate.configuration = std::move(configuration);
  }
  return table;
}

}  // namespace bayloom::search
