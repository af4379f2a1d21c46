// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/table.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "bayloom/base/single_line.h"
#include "bayloom/base/utf8.h"

namespace bayloom::report {
namespace {

constexpr size_t kMaxCellBytes = 4000;

}  // namespace

void Table::AddRow(std::vector<Cell> cells) {
  if (cells.size() != columns_.size()) {
    throw std::invalid_argument("a row must have one cell per column");
  }
  rows_.push_back(std::move(cells));
}

bool Table::IsNumeric(size_t column) const {
  return std::none_of(rows_.begin(), rows_.end(), [&](const std::vector<Cell>& row) {
    return std::holds_alternative<std::string>(row[column].value);
  });
}

std::string Table::Text() const {
  std::string text;
  const auto shown = [](const std::string& cell) { return base::SingleLine(cell, kMaxCellBytes); };
  std::vector<size_t> widths;
  std::vector<bool> right;
  for (size_t c = 0; c < columns_.size(); ++c) {
    size_t width = base::CountUtf8Characters(shown(columns_[c]));
    for (const std::vector<Cell>& row : rows_) {
      width = std::max(width, base::CountUtf8Characters(shown(row[c].text)));
    }
    widths.push_back(width);
    right.push_back(IsNumeric(c));
  }
  const auto add_line = [&](const auto& text_of) {
    std::string line;
    for (size_t c = 0; c < columns_.size(); ++c) {
      const std::string cell = shown(text_of(c));
      const std::string filling(widths[c] - base::CountUtf8Characters(cell), ' ');
      line += (c == 0 ? "" : "  ") + (right[c] ? filling + cell : cell + filling);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  add_line([&](size_t c) -> const std::string& { return columns_[c]; });
  for (const std::vector<Cell>& row : rows_) {
    add_line([&](size_t c) -> const std::string& { return row[c].text; });
  }
  return text;
}

nlohmann::json Table::Json() const {
  nlohmann::json rows = nlohmann::json::array();
  for (const std::vector<Cell>& row : rows_) {
    nlohmann::json object;
    for (size_t c = 0; c < columns_.size(); ++c) {
      nlohmann::json& place = object[columns_[c]];
      std::visit([&](const auto& value) { place = value; }, row[c].value);
      if (place.is_number_float() && !std::isfinite(place.get<double>())) place = nullptr;
    }
    rows.push_back(std::move(object));
  }
  return rows;
}

nlohmann::json Table::Kept() const {
  nlohmann::json rows = nlohmann::json::array();
  for (const std::vector<Cell>& row : rows_) {
    nlohmann::json& cells = rows.emplace_back(nlohmann::json::array());
    for (const Cell& cell : row) {
      nlohmann::json& place = cells.emplace_back(cell.text);
      if (const auto* number = std::get_if<int64_t>(&cell.value)) place = {*number, cell.text};
      if (const auto* number = std::get_if<double>(&cell.value)) {
        place = {std::isfinite(*number) ? nlohmann::json(*number) : nlohmann::json(), cell.text};
      }
    }
  }
  return {{"columns", columns_}, {"rows", std::move(rows)}};
}

namespace {

std::optional<Cell> CellFromKept(const nlohmann::json& kept) {
  if (kept.is_string()) return Cell(kept.get<std::string>());
  if (!kept.is_array() || kept.size() != 2 || !kept[1].is_string()) return std::nullopt;
  const std::string text = kept[1].get<std::string>();
  if (kept[0].is_number_integer()) return Cell(kept[0].get<int64_t>(), text);
  if (kept[0].is_number()) return Cell(kept[0].get<double>(), text);
  return Cell(std::nan(""), text);
}

}  // namespace

std::optional<Table> Table::FromKept(const nlohmann::json& kept) {
  const bool is_table = kept.is_object() && kept.contains("columns") && kept.contains("rows") &&
                        kept["columns"].is_array() && kept["rows"].is_array();
  if (!is_table) return std::nullopt;
  std::vector<std::string> columns;
  for (const nlohmann::json& column : kept["columns"]) {
    if (!column.is_string()) return std::nullopt;
    columns.push_back(column.get<std::string>());
  }
  Table table(std::move(columns));
  for (const nlohmann::json& row : kept["rows"]) {
    if (!row.is_array() || row.size() != table.columns_.size()) return std::nullopt;
    std::vector<Cell> cells;
    for (const nlohmann::json& each : row) {
      std::optional<Cell> cell = CellFromKept(each);
      if (!cell) return std::nullopt;
      cells.push_back(*std::move(cell));
    }
    table.AddRow(std::move(cells));
  }
  return table;
}

}  // namespace bayloom::report
