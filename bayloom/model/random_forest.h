// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <memory>
#include <vector>

#include "bayloom/model/regression_tree.h"
#include "bayloom/model/standardizer.h"
#include "bayloom/model/surrogate.h"

namespace bayloom::model {

struct RandomForestOptions {
  int trees = 100;
  TreeOptions tree{.column_share = 0.5, .min_split = 2};
  bool bootstrap = true;  ///< each tree grows on as many rows as there are, drawn with replacement
  ObjectiveScale scale = ObjectiveScale::kAuto;
};

/// A random forest as surrogate (Breiman 2001; as in SMAC and Ytopt). Its mean is that of the
/// trees' leaves; its variance that of a leaf drawn at random: the mean of their variances plus
/// the variance of their means (Hutter et al. 2014, sec. 4.3.2).
///
/// Add drops the new observations into the leaves they belong to; only Fit grows trees.
class RandomForest final : public Surrogate {
 public:
  explicit RandomForest(RandomForestOptions options = {});

  void Fit(const RowMatrix& rows, const Eigen::VectorXd& values,
           base::RandomStream& random) override;
  void Add(const RowMatrix& rows, const Eigen::VectorXd& values) override;
  void Predict(const RowMatrix& rows, Eigen::VectorXd& mean,
               Eigen::VectorXd& variance) const override;
  double Transform(double value) const override { return standardizer_.Apply(value); }
  double Untransform(double prediction) const override { return standardizer_.Invert(prediction); }
  int max_observations() const override { return 12'000; }
  std::unique_ptr<Surrogate> Clone() const override;
  std::unique_ptr<IncrementalPredictor> TrackPredictions(RowMatrix rows) const override;

  /// What ForestIncrementalPredictor follows: the leaf of each row in each tree (rows x trees), the
  /// predictions of rows with such leaves, and a number that says which Fit grew the trees, of this
  /// forest or of one that it is a clone of.
  Eigen::MatrixXi LeavesOf(const RowMatrix& rows) const;
  void PredictLeaves(const Eigen::MatrixXi& leaves, Eigen::VectorXd& mean,
                     Eigen::VectorXd& variance) const;
  uint64_t grown() const { return grown_; }

 private:
  RandomForestOptions options_;
  Standardizer standardizer_;
  std::vector<RegressionTree> trees_;
  uint64_t grown_ = 0;
};

}  // namespace bayloom::model
