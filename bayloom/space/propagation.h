// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <vector>

#include "bayloom/space/expression.h"
#include "bayloom/space/number_set.h"

namespace bayloom::space {

/// Narrows the sets of values of parameters to what constraints leave of them: every expression
/// gets a set around its values from those of its operands, and, once its own values are known
/// better, hands that down to the operands (Benhamou et al. 1999, HC4). The sets know of residue
/// classes and divisors beside intervals, so that of `a % b == 0` with b = 12 the multiples of 12
/// are left for a, and of `a * b * c == 4096` its divisors for each.
///
/// Of an integer parameter the sets hold its values, of a real one too, of all others the ranks.
/// No feasible value is ever removed, as long as whole numbers stay below 2^53.
class Propagation {
 public:
  /// `members`: the parameters that the constraints are on, or more. The graph and the parameters
  /// must outlive the propagation.
  Propagation(const ExpressionGraph& graph, const ExpressionGraph::Parameters& parameters,
              std::span<const int> members, std::span<const int> constraints);

  const std::vector<int>& members() const { return members_; }
  /// Between the numbers in a member's set and the parameter's coordinates.
  double CoordinateOf(int member, double number) const;
  double NumberOf(int member, double coordinate) const;

  /// All numbers of each member.
  std::vector<NumberSet> Domains() const;
  /// Narrows the members' sets. False if nothing is left: the constraints contradict each other,
  /// given the sets, which are in pieces then.
  bool Narrow(std::span<NumberSet> numbers) const;
  /// The numbers of one member, of sets that Narrow has been through. Where they are ranks and few,
  /// only those that do not contradict the other members' sets.
  Members MembersOf(int member, std::span<const NumberSet> numbers) const;

 private:
  struct Node {
    Operation operation = Operation::kConstant;
    int index = 0;
    std::vector<int> operands;  ///< earlier nodes
    double constant = 0;
    bool is_root = false;
    bool is_truth = false;       ///< 0 or 1, for all operands
    bool is_comparison = false;  ///< if true, its operands have values
    // kTerm:
    int member = 0;
    bool is_shifted = false;  ///< the value is the member's number plus `shift`
    bool is_ordered = false;  ///< values ascend with numbers
    double shift = 0;
    NumberSet all;  ///< of a term that is neither
  };

  /// What is known of a node's value.
  struct Known {
    NumberSet set;
    bool has_value = false;  ///< it must have one: `1 % 0` has none
  };

  void AddTerm(Node& node);
  bool ComputeSets(std::span<const NumberSet> numbers, std::span<Known> known) const;
  bool NarrowSets(std::span<Known> known, std::span<NumberSet> numbers) const;
  void RequireValues(const Node& node, std::span<Known> known) const;
  NumberSet Forward(const Node& node, std::span<const Known> known,
                    std::span<const NumberSet> numbers) const;
  NumberSet ReadTerm(const Node& node, const NumberSet& numbers) const;
  bool NarrowTerm(const Node& node, const NumberSet& values, NumberSet& numbers) const;
  NumberSet CallCode(const Node& node, std::span<const Known> known) const;

  const ExpressionGraph& graph_;
  const ExpressionGraph::Parameters& parameters_;
  std::vector<int> members_;
  std::vector<Node> nodes_;
};

/// A set around an operation's results for all numbers of its operands; not for constants, terms,
/// memberships and code.
NumberSet ForwardSet(Operation operation, const NumberSet& a, const NumberSet& b,
                     const NumberSet& c);

/// Narrows the operands to what can give a number of `result`. False if nothing can.
bool NarrowOperands(Operation operation, const NumberSet& result, NumberSet& a, NumberSet& b,
                    NumberSet& c);

}  // namespace bayloom::space
