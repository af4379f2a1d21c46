// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/space/domain.h"
#include "bayloom/space/expression.h"

namespace bayloom::space {

/// How a configuration is drawn from the feasible ones.
enum class SamplingMethod : uint8_t {
  /// All feasible configurations alike.
  kUniformLeaves,
  /// From the root of each tree down, all children alike: biased towards where the trees are thin
  /// (Rasch et al. 2018). For comparison.
  kBiasedPath,
  /// In proportion to the product of the parameters' priors.
  kPrior,
};

/// The feasible values of parameters that depend on each other through constraints: a tree with one
/// level per parameter, whose paths from the root to a leaf are the feasible combinations (Hellsten
/// et al. 2023, sec. 4.2).
///
/// Equal subtrees are stored once, and neighbouring values with the same subtree as one run: memory
/// goes with what is different, not with the number of leaves.
class Tree {
 public:
  /// Grows the tree of these constraints, which must be on the domains' parameters only, level by
  /// level in the order of the domains. Nullopt once more than `max_visits` blocks of values have
  /// been looked at.
  static std::optional<Tree> Grow(const ExpressionGraph& graph,
                                  const ExpressionGraph::Parameters& parameters,
                                  std::span<const int> constraints, std::vector<Domain> levels,
                                  int64_t max_visits);

  int levels() const { return static_cast<int>(levels_.size()); }
  int parameter(int level) const { return levels_[level].parameter; }
  /// Number of leaves: of feasible combinations. Exact below 2^53; infinity where a double cannot
  /// hold it.
  double leaves() const;
  /// Its decimal logarithm, which is finite.
  double Log10Leaves() const;
  /// What is stored for them.
  int64_t nodes() const { return static_cast<int64_t>(first_run_.size()) - 1; }
  int64_t runs() const { return static_cast<int64_t>(runs_.size()); }

  // All `coordinates` below are those of whole configurations.

  bool Contains(std::span<const double> coordinates) const;
  /// Sets the coordinates of the tree's parameters. The tree must have leaves.
  void Sample(base::RandomStream& random, SamplingMethod method,
              std::span<double> coordinates) const;
  /// What a level's parameter may change to while the others stay: the next values below and above
  /// if it is a number or ordinal, and those of `candidates` that are feasible.
  std::vector<double> Alternatives(int level, std::span<const double> coordinates,
                                   std::span<const double> candidates) const;
  /// Sets the coordinates to each leaf's in turn and calls back, until told to stop by a false.
  /// False if it was.
  bool ForEach(std::span<double> coordinates, const std::function<bool()>& visit) const;

 private:
  friend class TreeGrower;
  static constexpr uint32_t kLeaf = 0;

  struct Run {
    uint32_t first;  ///< position in the level's domain
    uint32_t count;
    uint32_t child;
    bool operator==(const Run&) const = default;
  };
  /// Sums over leaves, one for each (or its prior). Those of a node and its runs are in units of
  /// 2^exponent, so that no number of leaves is too large.
  struct Weights {
    std::vector<double> total;                ///< of a node
    std::vector<int> exponent;                ///< of a node
    std::vector<double> before;               ///< of a run: of the node's earlier runs
    std::vector<std::vector<double>> priors;  ///< by level: running sums; empty if all are alike
  };

  Tree() = default;
  std::span<const Run> RunsOf(uint32_t node) const {
    return std::span(runs_).subspan(first_run_[node], first_run_[node + 1] - first_run_[node]);
  }
  const Run* RunAt(uint32_t node, int64_t position) const;
  std::optional<uint32_t> NodeAt(int level, std::span<const double> coordinates) const;
  void AddNext(uint32_t node, int level, std::span<const double> coordinates,
               std::vector<double>& values) const;
  bool Reaches(uint32_t node, int level, std::span<const double> coordinates) const;
  Weights ComputeWeights(std::vector<std::vector<double>> priors) const;
  double WeightOf(const Weights& weights, int level, const Run& run, int exponent) const;
  void WeightByPriors(const ExpressionGraph::Parameters& parameters);
  uint32_t Draw(base::RandomStream& random, const Weights& weights, int level,
                uint32_t& node) const;
  uint32_t DrawChild(base::RandomStream& random, uint32_t& node) const;
  bool VisitLeaves(uint32_t node, int level, std::span<double> coordinates,
                   const std::function<bool()>& visit) const;

  std::vector<Domain> levels_;
  std::vector<bool> is_ordered_;     ///< by level
  std::vector<uint32_t> first_run_;  ///< by node, and the end
  std::vector<uint16_t> level_of_node_;
  std::vector<Run> runs_;
  uint32_t root_ = kLeaf;
  Weights leaves_;
  std::optional<Weights> prior_;
};

}  // namespace bayloom::space
