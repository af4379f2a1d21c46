// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/search/context_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"

namespace bayloom::search {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// What was not tried in a context may be so many times as bad as the best there.
constexpr double kUntriedLoss = 10;
/// What a leaf more has to gain, of the logarithm of the loss in each context.
constexpr double kWorthALeaf = 1e-3;

/// Values from `begin` to before `end` of each context.
using Box = std::vector<std::pair<int, int>>;

class TreeSearch {
 public:
  TreeSearch(const ContextTable& table, int max_leaves) : table_(table), max_leaves_(max_leaves) {}

  ContextTree Find() {
    Box all;
    for (size_t i = 0; i < table_.contexts.size(); ++i) {
      all.emplace_back(0, static_cast<int>(table_.ContextParameter(i).Cardinality()));
    }
    const Best& best = BestOf(all);
    const double least = best.losses.back();
    if (!std::isfinite(least)) {
      throw InputError(fmt::format("no tree of {} leaves works in all contexts of '{}'",
                                   max_leaves_, base::SingleLine(table_.name)));
    }
    const double enough = least + kWorthALeaf * static_cast<double>(table_.rows.size());
    int leaves = 1;
    while (best.losses[leaves - 1] > enough) ++leaves;
    ContextTree tree;
    tree.chosen.assign(table_.rows.size(), -1);
    tree.losses.resize(table_.rows.size());
    Build(all, leaves, tree);
    return tree;
  }

 private:
  struct Split {
    int context = -1, at = 0, low_leaves = 0;
  };
  /// Of a box: by the number of leaves less one, the sum of the losses' logarithms, and how.
  struct Best {
    int candidate = -1;  ///< as one leaf
    std::vector<double> losses;
    std::vector<Split> splits;
  };

  bool IsWithin(const ContextTable::Row& row, const Box& box) const {
    for (size_t i = 0; i < box.size(); ++i) {
      if (row.place[i] < box[i].first || row.place[i] >= box[i].second) return false;
    }
    return true;
  }

  double LossOf(const ContextTable::Candidate& candidate, const std::vector<size_t>& rows) const {
    double sum = 0;
    for (const size_t row : rows) {
      if (table_.rows[row].best) sum += std::log(candidate.losses[row].value_or(kUntriedLoss));
    }
    return sum;
  }

  const Best& BestOf(const Box& box) {
    if (const auto known = known_.find(box); known != known_.end()) return known->second;
    std::vector<size_t> rows;
    for (size_t row = 0; row < table_.rows.size(); ++row) {
      if (IsWithin(table_.rows[row], box)) rows.push_back(row);
    }
    Best best;
    best.losses.assign(max_leaves_, kInfinity);
    best.splits.resize(max_leaves_);
    for (int i = 0; i < std::ssize(table_.candidates); ++i) {
      const double loss = LossOf(table_.candidates[i], rows);
      if (best.candidate >= 0 && !(loss < best.losses[0])) continue;
      best.losses[0] = loss;
      best.candidate = i;
    }
    for (int context = 0; context < std::ssize(box); ++context) {
      for (int at = box[context].first + 1; at < box[context].second; ++at) {
        Box low = box, high = box;
        low[context].second = high[context].first = at;
        const Best& below = BestOf(low);
        const Best& above = BestOf(high);
        for (int leaves = 2; leaves <= max_leaves_; ++leaves) {
          for (int left = 1; left < leaves; ++left) {
            const double loss = below.losses[left - 1] + above.losses[leaves - left - 1];
            if (!(loss < best.losses[leaves - 1])) continue;
            best.losses[leaves - 1] = loss;
            best.splits[leaves - 1] = {context, at, left};
          }
        }
      }
    }
    // More leaves may not help; then fewer do as well.
    for (int i = 1; i < max_leaves_; ++i) {
      if (best.losses[i] < best.losses[i - 1]) continue;
      best.losses[i] = best.losses[i - 1];
      best.splits[i] = best.splits[i - 1];
    }
    return known_[box] = std::move(best);  // nodes of a map stay where they are
  }

  int Build(const Box& box, int leaves, ContextTree& tree) {
    const Best& best = BestOf(box);
    const auto number = static_cast<int>(tree.nodes.size());
    tree.nodes.emplace_back();
    const Split split = best.splits[leaves - 1];
    if (split.context < 0) {
      tree.nodes[number].candidate = best.candidate;
      for (size_t row = 0; row < table_.rows.size(); ++row) {
        if (!IsWithin(table_.rows[row], box) || !table_.rows[row].best) continue;
        tree.chosen[row] = best.candidate;
        tree.losses[row] = table_.candidates[best.candidate].losses[row];
      }
      return number;
    }
    Box low = box, high = box;
    low[split.context].second = high[split.context].first = split.at;
    const int below = Build(low, split.low_leaves, tree);
    const int above = Build(high, leaves - split.low_leaves, tree);
    tree.nodes[number] = {split.context, split.at, below, above, -1};
    return number;
  }

  const ContextTable& table_;
  int max_leaves_;
  std::map<Box, Best> known_;
};

}  // namespace

int ContextTree::Leaves() const {
  return static_cast<int>(std::ranges::count(nodes, -1, &Node::context));
}

double ContextTree::MeanLoss() const {
  double sum = 0;
  int count = 0;
  for (const std::optional<double>& loss : losses) {
    if (!loss) continue;
    sum += std::log(*loss);
    ++count;
  }
  return std::exp(count > 0 ? sum / count : 0);
}

double ContextTree::WorstLoss(int& row) const {
  double worst = 0;
  for (int i = 0; i < std::ssize(losses); ++i) {
    if (!losses[i] || *losses[i] <= worst) continue;
    worst = *losses[i];
    row = i;
  }
  return worst;
}

int ContextTree::Unknown(const ContextTable& table) const {
  int unknown = 0;
  for (size_t row = 0; row < losses.size(); ++row) unknown += table.rows[row].best && !losses[row];
  return unknown;
}

ContextTree MakeContextTree(const ContextTable& table, int max_leaves) {
  if (table.candidates.empty()) {
    throw InputError(fmt::format("nothing worked in any context of '{}', of which there is no tree",
                                 base::SingleLine(table.name)));
  }
  return TreeSearch(table, std::min<int>(max_leaves, std::ssize(table.rows))).Find();
}

}  // namespace bayloom::search
