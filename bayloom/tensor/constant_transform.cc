// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/constant_transform.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "bayloom/base/hash.h"

namespace bayloom::tensor {
namespace {

/// Elements of the dimensions behind the last matrix that are transformed together.
constexpr int64_t kTransformedTogether = 256;

int64_t ExtentProduct(const std::vector<int64_t>& shape, size_t from, size_t to) {
  int64_t product = 1;
  for (size_t d = from; d < to; ++d) product *= shape[d];
  return product;
}

/// Multiplies dimension d of a row-major array by a matrix; `width` elements lie behind each index.
std::vector<double> MultiplyDimension(const std::vector<double>& source, int64_t columns,
                                      int64_t width, const std::vector<double>& matrix) {
  const int64_t rows = static_cast<int64_t>(matrix.size()) / columns;
  const int64_t outer = static_cast<int64_t>(source.size()) / (columns * width);
  std::vector<double> product(static_cast<size_t>(outer * rows * width));
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t row = 0; row < rows; ++row) {
      double* to = &product[static_cast<size_t>((o * rows + row) * width)];
      for (int64_t column = 0; column < columns; ++column) {
        const double factor = matrix[static_cast<size_t>(row * columns + column)];
        const double* from = &source[static_cast<size_t>((o * columns + column) * width)];
        for (int64_t i = 0; i < width; ++i) to[i] += factor * from[i];
      }
    }
  }
  return product;
}

template <typename Element>
std::vector<std::byte> ApplyTo(const ConstantTransform& transform, const std::byte* source) {
  size_t mapped = transform.matrices.size();  // dimensions up to the last with a matrix
  while (mapped > 0 && transform.matrices[mapped - 1].empty()) --mapped;
  const std::vector<int64_t> shape = transform.Shape();
  const int64_t before = ExtentProduct(transform.source_shape, 0, mapped);
  const int64_t after = ExtentProduct(shape, 0, mapped);
  const int64_t inner = ExtentProduct(shape, mapped, shape.size());
  std::vector<std::byte> result(static_cast<size_t>(after * inner) * sizeof(Element));
  const auto* from = reinterpret_cast<const Element*>(source);
  auto* to = reinterpret_cast<Element*>(result.data());
  for (int64_t first = 0; first < inner; first += kTransformedTogether) {
    const int64_t count = std::min(kTransformedTogether, inner - first);
    std::vector<double> block(static_cast<size_t>(before * count));
    for (int64_t i = 0; i < before; ++i) {
      std::copy_n(from + i * inner + first, count, &block[static_cast<size_t>(i * count)]);
    }
    int64_t width = count;
    for (size_t d = mapped; d-- > 0; width *= shape[d]) {
      if (transform.matrices[d].empty()) continue;
      block = MultiplyDimension(block, transform.source_shape[d], width, transform.matrices[d]);
    }
    for (int64_t i = 0; i < after; ++i) {
      std::transform(&block[static_cast<size_t>(i * count)],
                     &block[static_cast<size_t>(i * count)] + count, to + i * inner + first,
                     [](double value) { return static_cast<Element>(value); });
    }
  }
  return result;
}

}  // namespace

std::vector<int64_t> ConstantTransform::Shape() const {
  std::vector<int64_t> shape = source_shape;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (!matrices[d].empty()) shape[d] = static_cast<int64_t>(matrices[d].size()) / source_shape[d];
  }
  return shape;
}

std::vector<std::byte> ConstantTransform::Apply(DType dtype, const std::byte* source) const {
  switch (dtype) {
    case DType::kFloat32:
      return ApplyTo<float>(*this, source);
    case DType::kFloat64:
      return ApplyTo<double>(*this, source);
    default:
      throw std::invalid_argument("constants are transformed in float32 and float64 only");
  }
}

uint64_t ConstantTransform::Hash() const {
  base::Hasher hasher;
  for (int64_t extent : source_shape) hasher.Add(static_cast<uint64_t>(extent));
  for (const std::vector<double>& matrix : matrices) {
    hasher.Add(matrix.size());
    for (double element : matrix) hasher.Add(std::bit_cast<uint64_t>(element));
  }
  return hasher.Digest();
}

}  // namespace bayloom::tensor
