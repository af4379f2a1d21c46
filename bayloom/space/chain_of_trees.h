// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/base/result.h"
#include "bayloom/space/constraint.h"
#include "bayloom/space/expression.h"
#include "bayloom/space/tree.h"

namespace bayloom::space {

class ConstraintSolver;

/// What is feasible of a whole space: one tree for each group of parameters that share constraints,
/// any combination of their paths being feasible (Rasch et al. 2018; Hellsten et al. 2023, sec.
/// 4.2).
///
/// Parameters without constraints are free. Constraints that involve a real parameter, or more
/// values than can be enumerated, are loose: they are looked at after drawing, and what does not
/// satisfy them is drawn again, which is uniform, too. Where that hardly ever succeeds
/// (`a % b == 0` over a billion values each), a solver draws what is feasible: approximately
/// uniform, with an effort that is bounded (see ConstraintSolver).
///
/// All `coordinates` are those of whole configurations.
class ChainOfTrees {
 public:
  /// Parameters with more values are not enumerated.
  static constexpr int64_t kMaxValues = int64_t{1} << 20;

  /// The graph and the parameters must outlive the chain. Fails, naming the parameters, if
  /// constraints leave nothing.
  static Result<ChainOfTrees> Grow(const ExpressionGraph& graph,
                                   const ExpressionGraph::Parameters& parameters,
                                   std::span<const int> constraints);

  const std::vector<Tree>& trees() const { return trees_; }
  bool has_loose_constraints() const { return !loose_.empty(); }

  /// Infinity with real parameters or loose constraints, and above 1.8e308.
  double CountFeasible() const;
  /// Its decimal logarithm; infinity with real parameters or loose constraints.
  double Log10CountFeasible() const;
  int loose_constraints() const { return static_cast<int>(loose_.size()); }
  bool Contains(std::span<const double> coordinates) const;
  /// False if none of many draws satisfied the loose constraints.
  bool Sample(base::RandomStream& random, SamplingMethod method,
              std::span<double> coordinates) const;
  /// What one parameter may change to, one step away, while the others stay.
  std::vector<double> Alternatives(int parameter, std::span<const double> coordinates,
                                   base::RandomStream& random) const;
  /// Where what is solved for lets one parameter change only together with others: coordinates in
  /// which it has, by one step, and the others by as little as was found. Else none.
  std::vector<std::vector<double>> JointAlternatives(int parameter,
                                                     std::span<const double> coordinates,
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
    /// Of parameters with more values than can be enumerated; else null.
    std::shared_ptr<const ConstraintSolver> solver = nullptr;
    bool is_sparse = false;  ///< draws hardly ever satisfy the loose constraints
  };

  ChainOfTrees(const ExpressionGraph& graph, const ExpressionGraph::Parameters& parameters)
      : graph_(&graph), parameters_(&parameters), place_(parameters.size()) {}

  const Parameter& parameter(int i) const { return *(*parameters_)[i]; }
  Status NarrowLarge(std::span<const int> constraints);
  bool IsEnumerable(int parameter) const;
  Status GrowGroups(std::vector<int> constraints, int retries);
  Status GrowGroup(std::vector<int> constraints, int retries);
  Result<std::vector<Domain>> Narrow(std::vector<int>& constraints) const;
  void AddTree(Tree tree);
  void AddLoose(int constraint);
  void FormClusters(std::span<const int> constraints);
  void AddSolver(Cluster& cluster, std::span<const int> constraints);
  bool DrawCluster(const Cluster& cluster, base::RandomStream& random, SamplingMethod method,
                   std::span<double> coordinates) const;
  static int MemberOf(const Cluster& cluster, int parameter);
  bool HoldsLoosely(std::span<const double> coordinates, int parameter) const;
  bool VisitFrom(int part, std::span<double> coordinates, const std::function<bool()>& visit) const;

  struct Place {
    int tree = -1;  ///< -1: free
    int level = 0;
    int cluster = 0;
  };

  const ExpressionGraph* graph_;
  const ExpressionGraph::Parameters* parameters_;
  /// Coordinates that constraints leave of parameters with too many values to enumerate, where that
  /// makes them few enough.
  std::map<int, std::vector<double>> narrowed_;
  std::vector<Tree> trees_;
  std::vector<Place> place_;  ///< by parameter
  std::vector<Constraint> loose_;
  std::vector<Cluster> clusters_;
};

}  // namespace bayloom::space
