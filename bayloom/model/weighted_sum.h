// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <vector>

#include "bayloom/model/gaussian_process.h"
#include "bayloom/model/task_observations.h"

namespace bayloom::model {

/// A surrogate of one task as a sum over tasks, each with a Gaussian process of its own (TLA-I of
/// GPTune; Kannan 2023, sec. III-C): mean and standard deviation are the weighted means of theirs,
/// every task on its own standard scale. What it knows of the target's height comes from the target
/// alone; from earlier tasks it takes where their good and bad regions are.
///
/// A task weighs by the share of pairs of the target's observations that its predictions put in
/// order, nothing up to one half; predictions of the target's own process are those of a
/// cross-validation (the idea of ranking-weighted ensembles, Feurer et al. 2018).
class WeightedSurrogate final : public Surrogate {
 public:
  /// Earlier tasks have at least one observation each. They are learnt at the first Fit. Weights
  /// are equal while the target has fewer than `min_ranked` observations.
  WeightedSurrogate(ColumnGroups group_of_column, std::vector<TaskObservations> earlier,
                    Eigen::Index min_ranked = 3, GaussianProcessOptions options = {});

  void Fit(const RowMatrix& rows, const Eigen::VectorXd& values,
           base::RandomStream& random) override;
  void Add(const RowMatrix& rows, const Eigen::VectorXd& values) override;
  void Predict(const RowMatrix& rows, Eigen::VectorXd& mean,
               Eigen::VectorXd& variance) const override;
  double Transform(double value) const override { return Target().Transform(value); }
  double Untransform(double prediction) const override { return Target().Untransform(prediction); }
  std::unique_ptr<Surrogate> Clone() const override;

  /// Of the earlier tasks, then of the target; their sum is 1.
  const Eigen::VectorXd& weights() const { return weights_; }

 private:
  const GaussianProcess& Target() const { return tasks_.back(); }
  void ComputeWeights();
  /// What the target's process says of each observation when it is not told it.
  Eigen::VectorXd CrossValidated() const;

  std::vector<TaskObservations> earlier_;
  Eigen::Index min_ranked_;
  GaussianProcess untrained_;
  std::vector<GaussianProcess> tasks_;  ///< of the earlier tasks, then of the target
  Eigen::VectorXd weights_;
  RowMatrix rows_;          ///< of the target
  Eigen::VectorXd values_;  ///< of the target
};

}  // namespace bayloom::model
