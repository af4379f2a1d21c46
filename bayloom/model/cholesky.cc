#include "bayloom/model/cholesky.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <utility>

namespace bayloom {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Block = Eigen::Ref<MatrixXd>;

/// Below this size the recursions end in plain loops of Eigen.
constexpr Index kSmall = 32;

/// L <- L^-1, by halves: [A, 0; B, C]^-1 = [A^-1, 0; -C^-1 B A^-1, C^-1].
void InvertLower(Block lower) {
  const Index n = lower.rows();
  if (n <= kSmall) {
    MatrixXd inverse = MatrixXd::Identity(n, n);
    lower.triangularView<Eigen::Lower>().solveInPlace(inverse);
    lower.triangularView<Eigen::Lower>() = inverse;
    return;
  }
  const Index half = n / 2;
  auto a = lower.topLeftCorner(half, half);
  auto b = lower.bottomLeftCorner(n - half, half);
  auto c = lower.bottomRightCorner(n - half, n - half);
  c.triangularView<Eigen::Lower>().solveInPlace(b);
  a.triangularView<Eigen::Lower>().solveInPlace<Eigen::OnTheRight>(b);
  b = -b;
  InvertLower(a);
  InvertLower(c);
}

/// The lower triangle of L^T L in place of L, by halves: [A^T A + B^T B, .; C^T B, C^T C].
void SquareLower(Block lower) {
  const Index n = lower.rows();
  if (n <= kSmall) {
    const MatrixXd copy = lower.triangularView<Eigen::Lower>();
    lower.triangularView<Eigen::Lower>() = copy.transpose() * copy;
    return;
  }
  const Index half = n / 2;
  auto a = lower.topLeftCorner(half, half);
  auto b = lower.bottomLeftCorner(n - half, half);
  auto c = lower.bottomRightCorner(n - half, n - half);
  SquareLower(a);
  a.selfadjointView<Eigen::Lower>().rankUpdate(b.transpose());
  b = (c.triangularView<Eigen::Lower>().transpose() * b).eval();
  SquareLower(c);
}

}  // namespace

bool CholeskyInPlace(Eigen::Ref<MatrixXd> matrix) {
  return Eigen::LLT<Eigen::Ref<MatrixXd>>(matrix).info() == Eigen::Success;
}

void InvertCholeskyInPlace(Eigen::Ref<MatrixXd> factor) {
  InvertLower(factor);
  SquareLower(factor);
}

bool GrowingCholesky::Reset(const MatrixXd& matrix) {
  MatrixXd factor = matrix;
  if (!CholeskyInPlace(factor)) return false;
  size_ = factor.rows();
  storage_ = std::move(factor);
  return true;
}

bool GrowingCholesky::Append(const MatrixXd& cross, const MatrixXd& corner) {
  // [L, 0; S^T, T] with S = L^-1 cross and T T^T = corner - S^T S.
  MatrixXd side = cross;
  SolveLower(side);
  MatrixXd tip = corner;
  tip.selfadjointView<Eigen::Lower>().rankUpdate(side.transpose(), -1);
  if (!CholeskyInPlace(tip)) return false;

  const Index grown = size_ + tip.rows();
  if (grown > storage_.rows()) {
    const Index capacity = std::max(grown, 3 * storage_.rows() / 2);
    storage_.conservativeResize(capacity, capacity);
  }
  storage_.block(size_, 0, tip.rows(), size_) = side.transpose();
  storage_.block(size_, size_, tip.rows(), tip.rows()) = tip;
  size_ = grown;
  return true;
}

void GrowingCholesky::SolveLower(Eigen::Ref<MatrixXd> b) const {
  storage_.topLeftCorner(size_, size_).triangularView<Eigen::Lower>().solveInPlace(b);
}

Eigen::VectorXd GrowingCholesky::Solve(const Eigen::VectorXd& b) const {
  const auto factor = storage_.topLeftCorner(size_, size_).triangularView<Eigen::Lower>();
  Eigen::VectorXd x = factor.solve(b);
  factor.transpose().solveInPlace(x);
  return x;
}

}  // namespace bayloom
