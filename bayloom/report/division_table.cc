// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/division_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bayloom/report/cores_table.h"
#include "bayloom/report/format.h"
#include "bayloom/report/fused_table.h"

namespace bayloom::report {
namespace {

/// The tile, or the axes of parts where there are none: "axes 2 2 1".
std::string ShapeText(const accelerator::FusedMapping& run,
                      const mapspace::PlannedDivision& planned) {
  const mapspace::DividedGroup& divided = planned.divided;
  if (!divided.axes.empty()) return fmt::format("axes {}", fmt::join(divided.axes, " "));
  return TileText(run, {.group = divided.group, .cost = planned.cost.total});
}

nlohmann::json CostJson(const mapspace::DividedCost& cost) {
  return {{"energy_pj", cost.total.energy_pj},
          {"network_energy_pj", cost.network_energy_pj},
          {"cycles", cost.total.cycles},
          {"operations", cost.total.operations},
          {"dram_reads", cost.total.outside_reads},
          {"dram_writes", cost.total.outside_writes},
          {"peak_words", cost.total.peak_words},
          {"network_words_delivered", cost.network_delivered},
          {"core_words", cost.core_words},
          {"network_word_hops", cost.network_word_hops}};
}

}  // namespace

Table DivisionTable(const accelerator::FusedMapping& run) {
  Table table({"group", "way", "cores", "tile", "energy uJ", "one core", "cycles", "one core ",
               "DRAM words", "core to core", "NoC hops"});
  for (const mapspace::PlannedDivision& planned : run.divisions().groups) {
    const auto energy = [](double pj) { return Cell(pj / 1e6, fmt::format("{:.1f}", pj / 1e6)); };
    const auto count = [](int64_t words) { return Cell(words, FormatCount(words)); };
    const auto real = [](double words) { return Cell(words, CountText(words)); };
    const mapspace::DividedCost& cost = planned.cost;
    table.AddRow({OperatorsText(run, planned.divided.group),
                  std::string(mapspace::ToString(planned.divided.division)), cost.cores,
                  ShapeText(run, planned), energy(cost.total.energy_pj),
                  energy(planned.single.total.energy_pj), count(cost.total.cycles),
                  count(planned.single.total.cycles), count(cost.total.OutsideWords()),
                  real(cost.core_words), real(cost.network_word_hops)});
  }
  return table;
}

std::string DivisionTotals(const accelerator::FusedMapping& run) {
  constexpr int kDigits = 4;
  const mapspace::DividedCost cores = run.divisions().Total();
  const mapspace::DividedCost& single = run.divisions().single;
  return fmt::format(
      "groups shared by cores, one after the other: {} ({} the network's), {} "
      "cycles, {} DRAM words; {} words from core to core, {} over links\n"
      "one core: {}, {} cycles, {} DRAM words; {:.2f}x as fast, energy {:.3f}",
      FormatEnergy(cores.total.energy_pj, kDigits), FormatEnergy(cores.network_energy_pj, kDigits),
      FormatCount(cores.total.cycles), FormatCount(cores.total.OutsideWords()),
      CountText(cores.core_words), CountText(cores.network_word_hops),
      FormatEnergy(single.total.energy_pj, kDigits), FormatCount(single.total.cycles),
      FormatCount(single.total.OutsideWords()),
      static_cast<double>(single.total.cycles) /
          static_cast<double>(std::max<int64_t>(1, cores.total.cycles)),
      cores.total.energy_pj / single.total.energy_pj);
}

nlohmann::json DivisionsJson(const accelerator::FusedMapping& run) {
  nlohmann::json groups = nlohmann::json::array();
  for (const mapspace::PlannedDivision& planned : run.divisions().groups) {
    const mapspace::FusedGroup& group = planned.divided.group;
    nlohmann::json entry = {{"operators", OperatorNames(run, group)},
                            {"way", mapspace::ToString(planned.divided.division)},
                            {"cores", planned.cost.cores},
                            {"fits_one_core", planned.fits_one_core},
                            {"cost", CostJson(planned.cost)},
                            {"one_core", CostJson(planned.single)}};
    if (group.home) {
      entry["tile"] = TileJson(group.tiling);
      entry["tiles"] = planned.cost.total.tiles;
      entry["level"] = run.architecture().levels[group.home->level].name;
      entry["resident_weights"] = planned.cost.total.has_resident_weights;
    }
    if (!planned.divided.axes.empty()) entry["axes"] = planned.divided.axes;
    groups.push_back(std::move(entry));
  }
  return {{"groups", groups},
          {"totals",
           {{"cores", CostJson(run.divisions().Total())},
            {"one_core", CostJson(run.divisions().single)}}}};
}

}  // namespace bayloom::report
