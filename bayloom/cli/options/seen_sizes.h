// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "bayloom/graph/import.h"

namespace bayloom::cli {

/// Reads the sizes that runs of a model had: a CSV file whose first line names dimensions, and
/// `count` where lines stand for several runs.
///
///     sequence,count
///     12,3810
///     87,455
class SeenSizes {
 public:
  /// Throws InputError.
  explicit SeenSizes(const std::string& path);

  /// Lengths of the open dimensions that stand for the lines (ImportOptions::points). Lines of
  /// other sizes of the fixed dimensions are left out. Throws InputError where an open dimension
  /// is not among the columns, a column is neither open nor fixed, or a size is none of the
  /// dimension's lengths.
  std::vector<std::vector<int64_t>> PointsFor(const graph::ImportOptions& options) const;

 private:
  size_t ColumnOf(const graph::Symbol& symbol) const;
  [[noreturn]] void Refuse(const std::string& reason) const;

  std::string path_;
  std::vector<std::string> columns_;
  std::vector<std::vector<int64_t>> lines_;
};

}  // namespace bayloom::cli
