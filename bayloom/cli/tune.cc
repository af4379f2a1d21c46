// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/tune.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "bayloom/base/duration.h"
#include "bayloom/base/stop_flag.h"
#include "bayloom/cli/internal/at_least_one.h"
#include "bayloom/cli/internal/commands.h"
#include "bayloom/cli/internal/model_option.h"
#include "bayloom/cli/internal/run_options.h"
#include "bayloom/cli/internal/target_option.h"
#include "bayloom/measure/measurer.h"
#include "bayloom/report/progress_columns.h"
#include "bayloom/scheduling/task_scheduler.h"
#include "bayloom/strategy/strategy.h"
#include "bayloom/tensor/operator_shorthand.h"
#include "bayloom/tuning/measure_evaluator.h"
#include "bayloom/tuning/measured_target.h"

namespace bayloom::cli {
namespace {

struct TuneArguments {
  ModelOption model;
  std::string op;
  std::optional<int64_t> trials;
  std::string time;
  tuning::TuneOptions options;
  std::string database;
  bool json = false;
  TargetOption target;
};

tuning::TuningSubject LoadSubject(const TuneArguments& arguments) {
  if (arguments.model.path.empty() == arguments.op.empty()) {
    throw InputError(
        "name a model, such as resnet18.onnx, or an operator, such as --op matmul:512,512,512");
  }
  return arguments.op.empty() ? arguments.model.Subject() : tuning::OperatorSubject(arguments.op);
}

nlohmann::json ToJson(const run::PhaseTimes& phases) {
  nlohmann::json seconds;
  for (const run::NamedPhase& phase : run::kPhases) seconds[phase.name] = phases.*phase.seconds;
  return seconds;
}

void PrintResult(const tuning::Session& session, trial::StopReason reason,
                 const TuneArguments& arguments) {
  const tuning::SessionStatus status = session.Status();
  const report::Table tasks = report::TaskTable(status.tasks);
  if (arguments.json) {
    const nlohmann::json shown = {{"session", session.id()},
                                  {"end", trial::ToString(reason)},
                                  {"trials", status.trials},
                                  {"seconds", status.seconds},
                                  {"overhead", status.phases.OverheadShare()},
                                  {"phases", ToJson(status.phases)},
                                  {"total", status.total_seconds},
                                  {"tasks", tasks.Json()}};
    fmt::print("{}\n", shown.dump(2));
    return;
  }
  fmt::print("\n{}\n{}: {}\n'bayloom show {}' shows what was found.\n", tasks.Text(),
             DescribeEnd(reason), report::SummaryLine(status), arguments.database);
}

/// The target with its machine model, which takes seconds where the store does not have it.
target::Target MeasuredTargetFor(const target::Target& target, record::Store& store) {
  if (!store.FindTarget(target)) {
    fmt::print(stderr, "Measuring this machine, once for {}\n", store.path());
  }
  return tuning::MeasuredTarget(store, target);
}

void Tune(TuneArguments arguments) {
  const tuning::TuningSubject subject = LoadSubject(arguments);
  if (arguments.database.empty()) arguments.database = arguments.model.DefaultDatabase();
  tuning::TuneOptions& options = arguments.options;
  options.budget = MakeBudget(arguments.trials, arguments.time);
  record::Store store(arguments.database);
  const target::Target target = MeasuredTargetFor(arguments.target.Resolve(), store);
  measure::Measurer measurer(target, {});
  tuning::MeasureEvaluator evaluator(measurer);
  tuning::Tuning tuning(subject, target, store, evaluator, options);
  tuning::Session& session = tuning.session();
  fmt::print(stderr, "{} session {}: {} task{} of {} on {} with {} threads, records in {}\n",
             tuning.resumed() ? "Resuming" : "Beginning", session.id(), subject.specs.size(),
             subject.specs.size() == 1 ? "" : "s", subject.name, target.cpu, target.cores,
             arguments.database);
  report::RunProgress progress(stderr, session.Status(), report::TuningProgress());
  const trial::StopReason reason =
      tuning.Run({[&](const tuning::SessionStatus& status, const trial::Outcome& last) {
                    progress.Trial(status, last);
                  },
                  [&](const tuning::SessionStatus& status) { progress.Slot(status); }});
  progress.End();
  PrintResult(session, reason, arguments);
  ThrowIfLost(reason, session.lost());
}

}  // namespace

void AddTuneCommand(CLI::App& app) {
  auto options = std::make_shared<TuneArguments>();
  CLI::App* tune = app.add_subcommand("tune", "Find fast programs for a model or an operator");
  options->model.AddTo(*tune);
  tune->add_option("--op", options->op, "Tune one operator instead; see below");
  tune->add_option("--trials", options->trials,
                   "Programs to measure in all; default 1000, for an operator 256")
      ->check(AtLeastOne());
  tune->add_option("--time", options->time, "Stop after this long: 90s, 10m, 1h30m");
  tune->add_option("--strategy", options->options.strategy,
                   "How to choose what to measure; see below; default bayes")
      ->check([](const std::string& name) {
        const Status known = strategy::CheckStrategyName(name);
        return known ? std::string() : known.error().message;
      });
  tune->add_option("--scheduler", options->options.scheduler,
                   "How to divide trials between operators; default gradient")
      ->check(CLI::IsMember(scheduling::TaskSchedulerNames()));
  tune->add_option("--seed", options->options.seed, "Seed of all choices")->capture_default_str();
  tune->add_option("--db", options->database,
                   "Where records are kept; default MODEL.db, for an operator operators.db");
  tune->add_option("--cost-model", options->options.cost_model,
                   "Begin with a model that 'bayloom pretrain' wrote");
  tune->add_flag("--resume", options->options.resume,
                 "Go on with the last session of this model on this target, if there is one");
  tune->add_flag("--json", options->json, "Print the result as JSON");
  options->target.AddTo(*tune);
  tune->footer(
      "Every trial is recorded as it is made: stop when you like, even by kill -9, and go on\n"
      "with --resume.\n"
      "\n"
      "Examples:\n"
      "  bayloom tune resnet18.onnx\n"
      "  bayloom tune resnet18.onnx --time 10m --threads 1 --db one-thread.db\n"
      "  bayloom tune resnet18.onnx --resume --trials 2000\n"
      "  bayloom tune --op conv2d:56x56x64,64,3x3,pad=1,bias,relu --strategy random\n"
      "\n"
      "Strategies:\n"
      "  bayes           breeds programs that the cost model likes, and a surrogate that begins\n"
      "                  with what a program's loops make one expect\n"
      "  evolutionary    breeds programs that the cost model likes (MetaSchedule's search)\n"
      "  bayes:naive, bayes:heap, bayes:lru, bayes:heap+lru\n"
      "                  bayesian optimization of the cost model's scores (Rocke 2024, table "
      "3.1);\n"
      "                  '+factors', '+sdr', '+ei', '+poi' change encoding, domain, acquisition\n"
      "  random          draws blindly\n"
      "\n"
      "Operators:\n" +
      tensor::OperatorExamples());
  tune->callback([options] { Tune(*options); });
}

}  // namespace bayloom::cli
