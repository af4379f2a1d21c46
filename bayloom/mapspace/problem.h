// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bayloom/mapspace/sparse/density.h"

namespace bayloom::mapspace {

/// Limits that let mappings and their evaluation live in fixed arrays: 50,000 evaluations a second
/// have no time for allocation.
inline constexpr int kMaxDimensions = 8;
inline constexpr int kMaxTensors = 4;
inline constexpr int kMaxAxes = 6;

/// One number per dimension of a problem, in its order; those past its dimensions stay 1.
using Extents = std::array<int64_t, kMaxDimensions>;
inline constexpr Extents kUnitExtents = {1, 1, 1, 1, 1, 1, 1, 1};
/// A set of dimensions, one bit each.
using DimensionSet = uint32_t;

/// `coefficient * dimension`, a term of an index.
struct AxisTerm {
  int dimension;
  int64_t coefficient = 1;

  bool operator==(const AxisTerm&) const = default;
};

/// A tensor of a problem: each of its axes is indexed by a sum of terms.
struct DataSpace {
  std::string name;
  std::vector<std::vector<AxisTerm>> axes;
  /// Accumulated into, so that partial sums come back to be read; else it is only read.
  bool read_write = false;
  /// What is not zero; matters where an architecture makes use of zeros (sparse/optimization.h).
  Density density = {};
  /// Of a word, wherever it is kept; 0: as wide as the words of each level.
  int word_bits = 0;

  /// The dimensions that index it.
  DimensionSet Indexed() const;
  /// Words of the box that holds everything a tile of these extents touches. Where a stride
  /// exceeds the window, the rows between are in the box.
  int64_t BoxWords(const Extents& tile) const;
  /// Words of that box along each axis.
  std::vector<int64_t> AxisLengths(const Extents& tile) const;

  bool operator==(const DataSpace&) const = default;
};

/// What is to be computed: a dense affine loop nest, `output[...] += product of inputs[...]`, with
/// one multiply-accumulate per point (Timeloop's problem; Kannan 2023, sec. III-A).
struct Problem {
  std::string name;
  std::vector<std::string> dimensions;
  /// One per dimension.
  std::vector<int64_t> bounds;
  std::vector<DataSpace> tensors;

  /// All bounds: the tile that is the whole problem.
  Extents Whole() const;
  int DimensionCount() const { return static_cast<int>(dimensions.size()); }
  int TensorCount() const { return static_cast<int>(tensors.size()); }
  /// Multiply-accumulates.
  int64_t Macs() const;
  /// Their position, or -1.
  int DimensionNamed(std::string_view name) const;
  int TensorNamed(std::string_view name) const;
  /// "conv2d R=3 S=3 P=56 Q=56 C=144 M=24 N=16", with densities and word widths if there are any.
  std::string Describe() const;

  bool operator==(const Problem&) const = default;
};

/// Throws InputError unless the problem is within the limits above, its names are distinct, its
/// bounds positive and its number of multiply-accumulates below 2^62.
void CheckProblem(const Problem& problem);

/// Outputs[i,j] += Inputs[i,k] * Weights[k,j], dimensions I, J, K.
Problem MatmulProblem(int64_t i, int64_t j, int64_t k);
/// The same for every b of a batch, dimensions B, I, J, K; all three tensors are indexed by B.
Problem BatchMatmulProblem(int64_t b, int64_t i, int64_t j, int64_t k);

/// Sizes of a convolution without its padding: p x q is the size of the output.
struct ConvolutionShape {
  int64_t r = 1, s = 1;  ///< kernel
  int64_t p = 1, q = 1;  ///< output
  int64_t c = 1, m = 1;  ///< input and output channels
  int64_t n = 1;         ///< batch
  int64_t p_stride = 1, q_stride = 1;
  int64_t r_dilation = 1, s_dilation = 1;
};

/// Outputs[n,m,q,p] += Weights[c,m,r,s] * Inputs[n,c,p*stride+r*dilation,q*stride+s*dilation],
/// dimensions R, S, P, Q, C, M, N.
Problem Conv2dProblem(const ConvolutionShape& shape);
/// Each channel by itself, `c` of them: dimensions R, S, P, Q, C, N; `m` is not used.
Problem DepthwiseProblem(const ConvolutionShape& shape);

/// The problem a person means by a line such as
///
///     matmul:512,512,512                        M,N,K (called I, J, K here)
///     matmul:128,128,64,batch=12                twelve of them
///     conv2d:56x56x64,128,3x3,stride=2,pad=1    HxWxC of the input,outputs,kernel
///     depthwise:56x56x144,3x3,pad=1             HxWxC,kernel
///
/// as for `bayloom tune --op`. Padding only decides the size of the output: reading it costs what
/// reading data costs. Throws InputError showing a line that works.
Problem ParseProblem(std::string_view line);

}  // namespace bayloom::mapspace
