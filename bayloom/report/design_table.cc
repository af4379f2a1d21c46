// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/design_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "bayloom/report/format.h"
#include "bayloom/report/mapping_units.h"
#include "bayloom/space/configuration_json.h"

namespace bayloom::report {
namespace {

constexpr double kPjPerUj = 1e6;

double Named(const trial::Outcome& outcome, const char* name) {
  return outcome.Get(name, std::numeric_limits<double>::quiet_NaN());
}

/// Area, energy, cycles and the objective of a design.
std::vector<Cell> CostCells(const trial::Outcome& outcome, const std::string& objective) {
  const double area = Named(outcome, "area_mm2");
  const double energy = Named(outcome, "energy_pj") / kPjPerUj;
  const double cycles = Named(outcome, "cycles");
  return {{area, fmt::format("{:.4g}", area)},
          {energy, fmt::format("{:.4g}", energy)},
          {cycles, std::isfinite(cycles) ? FormatCount(std::llround(cycles)) : "-"},
          {outcome.value, FormatDesignValue(objective, outcome.value)}};
}

nlohmann::json CostJson(const trial::Outcome& outcome) {
  nlohmann::json json = {{"value", outcome.value}};
  for (const char* name : {"area_mm2", "energy_pj", "cycles"}) json[name] = Named(outcome, name);
  return json;
}

nlohmann::json DesignJson(const accelerator::DesignSearch& search,
                          const search::StudyTrial& design) {
  nlohmann::json json = CostJson(design.outcome);
  json["trial"] = design.ordinal;
  json["parameters"] = space::ToJson(search.design().space(), design.configuration);
  return json;
}

}  // namespace

ProgressOptions DesignProgress(const accelerator::DesignSearch& search) {
  ProgressOptions options;
  options.columns.push_back({"over", 6, [](const run::RunStatus& status, const trial::Outcome*) {
                               return std::to_string(status.trials - status.feasible_trials);
                             }});
  options.columns.push_back({"area mm2", 9, [](const run::RunStatus&, const trial::Outcome* last) {
                               const double area = last ? Named(*last, "area_mm2") : std::nan("");
                               return std::isfinite(area) ? fmt::format("{:.4g}", area) : "";
                             }});
  const std::string& objective = search.scenario().objectives[0].name;
  constexpr int kWidth = 16;
  options.columns.push_back(
      {"last", kWidth, [&objective](const run::RunStatus&, const trial::Outcome* last) {
         return last && last->ok() ? FormatDesignValue(objective, last->value) : "-";
       }});
  options.columns.push_back(
      {objective, kWidth, [&search, &objective](const run::RunStatus&, const trial::Outcome*) {
         const auto& best = search.study().best();
         return best ? FormatDesignValue(objective, best->outcome.value) : "-";
       }});
  const auto& found = search.study().best();
  auto shown = std::make_shared<int64_t>(found ? found->ordinal : -1);
  options.is_news = [&search, shown](const run::RunStatus&) {
    const auto& best = search.study().best();
    if (!best || best->ordinal == *shown) return false;
    *shown = best->ordinal;
    return true;
  };
  return options;
}

Table DesignTable(const accelerator::DesignSearch& search,
                  std::span<const search::StudyTrial> designs) {
  const space::Space& space = search.design().space();
  std::vector<std::string> columns = {"trial"};
  for (int i = 0; i < space.size(); ++i) columns.push_back(space.parameter(i).name());
  const std::string& objective = search.scenario().objectives[0].name;
  columns.insert(columns.end(), {"area mm2", "energy uJ", "cycles", objective});
  Table table(columns);
  for (const search::StudyTrial& design : designs) {
    std::vector<Cell> row = {design.ordinal};
    for (int i = 0; i < space.size(); ++i) {
      row.emplace_back(space::ToString(space.ValueOf(design.configuration, i)));
    }
    for (Cell& cell : CostCells(design.outcome, objective)) row.push_back(std::move(cell));
    table.AddRow(std::move(row));
  }
  return table;
}

Table ComparisonTable(std::span<const ComparedDesign> compared, const std::string& objective,
                      double best) {
  Table table({"architecture", "area mm2", "energy uJ", "cycles", "value", "of the best", ""});
  for (const ComparedDesign& design : compared) {
    const double ratio = design.outcome.value / best;
    std::vector<Cell> row = {design.name};
    for (Cell& cell : CostCells(design.outcome, objective)) row.push_back(std::move(cell));
    row.push_back({ratio, std::isfinite(ratio) ? FormatRatio(ratio) : "-"});
    row.emplace_back(design.outcome.reason);
    table.AddRow(std::move(row));
  }
  return table;
}

double SecondsPerDesign(const accelerator::DesignSearch& search) {
  std::vector<double> seconds;
  for (const search::StudyTrial& trial : search.Trials()) {
    const double spent = Named(trial.outcome, "evaluation_seconds");
    if (trial.outcome.ok() && std::isfinite(spent)) seconds.push_back(spent);
  }
  if (seconds.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto middle = seconds.begin() + std::ssize(seconds) / 2;
  std::ranges::nth_element(seconds, middle);
  return *middle;
}

nlohmann::json ToJson(const accelerator::DesignSearch& search, int designs,
                      std::span<const ComparedDesign> compared) {
  const run::RunStatus status = search.Status();
  const auto list = [&](const std::vector<search::StudyTrial>& trials) {
    nlohmann::json json = nlohmann::json::array();
    for (const search::StudyTrial& trial : trials) json.push_back(DesignJson(search, trial));
    return json;
  };
  nlohmann::json networks = nlohmann::json::array();
  for (const accelerator::DesignNetwork& network : search.networks()) {
    networks.push_back({{"name", network.name}, {"layers", network.layers.size()}});
  }
  nlohmann::json others = nlohmann::json::array();
  for (const ComparedDesign& design : compared) {
    nlohmann::json json = design.outcome.ok() ? CostJson(design.outcome)
                                              : nlohmann::json{{"reason", design.outcome.reason}};
    json["name"] = design.name;
    others.push_back(std::move(json));
  }
  const auto& best = search.study().best();
  return {{"objective", search.scenario().objectives[0].name},
          {"technology", search.technology().name},
          {"networks", networks},
          {"trials", status.trials},
          {"feasible_trials", status.feasible_trials},
          {"seconds", status.seconds},
          {"seconds_per_design", SecondsPerDesign(search)},
          {"best", best ? DesignJson(search, search.BestDesigns(1)[0]) : nlohmann::json()},
          {"designs", list(search.BestDesigns(designs))},
          {"front", list(search.Front())},
          {"compared", others}};
}

}  // namespace bayloom::report
