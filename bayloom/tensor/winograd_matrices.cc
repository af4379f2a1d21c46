// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/winograd_matrices.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

namespace bayloom::tensor {
namespace {

constexpr std::array<double, 3> kPointsOf4 = {0, 1, -1};
constexpr std::array<double, 5> kPointsOf6 = {0, 2. / 3, -2. / 3, 1.5, -1.5};
constexpr std::array<double, 7> kPointsOf8 = {0, 1, -1, 2, -2, 0.5, -0.5};

/// The finite points of tiles of so many inputs. Those of 6 amplify roundings least of symmetric
/// ones with small numerators and denominators, as errors on random data show (Barabasz et al.
/// 2020, "Error analysis and improving the accuracy of Winograd convolution for deep neural
/// networks"); for 8 none were found that are much better than these.
std::span<const double> PointsOf(int64_t size) {
  if (size <= 4) return std::span(kPointsOf4).first(static_cast<size_t>(size - 1));
  if (size <= 6) return std::span(kPointsOf6).first(static_cast<size_t>(size - 1));
  return std::span(kPointsOf8).first(static_cast<size_t>(size - 1));
}

/// Coefficients, constant first, of the product of (x - p) over the points but one.
std::vector<double> ProductWithout(std::span<const double> points, int64_t left_out) {
  std::vector<double> product = {1};
  for (int64_t i = 0; i < std::ssize(points); ++i) {
    if (i == left_out) continue;
    product.push_back(0);
    for (size_t k = product.size(); k-- > 0;) {
      product[k] = (k > 0 ? product[k - 1] : 0) - points[static_cast<size_t>(i)] * product[k];
    }
  }
  return product;
}

double SquareSum(const std::vector<double>& row) {
  double sum = 0;
  for (double element : row) sum += element * element;
  return sum;
}

}  // namespace

WinogradMatrices MakeWinogradMatrices(int64_t outputs, int64_t taps) {
  const int64_t size = outputs + taps - 1, finite = size - 1;
  const auto zeros = [](int64_t rows, int64_t columns) {
    return WinogradMatrices::Matrix(static_cast<size_t>(rows),
                                    std::vector<double>(static_cast<size_t>(columns)));
  };
  WinogradMatrices made{zeros(size, size), zeros(size, taps), zeros(outputs, size)};
  const std::span<const double> points = PointsOf(size);
  for (int64_t j = 0; j < finite; ++j) {
    const double point = points[static_cast<size_t>(j)];
    double scale = 1;
    for (int64_t l = 0; l < finite; ++l) {
      if (l != j) scale *= point - points[static_cast<size_t>(l)];
    }
    const std::vector<double> product = ProductWithout(points, j);
    std::copy(product.begin(), product.end(), made.input[static_cast<size_t>(j)].begin());
    for (int64_t k = 0; k < taps; ++k) {
      made.filter[static_cast<size_t>(j)][static_cast<size_t>(k)] =
          std::pow(point, static_cast<double>(k)) / scale;
    }
    for (int64_t i = 0; i < outputs; ++i) {
      made.output[static_cast<size_t>(i)][static_cast<size_t>(j)] =
          std::pow(point, static_cast<double>(i));
    }
  }
  made.input.back() = ProductWithout(points, -1);
  made.filter.back().back() = 1;
  made.output.back().back() = 1;
  return made;
}

double ExpectedWinogradError(const WinogradMatrices& matrices, int64_t channels) {
  // The variance of the products' errors in an output, over that of the output itself.
  double amplification = 0;
  for (const std::vector<double>& row : matrices.output) {
    double variance = 0;
    for (size_t j = 0; j < row.size(); ++j) {
      variance += row[j] * row[j] * SquareSum(matrices.input[j]) * SquareSum(matrices.filter[j]);
    }
    amplification =
        std::max(amplification, variance / static_cast<double>(matrices.filter[0].size()));
  }
  // Per product: the roundings of both factors, and those of a running sum over the channels.
  constexpr double kRoundingsOfFactors = 2, kRoundingsOfSum = 0.4;
  const double roundings =
      kRoundingsOfFactors + kRoundingsOfSum * std::sqrt(static_cast<double>(channels));
  return std::numeric_limits<float>::epsilon() * amplification * roundings;
}

}  // namespace bayloom::tensor
