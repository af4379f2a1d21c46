// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/search/line_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "bayloom/base/clock.h"
#include "bayloom/base/json.h"
#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"
#include "bayloom/space/configuration_json.h"
#include "bayloom/trial/answer.h"
#include "bayloom/trial/budget.h"

namespace bayloom::search {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMaxAsked = 10000;

/// A request that cannot be used.
struct Refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};
[[noreturn]] void Refuse(const std::string& why) { throw Refusal(why); }

Json Ask(const Json& count, const Scenario& scenario, Study& study) {
  if (!count.is_number_integer() || count.get<int64_t>() < 1 || count.get<int64_t>() > kMaxAsked) {
    Refuse("'ask' is a whole number from 1 to 10000");
  }
  int64_t n = count.get<int64_t>();
  if (scenario.max_trials) {
    n = std::min(n, std::max<int64_t>(0, *scenario.max_trials - study.trials()));
  }
  Json configurations = Json::array();
  for (const space::Configuration& configuration : study.Ask(static_cast<int>(n))) {
    configurations.push_back(space::ToJson(study.space(), configuration));
  }
  const bool is_short = std::ssize(configurations) < n;
  Json answer = {{"configurations", std::move(configurations)}};
  if (is_short) {
    answer["end"] = trial::ToString(study.gave_up() ? trial::StopReason::kGaveUp
                                                    : trial::StopReason::kExhausted);
  }
  if (std::vector<std::string> notices = study.TakeNotices(); !notices.empty()) {
    answer["notices"] = std::move(notices);
  }
  return answer;
}

Json State(const Study& study) {
  Json state = {{"trials", study.trials()}, {"best", nullptr}};
  if (const auto& best = study.best()) {
    state["best"] = {{"value", best->outcome.value},
                     {"configuration", space::ToJson(study.space(), best->configuration)}};
  }
  return state;
}

/// What can be told once only is checked before it is kept. Null is no value, as Python's NaN.
void RefuseNoNumber(const Json& told, const std::string& field) {
  const auto value = told.find(field);
  if (value == told.end() || value->is_number() || value->is_null()) return;
  Refuse(fmt::format(
      "'{}' is a number, not {}", field,
      base::SingleLine(value->dump(-1, ' ', true, Json::error_handler_t::replace), 100)));
}

trial::Outcome ToldOutcome(Json told, const Scenario& scenario) {
  told.erase("tell");
  const bool has_value = told.contains("value");
  if (!has_value && !told.contains(scenario.objectives[0].name) && !told.contains("feasible")) {
    Refuse("'tell' needs a 'value', or \"feasible\": false and a 'reason'");
  }
  std::vector<std::string> fields = scenario.evaluator.answer.fields;
  fields[0] = has_value ? "value" : scenario.objectives[0].name;
  const bool is_failure = told.contains("feasible") && told["feasible"] == false;
  if (!is_failure) {
    for (const std::string& field : fields) RefuseNoNumber(told, field);
  }
  return *trial::ParseAnswerLine(told.dump(-1, ' ', true, Json::error_handler_t::replace),
                                 {.fields = std::move(fields), .pattern = ""});
}

}  // namespace

LineServer::LineServer(const Scenario& scenario, Study& study)
    : scenario_(scenario),
      study_(study),
      earlier_(study.elapsed()),
      begun_(base::MonotonicSeconds()) {}

std::string LineServer::Answer(std::string_view line) {
  Json answer;
  const Result<Json> parsed = base::ParseJson(line);
  try {
    if (!parsed) Refuse("expected a JSON object: " + parsed.error().message);
    const Json& request = *parsed;
    if (!request.is_object()) Refuse("expected a JSON object");
    if (const auto count = request.find("ask"); count != request.end()) {
      answer = Ask(*count, scenario_, study_);
    } else if (const auto told = request.find("tell"); told != request.end()) {
      const Result<space::Configuration> configuration = space::FromJson(study_.space(), *told);
      if (!configuration) Refuse(configuration.error().message);
      if (!study_.space().Contains(*configuration)) Refuse("the constraints do not allow this");
      const double elapsed = earlier_ + base::MonotonicSeconds() - begun_;
      if (!study_.Tell(*configuration, ToldOutcome(request, scenario_), elapsed)) {
        Refuse("this configuration was told before");
      }
      answer = State(study_);
    } else if (request.contains("best")) {
      answer = State(study_);
    } else {
      Refuse("expected 'ask', 'tell' or 'best'");
    }
  } catch (const Refusal& refusal) {
    answer = {{"error", base::SingleLine(refusal.what(), 500)}};
  }
  return answer.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace bayloom::search
