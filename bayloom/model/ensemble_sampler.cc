// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/model/ensemble_sampler.h"

#include <cmath>
#include <cstdint>

namespace bayloom::model {
namespace {

/// Goodman and Weare's a: the longest stretch.
constexpr double kMaxStretch = 2;

/// From the density 1/sqrt(z) on [1/a, a], by inverting its distribution function.
double DrawStretch(base::RandomStream& random) {
  const double root = 1 + (kMaxStretch - 1) * random.Uniform();
  return root * root / kMaxStretch;
}

}  // namespace

EnsembleChain SampleEnsemble(const std::function<double(const Eigen::VectorXd&)>& log_density,
                             Eigen::MatrixXd walkers, int steps, base::RandomStream& random) {
  const Eigen::Index dimensions = walkers.rows(), count = walkers.cols();
  Eigen::VectorXd density(count);
  for (Eigen::Index k = 0; k < count; ++k) density(k) = log_density(walkers.col(k));

  EnsembleChain chain;
  chain.samples.resize(dimensions, count * steps);
  chain.log_density.resize(count * steps);
  int64_t accepted = 0;
  for (int step = 0; step < steps; ++step) {
    for (Eigen::Index k = 0; k < count; ++k) {
      const Eigen::Index other = (k + 1 + random.UniformInt(count - 1)) % count;
      const double stretch = DrawStretch(random);
      const Eigen::VectorXd proposal =
          walkers.col(other) + stretch * (walkers.col(k) - walkers.col(other));
      const double proposed = log_density(proposal);
      const double log_ratio =
          static_cast<double>(dimensions - 1) * std::log(stretch) + proposed - density(k);
      if (!(std::log(1 - random.Uniform()) < log_ratio)) continue;
      walkers.col(k) = proposal;
      density(k) = proposed;
      ++accepted;
    }
    chain.samples.middleCols(step * count, count) = walkers;
    chain.log_density.segment(step * count, count) = density;
  }
  chain.accepted = static_cast<double>(accepted) / static_cast<double>(count * steps);
  return chain;
}

}  // namespace bayloom::model
