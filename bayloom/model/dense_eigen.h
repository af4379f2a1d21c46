// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Eigen/Core>

#include "bayloom/model/dense.h"

namespace bayloom::model {

inline ConstDenseMatrix ViewOf(const Eigen::Ref<const Eigen::MatrixXd>& matrix) {
  return {matrix.data(), matrix.rows(), matrix.cols(), matrix.outerStride()};
}
inline DenseMatrix MutableViewOf(Eigen::Ref<Eigen::MatrixXd> matrix) {
  return {matrix.data(), matrix.rows(), matrix.cols(), matrix.outerStride()};
}

}  // namespace bayloom::model
