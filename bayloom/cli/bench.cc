// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "bayloom/base/clock.h"
#include "bayloom/base/duration.h"
#include "bayloom/cli/internal/commands.h"
#include "bayloom/cli/internal/network_runner.h"
#include "bayloom/cli/internal/output.h"
#include "bayloom/graph/random_inputs.h"
#include "bayloom/measure/load_monitor.h"
#include "bayloom/measure/measure_machine.h"
#include "bayloom/measure/roofline.h"
#include "bayloom/measure/timing.h"
#include "bayloom/report/format.h"
#include "bayloom/report/printable.h"
#include "bayloom/report/table.h"
#include "bayloom/tuning/tuning_subject.h"

namespace bayloom::cli {
namespace {

struct BenchOptions {
  NetworkOption network;
  std::string time = "3s";
  bool untuned = false;
  bool json = false;
};

/// Latencies of at least ten runs, after a warm-up.
measure::Timing TimeLatency(NetworkRunner& runner, double seconds) {
  for (int i = 0; i < 3; ++i) runner.Run();
  std::vector<double> times;
  const double end = base::MonotonicSeconds() + seconds;
  while (times.size() < 10 || base::MonotonicSeconds() < end) {
    const double start = base::MonotonicSeconds();
    runner.Run();
    times.push_back(base::MonotonicSeconds() - start);
  }
  measure::Timing timing = measure::Summarize(times);
  timing.runs = static_cast<int64_t>(times.size());
  return timing;
}

/// Seconds that each call of the network takes in one run, on average.
std::vector<double> TimeCalls(const tuning::TunedNetwork& network, NetworkRunner& runner,
                              double seconds) {
  std::vector<double> sums(network.network.calls.size());
  const double end = base::MonotonicSeconds() + seconds;
  int runs = 0;
  do {
    runner.RunTimed(sums);
    ++runs;
  } while (base::MonotonicSeconds() < end);
  for (double& sum : sums) sum /= runs;
  return sums;
}

/// Where the time of one run goes, the longest task first.
report::Table Breakdown(const tuning::TunedNetwork& network,
                        const std::vector<double>& call_seconds,
                        const target::MachineModel& machine) {
  const std::vector<tuning::TaskSpec> specs = tuning::SpecsOf(network.network);
  const double whole = std::accumulate(call_seconds.begin(), call_seconds.end(), 0.0);
  std::vector<double> seconds(specs.size());
  for (size_t i = 0; i < call_seconds.size(); ++i) {
    seconds[network.network.calls[i].task] += call_seconds[i];
  }
  std::vector<int> order(specs.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return seconds[a] > seconds[b]; });

  report::Table table({"task", "calls", "time", "share", "rate", "roofline", "tuned"});
  const auto percent = [](double part) {
    return report::Cell(part, fmt::format("{:.1f} %", 100 * part));
  };
  for (int i : order) {
    const double flops = specs[i].weight * specs[i].workload.Flops();
    const double each = seconds[i] / specs[i].weight;
    const double rate = flops > 0 ? flops / seconds[i] : std::nan("");
    table.AddRow(
        {specs[i].name,
         static_cast<int64_t>(specs[i].weight),
         {seconds[i], report::FormatSeconds(seconds[i])},
         percent(seconds[i] / whole),
         {rate, report::FormatRate(rate)},
         percent(measure::RooflineShare(machine, measure::DemandOf(specs[i].workload), each)),
         network.chosen[i].measured ? "yes" : "no"});
  }
  return table;
}

double MemoryBytesPerSecond(const target::MachineModel& machine) {
  return machine.BytesPerSecond(machine.levels.back());
}

nlohmann::json ToJson(const measure::Timing& timing) {
  return {{"seconds", timing.seconds}, {"spread", timing.spread}, {"runs", timing.runs}};
}

std::string Describe(const measure::Timing& timing) {
  return fmt::format("{}, spread {:.1f} % ({} runs)", report::FormatSeconds(timing.seconds),
                     100 * timing.spread, timing.runs);
}

void Bench(const BenchOptions& options) {
  const double seconds = base::ParseDuration(options.time, "--time");
  measure::LoadMonitor load({.threads = options.network.target.Resolve().cores});
  const tuning::TunedNetwork network = options.network.Load();
  const std::vector<tensor::HostTensor> inputs = graph::MakeRandomInputs(network.network.graph, 0);
  NetworkRunner runner(network, inputs);
  if (load.Look()) Say("{}\n", measure::DescribeBusy(load.last()));
  const measure::Timing latency = TimeLatency(runner, seconds);
  std::optional<measure::Timing> untuned;
  if (options.untuned) {
    NetworkRunner untuned_runner(options.network.Untuned(network), inputs);
    untuned = TimeLatency(untuned_runner, seconds);
  }
  const Result<target::MachineModel> machine = measure::MeasuredMachineOf(network.target);
  if (!machine) throw InputError(machine.error().message);
  const report::Table breakdown =
      Breakdown(network, TimeCalls(network, runner, std::min(seconds, 1.0)), *machine);
  load.Look();
  if (load.WasMostlyBusy()) Say("{}\n", measure::DescribeWasBusy(load.Average()));

  if (options.json) {
    nlohmann::json shown = {{"model", options.network.model.path},
                            {"threads", network.target.cores},
                            {"latency", ToJson(latency)},
                            {"machine", target::MachineModelToJson(*machine)},
                            {"peak_flops_per_second", machine->PeakFlops()},
                            {"peak_bytes_per_second", MemoryBytesPerSecond(*machine)},
                            {"tasks", breakdown.Json()}};
    options.network.model.precision.AddTo(shown);
    if (untuned) shown["untuned"] = ToJson(*untuned);
    fmt::print("{}\n", report::JsonText(shown));
    return;
  }
  fmt::print("{}\n", breakdown.Text());
  fmt::print("roofline: {} and, from main memory, {:.1f} GB/s\n",
             report::FormatRate(machine->PeakFlops()), MemoryBytesPerSecond(*machine) / 1e9);
  fmt::print("latency: {}\n", Describe(latency));
  if (untuned) {
    fmt::print("untuned: {}\ngain: {}\n", Describe(*untuned),
               report::FormatRatio(untuned->seconds / latency.seconds));
  }
}

}  // namespace

void AddBenchCommand(CLI::App& app) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* bench = app.add_subcommand("bench", "Time a model, operator by operator");
  options->network.AddTo(*bench);
  bench->add_option("--time", options->time, "How long to measure, e.g. 500ms, 10s")
      ->option_text("TIME")
      ->capture_default_str();
  bench->add_flag("--untuned", options->untuned,
                  "Also time the programs used without any trial, and compare");
  bench->add_flag("--json", options->json, "Print JSON");
  bench->footer(
      "The latency is the median of single runs; its spread is their interquartile\n"
      "range divided by it. 'roofline' compares a task's rate with the machine's limits\n"
      "for its arithmetic and for the bytes that it reads and writes.\n"
      "\n"
      "Examples:\n"
      "  bayloom bench resnet18.onnx --untuned\n"
      "  bayloom bench resnet18.onnx --threads 1 --db one-thread.db --json");
  bench->callback([options] { Bench(*options); });
}

}  // namespace bayloom::cli
