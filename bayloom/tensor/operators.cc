// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/operators.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace bayloom::tensor {
namespace {

using Exprs = std::vector<Expr>;

void Require(bool condition, const std::string& name, const char* what) {
  if (!condition) throw std::invalid_argument(name + ": " + what);
}

/// numpy's rule: aligned at the last dimension, extents are equal or one of them is 1.
std::vector<int64_t> BroadcastShape(const std::string& name, const std::vector<int64_t>& a,
                                    const std::vector<int64_t>& c) {
  std::vector<int64_t> shape(std::max(a.size(), c.size()), 1);
  const auto take = [&](const std::vector<int64_t>& from) {
    const size_t skip = shape.size() - from.size();
    for (size_t d = 0; d < from.size(); ++d) {
      int64_t& extent = shape[skip + d];
      Require(extent == 1 || from[d] == 1 || extent == from[d], name, "shapes do not broadcast");
      if (from[d] != 1) extent = from[d];
    }
  };
  take(a);
  take(c);
  return shape;
}

/// Indices into a tensor of the shape `from` broadcast to `to`, which `at` runs over.
Exprs BroadcastIndex(const std::vector<int64_t>& from, const std::vector<int64_t>& to,
                     const Exprs& at) {
  Exprs index;
  const size_t skip = to.size() - from.size();
  for (size_t d = 0; d < from.size(); ++d) {
    index.push_back(from[d] == to[skip + d] ? at[skip + d] : Expr(0));
  }
  return index;
}

/// Names for axes that people know by name.
std::vector<std::string> ImageAxes(size_t rank) {
  if (rank == 4) return {"n", "h", "w", "c"};
  if (rank == 5) return {"n", "h", "w", "g", "c"};
  return {};
}

int64_t WindowCount(const std::string& name, int64_t extent, int64_t window, int64_t stride) {
  Require(stride >= 1 && window >= 1, name, "stride and window must be positive");
  Require(extent >= window, name, "the window is larger than the padded image");
  return (extent - window) / stride + 1;
}

/// What the window reads: x with its rows and columns padded, if at all.
Tensor PadImage(WorkloadBuilder& b, const std::string& name, const Tensor& x,
                const std::array<int64_t, 2>& before, const std::array<int64_t, 2>& after,
                Expr value) {
  Require(x.shape().size() == 4, name, "the image must have the dimensions n, h, w, c");
  if (before == std::array<int64_t, 2>{} && after == std::array<int64_t, 2>{}) return x;
  return Pad(b, name + "_pad", x, {0, before[0], before[1], 0}, {0, after[0], after[1], 0},
             std::move(value));
}

/// A convolution's padded image and the extents of its result.
struct Windows {
  Tensor x;
  int64_t rows = 0, columns = 0;
};

Windows ConvWindows(WorkloadBuilder& b, const std::string& name, const Tensor& x, const Tensor& w,
                    const Conv2dOptions& o) {
  const Tensor padded = PadImage(b, name, x, o.pad_before, o.pad_after, Literal(0, x.dtype()));
  Require(o.dilation[0] >= 1 && o.dilation[1] >= 1, name, "dilation must be positive");
  const int64_t reach_h = (w.shape()[0] - 1) * o.dilation[0] + 1;
  const int64_t reach_w = (w.shape()[1] - 1) * o.dilation[1] + 1;
  return {padded, WindowCount(name, padded.shape()[1], reach_h, o.stride[0]),
          WindowCount(name, padded.shape()[2], reach_w, o.stride[1])};
}

Expr Product(const std::optional<DType>& accumulator, Expr a, Expr c) {
  if (!accumulator) return std::move(a) * std::move(c);
  return Cast(*accumulator, std::move(a)) * Cast(*accumulator, std::move(c));
}

/// As the fused operators of networks are named: "+bias+add+relu".
std::string NameOf(const Epilogue& epilogue) {
  return std::string(epilogue.bias ? "+bias" : "") + (epilogue.residual ? "+add" : "") +
         (epilogue.relu ? "+relu" : "");
}

Tensor AddEpilogue(WorkloadBuilder& b, Tensor y, size_t channel_dims, const Epilogue& epilogue) {
  const auto add = [](Expr a, Expr c) { return std::move(a) + std::move(c); };
  if (epilogue.bias) {
    const std::vector<int64_t> channels(y.shape().end() - static_cast<int64_t>(channel_dims),
                                        y.shape().end());
    y = Zip(b, "add_bias", y, b.Constant("bias", channels, y.dtype()), add);
  }
  if (epilogue.residual) {
    y = Zip(b, "add_residual", y, b.Input("residual", y.shape(), y.dtype()), add);
  }
  if (epilogue.relu) y = Map(b, "relu", y, Relu);
  return y;
}

}  // namespace

