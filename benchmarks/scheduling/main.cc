// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// How soon schedulers bring a network's latency down: tunings are replayed from records of
// networks all of whose tasks were tuned for long, so that every scheduler meets the same luck.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "bayloom/base/result.h"
#include "bayloom/base/thread_pool.h"
#include "bayloom/experimental/register.h"
#include "benchmarks/charts/line_chart.h"
#include "benchmarks/run_tool.h"
#include "benchmarks/scheduling/oracle.h"
#include "benchmarks/scheduling/replay.h"
#include "benchmarks/scheduling/stop_rule.h"

namespace bayloom {
namespace {

struct ReplayOptions {
  std::vector<std::string> stores;
  std::vector<std::string> schedulers = scheduling::TaskSchedulers().AllNames();
  int seeds = 20;
  double share = 0.5;
  double tolerance = 0.005;
  int trials_per_slot = 16;
  int threads = 1;
  double gflops = 536;
  std::string json;
  std::string charts;
  std::vector<double> until_gain;
  std::vector<double> within;  ///< percent
  scheduling::TaskSchedulerOptions scheduler;
};

/// One seed of one scheduler, compared with sequential's run on the same recordings.
struct Comparison {
  ReplayedRun run;
  /// Sequential's trials, and tuning seconds, over this one's until sequential's lowest latency is
  /// reached but for the tolerance; 0 where it is not reached.
  double sooner_in_trials = 0;
  double sooner_in_seconds = 0;
  double final_latency = 0;  ///< over sequential's
  double final_regret = 0;   ///< (latency - oracle's) / oracle's, at the end of the budget
  double mean_regret = 0;    ///< the same of the latency averaged over the slots
  double mean_excess = 0;    ///< latency averaged over the seconds, over the recordings' lowest
  /// By ReplayOptions::within: trials, and tuning seconds, as shares of all that were recorded,
  /// until the recordings' lowest latency is reached but for so much; 1 where it is not.
  std::vector<double> trials_within = {}, seconds_within = {};
};

double Quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
}

Comparison Compare(const RecordedNetwork& network, const Draw& draw, const std::string& scheduler,
                   const scheduling::TaskSchedulerOptions& options, double tolerance) {
  const ReplayedRun sequential = Replay(network, draw, "sequential", options);
  Comparison comparison;
  comparison.run = Replay(network, draw, scheduler, options);
  const ReplayedRun& run = comparison.run;
  const double lowest = sequential.points.back().latency;
  const auto* before = sequential.Reaching(lowest * (1 + tolerance));
  if (const auto* now = run.Reaching(lowest * (1 + tolerance))) {
    comparison.sooner_in_trials =
        static_cast<double>(before->trials) / static_cast<double>(now->trials);
    comparison.sooner_in_seconds = before->tuning_seconds / now->tuning_seconds;
  }
  const std::vector<double> oracle = OracleLatencies(network, draw, options.trials_per_slot,
                                                     static_cast<int>(run.points.size()) - 1);
  double oracle_mean = 0;
  for (double latency : oracle) oracle_mean += latency / static_cast<double>(oracle.size());
  comparison.final_latency = run.points.back().latency / lowest;
  comparison.final_regret = run.points.back().latency / oracle.back() - 1;
  comparison.mean_regret = run.MeanLatency() / oracle_mean - 1;
  return comparison;
}

/// How soon the run came near what the recordings of all tasks found together.
void CompareWithRecordings(const RecordedNetwork& network, const Draw& draw,
                           std::span<const double> within, Comparison& comparison) {
  double lowest = 0, seconds = 0, trials = 0;
  for (size_t i = 0; i < draw.size(); ++i) {
    lowest += network.tasks[i].weight * draw[i]->best_after_trial.back();
    for (const double of_trial : draw[i]->trial_seconds) seconds += of_trial;
    trials += static_cast<double>(draw[i]->best_after_trial.size());
  }
  comparison.mean_excess = comparison.run.MeanLatencyOverTime() / lowest - 1;
  for (const double percent : within) {
    const auto* reached = comparison.run.Reaching(lowest * (1 + percent / 100));
    comparison.trials_within.push_back(reached ? static_cast<double>(reached->trials) / trials : 1);
    comparison.seconds_within.push_back(reached ? reached->tuning_seconds / seconds : 1);
  }
}

std::vector<Comparison> CompareSeeds(const RecordedNetwork& network, const std::string& scheduler,
                                     const ReplayOptions& options, base::ThreadPool& pool) {
  std::vector<Comparison> comparisons(static_cast<size_t>(options.seeds));
  pool.ParallelFor(options.seeds, [&](int64_t seed) {
    const Draw draw = DrawCurves(network, static_cast<uint64_t>(seed) + 1);
    int64_t trials = 0;
    for (const RecordedCurve* curve : draw) trials += std::ssize(curve->best_after_trial);
    scheduling::TaskSchedulerOptions seeded = options.scheduler;
    seeded.seed = static_cast<uint64_t>(seed) + 1;
    seeded.max_trials = static_cast<int64_t>(options.share * static_cast<double>(trials));
    seeded.trials_per_slot = options.trials_per_slot;
    comparisons[static_cast<size_t>(seed)] =
        Compare(network, draw, scheduler, seeded, options.tolerance);
    CompareWithRecordings(network, draw, options.within, comparisons[static_cast<size_t>(seed)]);
  });
  return comparisons;
}

std::vector<double> Values(const std::vector<Comparison>& runs, double Comparison::*value) {
  std::vector<double> values;
  for (const Comparison& run : runs) values.push_back(run.*value);
  return values;
}

/// "1.32 (1.20 .. 1.51)": median and quartiles.
std::string Quartiles(const std::vector<double>& values, double factor = 1) {
  const auto at = [&](double share) { return factor * Quantile(values, share); };
  return fmt::format("{:.2f} ({:.2f} .. {:.2f})", at(0.5), at(0.25), at(0.75));
}

std::string Quartiles(const std::vector<Comparison>& runs, double Comparison::*value,
                      double factor = 1) {
  return Quartiles(Values(runs, value), factor);
}

double SchedulerShare(const std::vector<Comparison>& runs) {
  double deciding = 0, tuning = 0;
  for (const Comparison& comparison : runs) {
    deciding += comparison.run.scheduler_seconds;
    tuning += comparison.run.points.back().tuning_seconds;
  }
  return deciding / (deciding + tuning);
}

nlohmann::json ToJson(const std::vector<Comparison>& runs) {
  nlohmann::json json = nlohmann::json::array();
  for (const Comparison& comparison : runs) {
    nlohmann::json points = nlohmann::json::array();
    for (const ReplayedRun::Point& point : comparison.run.points) {
      points.push_back({point.trials, point.tuning_seconds, point.latency, point.task});
    }
    json.push_back({{"sooner_in_trials", comparison.sooner_in_trials},
                    {"sooner_in_seconds", comparison.sooner_in_seconds},
                    {"final_latency", comparison.final_latency},
                    {"final_regret", comparison.final_regret},
                    {"mean_regret", comparison.mean_regret},
                    {"mean_excess", comparison.mean_excess},
                    {"trials_within", comparison.trials_within},
                    {"seconds_within", comparison.seconds_within},
                    {"scheduler_seconds", comparison.run.scheduler_seconds},
                    {"points", points}});
  }
  return json;
}

/// The median latency after every slot.
charts::LineChart::Series MedianCurve(const std::string& name,
                                      const std::vector<Comparison>& runs) {
  size_t slots = runs.front().run.points.size();
  for (const Comparison& run : runs) slots = std::min(slots, run.run.points.size());
  charts::LineChart::Series series{name, {}, /*steps=*/true};
  for (size_t slot = 0; slot < slots; ++slot) {
    std::vector<double> latencies, seconds;
    for (const Comparison& run : runs) {
      latencies.push_back(1e3 * run.run.points[slot].latency);
      seconds.push_back(run.run.points[slot].tuning_seconds);
    }
    series.points.emplace_back(Quantile(seconds, 0.5), Quantile(latencies, 0.5));
  }
  return series;
}

/// When each scheduler would have been stopped by an expected gain, and at what cost.
void CompareStops(const RecordedNetwork& network, const ReplayOptions& options) {
  fmt::print("{:<20} {:>10} {:>8} {:>10} {:>10} {:>12} {:>14} {:>10}\n", "scheduler", "until %/min",
             "stopped", "trials, %", "time, %", "latency +%", "expected, %", "found, %");
  for (const std::string& scheduler : options.schedulers) {
    for (const double percent : options.until_gain) {
      std::vector<RuledStop> stops;
      for (int seed = 1; seed <= options.seeds; ++seed) {
        const Draw draw = DrawCurves(network, static_cast<uint64_t>(seed));
        scheduling::TaskSchedulerOptions seeded = options.scheduler;
        seeded.seed = static_cast<uint64_t>(seed);
        seeded.trials_per_slot = options.trials_per_slot;
        for (const RecordedCurve* curve : draw) {
          seeded.max_trials += std::ssize(curve->best_after_trial);
        }
        stops.push_back(StopByGain(Replay(network, draw, scheduler, seeded, true), percent / 100));
      }
      const auto median = [&](double RuledStop::*value) {
        std::vector<double> values;
        for (const RuledStop& stop : stops) values.push_back(100 * (stop.*value));
        return Quantile(values, 0.5);
      };
      fmt::print("{:<20} {:>10} {:>5}/{:<2} {:>10.0f} {:>10.0f} {:>12.2f} {:>14.2f} {:>10.2f}\n",
                 scheduler, percent, std::ranges::count(stops, true, &RuledStop::ruled),
                 stops.size(), median(&RuledStop::share_of_trials),
                 median(&RuledStop::share_of_seconds), median(&RuledStop::excess),
                 median(&RuledStop::expected), median(&RuledStop::found));
      std::fflush(stdout);
    }
  }
}

void WriteFile(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) throw InputError(path + ": cannot write");
}

