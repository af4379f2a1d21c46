// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/model/feasibility_forest.h"

namespace bayloom::model {

using Eigen::Index;
using Eigen::VectorXd;

FeasibilityForest::FeasibilityForest(FeasibilityForestOptions options) : options_(options) {}

void FeasibilityForest::Fit(const RowMatrix& rows, const std::vector<bool>& feasible,
                            base::RandomStream& random) {
  VectorXd labels(rows.rows()), weights(rows.rows());
  for (Index i = 0; i < rows.rows(); ++i) {
    labels(i) = feasible[i] ? 1 : 0;
    weights(i) = feasible[i] ? options_.feasible_weight : options_.infeasible_weight;
  }
  // The squared error of labels 0 and 1 is, but for a factor, their Gini impurity.
  const RankedRows ranked(rows);
  trees_.clear();
  for (int i = 0; i < options_.trees; ++i) {
    trees_.emplace_back(ranked, labels, weights, options_.tree, random);
  }
}

VectorXd FeasibilityForest::Probability(const RowMatrix& rows) const {
  VectorXd probability = VectorXd::Zero(rows.rows());
  for (const RegressionTree& tree : trees_) {
    for (Index i = 0; i < rows.rows(); ++i) probability(i) += tree.LeafOf(&rows(i, 0)).mean;
  }
  return (probability / static_cast<double>(trees_.size())).cwiseMin(1);
}

}  // namespace bayloom::model
