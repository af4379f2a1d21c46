// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/base/file.h"
#include "bayloom/base/result.h"
#include "bayloom/base/shell_text.h"
#include "bayloom/base/single_line.h"
#include "bayloom/base/text_limits.h"
#include "bayloom/cli/commands.h"
#include "bayloom/cli/help.h"
#include "bayloom/cli/options/at_least_one.h"
#include "bayloom/cli/options/model_option.h"
#include "bayloom/cli/options/run_options.h"
#include "bayloom/cli/options/target_option.h"
#include "bayloom/cost/model_file.h"
#include "bayloom/measure/measurer.h"
#include "bayloom/pretrain/operator_families.h"
#include "bayloom/pretrain/pretraining.h"
#include "bayloom/report/format.h"
#include "bayloom/report/printable.h"
#include "bayloom/report/status_line.h"
#include "bayloom/report/table.h"
#include "bayloom/tuning/measure_evaluator.h"

namespace bayloom::cli {
namespace {

struct PretrainArguments {
  std::vector<std::string> networks;
  std::string database = "pretrain.db";
  std::string out = "pretrained.model";
  std::string time = "1h";
  std::optional<int64_t> programs;
  pretrain::PoolOptions pool;
  pretrain::PretrainingOptions options;
  bool pool_only = false;
  bool from_pool = false;
  bool json = false;
  TargetOption target;
};

/// Operators of the networks or families that were named, else of all families.
pretrain::PoolOptions PoolFor(const PretrainArguments& arguments) {
  pretrain::PoolOptions pool = arguments.pool;
  for (const std::string& path : arguments.networks) {
    ModelOption model;
    model.path = path;
    tuning::TuningSubject network = model.Subject(arguments.target.IsGpu());
    network.name =
        base::SingleLine(std::filesystem::path(path).stem().string(), base::kMaxPathBytes);
    pool.networks.push_back(std::move(network));
  }
  if (pool.networks.empty() && pool.families.empty()) pool.families = pretrain::FamilyNames();
  pool.seed = arguments.options.learning.seed;
  pool.threads = arguments.target.threads;
  return pool;
}

/// What goes on, on a terminal in one changing line.
class Progress {
 public:
  void ShowPool(const pretrain::PoolStatus& status) {
    const std::string text = fmt::format("pool: {} of {} tasks, {} programs", status.tasks,
                                         status.all_tasks, report::FormatCount(status.programs));
    status.tasks == status.all_tasks ? line_.Keep(text) : line_.Show(text);
  }
  void ShowTrial(const pretrain::PretrainingStatus& status) {
    if (line_.IsDue()) line_.Show(TextOf(status));
  }
  void KeepRound(const pretrain::PretrainingStatus& status) { line_.Keep(TextOf(status)); }

 private:
  static std::string TextOf(const pretrain::PretrainingStatus& status) {
    return fmt::format("round {} of {}: {} of {} programs measured, {}", status.round,
                       status.rounds, report::FormatCount(status.measured),
                       report::FormatCount(status.budget), report::FormatSeconds(status.seconds));
  }