void PrintHead(const ReplayOptions& options) {
  if (options.within.empty()) {
    fmt::print("{:<20} {:>22} {:>22} {:>20} {:>20} {:>20} {:>8}\n", "scheduler", "fewer trials",
               "less time", "latency / sequential", "mean regret, %", "final regret, %", "own, %");
    return;
  }
  fmt::print("{:<20} {:>20} {:>20}", "scheduler", "mean regret, %", "mean over time, +%");
  for (const double percent : options.within) {
    fmt::print(" {:>22} {:>22}", fmt::format("trials to {} %, %", percent),
               fmt::format("time to {} %, %", percent));
  }
  fmt::print("\n");
}

void PrintRow(const std::string& scheduler, const std::vector<Comparison>& runs,
              const ReplayOptions& options) {
  if (options.within.empty()) {
    fmt::print("{:<20} {:>22} {:>22} {:>20} {:>20} {:>20} {:>8.2f}\n", scheduler,
               Quartiles(runs, &Comparison::sooner_in_trials),
               Quartiles(runs, &Comparison::sooner_in_seconds),
               Quartiles(runs, &Comparison::final_latency),
               Quartiles(runs, &Comparison::mean_regret, 100),
               Quartiles(runs, &Comparison::final_regret, 100), 100 * SchedulerShare(runs));
    return;
  }
  fmt::print("{:<20} {:>20} {:>20}", scheduler, Quartiles(runs, &Comparison::mean_regret, 100),
             Quartiles(runs, &Comparison::mean_excess, 100));
  for (size_t i = 0; i < options.within.size(); ++i) {
    std::vector<double> trials, seconds;
    for (const Comparison& run : runs) {
      trials.push_back(run.trials_within[i]);
      seconds.push_back(run.seconds_within[i]);
    }
    fmt::print(" {:>22} {:>22}", Quartiles(trials, 100), Quartiles(seconds, 100));
  }
  fmt::print("\n");
}

