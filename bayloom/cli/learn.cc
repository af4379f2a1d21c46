// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bayloom/base/duration.h"
#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"
#include "bayloom/base/stop_flag.h"
#include "bayloom/cli/commands.h"
#include "bayloom/cli/help.h"
#include "bayloom/cli/options/at_least_one.h"
#include "bayloom/cli/options/run_options.h"
#include "bayloom/cli/options/target_option.h"
#include "bayloom/cli/output.h"
#include "bayloom/measure/load_monitor.h"
#include "bayloom/measure/measurer.h"
#include "bayloom/pretrain/operator_families.h"
#include "bayloom/pretrain/prior_learning.h"
#include "bayloom/report/format.h"
#include "bayloom/report/printable.h"
#include "bayloom/report/status_line.h"
#include "bayloom/tuning/measure_evaluator.h"
#include "bayloom/tuning/user_store.h"

namespace bayloom::cli {
namespace {

struct LearnArguments {
  bool idle = false;
  std::string time;
  std::optional<int64_t> programs;
  pretrain::PriorLearningOptions options;
  double load_below = pretrain::QuietWatch().limit;
  bool json = false;
  TargetOption target;
};

/// Looks at what others do from call to call.
pretrain::QuietWatch WatchOthers(double limit, int threads) {
  const measure::LoadMonitorOptions options = {.threads = threads};
  auto monitor = std::make_shared<std::optional<measure::LoadMonitor>>(std::in_place, options);
  pretrain::QuietWatch watch;
  watch.limit = limit;
  watch.taken = [monitor, options] {
    const measure::MachineLoad load = (*monitor)->SinceBegin();
    monitor->emplace(options);
    return load.others + load.stolen;
  };
  watch.wait = [](double seconds) {
    constexpr auto kStep = std::chrono::milliseconds(50);
    for (double waited = 0; waited < seconds && !base::StopRequested(); waited += 0.05) {
      std::this_thread::sleep_for(kStep);
    }
  };
  return watch;
}

std::string TextOf(const pretrain::PriorLearningStatus& status, double seconds) {
  std::string text =
      fmt::format("learning: {} programs of {} tasks measured",
                  report::FormatCount(status.measured), report::FormatCount(status.tasks));
  if (status.disturbed > 0) {
    text += fmt::format(", {} dropped", report::FormatCount(status.disturbed));
  }
  if (std::isfinite(seconds)) {
    text +=
        fmt::format(", {} left", report::FormatSeconds(std::max(0.0, seconds - status.seconds)));
  }
  if (status.is_waiting) {
    text += fmt::format("; waiting: other processes use {:.1f} processors", status.taken);
  }
  return text;
}

std::string StorePath() {
  const std::optional<std::string> path = tuning::UserStore::DefaultPath();
  if (path) return *path;
  throw InputError(
      "there is no store to learn for: BAYLOOM_STORE is 'off', or no home is known; let "
      "BAYLOOM_STORE name a file");
}

void PrintResult(const LearnArguments& arguments, trial::StopReason reason,
                 const pretrain::PriorLearningStatus& status,
                 const std::optional<tuning::TrialPrior>& prior, const std::string& path) {
  if (arguments.json) {
    nlohmann::json shown = {{"end", trial::ToString(reason)},
                            {"measured", status.measured},
                            {"dropped", status.disturbed},
                            {"tasks", status.tasks},
                            {"seconds", status.seconds},
                            {"waited", status.waited},
                            {"store", path}};
    if (prior) shown["prior"] = {{"trials", prior->stored.trials}, {"tasks", prior->stored.tasks}};
    fmt::print("{}\n", report::JsonText(shown));
    return;
  }
  fmt::print("{}: {} programs of {} tasks measured in {}", trial::Describe(reason),
             report::FormatCount(status.measured), report::FormatCount(status.tasks),
             report::FormatSeconds(status.seconds));
  if (arguments.idle) {
    fmt::print(", of which {} others had the machine; {} dropped, as others disturbed them",
               report::FormatSeconds(status.waited), report::FormatCount(status.disturbed));
  }
  fmt::print("\n");
  if (prior) {
    fmt::print("'bayloom tune --learn-from store' begins with {} trials of {} tasks\n",
               report::FormatCount(prior->stored.trials), report::FormatCount(prior->stored.tasks));
  }
}

void Learn(LearnArguments arguments) {
  const std::string path = StorePath();
  pretrain::PriorLearningOptions& options = arguments.options;
  options.budget = MakeBudget(arguments.programs, "");
  if (!arguments.time.empty()) {
    options.budget.seconds = base::ParseDuration(arguments.time, "--for");
  }
  const target::Target target = arguments.target.Resolve();
  if (!std::filesystem::exists(path) && options.families.empty()) {
    throw InputError(fmt::format("there is no {}: tune a network first, or name --families",
                                 base::SingleLine(path, 200)));
  }
  if (const auto folder = std::filesystem::path(path).parent_path(); !folder.empty()) {
    std::filesystem::create_directories(folder);
  }
  if (arguments.idle) options.quiet = WatchOthers(arguments.load_below, target.cores);
  record::Store store(path);
  record::SampleStore samples(path);
  measure::Measurer measurer(target, {});
  tuning::MeasureEvaluator evaluator(measurer);
  pretrain::PriorLearning learning(store, samples, target, evaluator, options);
  report::StatusLine line(stderr);
  pretrain::PriorLearningStatus last;
  const trial::StopReason reason = learning.Run([&](const pretrain::PriorLearningStatus& status) {
    last = status;
    if (line.IsDue()) line.Show(TextOf(status, options.budget.seconds));
  });
  line.Clear();
  std::optional<tuning::TrialPrior> prior;
  if (reason != trial::StopReason::kStopped) {
    prior = tuning::EarlierTrials(store, samples).Learn(target, /*keep=*/true);
  }
  PrintResult(arguments, reason, last, prior, path);
}

}  // namespace

void AddLearnCommand(CLI::App& app) {
  auto options = std::make_shared<LearnArguments>();
  CLI::App* learn = app.add_subcommand(
      "learn", "Measure what later tunings learn most from, while the machine is idle");
  learn->add_flag("--idle", options->idle, "Wait while other processes use the machine");
  learn->add_option("--for", options->time, "Stop after this long, e.g. 30min, 2h")
      ->option_text("TIME")
      ->default_str("until Ctrl-C");
  learn->add_option("--programs", options->programs, "Stop after so many programs")
      ->option_text("N")
      ->check(AtLeastOne());
  learn
      ->add_option("--load-below", options->load_below,
                   "With --idle: processors that others may use meanwhile")
      ->option_text("X")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  OneOf(learn
            ->add_option("--families", options->options.families,
                         "Learn of operators of these families besides, in sizes that\n"
                         "networks have")
            ->option_text("NAME..."),
        pretrain::FamilyNames());
  Advanced(learn
               ->add_option("--tasks-per-family", options->options.tasks_per_family,
                            "Operators drawn from each family")
               ->option_text("N")
               ->check(AtLeastOne())
               ->capture_default_str());
  Advanced(learn->add_option("--seed", options->options.seed, "Seed of all random choices")
               ->option_text("N")
               ->capture_default_str());
  learn->add_flag("--json", options->json, "Print JSON");
  options->target.AddTo(*learn);
  learn->footer(
      WithDetails("Measures what 'bayloom tune --learn-from store' can learn most from.\n"
                  "Interrupt at any time: the next run goes on.\n"
                  "\n"
                  "Examples:\n"
                  "  bayloom learn --idle --for 30min\n"
                  "  bayloom learn --idle --threads 1 --families conv2d dense --programs 2000",
                  "\n\n"
                  "'bayloom tune' keeps some of its trials in the file BAYLOOM_STORE, else in\n"
                  "~/.local/share/bayloom/programs.db; with --learn-from store it begins with a\n"
                  "cost model of those that were made for the same target and number of threads.\n"
                  "This command adds further programs of the operators that were tuned."));
  learn->callback([options] { Learn(*options); });
}

}  // namespace bayloom::cli
