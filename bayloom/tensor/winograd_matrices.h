// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

namespace bayloom::tensor {

/// Matrices of Winograd's minimal filtering F(m, r): m outputs of a filter of r taps from
/// n = m + r - 1 inputs d and n products (Lavin and Gray 2016, section 4):
///
///     y = A^T [(G g) * (B^T d)]
///
/// Made by Lagrange interpolation for 0, infinity and pairs of points that amplify roundings
/// little: n = 4: 1; n = 6: 2/3 and 3/2; n = 8: 1, 2 and 1/2. Rows (of input and filter) and
/// columns (of output) 2 i - 1 and 2 i belong to points that differ in their sign only.
struct WinogradMatrices {
  using Matrix = std::vector<std::vector<double>>;
  Matrix input;   ///< B^T: n x n
  Matrix filter;  ///< G: n x r
  Matrix output;  ///< A^T: m x n
};

/// For m + r - 1 of at most 8.
WinogradMatrices MakeWinogradMatrices(int64_t outputs, int64_t taps);

/// The largest error over the largest output to expect in two dimensions, in float32, with so many
/// channels: the roundings of inputs, products and sums, taken for independent, as they are
/// amplified by the transformation.
double ExpectedWinogradError(const WinogradMatrices& matrices, int64_t channels);

}  // namespace bayloom::tensor
