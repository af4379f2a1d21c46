// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// What a network gains where tasks that do not depend on each other run side by side: latencies in
// turns with those of the same programs in turn, and whether the outputs are the same.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <optional>

#include "bayloom/codegen/host.h"
#include "bayloom/graph/executor.h"
#include "bayloom/graph/import.h"
#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/random_inputs.h"
#include "bayloom/tuning/tuned_network.h"
#include "benchmarks/alternate.h"
#include "benchmarks/run_tool.h"

namespace bayloom {
namespace {

struct Options {
  std::vector<std::string> models;
  std::string database;
  int threads = 2;
  int turns = 15;
  double seconds = 1;
};

double Median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// An executor with its tensors.
class Side {
 public:
  Side(const tuning::TunedNetwork& network, graph::Branches branches)
      : executor_(network.network, network.Programs(), network.target, branches),
        inputs_(graph::MakeRandomInputs(network.network.graph, 0)) {
    for (const tensor::HostTensor& input : inputs_) in_.push_back(input.data.data());
    for (const graph::GraphOutput& output : network.network.graph.outputs) {
      const graph::Value& value = network.network.graph.values[output.value];
      outputs_.push_back(tensor::HostTensor::Zeros(value.dtype, value.shape));
    }
    for (tensor::HostTensor& output : outputs_) out_.push_back(output.data.data());
  }

  void Run() { executor_.Run(in_, out_); }
  const graph::NetworkPlan& plan() const { return executor_.plan(); }
  bool AgreesWith(const Side& other) const {
    return std::ranges::equal(outputs_, other.outputs_, {}, &tensor::HostTensor::data,
                              &tensor::HostTensor::data);
  }

 private:
  graph::Executor executor_;
  std::vector<tensor::HostTensor> inputs_, outputs_;
  std::vector<const void*> in_;
  std::vector<void*> out_;
};

void Compare(const Options& options, const std::string& path) {
  graph::Graph graph = graph::ImportOnnx(path, {});
  graph::Optimize(graph);
  std::optional<record::Store> records;
  if (!options.database.empty()) {
    records.emplace(options.database, record::Store::Mode::kReadOnly);
  }
  const tuning::TunedNetwork network = tuning::TunedNetwork::Choose(
      graph::ExtractTasks(std::move(graph)), codegen::HostTarget(options.threads),
      {.store = records ? &*records : nullptr});
  Side in_turn(network, graph::Branches::kInTurn), beside(network, graph::Branches::kSideBySide);
  std::vector<double> turn_times, beside_times, ratios;
  for (int turn = 0; turn < options.turns; ++turn) {
    const std::vector<RunTime> times = Alternate({[&] { in_turn.Run(); }, [&] { beside.Run(); }},
                                                 {.rounds = 1, .seconds_a_turn = options.seconds});
    turn_times.push_back(times[0].median);
    beside_times.push_back(times[1].median);
    ratios.push_back(times[0].median / times[1].median);
  }
  const auto& rounds = beside.plan().rounds;
  const auto [low, high] = std::ranges::minmax(ratios);
  fmt::print("{:<24}{:>6}{:>6}{:>7}{:>9.1f}{:>9.1f}{:>10.3f}{:>10.3f}{:>8.3f}{:>16}{:>9}\n",
             std::filesystem::path(path).stem().string().substr(0, 23),
             network.network.calls.size(), rounds.size(), network.TunedTasks(),
             static_cast<double>(in_turn.plan().arena_bytes) / 1e6,
             static_cast<double>(beside.plan().arena_bytes) / 1e6, 1e3 * Median(turn_times),
             1e3 * Median(beside_times), Median(ratios), fmt::format("{:.3f}-{:.3f}", low, high),
             in_turn.AgreesWith(beside) ? "yes" : "NO");
  std::fflush(stdout);
}

void Study(const Options& options) {
  fmt::print("{:<24}{:>6}{:>6}{:>7}{:>9}{:>9}{:>10}{:>10}{:>8}{:>16}{:>9}\n", "network", "calls",
             "rounds", "tuned", "MB", "MB", "in turn", "beside", "ratio", "range", "equal");
  for (const std::string& model : options.models) Compare(options, model);
}

}  // namespace
}  // namespace bayloom

int main(int argc, char** argv) {
  using namespace bayloom;
  CLI::App app("What branches that run side by side gain", "bayloom-branches");
  Options options;
  app.add_option("model", options.models, "ONNX files")->required();
  app.add_option("--db", options.database, "Database of 'bayloom tune'; else chosen by estimate");
  app.add_option("--threads", options.threads, "Threads")->capture_default_str();
  app.add_option("--turns", options.turns, "Turns")->capture_default_str();
  app.add_option("--time", options.seconds, "Seconds a turn")->capture_default_str();
  return RunTool(app, argc, argv, [&] { Study(options); });
}
