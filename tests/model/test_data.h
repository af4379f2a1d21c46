// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Eigen/Core>
#include <cmath>
#include <functional>

#include "bayloom/base/random.h"
#include "bayloom/model/gaussian_process.h"
#include "bayloom/model/minimize.h"
#include "bayloom/model/surrogate.h"
#include "bayloom/model/task_observations.h"

namespace bayloom::model {

/// Two columns, each with a length-scale of its own.
inline const ColumnGroups kTwoGroups = {0, 1};
/// Four columns, of which the two in the middle share a length-scale.
inline const ColumnGroups kThreeGroups = {0, 1, 1, 2};

/// Rows drawn uniformly from the unit cube.
inline RowMatrix UniformRows(int rows, int columns, base::RandomStream& random) {
  return RowMatrix::NullaryExpr(rows, columns, [&] { return random.Uniform(); });
}

/// Values of `function` at each row.
inline Eigen::VectorXd Evaluate(const RowMatrix& rows,
                                const std::function<double(const Eigen::RowVectorXd&)>& function) {
  Eigen::VectorXd values(rows.rows());
  for (Eigen::Index i = 0; i < rows.rows(); ++i) values(i) = function(rows.row(i));
  return values;
}

/// A smooth function of the unit square and what does not matter to it.
inline double Bowl(const Eigen::RowVectorXd& x) {
  return 3 + 2 * (x(0) - 0.3) * (x(0) - 0.3) + std::sin(3 * x(1));
}

/// Two functions of the unit square that have nothing in common.
inline double Waves(const Eigen::RowVectorXd& x) { return std::sin(7 * x(0)) + std::cos(5 * x(1)); }
inline double Unrelated(const Eigen::RowVectorXd& x) { return std::sin(29 * x(0) * x(1)); }

/// A task that was observed at random rows.
inline TaskObservations Observe(int rows, double (*function)(const Eigen::RowVectorXd&),
                                base::RandomStream& random, int columns = 2) {
  TaskObservations task{UniformRows(rows, columns, random), {}};
  task.values = Evaluate(task.rows, function);
  return task;
}

/// A process that models the objective on its own scale.
inline GaussianProcessOptions LinearOptions() {
  GaussianProcessOptions options;
  options.scale = ObjectiveScale::kLinear;
  return options;
}

/// The gradient by central differences.
inline Eigen::VectorXd DifferenceGradient(const SmoothFunction& function, const Eigen::VectorXd& x,
                                          double step = 1e-5) {
  Eigen::VectorXd gradient(x.size());
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    Eigen::VectorXd above = x, below = x;
    above(i) += step;
    below(i) -= step;
    gradient(i) = (function(above, nullptr) - function(below, nullptr)) / (2 * step);
  }
  return gradient;
}

}  // namespace bayloom::model
