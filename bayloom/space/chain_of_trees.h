// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/base/result.h"
#include "bayloom/space/constraint.h"
#include "bayloom/space/expression.h"
#include "bayloom/space/tree.h"

namespace bayloom::space {

/// What is feasible of a whole space: one tree for each group of parameters that share constraints,
/// any combination of their paths being feasible (Rasch et al. 2018; Hellsten et al. 2023, sec.
/// 4.2).
///
/// Parameters without constraints are free. Constraints that involve a real parameter, or more
/// values than can be enumerated, are loose: they are looked at after drawing, and what does not
/// satisfy them is drawn again.
///
/// All `coordinates` are those of whole configurations.
class ChainOfTrees {
 public:
  /// The graph and the parameters must outlive the chain. Fails, naming the parameters, if
  /// constraints leave nothing.
  static Result<ChainOfTrees> Grow(const ExpressionGraph& graph,
                                   const ExpressionGraph::Parameters& parameters,
                                   std::span<const int> constraints);

  const std::vector<Tree>& trees() const { return trees_; }
  bool has_loose_constraints() const { return !loose_.empty(); }

  /// Infinity with real parameters or loose constraints.
  double CountFeasible() const;
  bool Contains(std::span<const double> coordinates) const;
  /// False if the loose constraints held for none of many draws.
  bool Sample(base::RandomStream& random, SamplingMethod method,
              std::span<double> coordinates) const;
  /// What one parameter may change to, one step away, while the others stay.
  std::vector<double> Alternatives(int parameter, std::span<const double> coordinates,
                                   base::RandomStream& random) const;
  /// Sets the coordinates to each feasible configuration's in turn and calls back, until told to
  /// stop by a false. There must be no real parameter.
  void ForEach(std::span<double> coordinates, const std::function<bool()>& visit) const;

 private:
  /// What loose constraints bind together and is drawn together.
  struct Cluster {
    std::vector<int> trees;
    std::vector<int> parameters;  ///< free ones
    std::vector<int> loose;
  };

  ChainOfTrees(const ExpressionGraph& graph, const ExpressionGraph::Parameters& parameters)
      : graph_(&graph), parameters_(&parameters), place_(parameters.size()) {}

  const Parameter& parameter(int i) const { return *(*parameters_)[i]; }
  Status GrowGroups(std::vector<int> constraints, int retries);
  Status GrowGroup(std::vector<int> constraints, int retries);
  Result<std::vector<Domain>> Narrow(std::vector<int>& constraints) const;
  void AddTree(Tree tree);
  void AddLoose(int constraint);
  void FormClusters();
  bool HoldsLoosely(std::span<const double> coordinates, int parameter) const;
  bool VisitFrom(int part, std::span<double> coordinates, const std::function<bool()>& visit) const;

  struct Place {
    int tree = -1;  ///< -1: free
    int level = 0;
  };

  const ExpressionGraph* graph_;
  const ExpressionGraph::Parameters* parameters_;
  std::vector<Tree> trees_;
  std::vector<Place> place_;  ///< by parameter
  std::vector<Constraint> loose_;
  std::vector<Cluster> clusters_;
};

}  // namespace bayloom::space
