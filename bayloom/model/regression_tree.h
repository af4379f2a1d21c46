// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Eigen/Core>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/model/surrogate.h"

namespace bayloom::model {

/// Rows prepared for growing many trees on them: each number as its rank among the distinct ones
/// of its column. Parameters have few distinct values, so that sorting becomes counting.
struct RankedRows {
  explicit RankedRows(const RowMatrix& rows);

  Eigen::MatrixXi ranks;                      ///< n x columns
  std::vector<std::vector<double>> distinct;  ///< for each column, ascending
};

struct TreeOptions {
  double column_share = 0.5;  ///< of the columns, drawn again for each split
  int min_split = 2;          ///< rows that a node must have to be split
};

/// A regression tree (Breiman et al. 1984). Splits reduce the squared error most; the threshold
/// is drawn between the two neighbouring values, so that trees differ in between and their
/// variance grows away from the data (Hutter et al. 2014, sec. 4.3.2).
///
/// Own code because a surrogate needs each tree's leaf statistics, which the boosted-tree
/// libraries at hand do not give, and must take little time on a few hundred rows.
class RegressionTree {
 public:
  struct Leaf {
    double weight = 0;
    double mean = 0;
    double squares = 0;  ///< weighted sum of squared distances to the mean

    double variance() const { return squares / weight; }
    void Add(double value, double value_weight);
  };

  /// Grows on the rows with positive weight, of which there must be one.
  RegressionTree(const RankedRows& rows, const Eigen::VectorXd& values,
                 const Eigen::VectorXd& weights, const TreeOptions& options,
                 base::RandomStream& random);

  /// The leaf that a row belongs to; `row` points to one number a column.
  int LeafIndexOf(const double* row) const;
  const Leaf& leaf(int index) const { return leaves_[static_cast<size_t>(index)]; }
  Leaf& leaf(int index) { return leaves_[static_cast<size_t>(index)]; }
  const Leaf& LeafOf(const double* row) const { return leaf(LeafIndexOf(row)); }

 private:
  friend class RegressionTreeGrower;
  /// Goes left where the column's number is below the threshold.
  struct Node {
    double threshold;
    int column;  ///< negative for a leaf
    int next;    ///< the left child, with the right one behind it; or the leaf
  };

  std::vector<Node> nodes_;
  std::vector<Leaf> leaves_;
};

}  // namespace bayloom::model
