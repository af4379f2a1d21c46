// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/options/seen_sizes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <string_view>
#include <utility>

#include "bayloom/base/file.h"
#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"

namespace bayloom::cli {
namespace {

constexpr std::string_view kCount = "count";

/// The cells of a line, without the space around them.
std::vector<std::string> CellsOf(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, ',');) {
    const size_t first = cell.find_first_not_of(" \t\r"), last = cell.find_last_not_of(" \t\r");
    cells.push_back(first == std::string::npos ? "" : cell.substr(first, last - first + 1));
  }
  return cells;
}

bool IsLength(const graph::Symbol& symbol, int64_t length) {
  return length >= symbol.smallest && length <= symbol.largest &&
         (length - symbol.smallest) % symbol.step == 0;
}

}  // namespace

void SeenSizes::Refuse(const std::string& reason) const {
  throw InputError(fmt::format("--sizes {}: {}", base::SingleLine(path_), reason));
}

SeenSizes::SeenSizes(const std::string& path) : path_(path) {
  std::istringstream text(base::ReadFile(path));
  std::string line;
  std::getline(text, line);
  columns_ = CellsOf(line);
  if (columns_.empty()) Refuse("the first line has to name dimensions, as in sequence,count");
  for (int number = 2; std::getline(text, line); ++number) {
    const std::vector<std::string> cells = CellsOf(line);
    if (cells.empty() || (cells.size() == 1 && cells[0].empty())) continue;
    if (cells.size() != columns_.size()) {
      Refuse(fmt::format("line {} has {} numbers, not {}", number, cells.size(), columns_.size()));
    }
    std::vector<int64_t>& values = lines_.emplace_back();
    for (const std::string& cell : cells) {
      int64_t value = 0;
      const char* const end = cell.data() + cell.size();
      const auto parsed = std::from_chars(cell.data(), end, value);
      if (parsed.ec != std::errc() || parsed.ptr != end || value < 0) {
        Refuse(fmt::format("line {}: '{}' is no size", number, base::SingleLine(cell)));
      }
      values.push_back(value);
    }
  }
  if (lines_.empty()) Refuse("there are no sizes in it");
}

size_t SeenSizes::ColumnOf(const graph::Symbol& symbol) const {
  const auto column = std::ranges::find(columns_, symbol.name);
  if (column == columns_.end()) {
    Refuse(fmt::format("no column is called {}, as an open dimension is",
                       base::SingleLine(symbol.name)));
  }
  return static_cast<size_t>(column - columns_.begin());
}

std::vector<std::vector<int64_t>> SeenSizes::PointsFor(const graph::ImportOptions& options) const {
  std::vector<size_t> place;
  for (const graph::Symbol& symbol : options.symbols) place.push_back(ColumnOf(symbol));
  for (size_t c = 0; c < columns_.size(); ++c) {
    const bool is_open = std::ranges::count(place, c) > 0;
    if (is_open || columns_[c] == kCount || options.dimensions.contains(columns_[c])) continue;
    Refuse(fmt::format("'{}' is no dimension that --dim gives", base::SingleLine(columns_[c])));
  }
  std::vector<graph::SeenLengths> seen;
  for (const std::vector<int64_t>& line : lines_) {
    graph::SeenLengths each;
    bool is_of_shape = true;
    for (size_t c = 0; c < columns_.size(); ++c) {
      if (columns_[c] == kCount) each.count = static_cast<double>(line[c]);
      const auto fixed = options.dimensions.find(columns_[c]);
      is_of_shape &= fixed == options.dimensions.end() || fixed->second == line[c];
    }
    if (!is_of_shape || each.count == 0) continue;
    for (size_t s = 0; s < place.size(); ++s) {
      const graph::Symbol& symbol = options.symbols[s];
      if (!IsLength(symbol, line[place[s]])) {
        Refuse(fmt::format("{} is not among --dim {}", line[place[s]],
                           base::SingleLine(symbol.ToString())));
      }
      each.lengths.push_back(line[place[s]]);
    }
    seen.push_back(std::move(each));
  }
  if (seen.empty()) Refuse("no line has the sizes that --dim gives");
  return graph::TypicalLengths(std::move(seen));
}

}  // namespace bayloom::cli
