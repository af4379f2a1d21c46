// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <variant>
#include <vector>

#include "bayloom/report/search_export.h"
#include "bayloom/space/configuration_json.h"
#include "bayloom/space/parameter.h"

namespace bayloom::report {
namespace {

// Numbers of Optuna's journal (optuna/storages/journal/_storage.py).
constexpr int kCreateStudy = 0;
constexpr int kCreateTrial = 4;
constexpr int kMinimize = 1;
constexpr int kMaximize = 2;
constexpr int kComplete = 1;
constexpr int kFail = 3;

/// "2026-11-23T01:50:23.556159+00:00".
std::string TimeText(int64_t microseconds) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:06}+00:00",
                     fmt::gmtime(static_cast<std::time_t>(microseconds / 1'000'000)),
                     microseconds % 1'000'000);
}

/// Numbers and texts are choices as they are, lists as text.
nlohmann::json Choice(const space::Value& value) {
  return std::holds_alternative<std::vector<int64_t>>(value)
             ? nlohmann::json(space::ToString(value))
             : space::ToJson(value);
}

/// A parameter as one of Optuna's distributions, which all trials share.
class Distribution {
 public:
  Distribution(const space::Parameter& parameter, std::span<const search::StudyTrial> trials,
               const space::Space& space, int index)
      : kind_(parameter.kind()) {
    if (kind_ == space::ParameterKind::kReal) {
      json_ = {{"name", "FloatDistribution"},
               {"attributes",
                {{"low", parameter.AtPosition(0)},
                 {"high", parameter.AtPosition(1)},
                 {"log", false},
                 {"step", nullptr}}}};
      return;
    }
    if (kind_ == space::ParameterKind::kInteger) {
      const auto last = static_cast<double>(parameter.Cardinality() - 1);
      json_ = {{"name", "IntDistribution"},
               {"attributes",
                {{"low", std::get<int64_t>(parameter.ValueAt(0))},
                 {"high", std::get<int64_t>(parameter.ValueAt(last))},
                 {"log", false},
                 {"step", 1}}}};
      return;
    }
    const bool is_listed =
        kind_ == space::ParameterKind::kOrdinal || kind_ == space::ParameterKind::kCategorical;
    if (is_listed) {
      for (int64_t i = 0; i < parameter.Cardinality(); ++i) {
        choices_.push_back(Choice(parameter.ValueAt(static_cast<double>(i))));
      }
    } else {
      for (const search::StudyTrial& trial : trials) {
        nlohmann::json choice = Choice(space.ValueOf(trial.configuration, index));
        if (std::ranges::find(choices_, choice) == choices_.end()) {
          choices_.push_back(std::move(choice));
        }
      }
    }
    json_ = {{"name", "CategoricalDistribution"}, {"attributes", {{"choices", choices_}}}};
  }

  std::string Text() const {
    return json_.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  /// A value as the journal has it: of a category, its index.
  nlohmann::json Internal(const space::Value& value) const {
    if (choices_.empty()) return space::ToJson(value);
    return std::ranges::find(choices_, Choice(value)) - choices_.begin();
  }

 private:
  space::ParameterKind kind_;
  std::vector<nlohmann::json> choices_;
  nlohmann::json json_;
};

}  // namespace

std::string OptunaJournal(const search::Scenario& scenario,
                          std::span<const search::StudyTrial> trials, int64_t started) {
  const space::Space& space = *scenario.space;
  std::vector<Distribution> distributions;
  std::vector<std::string> distribution_texts;
  for (int i = 0; i < space.size(); ++i) {
    const space::Parameter& parameter = space.parameter(i);
    distributions.emplace_back(parameter, trials, space, i);
    distribution_texts.push_back(distributions.back().Text());
  }
  std::string journal;
  const auto add = [&journal](nlohmann::json line) {
    line["worker_id"] = "bayloom";
    journal += line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  };
  const std::vector<search::Objective> objectives = scenario.objectives;
  nlohmann::json directions = nlohmann::json::array();
  for (const search::Objective& objective : objectives) {
    directions.push_back(objective.maximize ? kMaximize : kMinimize);
  }
  const bool has_several = objectives.size() > 1;
  add({{"op_code", kCreateStudy}, {"study_name", scenario.name}, {"directions", directions}});
  double before = 0;  // when the trial before ended: about when this one began, one at a time
  for (const search::StudyTrial& trial : trials) {
    nlohmann::json params = nlohmann::json::object();
    nlohmann::json own_distributions = nlohmann::json::object();
    for (int i = 0; i < space.size(); ++i) {
      if (!space.IsActive(trial.configuration, i)) continue;
      own_distributions[space.parameter(i).name()] = distribution_texts[static_cast<size_t>(i)];
      params[space.parameter(i).name()] =
          distributions[i].Internal(space.ValueOf(trial.configuration, i));
    }
    const trial::Outcome& outcome = trial.outcome;
    nlohmann::json attributes = nlohmann::json::object();
    if (!outcome.ok()) {
      attributes = {{"verdict", std::string(trial::ToString(outcome.verdict))},
                    {"reason", outcome.reason}};
    }
    for (const trial::NamedValue& named : outcome.values) {
      if (std::isfinite(named.value)) attributes[named.name] = named.value;
    }
    nlohmann::json value, values;
    if (outcome.ok() && has_several) values = search::ValuesOf(outcome, objectives);
    if (outcome.ok() && !has_several) value = outcome.value;
    const auto at = [&](double elapsed) {
      return TimeText(started + static_cast<int64_t>(std::llround(1e6 * elapsed)));
    };
    add({{"op_code", kCreateTrial},
         {"study_id", 0},
         {"datetime_start", at(std::min(before, trial.elapsed))},
         {"datetime_complete", at(trial.elapsed)},
         {"state", outcome.ok() ? kComplete : kFail},
         {"value", value},
         {"values", values},
         {"distributions", own_distributions},
         {"params", params},
         {"user_attrs", attributes},
         {"system_attrs", nlohmann::json::object()},
         {"intermediate_values", nlohmann::json::object()}});
    before = trial.elapsed;
  }
  return journal;
}

}  // namespace bayloom::report
