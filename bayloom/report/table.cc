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

}  // namespace bayloom::report
