#include "bayloom/model/matern.h"

#include <algorithm>
#include <cmath>

namespace bayloom {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

const double kSqrt5 = std::sqrt(5.0);

/// Columns of the kernel matrix computed at a time: few enough to stay in the cache.
constexpr Index kBlock = 32;

/// Squared distances by the binomial formula, so that a matrix product does most of the work. What
/// it loses to rounding, some 1e-16 of the squared norms, is far below any noise level.
template <typename RowsA, typename RowsB>
MatrixXd SquaredDistances(const RowsA& a, const RowsB& b) {
  MatrixXd distances = -2 * a * b.transpose();
  distances.colwise() += a.rowwise().squaredNorm();
  distances.rowwise() += b.rowwise().squaredNorm().transpose();
  return distances.cwiseMax(0);
}

}  // namespace

int CountGroups(const ColumnGroups& group_of_column) {
  return group_of_column.empty()
             ? 0
             : *std::max_element(group_of_column.begin(), group_of_column.end()) + 1;
}

MatrixXd ScaledColumns(const RowMatrix& rows, const ColumnGroups& group_of_column,
                       const Eigen::VectorXd& length_scales) {
  MatrixXd scaled(rows.rows(), rows.cols());
  for (Index column = 0; column < rows.cols(); ++column) {
    scaled.col(column) = rows.col(column) / length_scales(group_of_column[column]);
  }
  return scaled;
}

MatrixXd Matern52(const MatrixXd& a, const MatrixXd& b) {
  MatrixXd kernel(a.rows(), b.rows());
  for (Index begin = 0; begin < b.rows(); begin += kBlock) {
    const Index size = std::min(kBlock, b.rows() - begin);
    const MatrixXd squared = SquaredDistances(a, b.middleRows(begin, size));
    const MatrixXd root = kSqrt5 * squared.cwiseSqrt();
    kernel.middleCols(begin, size).array() =
        (1 + root.array() + 5.0 / 3 * squared.array()) * (-root.array()).exp();
  }
  return kernel;
}

void Matern52Triangle(const MatrixXd& scaled, KernelTriangle& kernel) {
  const Index n = scaled.rows();
  kernel.value.resize(n, n);
  kernel.slope.resize(n, n);
  for (Index begin = 0; begin < n; begin += kBlock) {
    const Index size = std::min(kBlock, n - begin);
    const MatrixXd squared =
        SquaredDistances(scaled.bottomRows(n - begin), scaled.middleRows(begin, size));
    const MatrixXd root = kSqrt5 * squared.cwiseSqrt();
    const MatrixXd decay = (-root.array()).exp();
    kernel.value.block(begin, begin, n - begin, size).array() =
        (1 + root.array() + 5.0 / 3 * squared.array()) * decay.array();
    kernel.slope.block(begin, begin, n - begin, size).array() =
        5.0 / 3 * (1 + root.array()) * decay.array();
  }
}

Eigen::VectorXd WeighSquaredDistances(const MatrixXd& weights, const MatrixXd& scaled,
                                      const ColumnGroups& group_of_column) {
  // sum_ij w_ij (x_i - x_j)^2 = 2 (sum_i x_i^2 (sum_j w_ij) - sum_i x_i (sum_j w_ij x_j)).
  MatrixXd columns(scaled.rows(), scaled.cols() + 1);
  columns << scaled, Eigen::VectorXd::Ones(scaled.rows());
  const MatrixXd weighed = weights.selfadjointView<Eigen::Lower>() * columns;
  const auto row_sums = weighed.rightCols<1>();

  Eigen::VectorXd sums = Eigen::VectorXd::Zero(CountGroups(group_of_column));
  for (Index column = 0; column < scaled.cols(); ++column) {
    const auto x = scaled.col(column);
    sums(group_of_column[column]) += 2 * (x.cwiseAbs2().dot(row_sums) - x.dot(weighed.col(column)));
  }
  return sums;
}

}  // namespace bayloom
