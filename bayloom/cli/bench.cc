// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <utility>

#include "bayloom/base/clock.h"
#include "bayloom/base/duration.h"
#include "bayloom/base/quantile.h"
#include "bayloom/cli/bench_decoder.h"
#include "bayloom/cli/commands.h"
#include "bayloom/cli/help.h"
#include "bayloom/cli/network_runner.h"
#include "bayloom/cli/output.h"
#include "bayloom/cli/regions.h"
#include "bayloom/graph/call_kinds.h"
#include "bayloom/graph/random_inputs.h"
#include "bayloom/measure/load_monitor.h"
#include "bayloom/measure/measure_machine.h"
#include "bayloom/measure/paired_ratio.h"
#include "bayloom/measure/roofline.h"
#include "bayloom/measure/timing.h"
#include "bayloom/report/format.h"
#include "bayloom/report/gain_text.h"
#include "bayloom/report/printable.h"
#include "bayloom/report/table.h"
#include "bayloom/tuning/network_turns.h"
#include "bayloom/tuning/task_programs.h"
#include "bayloom/tuning/tuning_subject.h"

namespace bayloom::cli {
namespace {

struct BenchOptions {
  NetworkOption network;
  std::string time = "3s";
  bool untuned = false;
  bool json = false;
  DecoderSteps steps;
};

/// Calls that run at the same time as others.
struct SideBySide {
  int calls = 0, rounds = 0;

  explicit SideBySide(const graph::NetworkPlan& plan) {
    for (const std::vector<int>& round : plan.rounds) {
      if (round.size() < 2) continue;
      calls += static_cast<int>(round.size());
      ++rounds;
    }
  }

  std::string Text() const {
    if (rounds == 0) return "";
    return fmt::format(
        "side by side: {} calls in {} {}; the times of tasks are those of each alone\n", calls,
        rounds, rounds == 1 ? "round" : "rounds");
  }
};

std::vector<int64_t> LargestLengths(const graph::Graph& graph) {
  std::vector<int64_t> largest;
  for (const graph::Symbol& symbol : graph.symbols) largest.push_back(symbol.largest);
  return largest;
}

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

/// Of a network with open dimensions, the latency at each of Graph::points, each size once.
struct SizeLatency {
  std::string sizes;  ///< "sequence=128"
  measure::Timing timing;
};

std::vector<SizeLatency> TimeSizes(const graph::Graph& graph, NetworkRunner& runner,
                                   double seconds) {
  std::vector<std::vector<int64_t>> points;
  for (const std::vector<int64_t>& point : graph.points) {
    if (std::ranges::count(points, point) == 0) points.push_back(point);
  }
  std::vector<SizeLatency> latencies;
  for (const std::vector<int64_t>& point : points) {
    SizeLatency& latency = latencies.emplace_back();
    for (size_t s = 0; s < point.size(); ++s) {
      latency.sizes += fmt::format("{}{}={}", s == 0 ? "" : " ", graph.symbols[s].name, point[s]);
    }
    runner.SetLengths(point);
    latency.timing = TimeLatency(runner, seconds / static_cast<double>(points.size()));
  }
  if (!points.empty()) runner.SetLengths(LargestLengths(graph));
  return latencies;
}

/// Seconds of a second run: the first one brings a network's weights back to the caches.
double TimeSecond(const std::function<void()>& run) {
  run();
  const double start = base::MonotonicSeconds();
  run();
  return base::MonotonicSeconds() - start;
}

/// The geometric mean of times over Graph::points where dimensions are open, else the one time.
double MeanOverPoints(const graph::Graph& graph,
                      const std::function<void(const std::vector<int64_t>&)>& set_lengths,
                      const std::function<double(size_t point)>& time) {
  if (graph.points.empty()) return time(0);
  std::vector<double> seconds;
  for (size_t point = 0; point < graph.points.size(); ++point) {
    set_lengths(graph.points[point]);
    seconds.push_back(time(point));
  }
  return base::GeometricMean(seconds);
}

/// Seconds of two networks in turns.
struct InTurns {
  std::vector<double> zero_trial, tuned;

  InTurns(const std::function<double()>& time_zero_trial, const std::function<double()>& time_tuned,
          double seconds) {
    const double end = base::MonotonicSeconds() + seconds;
    while (tuned.size() < 10 || base::MonotonicSeconds() < end) {
      zero_trial.push_back(time_zero_trial());
      tuned.push_back(time_tuned());
    }
  }

