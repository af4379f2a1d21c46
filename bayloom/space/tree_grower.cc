// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "bayloom/base/hash.h"
#include "bayloom/space/partial_evaluation.h"
#include "bayloom/space/tree.h"

namespace bayloom::space {
namespace {

constexpr uint32_t kDead = UINT32_MAX;

/// Runs and nodes are numbered with 32 bits, and memory ends.
constexpr size_t kMaxRuns = 32'000'000;

}  // namespace

/// Grows a tree depth first. What is below a node depends only on what remains of the constraints
/// there: seen before, it is not grown again. Subtrees that turn out equal all the same become one
/// when they are complete.
class TreeGrower {
 public:
  TreeGrower(Tree& tree, PartialEvaluation& evaluation, int64_t max_visits)
      : tree_(tree),
        evaluation_(evaluation),
        visits_left_(max_visits),
        grown_(tree.levels()),
        nodes_(0, Hash{*this}, Equal{*this}) {
    tree_.first_run_ = {0, 0};
    tree_.level_of_node_ = {static_cast<uint16_t>(tree.levels())};
  }

  /// False if that took too many visits.
  bool Run() {
    const uint32_t root = GrowNode(0);
    if (visits_left_ < 0) return false;
    tree_.root_ = root == kDead ? AddNode(0, 0) : root;
    return true;
  }

 private:
  struct RemainderHash {
    size_t operator()(const Remainder& r) const noexcept { return r.low; }
  };
  struct Hash {
    const TreeGrower& grower;
    size_t operator()(uint32_t node) const {
      base::Hasher hasher;
      hasher.Add(grower.tree_.level_of_node_[node]);
      for (const Tree::Run& run : grower.tree_.RunsOf(node)) {
        hasher.Add(uint64_t{run.first} << 32 | run.count).Add(run.child);
      }
      return hasher.Digest();
    }
  };
  struct Equal {
    const TreeGrower& grower;
    bool operator()(uint32_t a, uint32_t b) const {
      const Tree& tree = grower.tree_;
      const auto x = tree.RunsOf(a);
      const auto y = tree.RunsOf(b);
      return tree.level_of_node_[a] == tree.level_of_node_[b] &&
             std::equal(x.begin(), x.end(), y.begin(), y.end());
    }
  };

  /// The node for what the evaluation has been told so far; kDead if nothing is feasible below.
  uint32_t GrowNode(int level) {
    if (level == tree_.levels()) return Tree::kLeaf;
    const size_t first = open_.size();
    Visit(level, tree_.levels_[level].All(), first);
    const uint32_t node = open_.size() == first ? kDead : AddNode(level, first);
    open_.resize(first);
    return node;
  }

  /// Appends to the open runs from `first` on those of a block's feasible values.
  void Visit(int level, const RankBlock& block, size_t first) {
    if (--visits_left_ < 0 || !evaluation_.Assign(level, block)) return;
    const std::optional<Remainder> remainder = evaluation_.Remaining(level);
    if (!remainder) {
      Visit(level, block.Left(), first);
      Visit(level, block.Right(), first);
      return;
    }
    const uint32_t child = Child(level, *remainder);
    if (child == kDead) return;
    if (open_.size() > first) {
      Tree::Run& last = open_.back();
      if (last.child == child && last.first + last.count == block.first) {
        last.count += block.count;
        return;
      }
    }
    open_.push_back({block.first, block.count, child});
  }

  uint32_t Child(int level, const Remainder& remainder) {
    const auto known = grown_[level].find(remainder);
    if (known != grown_[level].end()) return known->second;
    const uint32_t child = GrowNode(level + 1);
    grown_[level].emplace(remainder, child);
    return child;
  }

  /// The node with the open runs from `first` on.
  uint32_t AddNode(int level, size_t first) {
    const auto node = static_cast<uint32_t>(tree_.level_of_node_.size());
    const size_t runs_before = tree_.runs_.size();
    tree_.runs_.insert(tree_.runs_.end(), open_.begin() + static_cast<int64_t>(first), open_.end());
    tree_.first_run_.push_back(static_cast<uint32_t>(tree_.runs_.size()));
    tree_.level_of_node_.push_back(static_cast<uint16_t>(level));
    const auto [same, is_new] = nodes_.insert(node);
    if (is_new) {
      if (tree_.runs_.size() > kMaxRuns) visits_left_ = -1;
      return node;
    }
    tree_.runs_.resize(runs_before);
    tree_.first_run_.pop_back();
    tree_.level_of_node_.pop_back();
    return *same;
  }

  Tree& tree_;
  PartialEvaluation& evaluation_;
  int64_t visits_left_;
  std::vector<Tree::Run> open_;  ///< of the nodes on the path from the root
  std::vector<std::unordered_map<Remainder, uint32_t, RemainderHash>> grown_;  ///< by level
  std::unordered_set<uint32_t, Hash, Equal> nodes_;
};

std::optional<Tree> Tree::Grow(const ExpressionGraph& graph,
                               const ExpressionGraph::Parameters& parameters,
                               std::span<const int> constraints, std::vector<Domain> levels,
                               int64_t max_visits) {
  Tree tree;
  tree.levels_ = std::move(levels);
  for (const Domain& domain : tree.levels_) {
    const ParameterKind kind = parameters[domain.parameter]->kind();
    tree.is_ordered_.push_back(kind == ParameterKind::kInteger || kind == ParameterKind::kOrdinal);
  }
  PartialEvaluation evaluation(graph, parameters, constraints, tree.levels_);
  if (!TreeGrower(tree, evaluation, max_visits).Run()) return std::nullopt;
  tree.runs_.shrink_to_fit();
  tree.first_run_.shrink_to_fit();
  tree.leaves_ = tree.ComputeWeights({});
  tree.WeightByPriors(parameters);
  return tree;
}

}  // namespace bayloom::space