void Run(const ReplayOptions& options) {
  base::ThreadPool pool(options.threads);
  nlohmann::json results = nlohmann::json::array();
  for (const RecordedNetwork& network :
       LoadRecordedNetworks(options.stores, 1e9 * options.gflops)) {
    size_t fewest = network.tasks.front().curves.size();
    for (const auto& task : network.tasks) fewest = std::min(fewest, task.curves.size());
    fmt::print("{}: {} tasks, {} recordings of each\n", network.name, network.tasks.size(), fewest);
    if (!options.until_gain.empty()) {
      CompareStops(network, options);
      continue;
    }
    PrintHead(options);
    charts::LineChart chart;
    chart.title = network.name + ": median of " + std::to_string(options.seeds) + " replays";
    chart.x_label = "seconds of tuning";
    chart.y_label = "latency, ms";
    chart.log_y = true;
    for (const std::string& scheduler : options.schedulers) {
      const std::vector<Comparison> runs = CompareSeeds(network, scheduler, options, pool);
      PrintRow(scheduler, runs, options);
      std::fflush(stdout);
      results.push_back(
          {{"network", network.name}, {"scheduler", scheduler}, {"runs", ToJson(runs)}});
      chart.series.push_back(MedianCurve(scheduler, runs));
    }
    if (!options.charts.empty()) {
      WriteFile(options.charts + "/" + network.name + ".svg", chart.ToSvg());
    }
  }
  if (!options.json.empty()) WriteFile(options.json, results.dump() + "\n");
}

}  // namespace
}  // namespace bayloom

