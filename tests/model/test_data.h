// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Eigen/Core>
#include <cmath>
#include <functional>

#include "bayloom/base/random.h"
#include "bayloom/model/internal/minimize.h"
#include "bayloom/model/surrogate.h"

namespace bayloom::model {

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