  tuning::GainInTurns Gain() const {
    return {.zero_trial_seconds = base::Median(zero_trial),
            .tuned_seconds = base::Median(tuned),
            .ratio = measure::RatioInTurns(zero_trial, tuned)};
  }
};

/// What the tuned programs gain over zero-trial ones. On a processor both run in one memory: where
/// buffers lie makes a network a few percent faster or slower.
tuning::GainInTurns GainOver(const tuning::TunedNetwork& zero_trial,
                             const tuning::TunedNetwork& tuned, double seconds) {
  std::vector<tuning::TaskPrograms> sets(tuned.chosen.size());
  std::vector<std::vector<const tensor::Program*>> programs;
  for (size_t i = 0; i < sets.size(); ++i) {
    for (const tuning::TunedNetwork* network : {&zero_trial, &tuned}) {
      sets[i].Add(network->chosen[i].program, network->chosen[i].small);
    }
    programs.push_back(sets[i].all());
  }
  const std::unique_ptr<tuning::TurnRunner> runner =
      tuning::MakeTurnRunner(tuned.network, tuned.target, programs);
  const auto time = [&](int which) {
    return MeanOverPoints(
        tuned.network.graph, [&](const auto& lengths) { runner->SetLengths(lengths); },
        [&](size_t point) {
          for (size_t i = 0; i < sets.size(); ++i) {
            const auto& points = tuned.network.tasks[i].workload.points;
            const std::vector<int64_t> sizes =
                points.empty() ? std::vector<int64_t>() : points[point];
            runner->Use(static_cast<int>(i), sets[i].At(which, sizes));
          }
          return TimeSecond([&] { runner->Run(nullptr); });
        });
  };
  return InTurns([&] { return time(0); }, [&] { return time(1); }, seconds).Gain();
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

/// What tasks are compared with.
struct Roofs {
  std::vector<measure::WorkloadDemand> demands;  ///< parallel to the network's tasks
  target::MachineModel machine;
  measure::DotPeaks dots;
  int with_fewer_products = 0;  ///< tasks whose program's algorithm needs fewer than direct sums

  static Roofs Measure(const tuning::TunedNetwork& network) {
    Roofs roofs;
    measure::WorkloadDemand all;
    for (size_t i = 0; i < network.chosen.size(); ++i) {
      const tensor::Workload& workload = network.network.tasks[i].workload;
      const tensor::Program& program = network.chosen[i].program;
      roofs.demands.push_back(measure::DemandOf(workload, program));
      all.dot_flops.insert(roofs.demands[i].dot_flops.begin(), roofs.demands[i].dot_flops.end());
      if (measure::PartOfSums(workload, program) < 1) ++roofs.with_fewer_products;
    }
    const Result<measure::MeasuredMachine> machine = measure::MeasuredMachineOf(network.target);
    if (!machine) throw InputError(machine.error().message);
    const Result<measure::DotPeaks> dots = measure::MeasureDotPeaks(network.target, all);
    if (!dots) throw InputError(dots.error().message);
    roofs.machine = machine->model;
    roofs.dots = *dots;
    return roofs;
  }
};

std::string Percent(double part) { return fmt::format("{:.1f} %", 100 * part); }

/// Where the time of one run goes, the longest task first.
report::Table Breakdown(const tuning::TunedNetwork& network,
                        const std::vector<double>& call_seconds, const Roofs& roofs) {
  std::vector<tuning::TaskSpec> specs = tuning::SpecsOf(network.network);
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
  const auto percent = [](double part) { return report::Cell(part, Percent(part)); };
  for (int i : order) {
    specs[i].workload.points.clear();  // it ran for the largest lengths
    const double flops = specs[i].weight * specs[i].workload.Flops();
    const double each = seconds[i] / specs[i].weight;
    const double rate = flops > 0 ? flops / seconds[i] : std::nan("");
    table.AddRow(
        {specs[i].name,
         static_cast<int64_t>(specs[i].weight),
         {seconds[i], report::FormatSeconds(seconds[i])},
         percent(seconds[i] / whole),
         {rate, report::FormatRate(rate)},
         percent(measure::RooflineShare(roofs.machine, roofs.demands[i], each, roofs.dots)),
         network.chosen[i].measured ? "yes" : "no"});
  }
  return table;
}

/// The part of the time that is spent outside of matrix products and convolutions.
struct OutsideProducts {
  double share = 0;
  double moves = 0;  ///< of that, in tasks that only move elements
  /// By a task's last operator that is not elementwise, if it has one; largest first.
  std::vector<std::pair<std::string, double>> operators;

  static OutsideProducts Of(const tuning::TunedNetwork& network,
                            const std::vector<double>& call_seconds) {
    OutsideProducts outside;
    std::map<std::string, double> by_operator;
    const double whole = std::accumulate(call_seconds.begin(), call_seconds.end(), 0.0);
    for (size_t i = 0; i < call_seconds.size(); ++i) {
      const graph::TaskCall& call = network.network.calls[i];
      const graph::CallKind kind = graph::KindOf(network.network.graph, call);
      if (kind == graph::CallKind::kProduct) continue;
      const double share = call_seconds[i] / whole;
      outside.share += share;
      if (kind == graph::CallKind::kMove) outside.moves += share;
      by_operator[OperatorOf(network.network.graph, call)] += share;
    }
    outside.operators.assign(by_operator.begin(), by_operator.end());
    std::ranges::stable_sort(outside.operators, std::ranges::greater(),
                             &std::pair<std::string, double>::second);
    return outside;
  }

  static std::string OperatorOf(const graph::Graph& graph, const graph::TaskCall& call) {
    int named = call.nodes.back();
    for (int n : call.nodes) {
      if (graph.nodes[n].kind != graph::NodeKind::kMap) named = n;
    }
    const std::string& op = graph.nodes[named].op;
    return op.substr(0, op.find_first_of(".+"));
  }

  nlohmann::json Json() const {
    nlohmann::json shares = nlohmann::json::array();
    for (const auto& [op, part] : operators) shares.push_back({{"operator", op}, {"share", part}});
    return {{"share", share}, {"moves", moves}, {"operators", std::move(shares)}};
  }

  std::string Text() const {
    constexpr size_t kMaxShown = 3;
    std::string text =
        fmt::format("outside of matrix products and convolutions: {} of the time", Percent(share));
    if (operators.empty()) return text;
    text += fmt::format(" (moving elements: {}); most of it:", Percent(moves));
    for (size_t i = 0; i < std::min(kMaxShown, operators.size()); ++i) {
      text += fmt::format("{} {} {}", i == 0 ? "" : ",", operators[i].first,
                          Percent(operators[i].second));
    }
    return text;
  }
};

/// The rates that 'roofline' compares with.
std::string Describe(const Roofs& roofs, double bytes_per_second) {
  std::string text = fmt::format("roofline: {}", report::FormatRate(roofs.machine.PeakFlops()));
  for (const auto& [types, peak] : roofs.dots) {
    text += fmt::format(", {} in products of {}", report::FormatRate(peak),
                        tensor::ToString(types.first));
    if (types.second != types.first)
      text += fmt::format(" with {}", tensor::ToString(types.second));
  }
  text += fmt::format(" and, from main memory, {:.1f} GB/s", bytes_per_second / 1e9);
  if (roofs.with_fewer_products > 0) {
    text += fmt::format(
        "\n{} {} by an algorithm of fewer products: 'rate' counts those of direct sums, 'roofline' "
        "its own",
        roofs.with_fewer_products,
        roofs.with_fewer_products == 1 ? "task computes" : "tasks compute");
  }
  return text;
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

void BenchSteps(const BenchOptions& options) {
  if (options.untuned) throw InputError("--untuned does not go with --decode and --prefill");
  const double seconds = base::ParseDuration(options.time, "--time");
  const TimedSteps timed = TimeSteps(options.network, options.steps, seconds);
  if (!options.json) {
    fmt::print(
        "{}\nweights: products with constants; attention: those with states; memory delivers "
        "{:.1f} GB/s\n",
        timed.table.Text(), timed.memory_bytes_per_second / 1e9);
    return;
  }
  const nlohmann::json shown = {{"model", options.network.model.path},
                                {"threads", options.network.target.Resolve().cores},
                                {"peak_bytes_per_second", timed.memory_bytes_per_second},
                                {"steps", timed.table.Json()}};
  fmt::print("{}\n", report::JsonText(shown));
}

void Bench(const BenchOptions& options) {
  if (!options.steps.empty()) return BenchSteps(options);
  const double seconds = base::ParseDuration(options.time, "--time");
  measure::LoadMonitor load({.threads = options.network.target.Resolve().cores});
  const tuning::TunedNetwork network = options.network.Load();
  const std::vector<tensor::HostTensor> inputs = graph::MakeRandomInputs(network.network.graph, 0);
  NetworkRunner runner(network, inputs, options.network.Branches());
  runner.KeepFound(true);
  if (load.Look()) Say("{}\n", measure::DescribeBusy(load.last()));
  const measure::Timing latency = TimeLatency(runner, seconds);
  const std::vector<SizeLatency> by_size = TimeSizes(network.network.graph, runner, seconds);
  std::optional<tuning::GainInTurns> gain;
  if (options.untuned) {
    const tuning::TunedNetwork zero_trial = options.network.ZeroTrial(network);
    const graph::Branches branches = options.network.Branches();
    const bool is_gpu = network.target.kind() == target::TargetKind::kNvidiaGpu;
    if (is_gpu || branches != graph::Branches::kInTurn) {
      NetworkRunner zero_trial_runner(zero_trial, inputs, branches);
      zero_trial_runner.KeepFound(true);
      const auto time = [&](NetworkRunner& of) {
        return MeanOverPoints(
            network.network.graph, [&](const auto& lengths) { of.SetLengths(lengths); },
            [&](size_t) { return TimeSecond([&] { of.Run(); }); });
      };
      gain = InTurns([&] { return time(zero_trial_runner); }, [&] { return time(runner); }, seconds)
                 .Gain();
      if (!network.network.graph.symbols.empty()) {
        runner.SetLengths(LargestLengths(network.network.graph));
      }
    } else {
      gain = GainOver(zero_trial, network, seconds);
    }
  }
  const Roofs roofs = Roofs::Measure(network);
  const std::vector<double> call_seconds = TimeCalls(network, runner, std::min(seconds, 1.0));
  const report::Table breakdown = Breakdown(network, call_seconds, roofs);
  const OutsideProducts outside = OutsideProducts::Of(network, call_seconds);
  const SideBySide together(runner.plan());
  load.Look();
  if (load.WasMostlyBusy()) Say("{}\n", measure::DescribeWasBusy(load.Average()));

  if (options.json) {
    nlohmann::json shown = {
        {"model", options.network.model.path},
        {"threads", network.target.cores},
        {"latency", ToJson(latency)},
        {"machine", target::MachineModelToJson(roofs.machine)},
        {"peak_flops_per_second", roofs.machine.PeakFlops()},
        {"peak_dot_flops_per_second", nlohmann::json::object()},
        {"peak_bytes_per_second", MemoryBytesPerSecond(roofs.machine)},
        {"tasks_with_fewer_products", roofs.with_fewer_products},
        {"outside_products", outside.Json()},
        {"side_by_side", {{"calls", together.calls}, {"rounds", together.rounds}}},
        {"tasks", breakdown.Json()}};
    for (const auto& [types, peak] : roofs.dots) {
      shown["peak_dot_flops_per_second"][fmt::format("{}, {}", tensor::ToString(types.first),
                                                     tensor::ToString(types.second))] = peak;
    }
    for (const SizeLatency& each : by_size) {
      shown["sizes"].push_back({{"sizes", each.sizes}, {"latency", ToJson(each.timing)}});
    }
    options.network.model.precision.AddTo(shown);
    if (!network.regions.empty()) shown["regions"] = RegionsJson(network.regions);
    if (gain) shown["gain"] = tuning::ToJson(*gain);
    fmt::print("{}\n", report::JsonText(shown));
    return;
  }
  fmt::print("{}\n", breakdown.Text());
  fmt::print("{}\n{}\n", outside.Text(), Describe(roofs, MemoryBytesPerSecond(roofs.machine)));
  fmt::print("{}latency: {}\n", together.Text(), Describe(latency));
  for (const SizeLatency& each : by_size) {
    fmt::print("latency with {}: {}\n", each.sizes, Describe(each.timing));
  }
  if (gain) fmt::print("gain: {}\n", report::GainText(*gain));
}

}  // namespace

void AddBenchCommand(CLI::App& app) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* bench = app.add_subcommand("bench", "Time a model, operator by operator");
  options->network.AddTo(*bench);
  bench->add_option("--time", options->time, "How long to measure, e.g. 500ms, 10s")
      ->option_text("TIME")
      ->capture_default_str();
  const auto add_lengths = [&](const char* name, std::vector<int64_t>& lengths, const char* text) {
    Advanced(bench->add_option(name, lengths, text))
        ->option_text("TOKENS")
        ->delimiter(',')
        ->check(CLI::NonNegativeNumber);
  };
  add_lengths("--decode", options->steps.decode,
              "Of a language model's decoder, time steps of one token behind so many: 128,2048");
  add_lengths("--prefill", options->steps.prefill, "The same for prompts of so many tokens: 512");
  bench->add_flag("--untuned", options->untuned,
                  "Also time the programs used without any trial, in turns with these");
  bench->add_flag("--json", options->json, "Print JSON");
  bench->footer(
      "The latency is the median of single runs, the spread their interquartile range\n"
      "over it; with open dimensions, of the largest sizes, then of others. 'roofline'\n"
      "compares a task's rate with the machine's limits for its arithmetic (float32, or\n"
      "products of bfloat16 and 8-bit integers) and for the bytes that it reads and\n"
      "writes.\n"
      "\n"
      "Examples:\n"
      "  bayloom bench resnet18.onnx --untuned\n"
      "  bayloom bench resnet18.onnx --threads 1 --db one-thread.db --json");
  bench->callback([options] { Bench(*options); });
}

}  // namespace bayloom::cli