int main(int argc, char** argv) {
  bayloom::experimental::Register();
  bayloom::ReplayOptions options;
  CLI::App app(
      "Replays tunings of networks under every scheduler from recorded ones, and compares with "
      "tuning one task after the other: medians and quartiles over the seeds. A seed draws which "
      "of its recordings stands for each task.",
      "bayloom-replay");
  app.add_option("stores", options.stores,
                 "Databases of 'bayloom tune MODEL --scheduler round-robin', one tuning each")
      ->required();
  app.add_option("--schedulers", options.schedulers)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  app.add_option("--seeds", options.seeds, "Replays each")->capture_default_str();
  app.add_option("--share", options.share,
                 "Share of the recorded trials that each replay may spend")
      ->capture_default_str();
  app.add_option("--tolerance", options.tolerance,
                 "How near sequential's lowest latency counts as reaching it, as a share of it")
      ->capture_default_str();
  app.add_option("--batch", options.trials_per_slot, "Trials of a slot")->capture_default_str();
  app.add_option("--threads", options.threads, "Replays at a time")->capture_default_str();
  app.add_option("--gflops", options.gflops, "Peak of the machine that was recorded, GFLOP/s")
      ->capture_default_str();
  app.add_option("--exploration", options.scheduler.exploration, "C of dynatune")
      ->capture_default_str();
  app.add_option("--exploration-unit", options.scheduler.exploration_unit,
                 "Seconds that C is measured in; 0: the network's latency")
      ->capture_default_str();
  app.add_option("--patience", options.scheduler.patience)->capture_default_str();
  app.add_option("--until-gain", options.until_gain,
                 "Instead, say when a tuning would stop that ends when the next minute is expected "
                 "to gain less than so many percent")
      ->option_text("PERCENT,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--within", options.within,
                 "Instead, say how much of the recorded trials and time it takes until the lowest "
                 "recorded latency is reached but for so many percent; use it with --share 1")
      ->option_text("PERCENT,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--json", options.json, "Also write all runs to this file");
  app.add_option("--charts", options.charts, "Also draw a chart for each network in this folder");
  return bayloom::RunTool(app, argc, argv, [&] { bayloom::Run(options); });
}
