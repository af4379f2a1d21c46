// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>

namespace bayloom::model {

/// Rows that are predicted at a time: enough for matrix products, few enough for the cache.
inline constexpr std::ptrdiff_t kRowsAtOnce = 128;

/// A column-major matrix; not owned. Element (i, j) is data[i + j * stride].
template <typename Number>
struct DenseView {
  Number* data;
  std::ptrdiff_t rows, columns, stride;
};
using DenseMatrix = DenseView<double>;
using ConstDenseMatrix = DenseView<const double>;

/// The operations on which Gaussian processes and networks spend their time.
struct DenseOperations {
  const char* instructions;  ///< what they are compiled for: "x86-64-v3"

  /// See CholeskyInPlace, InvertCholeskyInPlace.
  bool (*cholesky)(DenseMatrix matrix);
  void (*invert_cholesky)(DenseMatrix factor);
  /// b <- L^-1 b.
  void (*solve_lower)(ConstDenseMatrix lower, DenseMatrix b);
  /// See Matern52, Matern52Triangle.
  void (*matern52)(ConstDenseMatrix a, ConstDenseMatrix b, DenseMatrix kernel);
  void (*matern52_triangle)(ConstDenseMatrix scaled, DenseMatrix value, DenseMatrix slope);
  /// product <- S x, for the symmetric matrix S given by its lower triangle.
  void (*multiply_symmetric)(ConstDenseMatrix lower, ConstDenseMatrix x, DenseMatrix product);
  /// y <- weights x + bias, the same bias in every column; with `relu`, 0 where that is negative.
  void (*forward_layer)(DenseView<const float> weights, const float* bias, DenseView<const float> x,
                        bool relu, DenseView<float> y);
  /// Given a loss's derivatives by y, clears those where y is not above 0 (if y's data are given:
  /// a ReLU), adds the derivatives by weights and bias to theirs, and sets those by x (if wanted:
  /// their data are given).
  void (*reverse_layer)(DenseView<const float> weights, DenseView<const float> x,
                        DenseView<const float> y, DenseView<float> by_y,
                        DenseView<float> by_weights, float* by_bias, DenseView<float> by_x);
};

/// The operations compiled for the best instructions that this machine has: they take a fifth of
/// the time with 512-bit vectors. Results may differ between machines by rounding.
const DenseOperations& Dense();

}  // namespace bayloom::model
