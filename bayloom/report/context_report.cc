// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/context_report.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "bayloom/report/context_condition.h"
#include "bayloom/report/format.h"
#include "bayloom/space/configuration_json.h"

namespace bayloom::report {
namespace {

using search::ContextTable;
using search::ContextTree;
using Json = nlohmann::json;

std::string PercentText(double loss) { return fmt::format("{:.1f} %", 100 * (loss - 1)); }

Json NodeJson(const ContextTable& table, const ContextTree& tree, int number) {
  const ContextTree::Node& node = tree.nodes[number];
  if (node.context < 0) {
    return {{"configuration", table.ValuesOf(table.candidates[node.candidate].configuration)}};
  }
  const ContextCondition condition = ConditionOf(table, node);
  Json json = {{"context", condition.context},
               {"then", NodeJson(table, tree, node.low)},
               {"else", NodeJson(table, tree, node.high)}};
  if (condition.below) json["below"] = *condition.below;
  if (!condition.below) json["in"] = condition.names;
  return json;
}

}  // namespace

Table ContextRows(const ContextTable& table) {
  std::vector<std::string> columns = table.contexts;
  columns.insert(columns.end(), {"trials", table.objective.name, "gain"});
  for (int i = 0; i < table.parameters(); ++i) columns.push_back(table.joint->parameter(i).name());
  Table shown(columns);
  for (const ContextTable::Row& row : table.rows) {
    std::vector<Cell> cells;
    for (size_t i = 0; i < table.contexts.size(); ++i) {
      cells.emplace_back(space::ToString(table.ContextParameter(i).ValueAt(row.place[i])));
    }
    const double value = row.best ? row.value : std::nan("");
    double gain = row.first && row.best ? *row.first / row.value : std::nan("");
    if (table.objective.maximize) gain = 1 / gain;
    cells.emplace_back(row.trials);
    cells.push_back({value, FormatValue(value)});
    cells.push_back({gain, FormatRatio(gain)});
    for (int i = 0; i < table.parameters(); ++i) {
      cells.emplace_back(row.best ? table.joint->TextOf(*row.best, i) : std::string("-"));
    }
    shown.AddRow(std::move(cells));
  }
  return shown;
}

std::string LossText(const ContextTable& table, const ContextTree& tree) {
  int row = 0;
  const double worst = tree.WorstLoss(row);
  const int unknown = tree.Unknown(table);
  return fmt::format(
      "{} configuration{} for {} contexts: {} worse than the best of each in the mean, {} at most "
      "({}){}",
      tree.Leaves(), tree.Leaves() == 1 ? "" : "s", table.rows.size(), PercentText(tree.MeanLoss()),
      PercentText(worst), table.rows[row].name,
      unknown > 0 ? fmt::format("; not tried in {} of them", unknown) : "");
}

Json ContextJson(const ContextTable& table, const ContextTree& tree) {
  Json rows = Json::array();
  const auto number = [](const std::optional<double>& value) {
    return value && std::isfinite(*value) ? Json(*value) : Json();
  };
  for (size_t i = 0; i < table.rows.size(); ++i) {
    const ContextTable::Row& row = table.rows[i];
    Json context = Json::object();
    for (size_t k = 0; k < table.contexts.size(); ++k) {
      context[table.contexts[k]] = space::ToJson(table.ContextParameter(k).ValueAt(row.place[k]));
    }
    rows.push_back({{"context", context},
                    {"configuration", row.best ? table.ValuesOf(*row.best) : Json()},
                    {"value", row.best ? Json(row.value) : Json()},
                    {"first", number(row.first)},
                    {"trials", row.trials},
                    {"tree_loss", number(tree.losses[i])}});
  }
  int worst = 0;
  const double worst_loss = tree.WorstLoss(worst);
  return {{"name", table.name},
          {"objective", table.objective.name},
          {"goal", table.objective.maximize ? "maximize" : "minimize"},
          {"contexts", table.contexts},
          {"table", rows},
          {"tree", NodeJson(table, tree, 0)},
          {"loss",
           {{"leaves", tree.Leaves()},
            {"mean", tree.MeanLoss()},
            {"worst", worst_loss},
            {"worst_context", table.rows[worst].name},
            {"unknown", tree.Unknown(table)}}}};
}

}  // namespace bayloom::report
