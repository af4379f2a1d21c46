// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/comparison.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "bayloom/tensor/scalar.h"

namespace bayloom::tensor {
namespace {

/// Of the finite elements of a tensor.
struct Magnitudes {
  double root_mean_square = 0;
  double largest = 0;
};

template <typename Load>
Magnitudes MagnitudesOf(const Load& load, const std::byte* data, int bytes, int64_t count) {
  Magnitudes magnitudes;
  double sum = 0;
  int64_t finite = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double value = load(data + i * bytes);
    if (!std::isfinite(value)) continue;
    sum += value * value;
    ++finite;
    magnitudes.largest = std::max(magnitudes.largest, std::abs(value));
  }
  if (finite > 0) magnitudes.root_mean_square = std::sqrt(sum / static_cast<double>(finite));
  return magnitudes;
}

/// `load` gives an element as a number.
template <typename Load>
Comparison CompareElements(const Load& load, bool is_float, int bytes, const std::byte* actual,
                           const std::byte* expected, int64_t count, const Tolerance& tolerance) {
  Comparison result{.count = count};
  const bool scaled = is_float && (tolerance.of_tensor || tolerance.of_largest > 0);
  const Magnitudes known = scaled ? MagnitudesOf(load, expected, bytes, count) : Magnitudes();
  const double typical = tolerance.of_tensor ? known.root_mean_square : 0;
  const double of_largest = tolerance.of_largest * known.largest;
  for (int64_t i = 0; i < count; ++i) {
    const auto a = load(actual + i * bytes);
    const auto e = load(expected + i * bytes);
    const double size = std::abs(static_cast<double>(e));
    if (std::isfinite(size)) result.largest_expected = std::max(result.largest_expected, size);
    if (a == e || (a != a && e != e)) continue;
    double difference = std::abs(static_cast<double>(a) - static_cast<double>(e));
    if (!std::isfinite(difference)) difference = std::numeric_limits<double>::infinity();
    result.largest_difference = std::max(result.largest_difference, difference);
    const double allowed =
        tolerance.absolute + std::max(tolerance.relative * std::max(size, typical), of_largest);
    if (is_float && std::isfinite(size) && difference <= allowed) continue;
    if (result.wrong++ == 0) result.first_wrong = i;
  }
  return result;
}

}  // namespace

double Comparison::RelativeDifference() const {
  constexpr double kLeast = 1e-30;
  return largest_difference == 0 ? 0 : largest_difference / std::max(largest_expected, kLeast);
}

Comparison Compare(DType dtype, const std::byte* actual, const std::byte* expected, int64_t count,
                   const Tolerance& tolerance) {
  const auto compare = [&](const auto& load) {
    return CompareElements(load, IsFloat(dtype), ByteSize(dtype), actual, expected, count,
                           tolerance);
  };
  if (dtype == DType::kFloat32) {
    return compare([](const std::byte* at) {
      float value;
      std::memcpy(&value, at, sizeof(value));
      return value;
    });
  }
  if (IsFloat(dtype)) return compare([=](const std::byte* at) { return LoadFloat(dtype, at); });
  return compare([=](const std::byte* at) { return LoadInt(dtype, at); });
}

}  // namespace bayloom::tensor
