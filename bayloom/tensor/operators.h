// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/tensor/workload.h"

namespace bayloom::tensor {

/// Operators of neural networks as stages of a workload. Images are NHWC, convolution weights
/// HWIO, so the innermost axis of activations and weights is the one to vectorize.
///
/// Each function adds its stages to the builder and returns the last one's tensor; stages are
/// named after `name`. Shapes that do not fit throw std::invalid_argument.

// --- Elementwise -------------------------------------------------------------------------------

/// value(x's element) for every element.
Tensor Map(WorkloadBuilder& b, const std::string& name, const Tensor& x,
           const std::function<Expr(Expr)>& value);
/// combine(a's element, c's element) with numpy's broadcasting of either side.
Tensor Zip(WorkloadBuilder& b, const std::string& name, const Tensor& a, const Tensor& c,
           const std::function<Expr(Expr, Expr)>& combine);

Expr Relu(Expr x);
/// The logistic function 1 / (1 + exp(-x)).
Expr Sigmoid(Expr x);
/// x * sigmoid(x).
Expr Silu(Expr x);
/// The exact Gaussian error linear unit, x / 2 * (1 + erf(x / sqrt(2))).
Expr Gelu(Expr x);
/// min(max(x, low), high).
Expr Clip(Expr x, double low, double high);

// --- Contractions ------------------------------------------------------------------------------

struct MatmulOptions {
  bool transpose_a = false;  ///< a is [..., k, m]
  bool transpose_b = false;  ///< b is [..., n, k]
  /// Type of products and sums; that of the operands if not given.
  std::optional<DType> accumulator;
};
/// c[..., m, n] = sum over k of a[..., m, k] * w[..., k, n]. Leading dimensions of either operand
/// broadcast as in numpy; both have rank 2 or more.
Tensor Matmul(WorkloadBuilder& b, const std::string& name, const Tensor& a, const Tensor& w,
              const MatmulOptions& options = {});

struct Conv2dOptions {
  std::array<int64_t, 2> stride = {1, 1};
  std::array<int64_t, 2> dilation = {1, 1};
  std::array<int64_t, 2> pad_before = {0, 0};  ///< rows above, columns left
  std::array<int64_t, 2> pad_after = {0, 0};   ///< rows below, columns right
  std::optional<DType> accumulator;            ///< as in MatmulOptions
};
/// x[n, h, w, ci] with weights w[kh, kw, ci, co] gives [n, oh, ow, co]. Padding, where there is
/// any, is a stage "<name>_pad" of its own.
Tensor Conv2d(WorkloadBuilder& b, const std::string& name, const Tensor& x, const Tensor& w,
              const Conv2dOptions& options = {});
/// Channels in `groups` groups that know nothing of each other: x[n, h, w, ci] with weights
/// w[kh, kw, ci / groups, co] gives [n, oh, ow, groups, co / groups], which lies in memory as
/// [n, oh, ow, co] does.
Tensor GroupedConv2d(WorkloadBuilder& b, const std::string& name, const Tensor& x, const Tensor& w,
                     int64_t groups, const Conv2dOptions& options = {});
/// Every channel by itself: x[n, h, w, c] with weights w[kh, kw, c] gives [n, oh, ow, c].
Tensor DepthwiseConv2d(WorkloadBuilder& b, const std::string& name, const Tensor& x,
                       const Tensor& w, const Conv2dOptions& options = {});

/// x extended on both sides of each dimension by a literal; a select guards the reads.
Tensor Pad(WorkloadBuilder& b, const std::string& name, const Tensor& x,
           const std::vector<int64_t>& before, const std::vector<int64_t>& after, Expr value);

// --- Reductions --------------------------------------------------------------------------------

/// Reduces the given axes (ascending); with keep_dims they stay as extents of 1.
Tensor ReduceAxes(WorkloadBuilder& b, const std::string& name, const Tensor& x,
                  const std::vector<int>& axes, Reduction reduction, bool keep_dims);

enum class PoolKind : uint8_t { kMax, kAverage };
struct Pool2dOptions {
  PoolKind kind = PoolKind::kMax;
  std::array<int64_t, 2> kernel = {2, 2};
  std::array<int64_t, 2> stride = {2, 2};
  std::array<int64_t, 2> pad_before = {0, 0};
  std::array<int64_t, 2> pad_after = {0, 0};
  bool count_padding = false;  ///< kAverage: padding counts as zeros in the mean
};
/// x[n, h, w, c] to [n, oh, ow, c].
Tensor Pool2d(WorkloadBuilder& b, const std::string& name, const Tensor& x,
              const Pool2dOptions& options);
/// The mean over rows and columns: x[n, h, w, c] to [n, c].
Tensor GlobalAveragePool(WorkloadBuilder& b, const std::string& name, const Tensor& x);

/// exp(x - max) / sum of the same, over the last axis, in four stages.
Tensor Softmax(WorkloadBuilder& b, const std::string& name, const Tensor& x);
/// (x - mean) / sqrt(variance + epsilon) * scale + shift over the last axis.
Tensor LayerNorm(WorkloadBuilder& b, const std::string& name, const Tensor& x, const Tensor& scale,
                 const Tensor& shift, double epsilon = 1e-5);

// --- Whole workloads -----------------------------------------------------------------------------

/// What follows a convolution or a matrix product elementwise.
struct Epilogue {
  bool bias = false;      ///< + a constant per output channel
  bool residual = false;  ///< + an input of the output's shape
  bool relu = false;
};

/// a[m, k] times the constant w[k, n], summed up as MatmulOptions say.
Workload MatmulWorkload(int64_t m, int64_t n, int64_t k, DType dtype = DType::kFloat32,
                        const Epilogue& epilogue = {},
                        std::optional<DType> accumulator = std::nullopt);
/// a[batch, m, k] and w[batch, k, n], both inputs.
Workload BatchMatmulWorkload(int64_t batch, int64_t m, int64_t n, int64_t k,
                             DType dtype = DType::kFloat32,
                             std::optional<DType> accumulator = std::nullopt);

/// A convolution layer. groups == in_channels == out_channels makes it depthwise; other groups
/// than 1 give an output of five dimensions (see GroupedConv2d).
struct Conv2dShape {
  int64_t batch = 1;
  int64_t height = 1, width = 1;
  int64_t in_channels = 1, out_channels = 1;
  std::array<int64_t, 2> kernel = {1, 1};
  int64_t groups = 1;
  Conv2dOptions options;
  Epilogue epilogue;
  DType dtype = DType::kFloat32;
};
Workload Conv2dWorkload(const Conv2dShape& shape);

}  // namespace bayloom::tensor
