// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/model/coregionalization.h"

#include <Eigen/Cholesky>
#include <limits>

#include "bayloom/model/cholesky.h"
#include "bayloom/model/log_posterior.h"

namespace bayloom::model {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

int LatentSize(int groups, int tasks) { return groups + 2 * tasks; }

/// The covariance of all observations (lower triangle), and the kernels it is made of.
MatrixXd PooledCovariance(const PooledObservations& observations,
                          const ColumnGroups& group_of_column, const Coregionalization& model,
                          std::vector<MatrixXd>& scaled, std::vector<KernelTriangle>& kernels) {
  const Index n = observations.rows.rows();
  MatrixXd covariance = MatrixXd::Zero(n, n);
  for (const LatentProcess& latent : model.latents) {
    scaled.push_back(ScaledColumns(observations.rows, group_of_column, latent.length_scales));
    Matern52Triangle(scaled.back(), kernels.emplace_back());
    kernels.back().value.diagonal().array() += kNugget;
    const MatrixXd tasks = latent.TaskCovariance();
    for (Index j = 0; j < n; ++j) {
      const auto by_task = tasks.col(observations.tasks[j]);
      for (Index i = j; i < n; ++i) {
        covariance(i, j) += by_task(observations.tasks[i]) * kernels.back().value(i, j);
      }
    }
  }
  for (Index i = 0; i < n; ++i) covariance(i, i) += model.noise_variance(observations.tasks[i]);
  return covariance;
}

/// Log density of the priors; adds its derivatives by the packed parameters.
double PriorDensity(const Coregionalization& model, const CoregionalizationPriors& priors,
                    VectorXd* gradient) {
  double density = 0;
  Index index = 0;
  auto gamma = [&](const GammaPrior& prior, const VectorXd& values) {
    for (const double value : values) {
      density += prior.LogDensity(value);
      if (gradient != nullptr) (*gradient)(index) += prior.Slope(value);
      ++index;
    }
  };
  for (const LatentProcess& latent : model.latents) {
    gamma(priors.length_scale, latent.length_scales);
    const double precision = 1 / (priors.weight_deviation * priors.weight_deviation);
    density -= 0.5 * precision * latent.weights.squaredNorm();
    if (gradient != nullptr) {
      gradient->segment(index, latent.weights.size()) -= precision * latent.weights;
    }
    index += latent.weights.size();
    gamma(priors.own_variance, latent.own);
  }
  gamma(priors.noise_variance, model.noise_variance);
  return density;
}

/// Adds the gradient by one latent process, whose part of it is `gradient`, given
/// W = alpha alpha^T - K^-1 (lower triangle).
void AddLatentGradient(const PooledObservations& observations, const LatentProcess& latent,
                       const KernelTriangle& kernel, const MatrixXd& scaled,
                       const ColumnGroups& group_of_column, const MatrixXd& w,
                       Eigen::Ref<VectorXd> gradient) {
  const Index n = w.rows(), tasks = latent.own.size(), groups = latent.length_scales.size();
  const MatrixXd covariance = latent.TaskCovariance();
  MatrixXd by_tasks = MatrixXd::Zero(tasks, tasks);  // sums of W o k over pairs of tasks
  MatrixXd weights(n, n);
  for (Index j = 0; j < n; ++j) {
    const int task = observations.tasks[j];
    for (Index i = j; i < n; ++i) {
      const int other = observations.tasks[i];
      by_tasks(other, task) += (i == j ? 0.5 : 1.0) * w(i, j) * kernel.value(i, j);
      weights(i, j) = w(i, j) * covariance(other, task) * kernel.slope(i, j);
    }
  }
  by_tasks += by_tasks.transpose().eval();
  gradient.head(groups) += 0.5 * WeightedSquaredDistances(weights, scaled, group_of_column);
  gradient.segment(groups, tasks) += by_tasks * latent.weights;
  gradient.tail(tasks) += 0.5 * by_tasks.diagonal().cwiseProduct(latent.own);
}

}  // namespace

MatrixXd LatentProcess::TaskCovariance() const {
  MatrixXd covariance = weights * weights.transpose();
  covariance.diagonal() += own;
  return covariance;
}

