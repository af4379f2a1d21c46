// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Eigen/Core>
#include <optional>

#include "bayloom/model/gamma_prior.h"

namespace bayloom::model {

/// What a Gaussian process over standardized observations learns by maximizing its posterior.
struct KernelHyperparameters {
  Eigen::VectorXd length_scales;  ///< one per group of columns
  double signal_variance = 1;
  double noise_variance = 1e-2;

  /// log of (length-scales..., signal, noise): how the optimizer sees them.
  Eigen::VectorXd ToLogs() const;
  static KernelHyperparameters FromLogs(const Eigen::VectorXd& logs);
};

/// How long length-scales are expected to be where there are so many groups: 1 up to 40 groups,
/// and then growing with the square root of their number, as distances do (Hvarfner et al. 2024,
/// "Vanilla Bayesian optimization performs great in high dimensions"). With length-scales of 1 in
/// hundreds of groups no configuration would be like any other.
double UsualLengthScale(Eigen::Index groups);

/// Priors over them, none where empty. The defaults of the length-scales, in units of
/// UsualLengthScale, are those of BaCO's scenarios; they expect each group's largest distance to be
/// 1. The others are BoTorch's.
struct KernelPriors {
  std::optional<GammaPrior> length_scale = GammaPrior{1.3, 0.1};
  std::optional<GammaPrior> signal_variance = GammaPrior{2, 0.15};
  std::optional<GammaPrior> noise_variance = GammaPrior{1.1, 0.05};

  /// Logarithm of the density at the hyperparameters; adds its derivatives by their logarithms to
  /// `gradient` where that is not null. Without priors, 0.
  double LogDensity(const KernelHyperparameters& at, Eigen::VectorXd* gradient) const;
};

}  // namespace bayloom::model
