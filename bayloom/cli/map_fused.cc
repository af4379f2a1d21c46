// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bayloom/accelerator/fused_layers.h"
#include "bayloom/accelerator/fused_mapping.h"
#include "bayloom/base/file.h"
#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"
#include "bayloom/cli/commands.h"
#include "bayloom/cli/map_kind.h"
#include "bayloom/cli/map_parts.h"
#include "bayloom/cli/options/run_options.h"
#include "bayloom/cli/output.h"
#include "bayloom/graph/graph.h"
#include "bayloom/mapspace/cores/pipeline.h"
#include "bayloom/mapspace/timeloop_yaml.h"
#include "bayloom/report/cores_table.h"
#include "bayloom/report/division_table.h"
#include "bayloom/report/format.h"
#include "bayloom/report/fused_table.h"
#include "bayloom/report/kept_result.h"
#include "bayloom/report/printable.h"
#include "bayloom/report/progress_columns.h"
#include "bayloom/report/status_line.h"

namespace bayloom::cli {
namespace {

nlohmann::json JsonOf(const accelerator::FusedMapping& run,
                      const std::optional<mapspace::Pipeline>& pipeline) {
  nlohmann::json json = report::ToJson(run);
  if (pipeline) {
    json["pipeline"] = report::ToJson(*pipeline);
    json["divisions"] = report::DivisionsJson(run);
  }
  return json;
}

/// What is printed, and kept in the database.
std::vector<report::KeptResult::Part> PartsOf(const accelerator::FusedMapping& run,
                                              const std::optional<mapspace::Pipeline>& pipeline) {
  std::vector<report::KeptResult::Part> parts = {
      {"", report::GroupTable(run), report::FusedTotals(run)}};
  if (!pipeline) return parts;
  parts.push_back({"", report::DivisionTable(run), report::DivisionTotals(run)});
  parts.push_back({"pipelined groups, for throughput",
                   report::StageTable(*pipeline, run.Plan(), run.network()),
                   report::PipelineTotals(*pipeline, run.Plan())});
  return parts;
}

/// Into a folder: the groups, and of each one the problems and mappings of its tiles, as cores
/// share it if they do, with the architecture inside of the level where its tensors are.
void WriteGroups(const std::string& folder, accelerator::FusedMapping& run,
                 const nlohmann::json& json) {
  base::WriteFile(folder + "/groups.json", report::JsonText(json) + "\n");
  const bool is_divided = !run.divisions().groups.empty();
  const size_t count = is_divided ? run.divisions().groups.size() : run.Plan().groups.size();
  for (size_t g = 0; g < count; ++g) {
    const std::vector<mapspace::MappedTile> tiles =
        is_divided ? run.TilesOf(run.divisions().groups[g].divided)
                   : run.TilesOf(run.Plan().groups[g].group);
    const std::string name = fmt::format("{}/group-{:02}", folder, g + 1);
    int number = 0;
    for (const mapspace::MappedTile& tile : tiles) {
      const mapspace::Architecture inside = mapspace::InsideOf(run.architecture(), tile.home.level);
      if (number == 0) {
        base::WriteFile(name + ".architecture.yaml", mapspace::PrintArchitectureYaml(inside));
      }
      const std::string file = fmt::format("{}.tile-{:02}", name, ++number);
      base::WriteFile(file + ".problem.yaml", mapspace::PrintProblemYaml(tile.problem));
      base::WriteFile(file + ".mapping.yaml",
                      mapspace::PrintMappingYaml(*tile.mapping, tile.problem, inside));
    }
  }
}

/// Groups are made of mapped layers: throws CheckFailed with the number of those that are not, why
/// the search ended and the last failure of one of them.
void FailUnlessAllMapped(const accelerator::NetworkMapping& layers, trial::StopReason reason) {
  const accelerator::NetworkMapping::Layer* last = nullptr;
  int64_t unmapped = 0;
  for (const accelerator::NetworkMapping::Layer& layer : layers.layers()) {
    if (layer.search->result().best) continue;
    ++unmapped;
    last = &layer;
  }
  if (unmapped == 0) return;
  throw CheckFailed(fmt::format("{} of {} layers have no mapping, which --fuse needs ({}); {}",
                                unmapped, layers.layers().size(), DescribeEnd(reason),
                                WhyUnmapped(*last)));
}

/// Finds the groups, and how the cores of a chip, if there is one, share them.
trial::StopReason RunGroups(accelerator::FusedMapping& run,
                            const std::optional<mapspace::NetworkOnChip>& chip) {
  report::StatusLine line(stderr);
  trial::StopReason reason = run.RunGroups([&](const accelerator::FusedMapping::Status& status) {
    line.Show(fmt::format("groups: {} tiles mapped, {} of {} groups known, {} rounds, {}, {}",
                          report::FormatCount(status.tiles), status.search.mapped,
                          report::FormatCount(status.search.groups), status.search.rounds,
                          report::FormatEnergy(status.search.best.energy_pj, 4),
                          report::FormatSeconds(status.seconds)));
  });
  if (chip) {
    const trial::StopReason divided =
        run.RunDivisions(*chip, [&](const accelerator::FusedMapping::Status& status) {
          line.Show(fmt::format("cores: {} tiles mapped, {}", report::FormatCount(status.tiles),
                                report::FormatSeconds(status.seconds)));
        });
    if (reason == trial::StopReason::kExhausted) reason = divided;
  }
  line.Clear();
  return reason;
}

void MapFused(const MapArguments& arguments) {
  mapspace::FusedNetwork network = accelerator::FusedLayersOf(arguments.network.LoadGraph());
  arguments.sparsity.ApplyTo(network);
  accelerator::FusedOptions options;
  options.layers = arguments.Options(std::ssize(accelerator::LayersOf(network)));
  if (arguments.tile_evaluations) options.tile_evaluations = *arguments.tile_evaluations;
  std::optional<mapspace::NetworkOnChip> chip;
  if (!arguments.cores.empty()) chip = mapspace::ParseNetworkOnChip(arguments.cores);
  accelerator::FusedMapping run(std::move(network), arguments.LoadArchitecture(),
                                arguments.Constraints(), options);
  run.KeepResult("");
  report::RunProgress progress(stderr, run.layers().Status(),
                               report::MappingProgress(run.layers()));
  trial::StopReason reason = run.RunLayers(progress.Observer());
  progress.End();
  FailUnlessAllMapped(run.layers(), reason);
  reason = RunGroups(run, chip);
  const accelerator::FusedMapping::Status status = run.GetStatus();
  const std::string end = reason == trial::StopReason::kExhausted ? "no better division is expected"
                                                                  : DescribeEnd(reason);
  report::KeptResult result;
  result.summary = fmt::format(
      "{} on {}: {} layers, {} operators, {} tiles of groups, {} evaluations in {} ({})",
      base::SingleLine(std::filesystem::path(arguments.network.path).filename().string()),
      base::SingleLine(run.architecture().name), run.layers().layers().size(),
      run.network().OperatorCount(), report::FormatCount(status.tiles),
      report::FormatCount(status.evaluations + run.layers().Status().trials),
      report::FormatSeconds(status.seconds), end);
  Say("{}\n", result.summary);
  std::optional<mapspace::Pipeline> pipeline;
  if (chip) pipeline = mapspace::PipelineOf(run.Plan(), run.architecture(), *chip);
  result.parts = PartsOf(run, pipeline);
  run.KeepResult(report::ToJson(result).dump());
  nlohmann::json json = JsonOf(run, pipeline);
  if (!arguments.out.empty()) WriteGroups(arguments.out, run, json);
  if (arguments.json) {
    if (chip) json["network"] = chip->Describe();
    json["architecture"] = run.architecture().name;
    json["objective"] = options.layers.ObjectiveNames();
    json["mapper"] = run.layers().mapper();
    json["end"] = trial::ToString(reason);
    fmt::print("{}\n", report::JsonText(json));
    return;
  }
  fmt::print("{}", result.Text());
}

}  // namespace

MapKind FusedSearch() {
  return {.name = "--fuse",
          .takes = {MapOption::kFuse, MapOption::kTileEvaluations},
          .writes_folder = true,
          .run = MapFused};
}

}  // namespace bayloom::cli
