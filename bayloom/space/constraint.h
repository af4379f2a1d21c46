// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <vector>

#include "bayloom/space/expression.h"

namespace bayloom::space {

/// One known constraint, or a number that it compares, as a program over coordinates.
class Constraint {
 public:
  /// The graph and the parameters must outlive the constraint.
  Constraint(const ExpressionGraph& graph, const ExpressionGraph::Parameters& parameters,
             int expression);

  /// Those it is on, ascending.
  const std::vector<int>& parameters() const { return bound_; }
  /// Whether it holds for a whole configuration's coordinates.
  bool Holds(std::span<const double> coordinates) const { return Compute(coordinates) != 0; }
  /// What the expression computes of them.
  double Compute(std::span<const double> coordinates) const;

 private:
  struct Step {
    Operation operation = Operation::kConstant;
    int index = 0;
    double constant = 0;
    int parameter = 0;               ///< kTerm
    std::vector<double> table = {};  ///< kTerm of a small domain: what it reads, by rank
    int operands[3] = {0, 0, 0};     ///< earlier steps
    std::vector<int> more = {};      ///< kCode: all operands
  };

  double Run(const Step& step, std::span<const double> coordinates,
             std::span<const double> values) const;

  const ExpressionGraph* graph_;
  const ExpressionGraph::Parameters* owners_;
  std::vector<int> bound_;
  std::vector<Step> steps_;
};

/// The parameters an expression reads, ascending.
std::vector<int> ParametersOf(const ExpressionGraph& graph, int expression);

/// What the constraints compare of several parameters together, each once: `x * y` where they
/// demand `x * y <= 1024`.
std::vector<int> ComparedQuantities(const ExpressionGraph& graph, std::span<const int> constraints);

}  // namespace bayloom::space
