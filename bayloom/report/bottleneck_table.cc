// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/bottleneck_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "bayloom/report/format.h"

namespace bayloom::report {
namespace {

using Totals = accelerator::NetworkMapping::Totals;

std::string ShareText(double share) { return fmt::format("{:.1f} %", 100 * share); }

/// Below it a change is what sums in another order make.
constexpr double kNoChange = 5e-7;

Cell ChangeCell(double after, double before) {
  const double change = after / before - 1;
  if (std::abs(change) < kNoChange) return {0.0, "0 %"};
  return {change, fmt::format("{:+.2g} %", 100 * change)};
}

double ValueOf(const Totals& totals, mapspace::MapObjective objective) {
  if (objective == mapspace::MapObjective::kEnergy) return totals.energy_pj;
  if (objective == mapspace::MapObjective::kDelay) return totals.cycles;
  return totals.EnergyDelay();
}

std::string NameOf(const accelerator::Doubling& doubling) {
  return fmt::format("{} of twice the {}", doubling.part,
                     doubling.is_bandwidth ? "bandwidth" : "capacity");
}

KeptResult::Part CostPart(std::span<const accelerator::PartCost> parts) {
  double energy = 0, cycles = 0;
  for (const accelerator::PartCost& part : parts) {
    energy += part.energy_pj;
    cycles += part.bound_cycles;
  }
  Table table({"part", "energy", "of the energy", "cycles needed", "of the delay"});
  for (const accelerator::PartCost& part : parts) {
    const double share = part.energy_pj / energy, bound = part.bound_cycles / cycles;
    table.AddRow({part.name,
                  {part.energy_pj, FormatEnergy(part.energy_pj)},
                  {share, ShareText(share)},
                  {part.cycles, FormatCount(std::llround(part.cycles))},
                  {bound, ShareText(bound)}});
  }
  const auto most = std::ranges::max_element(parts, {}, &accelerator::PartCost::energy_pj);
  const auto slowest = std::ranges::max_element(parts, {}, &accelerator::PartCost::bound_cycles);
  return {"what each part costs", std::move(table),
          fmt::format("{} costs most: {} of the energy; {} is slowest in {} of the delay",
                      most->name, ShareText(most->energy_pj / energy), slowest->name,
                      ShareText(slowest->bound_cycles / cycles))};
}

KeptResult::Part DoublingPart(std::span<const accelerator::Doubling> doublings,
                              mapspace::MapObjective objective) {
  const Totals& now = doublings.front().totals;
  std::vector<accelerator::Doubling> ordered(doublings.begin() + 1, doublings.end());
  std::ranges::stable_sort(
      ordered, {}, [&](const auto& doubling) { return ValueOf(doubling.totals, objective); });
  Table table({"with", "energy", "delay", "energy times delay"});
  for (const accelerator::Doubling& doubling : ordered) {
    table.AddRow({NameOf(doubling), ChangeCell(doubling.totals.energy_pj, now.energy_pj),
                  ChangeCell(doubling.totals.cycles, now.cycles),
                  ChangeCell(doubling.totals.EnergyDelay(), now.EnergyDelay())});
  }
  const double least = ValueOf(ordered.front().totals, objective) / ValueOf(now, objective) - 1;
  std::string best =
      least < -kNoChange
          ? fmt::format("{} saves most: {:.2g} % of the {}", NameOf(ordered.front()), -100 * least,
                        mapspace::ToString(objective))
          : fmt::format("none of these saves any of the {}", mapspace::ToString(objective));
  return {"mapped again, with one memory changed", std::move(table),
          best + "; energies of accesses stay what they are"};
}

}  // namespace

std::vector<KeptResult::Part> WhyParts(std::span<const accelerator::PartCost> parts,
                                       std::span<const accelerator::Doubling> doublings,
                                       mapspace::MapObjective objective) {
  std::vector<KeptResult::Part> why = {CostPart(parts)};
  if (doublings.size() > 1) why.push_back(DoublingPart(doublings, objective));
  return why;
}

nlohmann::json WhyJson(std::span<const accelerator::PartCost> parts,
                       std::span<const accelerator::Doubling> doublings) {
  nlohmann::json costs = nlohmann::json::array(), doubled = nlohmann::json::array();
  for (const accelerator::PartCost& part : parts) {
    costs.push_back({{"name", part.name},
                     {"energy_pj", part.energy_pj},
                     {"cycles", part.cycles},
                     {"bound_cycles", part.bound_cycles}});
  }
  for (const accelerator::Doubling& each : doublings) {
    nlohmann::json& json = doubled.emplace_back(nlohmann::json::object());
    json["part"] = each.part.empty() ? nlohmann::json() : nlohmann::json(each.part);
    if (!each.part.empty()) json["doubled"] = each.is_bandwidth ? "bandwidth" : "capacity";
    json["energy_pj"] = each.totals.energy_pj;
    json["cycles"] = each.totals.cycles;
  }
  return {{"parts", costs}, {"doubled", doubled}};
}

}  // namespace bayloom::report