Tensor Map(WorkloadBuilder& b, const std::string& name, const Tensor& x,
           const std::function<Expr(Expr)>& value) {
  return b.Compute(
      name, x.shape(), [&](const Exprs& at) { return value(x.At(at)); },
      ImageAxes(x.shape().size()));
}

Tensor Zip(WorkloadBuilder& b, const std::string& name, const Tensor& a, const Tensor& c,
           const std::function<Expr(Expr, Expr)>& combine) {
  const std::vector<int64_t> shape = BroadcastShape(name, a.shape(), c.shape());
  return b.Compute(
      name, shape,
      [&](const Exprs& at) {
        return combine(a.At(BroadcastIndex(a.shape(), shape, at)),
                       c.At(BroadcastIndex(c.shape(), shape, at)));
      },
      ImageAxes(shape.size()));
}

Expr Relu(Expr x) { return Max(std::move(x), 0); }

Expr Sigmoid(Expr x) {
  const Expr one = Literal(1, x->dtype);
  return one / (one + Unary(ExprOp::kExp, -std::move(x)));
}

Expr Silu(Expr x) { return x * Sigmoid(x); }

Expr Gelu(Expr x) {
  const Expr half = Literal(0.5, x->dtype), root_half = Literal(0.70710678118654752, x->dtype);
  return x * half * (Literal(1, x->dtype) + Unary(ExprOp::kErf, x * root_half));
}

Expr Clip(Expr x, double low, double high) {
  const DType dtype = x->dtype;
  return Min(Max(std::move(x), Literal(low, dtype)), Literal(high, dtype));
}

Tensor Matmul(WorkloadBuilder& b, const std::string& name, const Tensor& a, const Tensor& w,
              const MatmulOptions& options) {
  Require(a.shape().size() >= 2 && w.shape().size() >= 2, name, "operands must be matrices");
  const auto split = [](const Tensor& t, bool transposed) {
    const std::vector<int64_t>& s = t.shape();
    std::vector<int64_t> batch(s.begin(), s.end() - 2);
    int64_t rows = s[s.size() - 2], columns = s.back();
    if (transposed) std::swap(rows, columns);
    return std::tuple(std::move(batch), rows, columns);
  };
  const auto [batch_a, m, k] = split(a, options.transpose_a);
  const auto [batch_w, k_w, n] = split(w, options.transpose_b);
  Require(k == k_w, name, "inner extents differ");
  std::vector<int64_t> shape = BroadcastShape(name, batch_a, batch_w);
  const size_t batch_rank = shape.size();
  shape.push_back(m);
  shape.push_back(n);

  const auto element = [&](const Tensor& t, const std::vector<int64_t>& batch, bool transposed,
                           const Exprs& s, Expr row, Expr column) {
    const Exprs leading(s.begin(), s.begin() + static_cast<int64_t>(batch_rank));
    Exprs index = BroadcastIndex(batch, {shape.begin(), shape.end() - 2}, leading);
    if (transposed) std::swap(row, column);
    index.push_back(std::move(row));
    index.push_back(std::move(column));
    return t.At(std::move(index));
  };
  std::vector<std::string> axes;
  for (size_t d = 0; d < batch_rank; ++d) {
    axes.push_back(batch_rank == 1 ? "b" : "b" + std::to_string(d) + "_");
  }
  axes.insert(axes.end(), {"i", "j"});
  return b.Reduce(
      name, shape, {{"k", k}}, Reduction::kSum,
      [&, batch_a = batch_a, batch_w = batch_w](const Exprs& s, const Exprs& r) {
        return Product(options.accumulator,
                       element(a, batch_a, options.transpose_a, s, s[batch_rank], r[0]),
                       element(w, batch_w, options.transpose_b, s, r[0], s[batch_rank + 1]));
      },
      axes);
}

