// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "bayloom/base/result.h"
#include "bayloom/cli/internal/commands.h"
#include "bayloom/cli/internal/help.h"
#include "bayloom/cli/internal/network_runner.h"
#include "bayloom/report/table.h"

namespace bayloom::cli {
namespace {

struct RunOptions {
  NetworkOption network;
  std::string data;
  uint64_t seed = 0;
  double tolerance = 1e-4;
  bool json = false;
};

/// Largest difference, relative to the largest expected magnitude; infinite where one side is not
/// finite and the other is something else.
double RelativeError(const tensor::HostTensor& actual, const tensor::HostTensor& expected) {
  double difference = 0;
  double magnitude = 0;
  for (int64_t i = 0; i < expected.ElementCount(); ++i) {
    const double a = actual.Get(i);
    const double e = expected.Get(i);
    const bool same = a == e || (std::isnan(a) && std::isnan(e));
    if (!same && !(std::isfinite(a) && std::isfinite(e))) {
      return std::numeric_limits<double>::infinity();
    }
    if (!same) difference = std::max(difference, std::abs(a - e));
    if (std::isfinite(e)) magnitude = std::max(magnitude, std::abs(e));
  }
  return difference == 0 ? 0 : difference / std::max(magnitude, 1e-30);
}

report::Table DescribeOutputs(const graph::Graph& graph,
                              const std::vector<tensor::HostTensor>& outputs) {
  report::Table table({"output", "type", "least", "mean", "greatest"});
  for (size_t i = 0; i < outputs.size(); ++i) {
    const tensor::HostTensor& tensor = outputs[i];
    double least = std::numeric_limits<double>::infinity();
    double greatest = -least;
    double sum = 0;
    for (int64_t e = 0; e < tensor.ElementCount(); ++e) {
      least = std::min(least, tensor.Get(e));
      greatest = std::max(greatest, tensor.Get(e));
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

/// How far the outputs are from those expected.
report::Table CompareOutputs(const graph::Graph& graph,
                             const std::vector<tensor::HostTensor>& outputs,
                             const std::vector<tensor::HostTensor>& expected) {
  report::Table table({"output", "type", "relative error"});
  for (size_t i = 0; i < std::min(outputs.size(), expected.size()); ++i) {
    const tensor::HostTensor& e = expected[i];
    if (e.shape != outputs[i].shape) {
      throw InputError(fmt::format("output '{}' is {}, but {} was expected", graph.outputs[i].name,
                                   graph::ToString(outputs[i].dtype, outputs[i].shape),
                                   graph::ToString(e.dtype, e.shape)));
    }
    const double error = RelativeError(outputs[i], e);
    table.AddRow({graph.outputs[i].name,
                  graph::ToString(e.dtype, e.shape),
                  {error, fmt::format("{:.2e}", error)}});
  }
  return table;
}

void Run(const RunOptions& options) {
  const tuning::TunedNetwork network = options.network.Load();
  const graph::Graph& graph = network.network.graph;
  NetworkRunner runner(network, options.data.empty() ? RandomInputs(graph, options.seed)
                                                     : ReadTensors(options.data, "input"));
  runner.Run();
  const std::vector<tensor::HostTensor>& outputs = runner.outputs();
  const bool compare = !options.data.empty();
  const std::vector<tensor::HostTensor> expected =
      compare ? ReadTensors(options.data, "output") : std::vector<tensor::HostTensor>();
  const report::Table table =
      compare ? CompareOutputs(graph, outputs, expected) : DescribeOutputs(graph, outputs);
  fmt::print("{}", options.json ? table.Json().dump(2) + "\n" : table.Text());
  for (size_t i = 0; i < expected.size(); ++i) {
    if (!(RelativeError(outputs[i], expected[i]) <= options.tolerance)) {
      throw CheckFailed(fmt::format("output '{}' is further than {:g} from what was expected",
                                    graph.outputs[i].name, options.tolerance));
    }
  }
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
