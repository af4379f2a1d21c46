// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "bayloom/space/domain.h"
#include "bayloom/space/expression.h"
#include "bayloom/space/level_set.h"

namespace bayloom::space {

/// What is left of constraints once some parameters are known, as a fingerprint: equal ones leave
/// equal constraints on the others. Of 128 bits, so that different ones never meet in practice.
struct Remainder {
  uint64_t low = 0;
  uint64_t high = 0;
  bool operator==(const Remainder&) const = default;
};

/// Constraints on parameters that get their values one after the other, in a fixed order.
///
/// The expressions are unrolled: for each level there is a straight program of what assigning that
/// level's parameter changes, on intervals, those of parameters not yet assigned being their whole
/// domains. So constraints decide as early as intervals can tell, blocks of values that make no
/// difference need not be looked at one by one, and of what is known only what undecided
/// expressions still need counts as remainder: of `a * b * c <= 64`, the product of a and b.
class PartialEvaluation {
 public:
  static constexpr int kMaxLevels = LevelSet::kMaxLevels;

  /// `levels`: the domains, in the order of assignment, at most kMaxLevels; `constraints`: on
  /// these parameters only.
  PartialEvaluation(const ExpressionGraph& graph, const ExpressionGraph::Parameters& parameters,
                    std::span<const int> constraints, std::span<const Domain> levels);

  /// Gives a level's parameter one of the values of the block, after the levels before it. False
  /// if then some constraint does not hold, whichever value it is.
  bool Assign(int level, const RankBlock& block);
  /// After that, what is left for the levels to come; nullopt if it depends on the value.
  std::optional<Remainder> Remaining(int level);

 private:
  struct Node {
    Operation operation = Operation::kConstant;
    std::vector<int> operands;
    int index = 0;
    LevelSet levels;       ///< those whose parameters occur in it
    bool whole = false;    ///< has only whole numbers for values
    bool is_root = false;  ///< a constraint
    int first_slot = 0;    ///< its value before any level, followed by that after each of `levels`
    uint32_t visited = 0;
  };
  struct Step {
    Operation operation = Operation::kConstant;
    bool is_root = false;
    int index = 0;
    int result = 0;
    int operands[3] = {0, 0, 0};
    std::vector<int> more_operands = {};  ///< kCode: all
  };
  struct TermStep {
    int slot;
    TermHulls hulls;
  };
  struct Level {
    Domain domain;
    std::vector<TermStep> terms;
    std::vector<Step> steps;
    std::vector<int> roots;  ///< touched up to here, and not complete before
    RankBlock block;
  };

  // Lowering, in partial_evaluation_lower.cc.
  int Lower(int expression);
  int Add(Node node, const Interval& initial);
  int AddConstant(double value);
  int AddTerm(int term);
  int AddComparison(Operation operation, int left, int right);
  int AddModulo(int dividend, int divisor);
  int Compute(Operation operation, std::vector<int> operands, int index = 0);
  int Chain(Operation operation, std::vector<int> operands);
  void Flatten(Operation operation, int node, std::vector<int>& operands) const;
  void SortByLevel(std::vector<int>& nodes) const;
  bool IsExactInAnyOrder(Operation operation, std::span<const int> operands) const;
  void PlaceInLevels();
  Step StepAt(const Node& node, int level) const;

  int SlotAfter(const Node& node, int level) const;
  Interval Run(const Step& step) const;
  bool Collect(int node, int level, Remainder& remainder);

  const ExpressionGraph& graph_;
  const ExpressionGraph::Parameters& parameters_;
  std::vector<Level> levels_;
  std::vector<Node> nodes_;
  std::vector<Interval> slots_;
  std::vector<int> roots_;
  uint32_t visit_ = 0;

  std::vector<int> level_of_parameter_;
  std::map<int, int> lowered_;  ///< graph's expression -> node
  std::map<std::tuple<Operation, std::vector<int>, int>, int> known_;  ///< computation -> node
};

}  // namespace bayloom::space
