// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

namespace bayloom::feature {

/// The columns of a feature row, as named offsets.
///
/// A row describes one stored buffer of a program: the per-store features of Ansor (Zheng et al.
/// 2020, sec. 5.2) in the form MetaSchedule gives them. All counts and sizes go through
/// slog(x) = log2(|x| + 1); flags are 0 or 1. Unit loops are invisible throughout.

inline constexpr int kFeatureColumns = 164;

/// Operations per run, by kind; columns [0, 16). Offsets from kOpCountColumn.
enum class OpClass : int {
  kFloatMad,  ///< a product added to something; counts as one here, as two in flops
  kFloatAddSub,
  kFloatMul,
  kFloatDivMod,
  kFloatCompare,  ///< comparisons, min, max
  kFloatMath,     ///< transcendental functions and pow
  kFloatOther,    ///< one-instruction functions: abs, sqrt, rounding, ...
  kIntMad,        ///< integers, index arithmetic included
  kIntAddSub,
  kIntMul,
  kIntDivMod,
  kIntCompare,
  kIntMath,
  kIntOther,
  kBool,
  kSelect,
};
inline constexpr int kOpClasses = 16;
inline constexpr int kOpCountColumn = 0;

/// Annotated loops, 11 columns each for vectorized, unrolled and parallel ones: how many, the
/// product of their extents, the innermost one's extent, then a one-hot LoopPosition.
inline constexpr int kVectorizedColumn = 16;
inline constexpr int kUnrolledColumn = 27;
inline constexpr int kParallelColumn = 38;
inline constexpr int kAnnotatedCount = 0;
inline constexpr int kAnnotatedProduct = 1;
inline constexpr int kAnnotatedInnermost = 2;
inline constexpr int kAnnotatedPosition = 3;
enum class LoopPosition : int {
  kNone,
  kInnerSpatial,
  kMiddleSpatial,
  kOuterSpatial,
  kInnerReduction,
  kMiddleReduction,
  kOuterReduction,
  kMixed,
};

/// An accelerator flag, then extents bound to blockIdx x, y, z, threadIdx x, y, z and virtual
/// threads (1 where absent).
inline constexpr int kAcceleratorColumn = 49;

/// Five groups of 18 columns for the five buffers that touch the most cache lines.
inline constexpr int kBufferColumn = 57;
inline constexpr int kBufferColumns = 18;
inline constexpr int kDescribedBuffers = 5;
enum class BufferFeature : int {
  kRead,
  kWrite,
  kReadWrite,
  kBytes,        ///< touched, counting repetitions
  kUniqueBytes,  ///< touched, each once
  kLines,        ///< cache lines touched, counting repetitions
  kUniqueLines,
  kLoopReuse,    ///< an axis runs without moving the access
  kSerialReuse,  ///< an earlier store of the same loop body touched the buffer
  kNoReuse,
  kReuseIterations,  ///< iterations between a touch and the next of the same data
  kReuseBytes,       ///< bytes touched in between, all buffers
  kReuseCount,
  kBytesPerReuse,  ///< kBytes .. kUniqueLines over kReuseCount (over 0.5 without reuse)
  kUniqueBytesPerReuse,
  kLinesPerReuse,
  kUniqueLinesPerReuse,
  kStride,  ///< elements between innermost iterations, 0 if they do not move the access
};
constexpr int BufferColumnOf(int buffer, BufferFeature feature) {
  return kBufferColumn + buffer * kBufferColumns + static_cast<int>(feature);
}

/// Arithmetic intensity (float operations per byte) at 10 %, 20 %, ... 100 % of the work.
inline constexpr int kIntensityColumn = 147;
inline constexpr int kIntensitySamples = 10;

/// The stored buffer's allocation: bytes; elements x iterations outside it; iterations outside
/// it; iterations inside it.
inline constexpr int kAllocationColumn = 157;

/// Iterations, number of loops, steps of the innermost automatic unrolling.
inline constexpr int kIterationsColumn = 161;
inline constexpr int kLoopCountColumn = 162;
inline constexpr int kAutoUnrollColumn = 163;

/// "float_mad", "vectorized.product", "buffer0.unique_bytes", ...; column in [0, 164).
std::string FeatureColumnName(int column);

}  // namespace bayloom::feature
