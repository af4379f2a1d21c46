// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace bayloom::report {

/// What stands in one place of a table: a value for programs and a text for people.
struct Cell {
  Cell(std::string word) : value(word), text(std::move(word)) {}         // NOLINT
  Cell(const char* word) : Cell(std::string(word)) {}                    // NOLINT
  Cell(int64_t number) : value(number), text(std::to_string(number)) {}  // NOLINT
  Cell(int number) : Cell(static_cast<int64_t>(number)) {}               // NOLINT
  Cell(int64_t number, std::string shown) : value(number), text(std::move(shown)) {}
  Cell(double number, std::string shown) : value(number), text(std::move(shown)) {}

  std::variant<std::string, int64_t, double> value;
  std::string text;
};

/// Rows under named columns, to be read by people and by programs.
///
///     Table table({"task", "best"});
///     table.AddRow({"conv1", {seconds, FormatSeconds(seconds)}});
///     fmt::print("{}", json ? JsonText(table.Json()) : table.Text());
class Table {
 public:
  explicit Table(std::vector<std::string> columns) : columns_(std::move(columns)) {}

  /// As many cells as there are columns.
  void AddRow(std::vector<Cell> cells);
  bool empty() const { return rows_.empty(); }

  /// Aligned columns, one row a line (see base::SingleLine): numbers to the right, words to the
  /// left.
  std::string Text() const;
  /// An array of objects with the columns' names as keys; infinite and undefined numbers are null.
  nlohmann::json Json() const;
  /// {"columns", "rows"}, with what is shown of each cell: the text, or [number, text].
  nlohmann::json Kept() const;
  /// A table that was kept; none for what is no such table.
  static std::optional<Table> FromKept(const nlohmann::json& kept);

 private:
  bool IsNumeric(size_t column) const;

  std::vector<std::string> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace bayloom::report
