// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <bit>
#include <cstddef>
#include <vector>

#include "bayloom/codegen/gpu/warp_arithmetic.h"

namespace bayloom::codegen {
namespace {

using target::kPanelRowBytes;
using target::kSwizzledPieceBytes;
using target::kSwizzledRows;
using target::WgmmaInstruction;

constexpr size_t kDepthBytes = 32;  // of one instruction

/// By lines of the operand, each along the depth.
std::vector<float> ReadPart(const StandInPanelPart& part, size_t lines, tensor::DType dtype) {
  const auto bytes = static_cast<size_t>(tensor::ByteSize(dtype));
  const size_t depth = kDepthBytes / bytes, elements = kSwizzledPieceBytes / bytes;
  std::vector<float> read(lines * depth);
  for (size_t piece = 0; piece < 2 * lines; ++piece) {
    const std::byte* const from = PanelPiece(part, piece);
    for (size_t i = 0; i < elements; ++i) {
      const size_t line = part.along_depth != 0 ? piece / 2 : elements * (piece / depth) + i;
      const size_t step = part.along_depth != 0 ? elements * (piece % 2) + i : piece % depth;
      read[line * depth + step] = OperandAt(from + i * bytes, dtype);
    }
  }
  return read;
}

}  // namespace

/// The position of a piece is changed by its address, as the GPU does it.
const std::byte* PanelPiece(const StandInPanelPart& part, size_t piece) {
  constexpr size_t kPieces = kPanelRowBytes / kSwizzledPieceBytes, kDepth = 16;
  size_t offset = 0;
  if (part.along_depth != 0) {
    offset = piece / 2 * kPanelRowBytes + piece % 2 * kSwizzledPieceBytes;
  } else {
    const size_t step = piece % kDepth, along = piece / kDepth;
    offset = along / kPieces * part.panel_bytes + step * kPanelRowBytes +
             along % kPieces * kSwizzledPieceBytes;
  }
  const auto* const first = static_cast<const std::byte*>(part.first);
  const auto address = reinterpret_cast<uintptr_t>(first) + offset;
  const uintptr_t row = address / kPanelRowBytes % kSwizzledRows;
  const uintptr_t turned = address ^ row * kSwizzledPieceBytes;
  return first + offset + static_cast<ptrdiff_t>(turned - address);
}

void MultiplyPanels(tensor::DType dtype, const StandInPanelPart* parts, size_t columns,
                    const OfGroup<uint32_t*>& sums) {
  const std::vector<float> a = ReadPart(parts[0], WgmmaInstruction::kRows, dtype);
  const std::vector<float> b = ReadPart(parts[1], columns, dtype);
  const size_t depth = kDepthBytes / static_cast<size_t>(tensor::ByteSize(dtype));
  for (size_t thread = 0; thread < sums.size(); ++thread) {
    const size_t lane = thread % 32, first_row = thread / 32 * 16 + lane / 4;
    for (size_t i = 0; i < columns / 2; ++i) {
      const size_t row = first_row + 8 * (i % 4 / 2), column = i / 4 * 8 + 2 * (lane % 4) + i % 2;
      auto sum = std::bit_cast<float>(sums[thread][i]);
      for (size_t k = 0; k < depth; ++k) sum += a[row * depth + k] * b[column * depth + k];
      sums[thread][i] = std::bit_cast<uint32_t>(sum);
    }
  }
}

}  // namespace bayloom::codegen
