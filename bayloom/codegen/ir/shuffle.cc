// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/ir/shuffle.h"

#include <algorithm>
#include <bit>

namespace bayloom::codegen {
namespace {

constexpr int kNoLane = -1;

/// Columns of some rows that lie next to each other, the rows of a column side by side: in one
/// register as long as they fit, in several otherwise.
using Columns = std::vector<llvm::Value*>;

/// Columns of the rows of `a` and then those of `b`, `rows` of each, in registers of at most
/// `max_lanes` lanes.
Columns Merge(IrBuilder& builder, const Columns& a, const Columns& b, int rows, int max_lanes) {
  Columns merged;
  for (size_t part = 0; part < a.size(); ++part) {
    const int lanes = LanesOf(a[part]), columns = lanes / rows;
    const int parts = 2 * lanes > max_lanes ? 2 : 1, each = columns / parts;
    for (int first = 0; first < columns; first += each) {
      std::vector<int> mask;
      for (int column = first; column < first + each; ++column) {
        for (int row = 0; row < 2 * rows; ++row) {
          mask.push_back(column * rows + (row < rows ? row : lanes + row - rows));
        }
      }
      merged.push_back(builder.CreateShuffleVector(a[part], b[part], mask));
    }
  }
  return merged;
}

}  // namespace

std::optional<Windows> WindowsOver(const std::vector<int64_t>& lanes, int active) {
  const std::vector<int64_t> elements(lanes.begin(), lanes.begin() + active);
  const auto [least, greatest] = std::ranges::minmax(elements);
  const auto span = static_cast<uint64_t>(greatest - least + 1);
  Windows windows;
  windows.width = static_cast<int>(std::min<uint64_t>(lanes.size(), std::bit_floor(span)));
  std::vector<int64_t> sorted = elements;
  std::ranges::sort(sorted);
  for (int64_t element : sorted) {
    if (!windows.begins.empty() && element < windows.begins.back() + windows.width) continue;
    windows.begins.push_back(std::min(element, greatest - windows.width + 1));
  }
  if (2 * static_cast<int>(windows.begins.size()) > active) return std::nullopt;
  for (int64_t element : elements) {
    const auto after = std::ranges::upper_bound(windows.begins, element);
    const auto window = static_cast<int>(after - windows.begins.begin()) - 1;
    windows.window.push_back(window);
    windows.element.push_back(static_cast<int>(element - windows.begins[window]));
  }
  return windows;
}

llvm::Value* TakeFromWindows(IrBuilder& builder, const Windows& windows,
                             const std::vector<llvm::Value*>& values, int lanes) {
  const auto active = static_cast<int>(windows.window.size());
  llvm::Value* result = nullptr;
  for (int w = 0; w < static_cast<int>(values.size()); ++w) {
    std::vector<int> alone(lanes, kNoLane), joined(lanes, kNoLane);
    for (int l = 0; l < active; ++l) {
      if (windows.window[l] == w) alone[l] = windows.element[l];
      if (windows.window[l] < w) joined[l] = l;
      if (windows.window[l] == w) joined[l] = lanes + l;
    }
    llvm::Value* own = builder.CreateShuffleVector(values[w], alone);
    result = result == nullptr ? own : builder.CreateShuffleVector(result, own, joined);
  }
  return result;
}

std::vector<llvm::Value*> Transposed(IrBuilder& builder, std::vector<llvm::Value*> rows) {
  const auto count = static_cast<int>(rows.size());
  std::vector<Columns> groups;
  for (llvm::Value* row : rows) groups.push_back({row});
  for (int merged = 1; merged < count; merged *= 2) {
    std::vector<Columns> next;
    for (size_t g = 0; g < groups.size(); g += 2) {
      next.push_back(Merge(builder, groups[g], groups[g + 1], merged, count));
    }
    groups = std::move(next);
  }
  return groups[0];
}

}  // namespace bayloom::codegen
