// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <bit>
#include <cstddef>
#include <vector>

#include "bayloom/codegen/internal/gpu/warp_arithmetic.h"

namespace bayloom::codegen {
namespace {

using target::kPanelRowBytes;
using target::kSwizzledPieceBytes;
using target::kSwizzledRows;
using target::WarpGroupInstruction;

constexpr int kDepthBytes = 32;  // of one instruction

/// By lines of the operand, each along the depth.
std::vector<float> ReadPart(const StandInPanelPart& part, int lines, tensor::DType dtype) {
  const int bytes = tensor::ByteSize(dtype), depth = kDepthBytes / bytes;
  const int elements = static_cast<int>(kSwizzledPieceBytes) / bytes;  // of a piece
  std::vector<float> read(static_cast<size_t>(lines * depth));
  for (int piece = 0; piece < 2 * lines; ++piece) {
    const std::byte* const from = PanelPiece(part, piece);
    for (int i = 0; i < elements; ++i) {
      const int line = part.along_depth != 0 ? piece / 2 : elements * (piece / depth) + i;
      const int step = part.along_depth != 0 ? elements * (piece % 2) + i : piece % depth;
      read[static_cast<size_t>(line * depth + step)] =
          OperandAt(from + i * bytes, dtype);
    }
  }
  return read;
}

}  // namespace

/// The position of a piece is changed by its address, as the GPU does it.
const std::byte* PanelPiece(const StandInPanelPart& part, int piece) {
  constexpr int64_t kPieces = kPanelRowBytes / kSwizzledPieceBytes, kDepth = 16;
  int64_t offset = 0;
  if (part.along_depth != 0) {
    offset = piece / 2 * kPanelRowBytes + piece % 2 * kSwizzledPieceBytes;
  } else {
    const int64_t step = piece % kDepth, along = piece / kDepth;
    offset = along / kPieces * part.panel_bytes + step * kPanelRowBytes +
             along % kPieces * kSwizzledPieceBytes;
  }
  const auto address = reinterpret_cast<uintptr_t>(part.first) + static_cast<uintptr_t>(offset);
  const uintptr_t row = address / kPanelRowBytes % kSwizzledRows;
  return reinterpret_cast<const std::byte*>(address ^ row * kSwizzledPieceBytes);
}

void MultiplyPanels(tensor::DType dtype, const StandInPanelPart* parts, int columns,
                    const OfGroup<uint32_t*>& sums) {
  const std::vector<float> a = ReadPart(parts[0], WarpGroupInstruction::kRows, dtype);
  const std::vector<float> b = ReadPart(parts[1], columns, dtype);
  const int depth = kDepthBytes / tensor::ByteSize(dtype);
  for (int thread = 0; thread < WarpGroupInstruction::kThreads; ++thread) {
    const int lane = thread % 32, first_row = thread / 32 * 16 + lane / 4;
    for (int i = 0; i < columns / 2; ++i) {
      const int row = first_row + 8 * (i % 4 / 2), column = i / 4 * 8 + 2 * (lane % 4) + i % 2;
      uint32_t& bits = sums[static_cast<size_t>(thread)][i];
      auto sum = std::bit_cast<float>(bits);
      for (int k = 0; k < depth; ++k) {
        sum += a[static_cast<size_t>(row * depth + k)] * b[static_cast<size_t>(column * depth + k)];
      }
      bits = std::bit_cast<uint32_t>(sum);
    }
  }
}

}  // namespace bayloom::codegen
