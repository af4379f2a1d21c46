// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bayloom/base/file.h"
#include "bayloom/base/single_line.h"
#include "bayloom/cli/commands.h"
#include "bayloom/cli/map_kind.h"
#include "bayloom/cli/map_parts.h"
#include "bayloom/cli/options/run_options.h"
#include "bayloom/cli/output.h"
#include "bayloom/mapspace/timeloop_yaml.h"
#include "bayloom/report/format.h"
#include "bayloom/report/map_table.h"
#include "bayloom/report/printable.h"

namespace bayloom::cli {
namespace {

/// Into a folder, what timeloop-model takes: the architecture, and of each layer problem and
/// mapping.
void WriteNetwork(const std::string& folder, const mapspace::Architecture& architecture,
                  const accelerator::NetworkMapping& network) {
  base::WriteFile(folder + "/architecture.yaml", mapspace::PrintArchitectureYaml(architecture));
  int number = 0;
  for (const accelerator::NetworkMapping::Layer& layer : network.layers()) {
    WriteMappedLayer(folder, ++number, layer.layer.name, layer.layer.problem,
                     layer.search->result().best, layer.mapspace->architecture());
  }
}

void MapNetwork(const MapArguments& arguments) {
  std::vector<accelerator::NetworkLayer> layers = arguments.LoadLayers();
  accelerator::MapOptions options = arguments.Options(std::ssize(layers));
  const std::unique_ptr<remote::WorkerPool> pool = Delegate(arguments, options);
  const mapspace::Architecture architecture = arguments.LoadArchitecture();
  const std::vector<mapspace::Directive> constraints = arguments.Constraints();
  accelerator::NetworkMapping run(std::move(layers), architecture, constraints, options);
  const std::string name = base::SingleLine(arguments.SubjectName());
  const std::string on = fmt::format("{} on {}", name, base::SingleLine(architecture.name));
  run.KeepResult(on, "");
  const trial::StopReason reason = RunWithProgress(run, arguments.workers);
  const int mapped = run.Sum().mapped;
  if (mapped == 0) ThrowIfLost(reason, run.lost());
  if (mapped == 0) FailWithoutMapping(run.layers().back());
  const run::RunStatus status = run.Status();
  report::KeptResult result = report::ResultOf(run);
  result.summary =
      fmt::format("{}: {} layers, {} mapper, {} evaluations in {} ({})", on, run.layers().size(),
                  run.mapper(), report::FormatCount(status.trials),
                  report::FormatSeconds(status.seconds), DescribeEnd(reason));
  run.KeepResult(on, report::ToJson(result).dump());
  Say("{}\n", result.summary);
  WhyText why;
  if (arguments.why) {
    std::vector<accelerator::NetworkLayer> own;
    std::vector<std::optional<mapspace::Mapping>> known;
    for (const accelerator::NetworkMapping::Layer& layer : run.layers()) {
      own.push_back(layer.layer);
      known.push_back(layer.search->result().best);
    }
    why = ExplainMappings(own, architecture, constraints, options, known,
                          accelerator::CostsByPart(run));
  }
  if (!arguments.out.empty()) WriteNetwork(arguments.out, architecture, run);
  if (arguments.json) {
    nlohmann::json json = report::ToJson(run);
    json["architecture"] = architecture.name;
    json["objective"] = options.ObjectiveNames();
    json["mapper"] = run.mapper();
    if (arguments.why) json["why"] = why.json;
    fmt::print("{}\n", report::JsonText(json));
  } else {
    fmt::print("{}{}", result.Text(), why.text);
  }
  ThrowIfLost(reason, run.lost());
  if (mapped < std::ssize(run.layers())) {
    throw CheckFailed(fmt::format("{} layers have no mapping that fits and can be evaluated",
                                  std::ssize(run.layers()) - mapped));
  }
}

}  // namespace

MapKind NetworkSearch() {
  return {.name = "a network",
          .takes = {MapOption::kMappings, MapOption::kWhy, MapOption::kEvaluator,
                    MapOption::kWorkers, MapOption::kFront, MapOption::kLearnFrom,
                    MapOption::kWarmStartModel, MapOption::kTopK, MapOption::kLayerList},
          .writes_folder = true,
          .run = MapNetwork};
}

}  // namespace bayloom::cli
