// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/map_table.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bayloom/mapspace/mapping_json.h"
#include "bayloom/report/format.h"

namespace bayloom::report {
namespace {

using Totals = accelerator::NetworkMapping::Totals;

double Utilization(const accelerator::NetworkMapping& mapping, const Totals& totals) {
  const int64_t multipliers =
      mapping.layers().front().mapspace->architecture().arithmetic.instances;
  return totals.macs / (totals.cycles * static_cast<double>(multipliers));
}

nlohmann::json LayerJson(const accelerator::NetworkMapping::Layer& layer) {
  const mapspace::Problem& problem = layer.layer.problem;
  const mapspace::Architecture& architecture = layer.mapspace->architecture();
  const mapspace::MapperResult& result = layer.search->result();
  nlohmann::json dimensions = nlohmann::json::object();
  for (int d = 0; d < problem.DimensionCount(); ++d) {
    dimensions[problem.dimensions[d]] = problem.bounds[d];
  }
  nlohmann::json improvements = nlohmann::json::array();
  for (const mapspace::MapperResult::Improvement& improvement : result.improvements) {
    improvements.push_back({improvement.evaluations, improvement.value});
  }
  nlohmann::json json = {{"name", layer.layer.name},          {"count", layer.layer.count},
                         {"problem", problem.Describe()},     {"dimensions", dimensions},
                         {"evaluations", result.evaluations}, {"improvements", improvements}};
  if (result.best) {
    json["value"] = result.value;
    json["mapping"] = mapspace::ToJson(*result.best, problem, architecture);
    json["model"] =
        mapspace::ToJson(layer.model->Evaluate(*result.best), *result.best, problem, architecture);
  }
  return json;
}

}  // namespace

Table LayerTable(const accelerator::NetworkMapping& mapping) {
  Table table(
      {"layer", "problem", "times", "evaluations", "pJ/MAC", "energy uJ", "cycles", "used"});
  for (const accelerator::NetworkMapping::Layer& layer : mapping.layers()) {
    const mapspace::MapperResult& result = layer.search->result();
    std::vector<Cell> row = {layer.layer.name, layer.layer.problem.Describe(), layer.layer.count,
                             Cell(result.evaluations, FormatCount(result.evaluations))};
    if (result.best) {
      const mapspace::Evaluation best = layer.model->Evaluate(*result.best);
      row.emplace_back(best.EnergyPerMac(), fmt::format("{:.3f}", best.EnergyPerMac()));
      row.emplace_back(best.energy_pj / 1e6, fmt::format("{:.1f}", best.energy_pj / 1e6));
      row.emplace_back(best.cycles, FormatCount(best.cycles));
      row.emplace_back(best.utilization, fmt::format("{:.1f} %", 100 * best.utilization));
    } else {
      row.insert(row.end(), 4, Cell("-"));
    }
    table.AddRow(std::move(row));
  }
  return table;
}

std::string TotalsLine(const accelerator::NetworkMapping& mapping) {
  const Totals totals = mapping.Sum();
  return fmt::format(
      "all layers: {:.4g} uJ ({:.4g} pJ per multiply-accumulate), {} cycles, {:.1f} % of the "
      "multipliers, energy times delay {:.4g} uJ cycles",
      totals.energy_pj / 1e6, totals.energy_pj / totals.macs,
      FormatCount(static_cast<int64_t>(totals.cycles)), 100 * Utilization(mapping, totals),
      totals.EnergyDelay() / 1e6);
}

nlohmann::json ToJson(const accelerator::NetworkMapping& mapping) {
  const Totals totals = mapping.Sum();
  nlohmann::json layers = nlohmann::json::array();
  for (const accelerator::NetworkMapping::Layer& layer : mapping.layers())
    layers.push_back(LayerJson(layer));
  return {{"layers", layers},
          {"totals",
           {{"energy_pj", totals.energy_pj},
            {"cycles", totals.cycles},
            {"energy_delay", totals.EnergyDelay()},
            {"macs", totals.macs},
            {"utilization", Utilization(mapping, totals)}}},
          {"evaluations", mapping.Status().trials},
          {"seconds", mapping.Status().seconds},
          {"end", trial::ToString(mapping.end())}};
}

}  // namespace bayloom::report
