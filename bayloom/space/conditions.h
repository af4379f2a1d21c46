// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/space/constraint.h"
#include "bayloom/space/expression.h"

namespace bayloom::space {

/// Which parameters count: a conditional one is active only where a condition on others holds, and
/// without effect elsewhere (Hutter and Osborne 2013, "A kernel for hierarchical parameter
/// spaces"). Conditions may be on conditional parameters in turn, but not in a circle.
///
/// Configurations that differ in inactive parameters only are one configuration: an inactive
/// parameter has its stand-in for a coordinate, which is its default or else its first value.
///
/// In a condition a comparison with an inactive parameter does not hold, nor does its negation; in
/// a known constraint both hold, so that it demands nothing of what has no effect.
class Conditions {
 public:
  struct Given {
    int parameter;
    std::vector<int> expressions;  ///< all must be true
    std::string text;
  };

  Conditions() = default;
  /// The graph and the parameters must outlive the conditions. Fails, naming the parameters, if
  /// they depend on each other in a circle.
  static Result<Conditions> Make(ExpressionGraph& graph,
                                 const ExpressionGraph::Parameters& parameters,
                                 std::span<const Given> given);

  bool empty() const { return conditional_.empty(); }
  /// In the order in which they depend on each other.
  std::vector<int> parameters() const;
  bool IsConditional(int parameter) const { return Of(parameter) != nullptr; }
  /// Whether others are conditional on it.
  bool IsGoverning(int parameter) const {
    return !is_governing_.empty() && is_governing_[parameter];
  }
  bool IsActive(int parameter, std::span<const double> coordinates) const {
    const Conditional* conditional = Of(parameter);
    return conditional == nullptr || activities_[conditional->activity].holds.Holds(coordinates);
  }
  /// The inactive parameters, in the order of parameters().
  std::vector<int> InactiveOf(std::span<const double> coordinates) const;
  /// Of a conditional parameter: its coordinate where it is inactive.
  double StandIn(int parameter) const { return Of(parameter)->stand_in; }
  /// Of a conditional parameter: the condition as it was written.
  const std::string& Text(int parameter) const { return Of(parameter)->text; }
  /// Gives inactive parameters their stand-ins.
  void Settle(std::span<double> coordinates) const;
  bool IsSettled(std::span<const double> coordinates) const;

  /// The constraint as it is where parameters may be inactive.
  int Relax(ExpressionGraph& graph, int constraint) const;
  /// For a conditional parameter: that it is active or has its stand-in.
  int Tie(ExpressionGraph& graph, int parameter) const;

 private:
  /// What parameters with the same condition have in common.
  struct Activity {
    int expression;  ///< true where they are active; what they depend on is, too
    Constraint holds;
  };
  struct Conditional {
    int parameter;
    int activity;
    double stand_in;
    std::string text;
  };

  const Conditional* Of(int parameter) const {
    const int place = place_.empty() ? -1 : place_[parameter];
    return place < 0 ? nullptr : &conditional_[place];
  }
  int ExpressionOf(int parameter) const { return activities_[Of(parameter)->activity].expression; }
  int Guard(ExpressionGraph& graph, int expression, bool value_if_inactive) const;

  std::vector<Activity> activities_;
  std::vector<Conditional> conditional_;
  std::vector<int> place_;  ///< by parameter, in the list above; -1: always active
  std::vector<bool> is_governing_;
};

}  // namespace bayloom::space
