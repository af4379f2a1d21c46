#include "bayloom/report/network_mapping_table.h"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "bayloom/mapspace/mapping_json.h"
#include "bayloom/report/format.h"

namespace bayloom {
namespace {

using Totals = NetworkMapping::Totals;

constexpr const char* kStartOfClearedLine = "\r\x1b[K";
/// Seconds between changes of the line on a terminal, and between lines elsewhere.
constexpr double kBlink = 0.1;
constexpr double kSilence = 10;

double Utilization(const NetworkMapping& mapping, const Totals& totals) {
  const int64_t multipliers =
      mapping.layers().front().mapspace->architecture().arithmetic.instances;
  return totals.macs / (totals.cycles * static_cast<double>(multipliers));
}

nlohmann::json LayerJson(const NetworkMapping::Layer& layer) {
  const Problem& problem = layer.layer.problem;
  const Architecture& architecture = layer.mapspace->architecture();
  const MapperResult& result = layer.search->result();
  nlohmann::json dimensions = nlohmann::json::object();
  for (int d = 0; d < problem.DimensionCount(); ++d) {
    dimensions[problem.dimensions[d]] = problem.bounds[d];
  }
  nlohmann::json improvements = nlohmann::json::array();
  for (const MapperResult::Improvement& improvement : result.improvements) {
    improvements.push_back({improvement.evaluations, improvement.value});
  }
  nlohmann::json json = {{"name", layer.layer.name},          {"count", layer.layer.count},
                         {"problem", problem.Describe()},     {"dimensions", dimensions},
                         {"evaluations", result.evaluations}, {"improvements", improvements}};
  if (result.best) {
    json["value"] = result.value;
    json["mapping"] = ToJson(*result.best, problem, architecture);
    json["model"] =
        ToJson(layer.model->Evaluate(*result.best), *result.best, problem, architecture);
  }
  return json;
}

}  // namespace

Table LayerTable(const NetworkMapping& mapping) {
  Table table(
      {"layer", "problem", "times", "evaluations", "pJ/MAC", "energy uJ", "cycles", "used"});
  for (const NetworkMapping::Layer& layer : mapping.layers()) {
    const MapperResult& result = layer.search->result();
    std::vector<Cell> row = {layer.layer.name, layer.layer.problem.Describe(), layer.layer.count,
                             Cell(result.evaluations, FormatCount(result.evaluations))};
    if (result.best) {
      const Evaluation best = layer.model->Evaluate(*result.best);
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

std::string TotalsLine(const NetworkMapping& mapping) {
  const Totals totals = mapping.Sum();
  return fmt::format(
      "all layers: {:.4g} uJ ({:.4g} pJ per multiply-accumulate), {} cycles, {:.1f} % of the "
      "multipliers, energy times delay {:.4g} uJ cycles",
      totals.energy_pj / 1e6, totals.energy_pj / totals.macs,
      FormatCount(static_cast<int64_t>(totals.cycles)), 100 * Utilization(mapping, totals),
      totals.EnergyDelay() / 1e6);
}

nlohmann::json ToJson(const NetworkMapping& mapping) {
  const Totals totals = mapping.Sum();
  nlohmann::json layers = nlohmann::json::array();
  for (const NetworkMapping::Layer& layer : mapping.layers()) layers.push_back(LayerJson(layer));
  return {{"layers", layers},
          {"totals",
           {{"energy_pj", totals.energy_pj},
            {"cycles", totals.cycles},
            {"energy_delay", totals.EnergyDelay()},
            {"macs", totals.macs},
            {"utilization", Utilization(mapping, totals)}}},
          {"evaluations", mapping.evaluations()},
          {"seconds", mapping.seconds()},
          {"end", ToString(mapping.end())}};
}

NetworkMappingProgress::NetworkMappingProgress(std::FILE* out, const NetworkMapping& mapping,
                                               int64_t max_evaluations)
    : out_(out),
      mapping_(mapping),
      max_evaluations_(max_evaluations),
      is_terminal_(isatty(fileno(out)) == 1) {}

void NetworkMappingProgress::Turn() {
  if (mapping_.seconds() - shown_at_ < (is_terminal_ ? kBlink : kSilence)) return;
  shown_at_ = mapping_.seconds();
  const Totals totals = mapping_.Sum();
  fmt::print(
      out_, "{}{} of {} evaluations in {}, {} of {} layers mapped, {:.4g} uJ, {:.4g} cycles{}",
      is_terminal_ ? kStartOfClearedLine : "", FormatCount(mapping_.evaluations()),
      FormatCount(max_evaluations_), FormatSeconds(mapping_.seconds()), totals.mapped,
      mapping_.layers().size(), totals.energy_pj / 1e6, totals.cycles, is_terminal_ ? "" : "\n");
  std::fflush(out_);
}

void NetworkMappingProgress::End() {
  if (is_terminal_) fmt::print(out_, "{}", kStartOfClearedLine);
}

}  // namespace bayloom
