// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
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
  accelerator::NetworkMapping run(std::move(layers), architecture, arguments.Constraints(),
                                  options);
  const trial::StopReason reason = RunWithProgress(run, arguments.workers);
  const int mapped = run.Sum().mapped;
  if (mapped == 0) ThrowIfLost(reason, run.lost());
  if (mapped == 0) FailWithoutMapping(run.layers().back());
  const run::RunStatus status = run.Status();
  Say("{} on {}: {} layers, {} mapper, {} evaluations in {} ({})\n",
      base::SingleLine(std::filesystem::path(arguments.network.path).filename().string()),
      base::SingleLine(architecture.name), run.layers().size(), run.mapper(),
      report::FormatCount(status.trials), report::FormatSeconds(status.seconds),
      DescribeEnd(reason));
  if (!arguments.out.empty()) WriteNetwork(arguments.out, architecture, run);
  if (arguments.json) {
    nlohmann::json json = report::ToJson(run);
    json["architecture"] = architecture.name;
    json["objective"] = options.ObjectiveNames();
    json["mapper"] = run.mapper();
    fmt::print("{}\n", report::JsonText(json));
  } else {
    fmt::print("{}\n{}\n", report::LayerTable(run).Text(), report::TotalsLine(run));
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
          .takes = {MapOption::kMappings, MapOption::kEvaluator, MapOption::kWorkers,
                    MapOption::kFront, MapOption::kLearnFrom, MapOption::kWarmStartModel,
                    MapOption::kTopK, MapOption::kLayerList},
          .writes_folder = true,
          .run = MapNetwork};
}

}  // namespace bayloom::cli
