// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Eigen/Core>
#include <functional>

#include "bayloom/base/random.h"

namespace bayloom::model {

/// What the ensemble visited.
struct EnsembleChain {
  Eigen::MatrixXd samples;      ///< parameters x (walkers * steps): all walkers, step by step
  Eigen::VectorXd log_density;  ///< at each of them
  double accepted = 0;          ///< share of the moves that were accepted
};

/// Samples from a density known up to a factor, by the affine-invariant ensemble of Goodman and
/// Weare (2010) with their stretch move: each walker in turn jumps along the line through another
/// one, y = x_other + z (x - x_other), z from g(z) ~ 1/sqrt(z) in [1/2, 2], and stays there with
/// probability min(1, z^(d-1) p(y)/p(x)).
///
/// `walkers` is parameters x walkers: at least twice as many walkers as parameters, no two alike,
/// all of positive density. Minus infinity is the log density of the impossible.
EnsembleChain SampleEnsemble(const std::function<double(const Eigen::VectorXd&)>& log_density,
                             Eigen::MatrixXd walkers, int steps, base::RandomStream& random);

}  // namespace bayloom::model
