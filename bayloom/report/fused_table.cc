// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/fused_table.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bayloom/report/format.h"

namespace bayloom::report {
namespace {

/// What the operators of a group cost one by one.
mapspace::GroupCost OneByOne(const mapspace::GroupPlan& layers, const mapspace::FusedGroup& group) {
  mapspace::GroupCost sum;
  for (int k = group.begin; k < group.end; ++k) {
    const mapspace::GroupCost& cost = layers.groups[k].cost;
    sum.energy_pj += cost.energy_pj;
    sum.cycles += cost.cycles;
    sum.operations += cost.operations;
    sum.outside_reads += cost.outside_reads;
    sum.outside_writes += cost.outside_writes;
  }
  return sum;
}

std::string WeightsText(const mapspace::PlannedGroup& planned) {
  if (!planned.group.home) return "-";
  int resident = 0;
  for (const bool is_resident : planned.cost.has_resident_weights) resident += is_resident ? 1 : 0;
  if (planned.cost.tiles == 1) return "once";
  if (resident == 0) return "each tile";
  return fmt::format("{} kept", resident);
}

nlohmann::json CostJson(const mapspace::GroupCost& cost) {
  return {{"energy_pj", cost.energy_pj},
          {"cycles", cost.cycles},
          {"operations", cost.operations},
          {"dram_reads", cost.outside_reads},
          {"dram_writes", cost.outside_writes}};
}

nlohmann::json TotalsJson(const mapspace::GroupPlan& plan) {
  return {{"energy_pj", plan.energy_pj},
          {"cycles", plan.cycles},
          {"energy_delay", plan.EnergyDelay()},
          {"dram_words", plan.outside_words}};
}

}  // namespace

std::string TileText(const accelerator::FusedMapping& run, const mapspace::PlannedGroup& planned) {
  if (!planned.group.home) return "-";
  if (planned.cost.tiles == 1) return "whole";
  const mapspace::FusedNetwork& network = run.network();
  const std::vector<int64_t>& shape =
      network.tensors[network.operators[planned.group.end - 1].output].shape;
  std::string text;
  for (const mapspace::DepthFirstTiling::Axis& axis : planned.group.tiling.axes) {
    if (!text.empty()) text += " x ";
    const char* const mark = axis.size >= shape[axis.axis] ? "" : axis.is_cached ? "c" : "r";
    text += fmt::format("{}{}", axis.size, mark);
  }
  return text;
}

std::string OperatorsText(const accelerator::FusedMapping& run, const mapspace::FusedGroup& group) {
  const auto& operators = run.network().operators;
  if (group.OperatorCount() == 1) return operators[group.begin].name;
  return fmt::format("{} .. {} ({})", operators[group.begin].name, operators[group.end - 1].name,
                     group.OperatorCount());
}

nlohmann::json TileJson(const mapspace::DepthFirstTiling& tiling) {
  nlohmann::json tile = nlohmann::json::array();
  for (const mapspace::DepthFirstTiling::Axis& axis : tiling.axes) {
    tile.push_back({{"axis", axis.axis}, {"size", axis.size}, {"cached", axis.is_cached}});
  }
  return tile;
}

nlohmann::json OperatorNames(const accelerator::FusedMapping& run,
                             const mapspace::FusedGroup& group) {
  nlohmann::json names = nlohmann::json::array();
  for (int k = group.begin; k < group.end; ++k) {
    names.push_back(run.network().operators[k].name);
  }
  return names;
}

Table GroupTable(const accelerator::FusedMapping& run) {
  Table table({"group", "tile", "tiles", "between", "weights", "energy uJ", "by layer",
               "DRAM words", "by layer ", "cycles"});
  const mapspace::GroupPlan layers = run.LayerByLayer();
  for (const mapspace::PlannedGroup& planned : run.Plan().groups) {
    const mapspace::GroupCost single = OneByOne(layers, planned.group);
    const mapspace::GroupCost& cost = planned.cost;
    const auto& home = planned.group.home;
    const auto energy = [](double pj) { return Cell(pj / 1e6, fmt::format("{:.1f}", pj / 1e6)); };
    const auto count = [](int64_t words) { return Cell(words, FormatCount(words)); };
    table.AddRow({OperatorsText(run, planned.group), TileText(run, planned), count(cost.tiles),
                  home ? run.architecture().levels[home->level].name : "-", WeightsText(planned),
                  energy(cost.energy_pj), energy(single.energy_pj), count(cost.OutsideWords()),
                  count(single.OutsideWords()), count(cost.cycles)});
  }
  return table;
}

std::string FusedTotals(const accelerator::FusedMapping& run) {
  constexpr int kDigits = 4;
  const mapspace::GroupPlan& plan = run.Plan();
  const mapspace::GroupPlan layers = run.LayerByLayer();
  const auto part = [](double fused, double layer) { return fmt::format("{:.3f}", fused / layer); };
  return fmt::format(
      "{} operators in {} groups: {}, {} cycles, energy times delay {} cycles, {} "
      "DRAM words\n"
      "layer by layer: {}, {} cycles, {} cycles, {} DRAM words\n"
      "fused to layer by layer: energy {}, cycles {}, energy times delay {}, DRAM words {}",
      run.network().OperatorCount(), plan.groups.size(), FormatEnergy(plan.energy_pj, kDigits),
      FormatCount(plan.cycles), FormatEnergy(plan.EnergyDelay(), kDigits),
      FormatCount(plan.outside_words), FormatEnergy(layers.energy_pj, kDigits),
      FormatCount(layers.cycles), FormatEnergy(layers.EnergyDelay(), kDigits),
      FormatCount(layers.outside_words), part(plan.energy_pj, layers.energy_pj),
      part(static_cast<double>(plan.cycles), static_cast<double>(layers.cycles)),
      part(plan.EnergyDelay(), layers.EnergyDelay()),
      part(static_cast<double>(plan.outside_words), static_cast<double>(layers.outside_words)));
}

nlohmann::json ToJson(const accelerator::FusedMapping& run) {
  const mapspace::GroupPlan layers = run.LayerByLayer();
  nlohmann::json groups = nlohmann::json::array();
  for (const mapspace::PlannedGroup& planned : run.Plan().groups) {
    nlohmann::json group = CostJson(planned.cost);
    group["operators"] = OperatorNames(run, planned.group);
    group["layer_by_layer"] = CostJson(OneByOne(layers, planned.group));
    if (planned.group.home) {
      group["tile"] = TileJson(planned.group.tiling);
      group["tiles"] = planned.cost.tiles;
      group["level"] = run.architecture().levels[planned.group.home->level].name;
      group["resident_weights"] = planned.cost.has_resident_weights;
      group["peak_words"] = planned.cost.peak_words;
    }
    groups.push_back(std::move(group));
  }
  const accelerator::FusedMapping::Status status = run.GetStatus();
  return {{"groups", groups},
          {"totals", TotalsJson(run.Plan())},
          {"layer_by_layer", TotalsJson(layers)},
          {"tiles", status.tiles},
          {"tiles_searched", status.searched},
          {"evaluations", status.evaluations + run.layers().Status().trials},
          {"seconds", status.seconds}};
}

}  // namespace bayloom::report