Tensor Conv2d(WorkloadBuilder& b, const std::string& name, const Tensor& x, const Tensor& w,
              const Conv2dOptions& o) {
  Require(w.shape().size() == 4, name, "weights must have the dimensions kh, kw, ci, co");
  const auto [image, rows, columns] = ConvWindows(b, name, x, w, o);
  Require(image.shape()[3] == w.shape()[2], name, "image and weights differ in channels");
  return b.Reduce(name, {image.shape()[0], rows, columns, w.shape()[3]},
                  {{"kh", w.shape()[0]}, {"kw", w.shape()[1]}, {"ci", w.shape()[2]}},
                  Reduction::kSum,
                  [&, image = image](const Exprs& s, const Exprs& r) {
                    return Product(o.accumulator,
                                   image(s[0], s[1] * o.stride[0] + r[0] * o.dilation[0],
                                         s[2] * o.stride[1] + r[1] * o.dilation[1], r[2]),
                                   w(r[0], r[1], r[2], s[3]));
                  },
                  {"n", "h", "w", "co"});
}

Tensor GroupedConv2d(WorkloadBuilder& b, const std::string& name, const Tensor& x, const Tensor& w,
                     int64_t groups, const Conv2dOptions& o) {
  Require(w.shape().size() == 4, name, "weights must have the dimensions kh, kw, ci, co");
  const auto [image, rows, columns] = ConvWindows(b, name, x, w, o);
  const int64_t in = w.shape()[2], out = w.shape()[3] / std::max<int64_t>(groups, 1);
  Require(groups >= 1 && in * groups == image.shape()[3] && out * groups == w.shape()[3], name,
          "channels do not divide into the groups");
  return b.Reduce(name, {image.shape()[0], rows, columns, groups, out},
                  {{"kh", w.shape()[0]}, {"kw", w.shape()[1]}, {"ci", in}}, Reduction::kSum,
                  [&, image = image](const Exprs& s, const Exprs& r) {
                    return Product(
                        o.accumulator,
                        image(s[0], s[1] * o.stride[0] + r[0] * o.dilation[0],
                              s[2] * o.stride[1] + r[1] * o.dilation[1], s[3] * in + r[2]),
                        w(r[0], r[1], r[2], s[3] * out + s[4]));
                  },
                  {"n", "h", "w", "g", "co"});
}

Tensor DepthwiseConv2d(WorkloadBuilder& b, const std::string& name, const Tensor& x,
                       const Tensor& w, const Conv2dOptions& o) {
  Require(w.shape().size() == 3, name, "weights must have the dimensions kh, kw, c");
  const auto [image, rows, columns] = ConvWindows(b, name, x, w, o);
  Require(image.shape()[3] == w.shape()[2], name, "image and weights differ in channels");
  return b.Reduce(name, {image.shape()[0], rows, columns, w.shape()[2]},
                  {{"kh", w.shape()[0]}, {"kw", w.shape()[1]}}, Reduction::kSum,
                  [&, image = image](const Exprs& s, const Exprs& r) {
                    return Product(o.accumulator,
                                   image(s[0], s[1] * o.stride[0] + r[0] * o.dilation[0],
                                         s[2] * o.stride[1] + r[1] * o.dilation[1], s[3]),
                                   w(r[0], r[1], s[3]));
                  },
                  {"n", "h", "w", "c"});
}

Tensor Pad(WorkloadBuilder& b, const std::string& name, const Tensor& x,
           const std::vector<int64_t>& before, const std::vector<int64_t>& after, Expr value) {
  const size_t rank = x.shape().size();
  Require(before.size() == rank && after.size() == rank, name, "one pad per dimension and side");
  std::vector<int64_t> shape = x.shape();
  for (size_t d = 0; d < rank; ++d) {
    Require(before[d] >= 0 && after[d] >= 0, name, "pads must not be negative");
    shape[d] += before[d] + after[d];
  }
  return b.Compute(
      name, shape,
      [&](const Exprs& at) {
        Expr inside = BoolLiteral(true);
        Exprs index;
        for (size_t d = 0; d < rank; ++d) {
          index.push_back(at[d] - before[d]);
          if (before[d] > 0) inside = inside && Expr(before[d]) <= at[d];
          if (after[d] > 0) inside = inside && at[d] < x.shape()[d] + before[d];
        }
        return Select(inside, x.At(std::move(index)), value);
      },
      ImageAxes(rank));
}