VectorXd Coregionalization::Pack() const {
  const int size = LatentSize(groups(), tasks());
  VectorXd packed(static_cast<Index>(latents.size()) * size + tasks());
  Index at = 0;
  for (const LatentProcess& latent : latents) {
    packed.segment(at, size) << latent.length_scales.array().log().matrix(), latent.weights,
        latent.own.array().log().matrix();
    at += size;
  }
  packed.tail(tasks()) = noise_variance.array().log();
  return packed;
}

Coregionalization Coregionalization::Unpack(const VectorXd& packed, int groups, int tasks,
                                            int latents) {
  Coregionalization model;
  const int size = LatentSize(groups, tasks);
  for (int q = 0; q < latents; ++q) {
    const VectorXd part = packed.segment(q * size, size);
    model.latents.push_back({part.head(groups).array().exp(), part.segment(groups, tasks),
                             part.tail(tasks).array().exp()});
  }
  model.noise_variance = packed.tail(tasks).array().exp();
  return model;
}

MatrixXd Coregionalization::Covariance(const RowMatrix& a, std::span<const int> task_a,
                                       const RowMatrix& b, int task_b,
                                       const ColumnGroups& group_of_column) const {
  MatrixXd covariance = MatrixXd::Zero(a.rows(), b.rows());
  for (const LatentProcess& latent : latents) {
    const MatrixXd kernel = Matern52(ScaledColumns(a, group_of_column, latent.length_scales),
                                     ScaledColumns(b, group_of_column, latent.length_scales));
    const VectorXd by_task = latent.TaskCovariance().col(task_b);
    VectorXd factor(a.rows());
    for (Index i = 0; i < a.rows(); ++i) factor(i) = by_task(task_a[i]);
    covariance += factor.asDiagonal() * kernel;
  }
  return covariance;
}

VectorXd TaskMeans(const MatrixXd& half_means, const VectorXd& half_values, double mean_deviation) {
  MatrixXd normal = half_means.transpose() * half_means;
  normal.diagonal().array() += 1 / (mean_deviation * mean_deviation);
  return normal.llt().solve(half_means.transpose() * half_values);
}

MatrixXd TaskIndicators(std::span<const int> tasks, int task_count) {
  MatrixXd indicators = MatrixXd::Zero(std::ssize(tasks), task_count);
  for (Index i = 0; i < std::ssize(tasks); ++i) indicators(i, tasks[i]) = 1;
  return indicators;
}

double LogCoregionalizationPosterior(const PooledObservations& observations,
                                     const ColumnGroups& group_of_column,
                                     const CoregionalizationPriors& priors, int tasks, int latents,
                                     const VectorXd& packed, VectorXd* gradient) {
  const int groups = CountGroups(group_of_column);
  const auto model = Coregionalization::Unpack(packed, groups, tasks, latents);
  std::vector<MatrixXd> scaled;
  std::vector<KernelTriangle> kernels;
  MatrixXd factor = PooledCovariance(observations, group_of_column, model, scaled, kernels);
  if (gradient != nullptr) gradient->setZero(packed.size());
  if (!CholeskyInPlace(factor)) return -std::numeric_limits<double>::infinity();

  const auto lower = factor.triangularView<Eigen::Lower>();
  const double half_log_determinant = factor.diagonal().array().log().sum();
  const MatrixXd half_means = lower.solve(TaskIndicators(observations.tasks, tasks));
  VectorXd whitened = lower.solve(observations.values);
  const VectorXd means = TaskMeans(half_means, whitened, priors.mean_deviation);
  whitened -= half_means * means;
  const double misfit = whitened.squaredNorm() +
                        means.squaredNorm() / (priors.mean_deviation * priors.mean_deviation);
  const double prior = PriorDensity(model, priors, gradient);

  if (gradient != nullptr) {
    const VectorXd alpha = factor.transpose().triangularView<Eigen::Upper>().solve(whitened);
    InvertCholeskyInPlace(factor);
    MatrixXd w = -factor;
    w.selfadjointView<Eigen::Lower>().rankUpdate(alpha);
    const int size = LatentSize(groups, tasks);
    for (int q = 0; q < latents; ++q) {
      AddLatentGradient(observations, model.latents[q], kernels[q], scaled[q], group_of_column, w,
                        gradient->segment(q * size, size));
    }
    for (Index i = 0; i < w.rows(); ++i) {
      const int task = observations.tasks[i];
      (*gradient)(packed.size() - tasks + task) += 0.5 * w(i, i) * model.noise_variance(task);
    }
  }
  return -0.5 * misfit - half_log_determinant + prior;
}

}  // namespace bayloom::model
