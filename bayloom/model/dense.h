#pragma once

#include <cstddef>

namespace bayloom {

/// A column-major matrix that somebody else owns. Element (i, j) is data[i + j * stride].
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
  /// product <- product + a' b', where a' is a or its transpose, and b' alike.
  void (*add_product)(DenseView<const float> a, bool transpose_a, DenseView<const float> b,
                      bool transpose_b, DenseView<float> product);
};

/// The operations compiled for the best instructions that this machine has: they take a fifth of
/// the time with 512-bit vectors. Results may differ between machines by rounding.
const DenseOperations& Dense();

}  // namespace bayloom
