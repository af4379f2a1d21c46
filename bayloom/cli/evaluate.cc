// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/base/file.h"
#include "bayloom/base/json.h"
#include "bayloom/base/read_line.h"
#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"
#include "bayloom/base/stop_flag.h"
#include "bayloom/base/system_error.h"
#include "bayloom/cli/commands.h"
#include "bayloom/cli/help.h"
#include "bayloom/cli/options/at_least_one.h"
#include "bayloom/cli/output.h"
#include "bayloom/kernel/kernel_evaluator.h"
#include "bayloom/search/evaluator.h"
#include "bayloom/search/read_configuration.h"
#include "bayloom/search/scenario.h"
#include "bayloom/space/configuration_json.h"

namespace bayloom::cli {
namespace {

using Json = nlohmann::json;

struct EvaluateOptions {
  std::string scenario;
  std::vector<std::string> configurations;
  std::string outputs;
  int jobs = 1;
};

/// Evaluates configurations of a scenario and prints an answer for each, a JSON object a line.
class EvaluationServer {
 public:
  explicit EvaluationServer(const EvaluateOptions& options)
      : options_(options), scenario_(search::LoadScenario(options.scenario)) {
    if (scenario_.evaluator.kind == search::EvaluatorKind::kNone) {
      throw InputError(
          fmt::format("'{}' does not say how a configuration is evaluated", options.scenario));
    }
    evaluator_ = kernel::KernelEvaluatorMaker(options.jobs)(scenario_);
    kernel_ = static_cast<kernel::KernelEvaluator*>(evaluator_.get());
    if (!options.outputs.empty() && kernel_ == nullptr) {
      throw InputError("--outputs is for scenarios that name a kernel");
    }
    if (evaluator_ == nullptr) {
      evaluator_ = search::MakeEvaluator(scenario_.space, scenario_.evaluator, options.jobs);
    }
  }

  /// A request is a configuration, or a list of them that are evaluated together.
  void Answer(const std::string& request) {
    const Json json = base::ParseJsonOrDiscard(request);
    if (json.is_discarded()) return Print({{"error", "expected a configuration as JSON"}});
    std::vector<space::Configuration> configurations;
    for (const Json& each : json.is_array() ? json : Json::array({json})) {
      const Result<space::Configuration> read = search::ReadConfiguration(*scenario_.space, each);
      if (!read) return Print({{"error", base::SingleLine(read.error().message)}});
      configurations.push_back(*read);
    }
    for (size_t begin = 0; begin < configurations.size();) {
      const auto room = static_cast<size_t>(evaluator_->Capacity());
      const size_t end = std::min(configurations.size(), begin + room);
      for (size_t i = begin; i < end; ++i) {
        evaluator_->Submit(static_cast<trial::TrialId>(i), configurations[i]);
      }
      Collect(configurations, end - begin);
      begin = end;
    }
  }

 private:
  void Collect(const std::vector<space::Configuration>& configurations, size_t expected) {
    while (expected > 0 && !base::StopRequested()) {
      for (const trial::FinishedTrial& trial : evaluator_->Collect(1, base::StopRequested)) {
        if (!trial.outcome) throw SystemError("an evaluation was lost: " + trial.lost);
        Print(AnswerOf(configurations[static_cast<size_t>(trial.id)], *trial.outcome));
        --expected;
      }
      for (const std::string& notice : evaluator_->TakeNotices()) Say("{}\n", notice);
    }
    if (expected > 0) evaluator_->Cancel();
  }

  Json AnswerOf(const space::Configuration& configuration, const trial::Outcome& outcome) {
    Json answer = {{"configuration", space::ToJson(*scenario_.space, configuration)}};
    for (const trial::NamedValue& named : outcome.values) answer[named.name] = named.value;
    if (!outcome.ok()) {
      answer["feasible"] = false;
      answer["verdict"] = trial::ToString(outcome.verdict);
      answer["reason"] = outcome.reason;
      return answer;
    }
    answer[scenario_.objectives[0].name] = outcome.value;
    if (!options_.outputs.empty()) WriteOutputs(configuration, answer);
    return answer;
  }

  void WriteOutputs(const space::Configuration& configuration, Json& answer) {
    const auto outputs = kernel_->RunOnce(configuration, base::StopRequested);
    if (!outputs) throw SystemError("the kernel has no outputs: " + outputs.error().message);
    base::CreateFolder(options_.outputs);
    for (const auto& [name, content] : *outputs) {
      const std::string path = options_.outputs + "/" + name + ".npy";
      base::WriteFile(path, content);
      answer["outputs"][name] = path;
    }
  }

  static void Print(const Json& answer) {
    fmt::print("{}\n", answer.dump(-1, ' ', false, Json::error_handler_t::replace));
    std::fflush(stdout);
  }

  const EvaluateOptions& options_;
  search::Scenario scenario_;
  std::unique_ptr<trial::Evaluator<space::Configuration>> evaluator_;
  kernel::KernelEvaluator* kernel_ = nullptr;
};

void Evaluate(const EvaluateOptions& options) {
  EvaluationServer server(options);
  for (const std::string& configuration : options.configurations) server.Answer(configuration);
  if (!options.configurations.empty()) return;
  while (const std::optional<base::Line> line = base::ReadLine(std::cin)) {
    server.Answer(line->text);
  }
}

}  // namespace

void AddEvaluateCommand(CLI::App& app) {
  auto options = std::make_shared<EvaluateOptions>();
  CLI::App* evaluate =
      app.add_subcommand("evaluate", "Evaluate configurations of a scenario that you choose");
  evaluate->add_option("scenario", options->scenario, "Scenario file, as docs/scenarios.md has it")
      ->required();
  evaluate->add_option("configurations", options->configurations,
                       "Configurations as JSON; without, they are read from standard input");
  evaluate
      ->add_option("--outputs", options->outputs,
                   "Of a kernel, write the arrays that it writes as NumPy's .npy to this folder")
      ->option_text("FOLDER");
  Advanced(evaluate->add_option("--jobs,-j", options->jobs, "Configurations evaluated concurrently")
               ->option_text("N")
               ->capture_default_str()
               ->check(AtLeastOne()));
  evaluate->footer(WithDetails(
      "Prints an answer for each, a JSON object a line: the objective's value, or why\n"
      "there is none. Nothing is recorded.\n"
      "\n"
      "Examples:\n"
      "  bayloom evaluate flags.yaml '{\"level\": \"-O2\", \"unroll\": 4}'\n"
      "  bayloom evaluate matmul.yaml '{\"tile\": 16}' --outputs results",
      "\n\n"
      "A line of standard input is a configuration, or a list of them, which are\n"
      "evaluated together. Answers:\n"
      "  {\"configuration\": {\"tile\": 16}, \"milliseconds\": 1.25, \"spread\": 0.01}\n"
      "  {\"configuration\": {...}, \"feasible\": false, \"verdict\": \"wrong-output\",\n"
      "   \"reason\": \"element 3 of 'c' is 7, expected 8 (...)\"}\n"
      "  {\"error\": \"...\"}    for a line that is no configuration"));
  evaluate->callback([options] { Evaluate(*options); });
}

}  // namespace bayloom::cli