  report::StatusLine line_{stderr};
};

report::Table PoolTable(record::Store& store, record::ProgramPool& pool,
                        const target::Target& target) {
  report::Table table({"group", "tasks", "programs", "measured"});
  for (const pretrain::PoolGroupSummary& group : pretrain::SummarizePool(store, pool, target)) {
    table.AddRow({group.name,
                  group.tasks,
                  {group.programs, report::FormatCount(group.programs)},
                  {group.measured, report::FormatCount(group.measured)}});
  }
  return table;
}

/// Fills the pool, and trains a model unless only the pool was asked for.
trial::StopReason RunPretraining(const PretrainArguments& arguments, const target::Target& target,
                                 record::Store& store, record::ProgramPool& pool) {
  Progress progress;
  const auto show_pool = [&](const pretrain::PoolStatus& status) { progress.ShowPool(status); };
  const pretrain::PretrainingOptions& options = arguments.options;
  if (arguments.pool_only) {
    return pretrain::FillPool(store, pool, target, *options.pool, options.budget.stop, show_pool)
               ? trial::StopReason::kExhausted
               : trial::StopReason::kStopped;
  }
  measure::Measurer measurer(target, {});
  tuning::MeasureEvaluator evaluator(measurer);
  pretrain::Pretraining pretraining(store, pool, target, evaluator, options);
  const trial::StopReason reason = pretraining.Run(
      {.on_task = show_pool,
       .on_trial = [&](const pretrain::PretrainingStatus& status) { progress.ShowTrial(status); },
       .on_round = [&](const pretrain::PretrainingStatus& status) { progress.KeepRound(status); }});
  if (reason != trial::StopReason::kStopped) {
    cost::WriteModelFile(pretraining.model(), arguments.out);
  }
  return reason;
}

void Pretrain(PretrainArguments arguments) {
  base::CheckFolderOf(arguments.out);
  if (arguments.from_pool && !std::filesystem::exists(arguments.database)) {
    throw InputError("--from-pool: there is no " + arguments.database +
                     "; without --from-pool it is made");
  }
  if (arguments.from_pool && !(arguments.networks.empty() && arguments.pool.families.empty())) {
    throw InputError("--from-pool: models and families are for a pool that is to be sampled");
  }
  arguments.options.budget = MakeBudget(arguments.programs, arguments.time);
  arguments.options.pool = std::nullopt;
  if (!arguments.from_pool) arguments.options.pool = PoolFor(arguments);
  const target::Target target = arguments.target.Resolve();
  record::Store store(arguments.database);
  record::ProgramPool pool(arguments.database);
  const trial::StopReason reason = RunPretraining(arguments, target, store, pool);
  const bool is_stopped = reason == trial::StopReason::kStopped;
  const bool has_model = !is_stopped && !arguments.pool_only;
  const report::Table table = PoolTable(store, pool, target);
  if (arguments.json) {
    nlohmann::json shown = {{"end", trial::ToString(reason)}, {"pool", table.Json()}};
    if (has_model) shown["model"] = arguments.out;
    fmt::print("{}\n", report::JsonText(shown));
    return;
  }
  fmt::print("{}\n", table.Text());
  if (has_model) {
    fmt::print("{}: wrote {}\nUse it with 'bayloom tune MODEL --learn-from {}'.\n",
               trial::Describe(reason), base::SingleLine(arguments.out, 200),
               base::QuotedForDisplay(arguments.out));
  }
  if (is_stopped) fmt::print("stopped; the same command continues\n");
}

/// What only experiments change.
void AddAdvanced(PretrainArguments& arguments, CLI::App& pretrain) {
  const auto add = [&](const char* name, auto& value, const char* text, const char* description) {
    return Advanced(pretrain.add_option(name, value, description)->option_text(text));
  };
  pretrain::PoolOptions& pool = arguments.pool;
  pretrain::ActiveLearningOptions& learning = arguments.options.learning;
  OneOf(add("--families", pool.families, "NAME...",
            "Draw operators from these families even if models are named")
            ->default_str("all, without models"),
        pretrain::FamilyNames());
  add("--tasks-per-family", pool.tasks_per_family, "N", "Operators drawn from each family")
      ->check(AtLeastOne())
      ->capture_default_str();
  add("--programs-per-task", pool.programs_per_task, "N",
      "Programs of each operator in the pool, half of them random, half evolved from those")
      ->check(AtLeastOne())
      ->capture_default_str();
  add("--share", arguments.options.share, "X", "Measure this share of the pool")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  add("--rounds", learning.rounds, "N", "Measure in this many rounds, each chosen by a new model")
      ->check(AtLeastOne())
      ->capture_default_str();
  OneOf(add("--selection", learning.selection, "NAME", "How programs to measure are chosen")
            ->capture_default_str(),
        cost::SelectionMethods());
  OneOf(add("--learner", learning.model, "NAME", "What is trained")->capture_default_str(),
        cost::ThroughputModelNames());
  add("--seed", learning.seed, "N", "Seed of all random choices")->capture_default_str();
}

}  // namespace

void AddPretrainCommand(CLI::App& app) {
  auto options = std::make_shared<PretrainArguments>();
  CLI::App* pretrain = app.add_subcommand(
      "pretrain", "Train a cost model for this machine, for 'tune' to start with");
  pretrain->add_option("model", options->networks,
                       "ONNX files whose operators to learn from; without any, common operators");
  pretrain->add_option("--db", options->database, "Database of programs and measurements")
      ->option_text("FILE")
      ->capture_default_str();
  pretrain->add_option("--out,-o", options->out, "File to write the model to")
      ->option_text("FILE")
      ->capture_default_str();
  pretrain->add_option("--time", options->time, "Stop measuring after this long, e.g. 30s, 10m, 2h")
      ->option_text("TIME")
      ->capture_default_str();
  pretrain->add_option("--programs", options->programs, "Measure this many programs in all")
      ->option_text("N")
      ->default_str("5 % of the pool")
      ->check(AtLeastOne());
  CLI::Option* pool_only =
      pretrain->add_flag("--pool-only", options->pool_only, "Sample the pool, but measure nothing");
  pretrain
      ->add_flag("--from-pool", options->from_pool, "Sample nothing: use the pool as it is in --db")
      ->excludes(pool_only);
  pretrain->add_flag("--json", options->json, "Print JSON");
  options->target.AddTo(*pretrain);
  AddAdvanced(*options, *pretrain);
  pretrain->footer(
      "Samples programs of many operators into a pool, measures a few of them, chosen\n"
      "by active learning, and trains on those. Interrupt at any time: the same command\n"
      "continues. Trials of 'bayloom tune' in --db count as measured.\n"
      "\n"
      "Examples:\n"
      "  bayloom pretrain --out this-machine.model\n"
      "  bayloom pretrain resnet18.onnx bert_tiny.onnx --db pool.db --time 10m");
  pretrain->callback([options] { Pretrain(*options); });
}

}  // namespace bayloom::cli