Tensor ReduceAxes(WorkloadBuilder& b, const std::string& name, const Tensor& x,
                  const std::vector<int>& axes, Reduction reduction, bool keep_dims) {
  const int rank = static_cast<int>(x.shape().size());
  std::vector<int64_t> shape;
  std::vector<WorkloadBuilder::Axis> reduced;
  for (int d = 0; d < rank; ++d) {
    if (std::find(axes.begin(), axes.end(), d) == axes.end()) {
      shape.push_back(x.shape()[d]);
      continue;
    }
    if (keep_dims) shape.push_back(1);
    reduced.push_back({"r" + std::to_string(reduced.size()) + "_", x.shape()[d]});
  }
  Require(reduced.size() == axes.size(), name, "axes must be distinct dimensions of the tensor");
  if (reduced.size() == 1) reduced[0].name = "r";
  return b.Reduce(name, shape, reduced, reduction, [&](const Exprs& s, const Exprs& r) {
    Exprs index;
    size_t spatial = 0, next = 0;
    for (int d = 0; d < rank; ++d) {
      const bool is_reduced = std::find(axes.begin(), axes.end(), d) != axes.end();
      index.push_back(is_reduced ? r[next++] : s[spatial]);
      if (!is_reduced || keep_dims) ++spatial;
    }
    return x.At(std::move(index));
  });
}

Tensor Pool2d(WorkloadBuilder& b, const std::string& name, const Tensor& x,
              const Pool2dOptions& o) {
  const bool max = o.kind == PoolKind::kMax;
  const Reduction reduction = max ? Reduction::kMax : Reduction::kSum;
  const Tensor image =
      PadImage(b, name, x, o.pad_before, o.pad_after, NeutralElement(reduction, x.dtype()));
  const int64_t rows = WindowCount(name, image.shape()[1], o.kernel[0], o.stride[0]);
  const int64_t columns = WindowCount(name, image.shape()[2], o.kernel[1], o.stride[1]);
  const std::vector<int64_t> shape = {x.shape()[0], rows, columns, x.shape()[3]};
  const Tensor pooled = b.Reduce(
      max ? name : name + "_sum", shape, {{"kh", o.kernel[0]}, {"kw", o.kernel[1]}}, reduction,
      [&](const Exprs& s, const Exprs& r) {
        return image(s[0], s[1] * o.stride[0] + r[0], s[2] * o.stride[1] + r[1], s[3]);
      },
      {"n", "h", "w", "c"});
  if (max) return pooled;

  const bool whole_windows = o.count_padding || image.id() == x.id();
  const auto covered = [&](const Expr& at, int d) -> Expr {
    const Expr begin = at * o.stride[d] - o.pad_before[d];
    return Min(begin + o.kernel[d], x.shape()[d + 1]) - Max(begin, 0);
  };
  return b.Compute(name, shape,
                   [&](const Exprs& at) {
                     const Expr count = whole_windows ? Expr(o.kernel[0] * o.kernel[1])
                                                      : covered(at[1], 0) * covered(at[2], 1);
                     return pooled.At(at) / Cast(x.dtype(), count);
                   },
                   {"n", "h", "w", "c"});
}

Tensor GlobalAveragePool(WorkloadBuilder& b, const std::string& name, const Tensor& x) {
  Require(x.shape().size() == 4, name, "the image must have the dimensions n, h, w, c");
  const Tensor sum = b.Reduce(
      name + "_sum", {x.shape()[0], x.shape()[3]}, {{"h", x.shape()[1]}, {"w", x.shape()[2]}},
      Reduction::kSum, [&](const Exprs& s, const Exprs& r) { return x(s[0], r[0], r[1], s[1]); },
      {"n", "c"});
  const double count = static_cast<double>(x.shape()[1] * x.shape()[2]);
  return b.Compute(name, sum.shape(),
                   [&](const Exprs& at) { return sum.At(at) / Literal(count, x.dtype()); },
                   {"n", "c"});
}

