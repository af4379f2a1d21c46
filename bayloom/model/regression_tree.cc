// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/model/regression_tree.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

namespace bayloom::model {

using Eigen::Index;

RankedRows::RankedRows(const RowMatrix& rows)
    : ranks(rows.rows(), rows.cols()), distinct(rows.cols()) {
  for (Index column = 0; column < rows.cols(); ++column) {
    std::vector<double>& values = distinct[column];
    values.assign(rows.col(column).begin(), rows.col(column).end());
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    for (Index row = 0; row < rows.rows(); ++row) {
      ranks(row, column) = static_cast<int>(
          std::lower_bound(values.begin(), values.end(), rows(row, column)) - values.begin());
    }
  }
}

void RegressionTree::Leaf::Add(double value, double value_weight) {
  weight += value_weight;
  const double change = value - mean;
  mean += change * value_weight / weight;
  squares += value_weight * change * (value - mean);
}

/// Grows one tree, node by node.
class RegressionTreeGrower {
 public:
  RegressionTreeGrower(const RankedRows& rows, const Eigen::VectorXd& values,
                       const Eigen::VectorXd& weights, const TreeOptions& options,
                       base::RandomStream& random, RegressionTree& tree)
      : rows_(rows),
        values_(values),
        weights_(weights),
        options_(options),
        random_(random),
        tree_(tree),
        columns_(rows.ranks.cols()) {
    std::iota(columns_.begin(), columns_.end(), 0);
    for (int row = 0; row < values.size(); ++row) {
      if (weights(row) > 0) members_.push_back(row);
    }
    tree_.nodes_.emplace_back();
    Grow(0, members_);
  }

 private:
  /// What is summed over the rows on one side of a split.
  struct Sums {
    double weight = 0, value = 0;

    void Add(const Sums& other) {
      weight += other.weight;
      value += other.value;
    }
    /// How much of the squared error one mean explains, but for what all splits share.
    double Explained() const { return value * value / weight; }
  };

  /// The rows of a node that have the same number in a column.
  struct Bucket {
    int rank;
    Sums sums;
  };

  struct Split {
    int column = -1;
    double explained = 0;
    int below = 0, above = 0;  ///< the neighbouring ranks it goes between
  };

  void Grow(int node, std::span<int> members) {
    const Split split = BestSplit(members);
    if (split.column < 0) {
      tree_.nodes_[node] = {0, -1, static_cast<int>(tree_.leaves_.size())};
      RegressionTree::Leaf& leaf = tree_.leaves_.emplace_back();
      for (const int row : members) leaf.Add(values_(row), weights_(row));
      return;
    }
    const auto& distinct = rows_.distinct[split.column];
    const double below = distinct[split.below], above = distinct[split.above];
    // In (below, above], so that `below` goes left and `above` right.
    const double threshold = above - random_.Uniform() * (above - below);
    const int left = static_cast<int>(tree_.nodes_.size());
    tree_.nodes_[node] = {threshold > below ? threshold : above, split.column, left};
    tree_.nodes_.resize(left + 2);
    const auto middle = std::partition(members.begin(), members.end(), [&](int row) {
      return rows_.ranks(row, split.column) <= split.below;
    });
    const size_t size = middle - members.begin();
    Grow(left, members.first(size));
    Grow(left + 1, members.subspan(size));
  }

  /// The best split among a share of the columns, looking at more of them until one can be split
  /// at all; without a column if there is none.
  Split BestSplit(std::span<const int> members) {
    Split best;
    if (std::ssize(members) < options_.min_split || AllEqual(members)) return best;
    random_.Shuffle(columns_);
    const int enough =
        std::max(1, static_cast<int>(
                        std::lround(options_.column_share * static_cast<double>(columns_.size()))));
    for (int looked = 0; looked < std::ssize(columns_); ++looked) {
      if (looked >= enough && best.column >= 0) break;
      FillBuckets(members, columns_[looked]);
      Scan(columns_[looked], best);
    }
    return best;
  }

  bool AllEqual(std::span<const int> members) const {
    return std::all_of(members.begin(), members.end(),
                       [&](int row) { return values_(row) == values_(members[0]); });
  }

  Sums SumsOf(int row) const { return {weights_(row), weights_(row) * values_(row)}; }

  /// The members by their rank in the column, ascending, equal ranks together.
  void FillBuckets(std::span<const int> members, int column) {
    const auto ranks = rows_.ranks.col(column);
    const size_t distinct = rows_.distinct[column].size();
    buckets_.clear();
    if (distinct <= 4 * members.size()) {
      buckets_.resize(distinct);
      for (size_t rank = 0; rank < distinct; ++rank) buckets_[rank].rank = static_cast<int>(rank);
      for (const int row : members) buckets_[ranks(row)].sums.Add(SumsOf(row));
      std::erase_if(buckets_, [](const Bucket& bucket) { return bucket.sums.weight == 0; });
      return;
    }
    for (const int row : members) buckets_.push_back({ranks(row), SumsOf(row)});
    std::sort(buckets_.begin(), buckets_.end(),
              [](const Bucket& a, const Bucket& b) { return a.rank < b.rank; });
    size_t last = 0;
    for (size_t i = 1; i < buckets_.size(); ++i) {
      if (buckets_[i].rank == buckets_[last].rank) {
        buckets_[last].sums.Add(buckets_[i].sums);
      } else {
        buckets_[++last] = buckets_[i];
      }
    }
    buckets_.resize(last + 1);
  }

  void Scan(int column, Split& best) const {
    Sums all;
    for (const Bucket& bucket : buckets_) all.Add(bucket.sums);
    Sums left;
    for (size_t i = 0; i + 1 < buckets_.size(); ++i) {
      left.Add(buckets_[i].sums);
      const Sums right{all.weight - left.weight, all.value - left.value};
      const double explained = left.Explained() + right.Explained();
      if (best.column < 0 || explained > best.explained) {
        best = {column, explained, buckets_[i].rank, buckets_[i + 1].rank};
      }
    }
  }

  const RankedRows& rows_;
  const Eigen::VectorXd& values_;
  const Eigen::VectorXd& weights_;
  const TreeOptions& options_;
  base::RandomStream& random_;
  RegressionTree& tree_;
  std::vector<int> columns_;
  std::vector<int> members_;
  std::vector<Bucket> buckets_;
};

RegressionTree::RegressionTree(const RankedRows& rows, const Eigen::VectorXd& values,
                               const Eigen::VectorXd& weights, const TreeOptions& options,
                               base::RandomStream& random) {
  RegressionTreeGrower(rows, values, weights, options, random, *this);
}

int RegressionTree::LeafIndexOf(const double* row) const {
  const Node* node = nodes_.data();
  while (node->column >= 0) {
    node = nodes_.data() + node->next + (row[node->column] < node->threshold ? 0 : 1);
  }
  return node->next;
}

}  // namespace bayloom::model
