// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <span>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/space/constraint.h"
#include "bayloom/space/propagation.h"
#include "bayloom/space/tree.h"

namespace bayloom::space {

/// Feasible values of parameters whose constraints leave too many to enumerate and too few to hit
/// by chance: `a % b == 0` over a billion values each. Solves instead of guessing: one parameter
/// after the other gets a number that propagation has left it, and propagation narrows the others
/// to what goes with it. An assignment that turns out impossible is drawn again a few times, then
/// the whole proposal is dropped.
///
/// Draws approximate the uniform distribution over the feasible values (or the prior) by importance
/// resampling: of kProposals proposals, whose parameters come in random order and whose numbers are
/// drawn half uniformly and half by their logarithms, one is kept in proportion to one over the
/// probability of proposing it. Every feasible value can be drawn. Real parameters are uniform on
/// their scales.
///
/// The work for one draw is bounded: kMaxProposals proposals of at most kTries propagations a
/// parameter. Thread safe.
class ConstraintSolver {
 public:
  static constexpr int kProposals = 8;
  static constexpr int kMaxProposals = 256;
  static constexpr int kTries = 6;

  /// The graph and the parameters must outlive the solver.
  ConstraintSolver(const ExpressionGraph& graph, const ExpressionGraph::Parameters& parameters,
                   std::vector<int> members, std::span<const int> constraints);

  const std::vector<int>& members() const { return propagation_.members(); }
  /// Whether propagation has found that the constraints contradict each other.
  bool is_contradictory() const { return is_contradictory_; }
  /// The coordinates left to one of the members, which is not real, ascending; nullopt if they are
  /// more than `most`.
  std::optional<std::vector<double>> CoordinatesLeft(int member, double most) const;

  // All `coordinates` are those of whole configurations.

  /// Sets the members' coordinates. False if no proposal was feasible.
  bool Sample(base::RandomStream& random, SamplingMethod method,
              std::span<double> coordinates) const;
  /// What a member may change to while all others stay: the next values below and above, and the
  /// feasible values nearest to its own neighbours.
  std::vector<double> Alternatives(int member, std::span<const double> coordinates,
                                   base::RandomStream& random) const;
  /// Feasible coordinates in which a member has changed by a step, and the others by as little as
  /// was found to go with it: of `a == b` both.
  std::vector<std::vector<double>> JointAlternatives(int member,
                                                     std::span<const double> coordinates,
                                                     base::RandomStream& random) const;

 private:
  using Numbers = std::vector<NumberSet>;
  struct Proposal {
    Numbers numbers;
    double log_weight = 0;
  };
  struct Drawn {
    double number = 0;
    double log_density = 0;
  };

  const Parameter& parameter(int member) const {
    return *parameters_[propagation_.members()[member]];
  }
  bool IsReal(int member) const { return parameter(member).Cardinality() == kUncountable; }
  Numbers NumbersOf(std::span<const double> coordinates) const;
  bool IsFeasible(const Numbers& numbers, std::span<double> coordinates) const;
  std::optional<Proposal> Propose(base::RandomStream& random) const;
  int Choose(const Numbers& numbers, base::RandomStream& random) const;
  std::optional<Drawn> Draw(int member, const Numbers& numbers, base::RandomStream& random) const;
  bool Assign(int member, double number, Numbers& numbers) const;
  std::vector<double> Targets(int member, const Numbers& numbers, double own,
                              base::RandomStream& random) const;
  bool Follow(const Numbers& current, Numbers& numbers, base::RandomStream& random) const;

  const ExpressionGraph::Parameters& parameters_;
  Propagation propagation_;
  std::vector<Constraint> constraints_;
  Numbers left_;  ///< what constraints leave before anything is assigned
  bool is_contradictory_ = false;
};

}  // namespace bayloom::space
