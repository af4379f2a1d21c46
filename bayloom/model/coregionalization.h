// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "bayloom/model/gamma_prior.h"
#include "bayloom/model/matern.h"

namespace bayloom::model {

/// One of the functions that tasks share, and what each task takes from it.
struct LatentProcess {
  Eigen::VectorXd length_scales;  ///< one per group of columns
  Eigen::VectorXd weights;        ///< w_i: how much task i takes of what is common to all
  Eigen::VectorXd own;            ///< kappa_i > 0: variance of task i's own function of this kind

  /// B = w w^T + diag(kappa): covariance of the tasks.
  Eigen::MatrixXd TaskCovariance() const;
};

/// The linear coregionalization model (Alvarez et al. 2012, sec. 4.2; as in GPTune):
///
///     cov((x, i), (x', j)) = sum over q of B_q(i, j) k_q(x, x'),
///
/// with one Matern-5/2 kernel k_q a latent process, and noise of its own for each task.
struct Coregionalization {
  std::vector<LatentProcess> latents;
  Eigen::VectorXd noise_variance;  ///< one per task

  int groups() const { return static_cast<int>(latents.front().length_scales.size()); }
  int tasks() const { return static_cast<int>(noise_variance.size()); }
  /// How the optimizer sees it: latent by latent the logarithms of length-scales, the weights and
  /// the logarithms of own variances; then those of the noise.
  Eigen::VectorXd Pack() const;
  static Coregionalization Unpack(const Eigen::VectorXd& packed, int groups, int tasks,
                                  int latents);

  /// Covariance of rows `a` of tasks `task_a` with rows `b` of one task, noise left out.
  Eigen::MatrixXd Covariance(const RowMatrix& a, std::span<const int> task_a, const RowMatrix& b,
                             int task_b, const ColumnGroups& group_of_column) const;
};

/// Observations of all tasks, on one scale.
struct PooledObservations {
  RowMatrix rows;
  std::vector<int> tasks;  ///< which task each row belongs to
  Eigen::VectorXd values;
};

struct CoregionalizationPriors {
  GammaPrior length_scale{1.3, 0.1};
  double weight_deviation = 1;  ///< weights are normal around 0
  GammaPrior own_variance{1.1, 2};
  GammaPrior noise_variance{1.1, 0.05};
  double mean_deviation = 2;  ///< of the tasks' constant means, normal around 0
};

/// The means of the tasks that maximize the posterior, m = (H^T K^-1 H + I/s^2)^-1 H^T K^-1 z,
/// where H_ai = 1 if observation a is of task i. `half_means` and `half_values` are L^-1 H and
/// L^-1 z for the Cholesky factor L of K.
Eigen::VectorXd TaskMeans(const Eigen::MatrixXd& half_means, const Eigen::VectorXd& half_values,
                          double mean_deviation);

/// Rows of H.
Eigen::MatrixXd TaskIndicators(std::span<const int> tasks, int task_count);

/// The logarithm of the posterior density at packed parameters, but for a constant, and its
/// gradient where that is not null; as LogPosterior does it for a single task.
double LogCoregionalizationPosterior(const PooledObservations& observations,
                                     const ColumnGroups& group_of_column,
                                     const CoregionalizationPriors& priors, int tasks, int latents,
                                     const Eigen::VectorXd& packed, Eigen::VectorXd* gradient);

}  // namespace bayloom::model
