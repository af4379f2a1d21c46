// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "bayloom/accelerator/multicore_mapping.h"
#include "bayloom/base/file.h"
#include "bayloom/base/single_line.h"
#include "bayloom/cli/commands.h"
#include "bayloom/cli/map_kind.h"
#include "bayloom/cli/map_parts.h"
#include "bayloom/cli/options/run_options.h"
#include "bayloom/cli/output.h"
#include "bayloom/mapspace/timeloop_yaml.h"
#include "bayloom/report/cores_table.h"
#include "bayloom/report/kept_result.h"
#include "bayloom/report/printable.h"
#include "bayloom/report/progress_columns.h"
#include "bayloom/report/status_line.h"

namespace bayloom::cli {
namespace {

void MapCores(const MapArguments& arguments) {
  std::vector<accelerator::NetworkLayer> layers = arguments.LoadLayers();
  const auto count = static_cast<int>(layers.size());
  const mapspace::Architecture architecture = arguments.LoadArchitecture();
  accelerator::MulticoreMapping run(std::move(layers), architecture, arguments.Constraints(),
                                    arguments.Options(count),
                                    mapspace::ParseNetworkOnChip(arguments.cores));
  run.KeepResult("");
  report::RunProgress progress(stderr, run.layers().Status(),
                               report::MappingProgress(run.layers()));
  trial::StopReason reason = run.RunLayers(progress.Observer());
  progress.End();
  if (run.layers().Sum().mapped == 0) FailWithoutMapping(run.layers().layers().back());
  report::StatusLine line(stderr);
  reason = run.RunSplits(
      [&](int done) { line.Show(fmt::format("cores: {} of {} layers divided", done, count)); });
  line.Clear();
  const report::KeptResult result = {
      .summary = fmt::format("{} layers on {} cores of {} ({})", run.splits().size(),
                             run.network().CoreCount(), base::SingleLine(architecture.name),
                             DescribeEnd(reason)),
      .parts = {{"", report::CoresTable(run), report::CoresTotals(run)}}};
  run.KeepResult(report::ToJson(result).dump());
  Say("{}\n", result.summary);
  if (!arguments.out.empty()) {
    base::WriteFile(arguments.out + "/architecture.yaml",
                    mapspace::PrintArchitectureYaml(architecture));
    int number = 0;
    for (const accelerator::MulticoreMapping::Split& split : run.splits()) {
      WriteMappedLayer(arguments.out, ++number, run.layers().layers()[split.layer].layer.name,
                       split.mapping.part, split.mapping.mapping, architecture);
    }
  }
  if (arguments.json) {
    nlohmann::json json = report::ToJson(run);
    json["architecture"] = architecture.name;
    json["objective"] = arguments.Options(count).ObjectiveNames();
    json["mapper"] = run.layers().mapper();
    json["end"] = trial::ToString(reason);
    fmt::print("{}\n", report::JsonText(json));
  } else {
    fmt::print("{}", result.Text());
  }
  if (std::ssize(run.splits()) < count) {
    throw CheckFailed(
        fmt::format("{} layers have no mapping that fits", count - std::ssize(run.splits())));
  }
}

}  // namespace

MapKind CoresSearch() {
  return {.name = "--cores",
          .takes = {MapOption::kLayerList, MapOption::kLearnFrom, MapOption::kWarmStartModel,
                    MapOption::kTopK},
          .writes_folder = true,
          .run = MapCores};
}

}  // namespace bayloom::cli