Tensor Softmax(WorkloadBuilder& b, const std::string& name, const Tensor& x) {
  Require(!x.shape().empty(), name, "a scalar has no last axis");
  const std::vector<int> last = {static_cast<int>(x.shape().size()) - 1};
  const Tensor max = ReduceAxes(b, name + "_max", x, last, Reduction::kMax, true);
  const Tensor exp = Zip(b, name + "_exp", x, max, [](Expr value, Expr row_max) {
    return Unary(ExprOp::kExp, std::move(value) - std::move(row_max));
  });
  const Tensor sum = ReduceAxes(b, name + "_sum", exp, last, Reduction::kSum, true);
  return Zip(b, name, exp, sum,
             [](Expr value, Expr row_sum) { return std::move(value) / std::move(row_sum); });
}

Tensor LayerNorm(WorkloadBuilder& b, const std::string& name, const Tensor& x, const Tensor& scale,
                 const Tensor& shift, double epsilon) {
  Require(!x.shape().empty(), name, "a scalar has no last axis");
  const std::vector<int> last = {static_cast<int>(x.shape().size()) - 1};
  const Expr count = Literal(static_cast<double>(x.shape().back()), x.dtype());
  const Tensor sum = ReduceAxes(b, name + "_sum", x, last, Reduction::kSum, true);
  const Tensor centred = Zip(b, name + "_centred", x, sum, [&](Expr value, Expr row_sum) {
    return std::move(value) - std::move(row_sum) / count;
  });
  const Tensor square = Map(b, name + "_square", centred, [](Expr value) { return value * value; });
  const Tensor squares = ReduceAxes(b, name + "_squares", square, last, Reduction::kSum, true);
  return b.Compute(name, x.shape(), [&](const Exprs& at) {
    const Expr variance = squares.At(BroadcastIndex(squares.shape(), x.shape(), at)) / count;
    const Expr deviation = Unary(ExprOp::kSqrt, variance + Literal(epsilon, x.dtype()));
    return centred.At(at) / deviation * scale.At(BroadcastIndex(scale.shape(), x.shape(), at)) +
           shift.At(BroadcastIndex(shift.shape(), x.shape(), at));
  });
}

Workload MatmulWorkload(int64_t m, int64_t n, int64_t k, DType dtype, const Epilogue& epilogue,
                        std::optional<DType> accumulator) {
  WorkloadBuilder b("matmul" + NameOf(epilogue));
  const Tensor a = b.Input("a", {m, k}, dtype), w = b.Constant("w", {k, n}, dtype);
  const Tensor c = Matmul(b, "matmul", a, w, {.accumulator = accumulator});
  return b.Build({AddEpilogue(b, c, 1, epilogue)});
}

Workload BatchMatmulWorkload(int64_t batch, int64_t m, int64_t n, int64_t k, DType dtype,
                             std::optional<DType> accumulator) {
  WorkloadBuilder b("batch_matmul");
  const Tensor a = b.Input("a", {batch, m, k}, dtype), w = b.Input("w", {batch, k, n}, dtype);
  return b.Build({Matmul(b, "matmul", a, w, {.accumulator = accumulator})});
}

Workload Conv2dWorkload(const Conv2dShape& s) {
  const bool depthwise = s.groups > 1 && s.groups == s.in_channels && s.groups == s.out_channels;
  const bool grouped = s.groups > 1 && !depthwise;
  WorkloadBuilder b((depthwise ? "depthwise_conv2d" : "conv2d") + NameOf(s.epilogue));
  const Tensor x = b.Input("x", {s.batch, s.height, s.width, s.in_channels}, s.dtype);
  if (depthwise) {
    const Tensor w = b.Constant("weight", {s.kernel[0], s.kernel[1], s.groups}, s.dtype);
    const Tensor y = DepthwiseConv2d(b, "conv", x, w, s.options);
    return b.Build({AddEpilogue(b, y, 1, s.epilogue)});
  }
  const int64_t in = s.in_channels / std::max<int64_t>(s.groups, 1);
  const Tensor w = b.Constant("weight", {s.kernel[0], s.kernel[1], in, s.out_channels}, s.dtype);
  const Tensor y = grouped ? GroupedConv2d(b, "conv", x, w, s.groups, s.options)
                           : Conv2d(b, "conv", x, w, s.options);
  return b.Build({AddEpilogue(b, y, grouped ? 2 : 1, s.epilogue)});
}

}  // namespace bayloom::tensor
