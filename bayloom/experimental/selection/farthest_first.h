// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "bayloom/cost/booster.h"

namespace bayloom::experimental {

/// The greedy solution of the k-center problem (Gonzalez 1985): again and again the item whose
/// distance to its nearest anchor is largest becomes an anchor.
///
/// Every item's distance to its nearest anchor is kept and only compared with the newest anchor,
/// so that `count` choices among M items with A anchors cost (A + count) M distances.
class FarthestFirst {
 public:
  explicit FarthestFirst(int items)
      : distance_(items, std::numeric_limits<double>::infinity()), chosen_(items, false) {}

  /// Takes an anchor into account: distance(i) is that of item i to it.
  template <typename Distance>
  void AddAnchor(Distance distance) {
    for (size_t i = 0; i < distance_.size(); ++i) {
      if (chosen_[i]) continue;
      const double d = distance(static_cast<int>(i));
      if (d < distance_[i]) distance_[i] = d;
    }
  }

  /// Marks an item as chosen.
  void Choose(int item) { chosen_[item] = true; }
  /// The item farthest from all anchors that is not chosen, the first of equals; -1 if none is
  /// left.
  int Farthest() const;

 private:
  std::vector<double> distance_;
  std::vector<bool> chosen_;
};

/// Up to `count` items by farthest-first traversal, given the distance of an item to an anchor
/// and of an item to a chosen item. Without anchors the traversal begins at `start`.
std::vector<int> TraverseFarthestFirst(int items, int anchors, int count, int start,
                                       const std::function<double(int, int)>& to_anchor,
                                       const std::function<double(int, int)>& to_item);

/// Squared Euclidean distance of two rows of the same columns.
double SquaredDistance(const cost::DenseRows& a, int row_a, const cost::DenseRows& b, int row_b);
/// The row nearest to the mean of all rows; 0 if there are none.
int MostCentralRow(const cost::DenseRows& rows);

}  // namespace bayloom::experimental
