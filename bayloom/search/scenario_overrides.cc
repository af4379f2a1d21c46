// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/search/scenario_overrides.h"

#include <nlohmann/json.hpp>

#include "bayloom/search/scenario_readers.h"

namespace bayloom::search {

void OverrideCommand(const std::string& command, Scenario& scenario) {
  const EvaluatorOptions before = std::exchange(scenario.evaluator, EvaluatorOptions());
  EvaluatorOptions& options = scenario.evaluator;
  options.here = before.here;
  // Written as a file would have it, so that it is checked as in a file.
  const nlohmann::json written = {{"command", command}};
  ReadEvaluator(
      yaml::YamlValue::Parse(written.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace),
                             "the given command"),
      scenario);
  options.directory.clear();
  options.timeout = before.timeout;
  options.timeout_over_best = before.timeout_over_best;
  options.memory_limit_bytes = before.memory_limit_bytes;
  options.sandbox = before.sandbox;
  options.environment = before.environment;
  options.answer = before.answer;
}

void OverrideRecorded(const std::string& path, Scenario& scenario) {
  EvaluatorOptions options;
  options.here = scenario.evaluator.here;
  options.answer.fields = scenario.evaluator.answer.fields;
  options.kind = EvaluatorKind::kRecorded;
  options.recorded = path;
  scenario.evaluator = options;
}

}  // namespace bayloom::search
