// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "bayloom/base/file.h"
#include "bayloom/base/single_line.h"
#include "bayloom/cli/map_kind.h"
#include "bayloom/cli/map_parts.h"
#include "bayloom/cli/options/run_options.h"
#include "bayloom/cli/output.h"
#include "bayloom/mapspace/mapping_json.h"
#include "bayloom/mapspace/misfit.h"
#include "bayloom/report/format.h"
#include "bayloom/report/mapping_units.h"
#include "bayloom/report/printable.h"
#include "bayloom/report/table.h"

namespace bayloom::cli {
namespace {

/// The values of the mappings of a front, each with the evaluation that found it.
report::Table FrontTable(const MapArguments& arguments, const mapspace::MapperResult& result) {
  std::vector<std::string> columns = {"evaluation"};
  columns.insert(columns.end(), arguments.objectives.begin(), arguments.objectives.end());
  report::Table table(columns);
  for (const mapspace::MapperResult::FrontMember& member : result.front) {
    std::vector<report::Cell> cells = {member.evaluations};
    for (size_t k = 0; k < member.values.size(); ++k) {
      const double value = member.values[k];
      cells.emplace_back(value, report::FormatMapValue(arguments.objectives[k], value));
    }
    table.AddRow(std::move(cells));
  }
  return table;
}

/// [{"evaluation", "values": {objective: value}, "mapping"}].
nlohmann::json FrontJson(const MapArguments& arguments,
                         const accelerator::NetworkMapping::Layer& layer) {
  nlohmann::json front = nlohmann::json::array();
  for (const mapspace::MapperResult::FrontMember& member : layer.search->result().front) {
    nlohmann::json values;
    for (size_t k = 0; k < member.values.size(); ++k) {
      values[arguments.objectives[k]] = member.values[k];
    }
    front.push_back({{"evaluation", member.evaluations},
                     {"values", values},
                     {"mapping", mapspace::ToJson(member.mapping, layer.layer.problem,
                                                  layer.mapspace->architecture())}});
  }
  return front;
}

void MapOperation(const MapArguments& arguments) {
  accelerator::MapOptions options = arguments.Options(1);
  const std::unique_ptr<remote::WorkerPool> pool = Delegate(arguments, options);
  const mapspace::Architecture architecture = arguments.LoadArchitecture();
  const std::vector<mapspace::Directive> constraints = arguments.Constraints();
  accelerator::NetworkMapping run(arguments.LoadLayers(), architecture, constraints, options);
  const accelerator::NetworkMapping::Layer& layer = run.layers().front();
  if (!mapspace::WhyNoneFits(*layer.mapspace, *layer.model).empty()) FailWithoutMapping(layer);
  const trial::StopReason reason = RunWithProgress(run, arguments.workers);
  const mapspace::MapperResult& result = layer.search->result();
  if (!result.best) ThrowIfLost(reason, run.lost());
  if (!result.best) FailWithoutMapping(layer);
  Say("{} on {}: {} mapper, {} evaluations of {} drawn in {} ({}), best {} {}\n",
      base::SingleLine(layer.layer.problem.Describe()),
      base::SingleLine(layer.mapspace->architecture().name), run.mapper(),
      report::FormatCount(result.evaluations), report::FormatCount(result.drawn),
      report::FormatSeconds(run.Status().seconds), DescribeEnd(reason), arguments.objectives[0],
      FormatValueOf(arguments, result.value));
  nlohmann::json improvements = nlohmann::json::array();
  for (const mapspace::MapperResult::Improvement& improvement : result.improvements) {
    improvements.push_back({improvement.evaluations, improvement.value});
  }
  nlohmann::json about = {{"mapper", run.mapper()},         {"evaluations", result.evaluations},
                          {"drawn", result.drawn},          {"seconds", run.Status().seconds},
                          {"end", trial::ToString(reason)}, {"improvements", improvements}};
  if (result.certificate) {
    const nlohmann::json certificate = mapspace::ToJson(*result.certificate, *layer.mapspace);
    about["certificate"] = certificate;
    Say("{}\n", DescribeProof(*result.certificate));
    if (!arguments.certificate.empty()) {
      base::WriteFile(arguments.certificate, report::JsonText(certificate) + "\n");
    }
  }
  if (!result.front.empty()) {
    if (arguments.json) {
      about["front"] = FrontJson(arguments, layer);
    } else {
      fmt::print("Pareto front, {} mapping{}; the best in {}:\n{}\n", result.front.size(),
                 result.front.size() == 1 ? "" : "s", arguments.objectives[0],
                 FrontTable(arguments, result).Text());
    }
  }
  WhyText why;
  if (arguments.why) {
    const std::vector<accelerator::NetworkLayer> layers = {layer.layer};
    const std::vector<std::optional<mapspace::Mapping>> known = {result.best};
    why = ExplainMappings(layers, architecture, constraints, options, known,
                          accelerator::CostsByPart(run));
    about["why"] = why.json;
  }
  DeliverMapping(*result.best, result.value, *layer.model, arguments, std::move(about));
  if (!arguments.json) fmt::print("{}", why.text);
  ThrowIfLost(reason, run.lost());  // after what was found is delivered
}

}  // namespace

MapKind OperationSearch() {
  return {.name = "an operation",
          .takes = {MapOption::kCertificate, MapOption::kMappings, MapOption::kWhy,
                    MapOption::kEvaluator, MapOption::kWorkers, MapOption::kFront,
                    MapOption::kLearnFrom, MapOption::kWarmStartModel, MapOption::kTopK},
          .writes_folder = false,
          .run = MapOperation};
}

}  // namespace bayloom::cli
