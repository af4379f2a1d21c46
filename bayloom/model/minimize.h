// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Eigen/Core>
#include <functional>

namespace bayloom::model {

/// A function of several variables that also writes its gradient, where `gradient` is not null.
using SmoothFunction = std::function<double(const Eigen::VectorXd& x, Eigen::VectorXd* gradient)>;

struct MinimizeOptions {
  int max_evaluations = 100;
  double relative_tolerance = 1e-6;  ///< of the function's value
};

/// A local minimum within the bounds, by limited-memory BFGS (NLopt) from `start`, which is moved
/// into the bounds first. Always gives the best point evaluated, and its value in `value`.
Eigen::VectorXd Minimize(const SmoothFunction& function, const Eigen::VectorXd& start,
                         const Eigen::VectorXd& lower, const Eigen::VectorXd& upper,
                         const MinimizeOptions& options, double& value);

}  // namespace bayloom::model
