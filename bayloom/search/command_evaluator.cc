// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <nlohmann/json.hpp>
#include <utility>

#include "bayloom/base/run_command.h"
#include "bayloom/search/command_builder.h"
#include "bayloom/search/evaluator_functions.h"
#include "bayloom/space/configuration_json.h"
#include "bayloom/trial/command_trial.h"

namespace bayloom::search {
namespace {

/// Text for people, neither a number nor JSON.
bool IsForPeople(const std::string& output, const trial::AnswerFormat& format) {
  const std::string last = base::LastLine(output);
  return format.pattern.empty() && !last.empty() && !trial::ParseAnswerLine(output, format) &&
         !trial::ParseAnswerLine(last, format);
}

trial::Outcome ReadAnswer(const std::string& output, const trial::AnswerFormat& format) {
  trial::Outcome outcome = trial::ParseAnswer(output, format);
  if (!outcome.ok() && IsForPeople(output, format)) {
    outcome.reason += "; 'answer: {pattern: ...}' finds a number in other output";
  }
  return outcome;
}

}  // namespace

EvaluateConfiguration MakeCommandFunction(std::shared_ptr<const space::Space> space,
                                          const EvaluatorOptions& options,
                                          std::shared_ptr<const TimeLimit> limit,
                                          std::shared_ptr<trial::MissingCommandGuard> guard) {
  auto filler = std::make_shared<CommandBuilder>(space, options);
  return [space = std::move(space), filler = std::move(filler), json_input = options.json_input,
          answer = options.answer, limit = std::move(limit), factor = options.timeout_over_best,
          guard = std::move(guard)](const space::Configuration& configuration,
                                    const std::stop_token& stop) {
    base::Command command = filler->Fill(configuration);
    command.timeout_seconds = limit->Seconds();
    const bool is_over_best = limit->IsOverBest();
    if (json_input) command.input = space::ToJson(*space, configuration).dump() + "\n";
    std::optional<trial::Outcome> outcome = trial::TryCommand(
        command, [&](const std::string& output) { return ReadAnswer(output, answer); }, stop,
        *guard);
    if (outcome && outcome->verdict == trial::Verdict::kTimeout && is_over_best) {
      outcome->reason += OverBestText(factor);
    }
    return outcome;
  };
}

}  // namespace bayloom::search
