// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/gpu/warp_arithmetic.h"

#include <bit>
#include <cstddef>
#include <cstring>

#include "bayloom/tensor/scalar.h"

namespace bayloom::codegen {
namespace {

constexpr int kProductRows = 16, kProductColumns = 8, kMaxDepth = 16;
constexpr int kLanesOfRow = 4;                          // threads that share a row of an operand
constexpr int kColumnRegisters = 4, kSumRegisters = 6;  // the first of them
constexpr size_t kHalf = 2;                             // bytes of an element of 16 bits
constexpr uint32_t kTFloat32Bits = ~uint32_t{0x1fff};

/// One of the elements in a register.
float ElementOf(const uint32_t& bits, int number, tensor::DType dtype) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&bits);
  return OperandAt(bytes + kHalf * static_cast<size_t>(number), dtype);
}

}  // namespace

float OperandAt(const std::byte* element, tensor::DType dtype) {
  if (dtype != tensor::DType::kTFloat32) {
    return static_cast<float>(tensor::LoadFloat(dtype, element));
  }
  uint32_t bits;
  std::memcpy(&bits, element, sizeof(bits));
  return std::bit_cast<float>(bits & kTFloat32Bits);
}

void LoadMatrices(const OfWarp<const void*>& rows, uint32_t matrices, bool transposed,
                  const OfWarp<uint32_t*>& registers) {
  for (size_t m = 0; m < matrices; ++m) {
    uint16_t matrix[kMatrixRows][kMatrixRows];
    for (size_t r = 0; r < kMatrixRows; ++r) {
      std::memcpy(matrix[r], rows[kMatrixRows * m + r], kMatrixRowBytes);
    }
    for (size_t thread = 0; thread < registers.size(); ++thread) {
      const size_t line = thread / 4, first = 2 * (thread % 4);
      const uint32_t low = transposed ? matrix[first][line] : matrix[line][first];
      const uint32_t high = transposed ? matrix[first + 1][line] : matrix[line][first + 1];
      registers[thread][m] = low | high << 16;
    }
  }
}

void MultiplyMatrices(tensor::DType dtype, const OfWarp<uint32_t*>& registers) {
  const int elements = 4 / tensor::ByteSize(dtype);  // of a register
  const int half = elements * kLanesOfRow, depth = 2 * half;
  float rows[kProductRows][kMaxDepth], columns[kProductColumns][kMaxDepth];
  for (int thread = 0; thread < 32; ++thread) {
    const uint32_t* const own = registers[static_cast<size_t>(thread)];
    const int group = thread / kLanesOfRow, first = elements * (thread % kLanesOfRow);
    for (int element = 0; element < elements; ++element) {
      for (int part = 0; part < 4; ++part) {
        rows[group + 8 * (part % 2)][first + element + half * (part / 2)] =
            ElementOf(own[part], element, dtype);
      }
      for (int part = 0; part < 2; ++part) {
        columns[group][first + element + half * part] =
            ElementOf(own[kColumnRegisters + part], element, dtype);
      }
    }
  }
  for (int thread = 0; thread < 32; ++thread) {
    uint32_t* const sums = registers[static_cast<size_t>(thread)] + kSumRegisters;
    for (int i = 0; i < 4; ++i) {
      const int row = thread / 4 + 8 * (i / 2), column = 2 * (thread % 4) + i % 2;
      auto sum = std::bit_cast<float>(sums[i]);
      for (int k = 0; k < depth; ++k) sum += rows[row][k] * columns[column][k];
      sums[i] = std::bit_cast<uint32_t>(sum);
    }
  }
}

}  // namespace bayloom::codegen
