// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <vector>

#include "bayloom/search/context_table.h"

namespace bayloom::search {

/// Few configurations for all contexts of a table: a binary decision tree. It is the best of all
/// trees of so many leaves by the losses that the table knows, found by dynamic programming over
/// boxes of contexts.
struct ContextTree {
  struct Node {
    /// The context that it asks for (ContextTable::contexts), and the place of the first value that
    /// goes to `high`; -1: a leaf.
    int context = -1;
    int first_high = 0;
    int low = -1, high = -1;  ///< nodes
    int candidate = -1;       ///< of a leaf: of ContextTable::candidates
  };
  std::vector<Node> nodes;  ///< the root first
  /// By row: the candidate that the tree chooses, and its loss; nullopt where it was not tried or
  /// nothing worked.
  std::vector<int> chosen;
  std::vector<std::optional<double>> losses;

  int Leaves() const;
  /// Of the losses that are known: their geometric mean, the largest with its row, and the rows
  /// that have a best but no known loss.
  double MeanLoss() const;
  double WorstLoss(int& row) const;
  int Unknown(const ContextTable& table) const;
};

/// The tree with at most so many leaves, and no more than it takes to come within a thousandth of
/// the least loss. Throws InputError where nothing worked in any context, and where no so small
/// tree avoids what fails.
ContextTree MakeContextTree(const ContextTable& table, int max_leaves);

}  // namespace bayloom::search
