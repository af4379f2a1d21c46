// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Eigen/Core>
#include <vector>

#include "bayloom/model/regression_tree.h"
#include "bayloom/model/surrogate.h"

namespace bayloom::model {

struct FeasibilityForestOptions {
  int trees = 50;
  TreeOptions tree{.column_share = 0.75, .min_split = 2};
  /// What a feasible and an infeasible observation weigh when trees choose their splits.
  double feasible_weight = 0.8, infeasible_weight = 0.2;
};

/// A random forest that learns hidden constraints: the probability that a configuration is
/// feasible (Hellsten et al. 2023, sec. 4.2, with the numbers of its program).
class FeasibilityForest {
 public:
  explicit FeasibilityForest(FeasibilityForestOptions options = {});

  /// At least one row. What is learnt of feasible rows alone is that everything is feasible.
  void Fit(const RowMatrix& rows, const std::vector<bool>& feasible, base::RandomStream& random);

  /// The share of the trees that hold each row to be feasible. After a Fit only.
  Eigen::VectorXd Probability(const RowMatrix& rows) const;

 private:
  FeasibilityForestOptions options_;
  std::vector<RegressionTree> trees_;
};

}  // namespace bayloom::model
