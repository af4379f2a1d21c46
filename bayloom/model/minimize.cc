// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/model/minimize.h"

#include <limits>
#include <nlopt.hpp>
#include <stdexcept>
#include <vector>

namespace bayloom::model {
namespace {

std::vector<double> ToVector(const Eigen::VectorXd& x) { return {x.begin(), x.end()}; }

/// The function as NLopt calls it, and the best point it was called with.
struct Call {
  const SmoothFunction& function;
  Eigen::VectorXd x, gradient;
  Eigen::VectorXd best;
  double best_value = std::numeric_limits<double>::infinity();

  static double Evaluate(unsigned size, const double* x, double* gradient, void* data) {
    Call& call = *static_cast<Call*>(data);
    call.x = Eigen::Map<const Eigen::VectorXd>(x, size);
    const double value = call.function(call.x, gradient != nullptr ? &call.gradient : nullptr);
    if (gradient != nullptr) Eigen::Map<Eigen::VectorXd>(gradient, size) = call.gradient;
    if (value < call.best_value) {
      call.best_value = value;
      call.best = call.x;
    }
    return value;
  }
};

}  // namespace

Eigen::VectorXd Minimize(const SmoothFunction& function, const Eigen::VectorXd& start,
                         const Eigen::VectorXd& lower, const Eigen::VectorXd& upper,
                         const MinimizeOptions& options, double& value) {
  std::vector<double> x = ToVector(start.cwiseMax(lower).cwiseMin(upper));
  Call call{function, {}, {}, Eigen::Map<Eigen::VectorXd>(x.data(), start.size())};
  nlopt::opt optimizer(nlopt::LD_LBFGS, static_cast<unsigned>(x.size()));
  optimizer.set_min_objective(&Call::Evaluate, &call);
  optimizer.set_lower_bounds(ToVector(lower));
  optimizer.set_upper_bounds(ToVector(upper));
  optimizer.set_maxeval(options.max_evaluations);
  optimizer.set_ftol_rel(options.relative_tolerance);
  try {
    optimizer.optimize(x, value);
  } catch (const std::runtime_error&) {
    // A line search that made no headway: the best point so far is as good as it gets.
  }
  value = call.best_value;
  return call.best;
}

}  // namespace bayloom::model
