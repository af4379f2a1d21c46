// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/map_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bayloom/mapspace/mapping_json.h"
#include "bayloom/report/format.h"

namespace bayloom::report {
namespace {

using Totals = accelerator::NetworkMapping::Totals;

/// Of totals.
constexpr int kTotalDigits = 4;

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
  if (result.certificate) json["certificate"] = ToJson(*result.certificate, *layer.mapspace);
  return json;
}

/// "optimum", "within 0.8 %", or "-".
std::string ProofText(const mapspace::MapperResult& result) {
  if (!result.certificate) return "-";
  const double gap = result.certificate->Gap();
  constexpr double kNoGap = 1e-4;  // below it, what is rounded up to whole blocks and cycles
  if (result.certificate->is_whole && gap < kNoGap) return "optimum";
  return fmt::format("within {:.2g} %", 100 * gap);
}

}  // namespace

Table LayerTable(const accelerator::NetworkMapping& mapping) {
  std::vector<std::string> columns = {"layer",  "problem",   "times",  "evaluations",
                                      "pJ/MAC", "energy uJ", "cycles", "used"};
  const bool is_proved = std::ranges::any_of(mapping.layers(), [](const auto& layer) {
    return layer.search->result().certificate.has_value();
  });
  if (is_proved) columns.emplace_back("proved");
  Table table(columns);
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
    if (is_proved) row.emplace_back(ProofText(result));
    table.AddRow(std::move(row));
  }
  return table;
}

KeptResult ResultOf(const accelerator::NetworkMapping& mapping) {
  return {.summary = "", .parts = {{"", LayerTable(mapping), TotalsLine(mapping)}}};
}

std::string TotalsLine(const accelerator::NetworkMapping& mapping) {
  const Totals totals = mapping.Sum();
  return fmt::format(
      "all layers: {} ({:.4g} pJ per multiply-accumulate), {} cycles, {:.1f} % of the multipliers, "
      "energy times delay {} cycles",
      FormatEnergy(totals.energy_pj, kTotalDigits), totals.energy_pj / totals.macs,
      FormatCount(static_cast<int64_t>(totals.cycles)), 100 * Utilization(mapping, totals),
      FormatEnergy(totals.EnergyDelay(), kTotalDigits));
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
