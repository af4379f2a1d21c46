// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "bayloom/model/gaussian_process.h"
#include "bayloom/model/task_observations.h"

namespace bayloom::experimental {

/// A surrogate of one task that begins where those of earlier tasks end (stacking, as in GPTune's
/// TLA-I; Golovin et al. 2017, sec. 3.3): a Gaussian process a task, in the order given, learns
/// what the ones before it leave unexplained; that of the target comes last. Means add up.
/// Variances are geometric means, in which a task weighs as many as it has observations,
///
///     log v_k = b log(variance of residual k) + (1 - b) log v_(k-1),  b = n_k / (n_k + n_(k-1)).
///
/// Cheaper than TransferSurrogate, as tasks are never factorized together, and simpler: it trusts
/// earlier tasks to be alike up to height and scale.
class StackedSurrogate final : public model::Surrogate {
 public:
  /// Earlier tasks have at least one observation each. They are learnt at the first Fit.
  StackedSurrogate(model::ColumnGroups group_of_column,
                   std::vector<model::TaskObservations> earlier,
                   model::GaussianProcessOptions options = {});

  void Fit(const model::RowMatrix& rows, const Eigen::VectorXd& values,
           base::RandomStream& random) override;
  void Add(const model::RowMatrix& rows, const Eigen::VectorXd& values) override;
  void Predict(const model::RowMatrix& rows, Eigen::VectorXd& mean,
               Eigen::VectorXd& variance) const override;
  double Transform(double value) const override { return scale_.Apply(value); }
  double Untransform(double prediction) const override { return scale_.Invert(prediction); }
  std::unique_ptr<model::Surrogate> Clone() const override;

 private:
  /// Learns one more task: what the layers so far leave of `standard`.
  void AddLayer(model::GaussianProcess layer, const model::RowMatrix& rows,
                const Eigen::VectorXd& standard, base::RandomStream& random);
  Eigen::VectorXd Residuals(const model::RowMatrix& rows, const Eigen::VectorXd& standard,
                            size_t layers) const;
  void PredictWith(size_t layers, const model::RowMatrix& rows, Eigen::VectorXd& mean,
                   Eigen::VectorXd& variance) const;

  model::GaussianProcessOptions options_;
  std::vector<model::TaskObservations> earlier_;
  model::GaussianProcess untrained_;
  std::vector<model::GaussianProcess> layers_;  ///< of the earlier tasks, then of the target
  model::Standardizer scale_;                   ///< of the target
};

}  // namespace bayloom::experimental
