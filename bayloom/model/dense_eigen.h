#pragma once

#include <Eigen/Core>

#include "bayloom/model/dense.h"

namespace bayloom {

inline ConstDenseMatrix ViewOf(const Eigen::Ref<const Eigen::MatrixXd>& matrix) {
  return {matrix.data(), matrix.rows(), matrix.cols(), matrix.outerStride()};
}
inline DenseMatrix MutableViewOf(Eigen::Ref<Eigen::MatrixXd> matrix) {
  return {matrix.data(), matrix.rows(), matrix.cols(), matrix.outerStride()};
}

}  // namespace bayloom
