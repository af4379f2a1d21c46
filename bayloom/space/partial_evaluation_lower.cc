// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>

#include "bayloom/space/partial_evaluation.h"

namespace bayloom::space {
namespace {

/// Whether whole numbers give whole numbers (or NaN).
bool KeepsWhole(Operation operation) {
  switch (operation) {
    case Operation::kDivide:
    case Operation::kPower:
    case Operation::kSqrt:
    case Operation::kLog:
    case Operation::kLog2:
    case Operation::kExp:
    case Operation::kShiftRight:
    case Operation::kShiftLeft:
      return false;
    default:
      return true;
  }
}

bool IsComparison(Operation operation) {
  return operation >= Operation::kEqual && operation <= Operation::kLessEqual;
}

double Magnitude(const Interval& x) { return std::max(std::abs(x.low), std::abs(x.high)); }

}  // namespace

PartialEvaluation::PartialEvaluation(const ExpressionGraph& graph,
                                     const ExpressionGraph::Parameters& parameters,
                                     std::span<const int> constraints,
                                     std::span<const Domain> levels)
    : graph_(graph), parameters_(parameters), level_of_parameter_(parameters.size(), -1) {
  for (const Domain& domain : levels) {
    level_of_parameter_[domain.parameter] = static_cast<int>(levels_.size());
    levels_.push_back({.domain = domain, .terms = {}, .steps = {}, .roots = {}, .block = {}});
  }
  for (int constraint : constraints) {
    const int root = Lower(constraint);
    nodes_[root].is_root = true;
    roots_.push_back(root);
  }
  PlaceInLevels();
}

int PartialEvaluation::Lower(int expression) {
  const auto known = lowered_.find(expression);
  if (known != lowered_.end()) return known->second;
  const Expression& e = graph_[expression];
  std::vector<int> operands;
  for (int operand : e.operands) operands.push_back(Lower(operand));
  int node = 0;
  if (e.operation == Operation::kConstant) {
    node = AddConstant(e.constant);
  } else if (e.operation == Operation::kTerm) {
    node = AddTerm(e.index);
  } else if (IsComparison(e.operation)) {
    node = AddComparison(e.operation, operands[0], operands[1]);
  } else if (e.operation == Operation::kSubtract) {
    node = Chain(Operation::kAdd, {operands[0], Compute(Operation::kNegate, {operands[1]})});
  } else if (IsAssociative(e.operation)) {
    node = Chain(e.operation, std::move(operands));
  } else if (e.operation == Operation::kModulo) {
    node = AddModulo(operands[0], operands[1]);
  } else {
    node = Compute(e.operation, std::move(operands), e.index);
  }
  lowered_[expression] = node;
  return node;
}

/// A new node with room for its value before and after each of its levels.
int PartialEvaluation::Add(Node node, const Interval& initial) {
  node.first_slot = static_cast<int>(slots_.size());
  slots_.push_back(initial);
  slots_.resize(slots_.size() + node.levels.Count());
  nodes_.push_back(std::move(node));
  return static_cast<int>(nodes_.size()) - 1;
}

int PartialEvaluation::AddConstant(double value) {
  Node node;
  node.whole = value == std::floor(value);
  return Add(std::move(node), Interval::Point(value));
}

int PartialEvaluation::AddTerm(int term) {
  const int level = level_of_parameter_[graph_.term(term).parameter];
  std::vector<double> values;
  for (double rank : levels_[level].domain.ranks) {
    values.push_back(graph_.ReadTerm(term, parameters_, rank));
  }
  TermHulls hulls(values);
  Node node;
  node.operation = Operation::kTerm;
  node.levels.Add(level);
  node.whole =
      std::all_of(values.begin(), values.end(), [](double v) { return v == std::floor(v); });
  const int added = Add(std::move(node), hulls[levels_[level].domain.All()]);
  levels_[level].terms.push_back({nodes_[added].first_slot + 1, std::move(hulls)});
  return added;
}

/// The node that computes this; what is there already is not added twice.
int PartialEvaluation::Compute(Operation operation, std::vector<int> operands, int index) {
  const auto [known, is_new] =
      known_.emplace(std::tuple(operation, operands, index), static_cast<int>(nodes_.size()));
  if (!is_new) return known->second;
  Node node;
  node.operation = operation;
  node.index = index;
  node.whole = KeepsWhole(operation);
  Step step{.operation = operation, .index = index};
  for (int operand : operands) {
    node.levels |= nodes_[operand].levels;
    node.whole = node.whole && nodes_[operand].whole;
    step.more_operands.push_back(nodes_[operand].first_slot);
  }
  node.operands = std::move(operands);
  std::copy_n(step.more_operands.begin(), std::min<size_t>(3, step.more_operands.size()),
              step.operands);
  return Add(std::move(node), Run(step));
}

/// Sums compare by their difference, so that what is known of both sides becomes one number.
int PartialEvaluation::AddComparison(Operation operation, int left, int right) {
  const int both[] = {left, right};
  const bool constant = nodes_[left].levels.empty() || nodes_[right].levels.empty();
  if (constant || !IsExactInAnyOrder(Operation::kAdd, both)) {
    return Compute(operation, {left, right});
  }
  const int difference = Chain(Operation::kAdd, {left, Compute(Operation::kNegate, {right})});
  return Compute(operation, {difference, AddConstant(0)});
}

/// Of sums and products only what they leave modulo a constant matters, at every step.
int PartialEvaluation::AddModulo(int dividend, int divisor) {
  const Operation operation = nodes_[dividend].operation;
  const double m = slots_[nodes_[divisor].first_slot].low;
  const bool splits = operation == Operation::kAdd || operation == Operation::kMultiply;
  const bool constant = nodes_[divisor].levels.empty() && nodes_[divisor].whole && m > 0;
  std::vector<int> flat;
  if (splits && constant) Flatten(operation, dividend, flat);
  if (flat.empty() || !IsExactInAnyOrder(operation, flat)) {
    return Compute(Operation::kModulo, {dividend, divisor});
  }
  SortByLevel(flat);
  int rest = Compute(Operation::kModulo, {flat[0], divisor});
  for (size_t i = 1; i < flat.size(); ++i) {
    rest = Compute(Operation::kModulo, {Compute(operation, {rest, flat[i]}), divisor});
  }
  return rest;
}

void PartialEvaluation::SortByLevel(std::vector<int>& nodes) const {
  std::stable_sort(nodes.begin(), nodes.end(),
                   [&](int a, int b) { return nodes_[a].levels.End() < nodes_[b].levels.End(); });
}

/// Rounding depends on the order; where all is whole and small enough there is none.
bool PartialEvaluation::IsExactInAnyOrder(Operation operation,
                                          std::span<const int> operands) const {
  if (operation != Operation::kAdd && operation != Operation::kMultiply) return true;
  double bound = operation == Operation::kAdd ? 0 : 1;
  for (int operand : operands) {
    if (!nodes_[operand].whole) return false;
    const double magnitude = Magnitude(slots_[nodes_[operand].first_slot]);
    bound = operation == Operation::kAdd ? bound + magnitude : bound * std::max(1.0, magnitude);
  }
  return bound < 0x1p53;
}

void PartialEvaluation::Flatten(Operation operation, int node, std::vector<int>& operands) const {
  if (nodes_[node].operation != operation) {
    operands.push_back(node);
    return;
  }
  for (int operand : nodes_[node].operands) Flatten(operation, operand, operands);
}

/// Combines what is known first first.
int PartialEvaluation::Chain(Operation operation, std::vector<int> operands) {
  std::vector<int> flat;
  for (int operand : operands) Flatten(operation, operand, flat);
  if (!IsExactInAnyOrder(operation, flat)) return Compute(operation, std::move(operands));
  SortByLevel(flat);
  int chain = flat[0];
  for (size_t i = 1; i < flat.size(); ++i) chain = Compute(operation, {chain, flat[i]});
  return chain;
}

/// Writes the programs of the levels: of each node that the constraints need, once for each level
/// that changes its value.
void PartialEvaluation::PlaceInLevels() {
  std::vector<bool> needed(nodes_.size());
  for (int root : roots_) needed[root] = true;
  for (size_t i = nodes_.size(); i-- > 0;) {
    if (!needed[i]) continue;
    for (int operand : nodes_[i].operands) needed[operand] = true;
  }
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    if (!needed[i] || node.operands.empty()) continue;
    for (int level = 0; level < static_cast<int>(levels_.size()); ++level) {
      if (!node.levels.Has(level)) continue;
      levels_[level].steps.push_back(StepAt(node, level));
    }
  }
  for (int root : roots_) {
    const LevelSet& touched_by = nodes_[root].levels;
    if (touched_by.empty()) continue;
    for (int l = touched_by.First(); l < touched_by.End(); ++l) levels_[l].roots.push_back(root);
  }
}

PartialEvaluation::Step PartialEvaluation::StepAt(const Node& node, int level) const {
  Step step{.operation = node.operation,
            .is_root = node.is_root,
            .index = node.index,
            .result = SlotAfter(node, level)};
  for (size_t i = 0; i < node.operands.size(); ++i) {
    const int slot = SlotAfter(nodes_[node.operands[i]], level);
    if (i < 3) step.operands[i] = slot;
    if (node.operation == Operation::kCode) step.more_operands.push_back(slot);
  }
  return step;
}

}  // namespace bayloom::space
