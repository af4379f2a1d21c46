// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "bayloom/base/result.h"
#include "bayloom/cli/commands.h"
#include "bayloom/cli/help.h"
#include "bayloom/cli/network_runner.h"
#include "bayloom/graph/random_inputs.h"
#include "bayloom/report/printable.h"
#include "bayloom/report/table.h"
#include "bayloom/tensor/comparison.h"

namespace bayloom::cli {
namespace {

struct RunOptions {
  NetworkOption network;
  std::string data;
  uint64_t seed = 0;
  double tolerance = 1e-4;
  double absolute_tolerance = 1e-6;
  bool json = false;
};

report::Table DescribeOutputs(const graph::Graph& graph,
                              const std::vector<tensor::HostTensor>& outputs) {
  report::Table table({"output", "type", "least", "mean", "greatest"});
  for (size_t i = 0; i < outputs.size(); ++i) {
    const tensor::HostTensor& tensor = outputs[i];
    double least = std::numeric_limits<double>::quiet_NaN();
    double greatest = least;
    double sum = 0;
    for (int64_t e = 0; e < tensor.ElementCount(); ++e) {
      least = std::fmin(least, tensor.Get(e));
      greatest = std::fmax(greatest, tensor.Get(e));
      sum += tensor.Get(e);
    }
    const double mean = sum / static_cast<double>(tensor.ElementCount());
    const auto cell = [](double value) {
      return report::Cell(value, fmt::format("{:.6g}", value));
    };
    table.AddRow({graph.outputs[i].name, graph::ToString(tensor.dtype, tensor.shape), cell(least),
                  cell(mean), cell(greatest)});
  }
  return table;
}

/// Each output beside the one that is expected of it. Throws InputError for other outputs.
std::vector<tensor::Comparison> CompareOutputs(const graph::Graph& graph,
                                               const std::vector<tensor::HostTensor>& outputs,
                                               const std::vector<tensor::HostTensor>& expected) {
  if (expected.size() != outputs.size()) {
    throw InputError(fmt::format("the model has {} output{}, but there are {} files output_N.pb",
                                 outputs.size(), outputs.size() == 1 ? "" : "s", expected.size()));
  }
  std::vector<tensor::Comparison> comparisons;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const tensor::HostTensor& e = expected[i];
    if (e.shape != outputs[i].shape || e.dtype != outputs[i].dtype) {
      throw InputError(fmt::format("output '{}' is {}, but {} was expected", graph.outputs[i].name,
                                   graph::ToString(outputs[i].dtype, outputs[i].shape),
                                   graph::ToString(e.dtype, e.shape)));
    }
    comparisons.push_back(
        tensor::Compare(e.dtype, outputs[i].data.data(), e.data.data(), e.ElementCount(), {}));
  }
  return comparisons;
}

report::Table TableOf(const graph::Graph& graph, const std::vector<tensor::HostTensor>& outputs,
                      const std::vector<tensor::Comparison>& comparisons) {
  report::Table table({"output", "type", "relative error", "absolute error"});
  for (size_t i = 0; i < comparisons.size(); ++i) {
    const double relative = comparisons[i].RelativeDifference();
    const double absolute = comparisons[i].largest_difference;
    table.AddRow({graph.outputs[i].name,
                  graph::ToString(outputs[i].dtype, outputs[i].shape),
                  {relative, fmt::format("{:.2e}", relative)},
                  {absolute, fmt::format("{:.2e}", absolute)}});
  }
  return table;
}

/// Throws CheckFailed for an output that is too far from what is expected. Integers are exact.
void CheckOutputs(const graph::Graph& graph, const std::vector<tensor::Comparison>& comparisons,
                  const RunOptions& options) {
  for (size_t i = 0; i < comparisons.size(); ++i) {
    const std::string& name = graph.outputs[i].name;
    if (!tensor::IsFloat(graph.values[graph.outputs[i].value].dtype)) {
      if (comparisons[i].wrong == 0) continue;
      throw CheckFailed(
          fmt::format("output '{}' is not what was expected: {} of {} elements differ", name,
                      comparisons[i].wrong, comparisons[i].count));
    }
    const double allowed =
        options.absolute_tolerance + options.tolerance * comparisons[i].largest_expected;
    if (comparisons[i].largest_difference <= allowed) continue;
    throw CheckFailed(
        fmt::format("output '{}' is further than {:g} from what was expected", name, allowed));
  }
}

void Run(const RunOptions& options) {
  const tuning::TunedNetwork network = options.network.Load();
  const graph::Graph& graph = network.network.graph;
  NetworkRunner runner(network,
                       options.data.empty() ? graph::MakeRandomInputs(graph, options.seed)
                                            : ReadTensors(options.data, "input"),
                       options.network.Branches());
  runner.Run();
  const std::vector<tensor::HostTensor>& outputs = runner.outputs();
  const PrecisionOption& precision = options.network.model.precision;
  const auto print = [&](const report::Table& table) {
    if (!options.json) return fmt::print("{}", table.Text());
    nlohmann::json shown = table.Json();
    if (precision.IsReduced()) {
      shown = {{"outputs", std::move(shown)}};
      precision.AddTo(shown);
    }
    fmt::print("{}\n", report::JsonText(shown));
  };
  if (options.data.empty()) return print(DescribeOutputs(graph, outputs));
  const std::vector<tensor::Comparison> comparisons =
      CompareOutputs(graph, outputs, ReadTensors(options.data, "output"));
  print(TableOf(graph, outputs, comparisons));
  CheckOutputs(graph, comparisons, options);
}

}  // namespace

void AddRunCommand(CLI::App& app) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* run = app.add_subcommand("run", "Run a model once and print or check its outputs");
  options->network.AddTo(*run);
  run->add_option("--data", options->data,
                  "Folder with inputs and expected outputs: input_0.pb, output_0.pb, ...")
      ->option_text("DIR")
      ->default_str("random inputs");
  run->add_option("--tolerance", options->tolerance,
                  "Largest error allowed, relative to the largest expected value")
      ->option_text("X")
      ->capture_default_str();
  Advanced(run->add_option("--absolute-tolerance", options->absolute_tolerance,
                           "Error allowed besides, for outputs that are zero but for rounding")
               ->option_text("X")
               ->capture_default_str());
  Advanced(run->add_option("--seed", options->seed, "Seed of random inputs")
               ->option_text("N")
               ->capture_default_str());
  run->add_flag("--json", options->json, "Print JSON");
  run->footer(
      "Examples:\n"
      "  bayloom run resnet18.onnx\n"
      "  bayloom run resnet18.onnx --data build/reference/resnet18");
  run->callback([options] { Run(*options); });
}

}  // namespace bayloom::cli
