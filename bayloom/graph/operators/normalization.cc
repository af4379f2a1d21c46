// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Softmax and its kin, normalizations by mean and variance, running sums.
#include <fmt/format.h>

#include <algorithm>

#include "bayloom/graph/import/onnx_tensor.h"
#include "bayloom/graph/import/wide_floats.h"
#include "bayloom/graph/operators/helpers.h"

namespace bayloom::graph {
namespace {

/// 1 / x. Of what is the same for a whole row it is computed once, and then multiplied by.
tensor::Expr OneOver(const tensor::Expr& x) { return LiteralLike(1, x) / x; }

/// One axis from operator set 13 on; before, all from the axis to the last together.
std::vector<int> SoftmaxAxes(OperatorContext& context, const tensor::Tensor& x) {
  const bool single = context.opset() >= 13;
  const int axis = context.Axis("axis", single ? -1 : 1, Rank(x));
  if (single) return {axis};
  std::vector<int> axes;
  for (int d = axis; d < Rank(x); ++d) axes.push_back(d);
  return axes;
}

void Softmax(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const std::vector<int> axes = SoftmaxAxes(context, x);
  const tensor::Tensor max =
      ReduceAxes(context, "softmax.max", x, axes, tensor::Reduction::kMax, Itself);
  const tensor::Tensor exp = context.builder().Map("softmax.exp", x.shape(), [&](const Exprs& s) {
    return tensor::Unary(tensor::ExprOp::kExp, x.At(s) - max.At(Without(s, axes)));
  });
  const tensor::Tensor sum =
      ReduceAxes(context, "softmax.sum", exp, axes, tensor::Reduction::kSum, Itself);
  context.SetOutput(0, context.builder().Map("softmax", x.shape(), [&](const Exprs& s) {
    return exp.At(s) * OneOver(sum.At(Without(s, axes)));
  }));
}

void LogSoftmax(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const std::vector<int> axes = SoftmaxAxes(context, x);
  const tensor::Tensor max =
      ReduceAxes(context, "logsoftmax.max", x, axes, tensor::Reduction::kMax, Itself);
  const tensor::Tensor sum = ReduceAxesAt(
      context, "logsoftmax.sum", x.shape(), axes, tensor::Reduction::kSum, [&](const Exprs& s) {
        return tensor::Unary(tensor::ExprOp::kExp, x.At(s) - max.At(Without(s, axes)));
      });
  context.SetOutput(0, context.builder().Map("logsoftmax", x.shape(), [&](const Exprs& s) {
    const Exprs row = Without(s, axes);
    return x.At(s) - max.At(row) - tensor::Unary(tensor::ExprOp::kLog, sum.At(row));
  }));
}

/// 1 at the first maximum along the axis, 0 elsewhere.
void Hardmax(OperatorContext& context) {
  tensor::Tensor x = context.Input(0);
  const std::vector<int64_t> shape = x.shape();
  std::vector<int> axes = SoftmaxAxes(context, x);
  if (axes.size() > 1) {
    const std::vector<int64_t> outer(shape.begin(), shape.begin() + axes[0]);
    const int64_t rows = CheckedElementCount(outer);
    const std::vector<int64_t> inner(shape.begin() + axes[0], shape.end());
    x = context.builder().View(x, {rows, CheckedElementCount(inner)});
    axes = {1};
  }
  const tensor::Tensor index = ArgExtreme(context, x, axes[0], true, false);
  const tensor::Tensor hot = context.builder().Map("hardmax", x.shape(), [&](const Exprs& s) {
    return tensor::Select(tensor::Equal(s[axes[0]], index.At(Without(s, axes))),
                          tensor::Literal(1, x.dtype()), tensor::Literal(0, x.dtype()));
  });
  context.SetOutput(0, context.builder().View(hot, shape));
}

/// x minus its mean over some axes, and the sum of the squares of that.
struct Moments {
  std::vector<int> axes;
  double count = 1;
  tensor::Tensor sum, centred, squares;

  tensor::Expr Mean(const Exprs& row) const {
    const tensor::Expr total = sum.At(row);
    return total / LiteralLike(count, total);
  }
  tensor::Expr Variance(const Exprs& row) const {
    const tensor::Expr total = squares.At(row);
    return total / LiteralLike(count, total);
  }
  tensor::Expr Deviation(const Exprs& row, double epsilon) const {
    const tensor::Expr variance = Variance(row);
    return tensor::Unary(tensor::ExprOp::kSqrt, variance + LiteralLike(epsilon, variance));
  }
};

Moments MomentsOf(OperatorContext& context, const tensor::Tensor& x, const std::vector<int>& axes) {
  Moments m;
  m.axes = axes;
  for (int axis : axes) m.count *= static_cast<double>(x.shape()[axis]);
  const std::string op = context.label();
  m.sum = ReduceAxes(context, op + ".sum", x, axes, tensor::Reduction::kSum, Itself);
  m.centred = context.builder().Map(op + ".centred", x.shape(), [&](const Exprs& s) {
    return x.At(s) - m.Mean(Without(s, axes));
  });
  m.squares = ReduceAxes(context, op + ".squares", m.centred, axes, tensor::Reduction::kSum,
                         [](const tensor::Expr& e) { return e * e; });
  return m;
}

void CheckPerChannel(OperatorContext& context, const tensor::Tensor& x,
                     const tensor::Tensor& parameter) {
  if (parameter.shape() != std::vector<int64_t>{x.shape()[1]}) {
    context.Refuse(fmt::format("{} has to have one element for each of {} channels",
                               ToString(parameter.dtype(), parameter.shape()), x.shape()[1]));
  }
}

/// Per channel c: scale[c] * (x - mean[c]) / sqrt(variance[c] + epsilon) + bias[c], written as
/// x * factor[c] + offset[c].
tensor::Tensor ScaleAndShift(OperatorContext& context, const tensor::Tensor& x,
                             const tensor::Tensor& mean, const tensor::Tensor& variance,
                             double epsilon) {
  const tensor::Tensor scale = context.Input(1), bias = context.Input(2);
  const tensor::DType dtype = scale.dtype();
  const tensor::Tensor factor =
      Elementwise(context, "batchnorm.factor", {scale, variance}, [&](const Exprs& e) {
        const tensor::Expr wide = tensor::Cast(dtype, e[1]);
        return e[0] / tensor::Unary(tensor::ExprOp::kSqrt, wide + LiteralLike(epsilon, wide));
      });
  const tensor::Tensor offset =
      Elementwise(context, "batchnorm.offset", {bias, mean, factor},
                  [&](const Exprs& e) { return e[0] - tensor::Cast(dtype, e[1]) * e[2]; });
  return context.builder().Map("batchnorm", x.shape(), [&](const Exprs& s) {
    return x.At(s) * tensor::Cast(x.dtype(), factor(s[1])) + tensor::Cast(x.dtype(), offset(s[1]));
  });
}

void BatchNormalization(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  if (Rank(x) < 2) context.Refuse("the input needs 2 dimensions at least");
  for (int k = 1; k < 5; ++k) CheckPerChannel(context, x, context.Input(k));
  if (context.Int("spatial", 1) != 1) context.RefuseAttribute("spatial", "0", "has to be 1");
  const double epsilon = context.Float("epsilon", 1e-5f);
  tensor::Tensor mean = context.Input(3), variance = context.Input(4);
  if (context.Int("training_mode", 0) == 0) {
    if (context.WantsOutput(1)) context.Refuse("statistics are an output in training only");
    return context.SetOutput(0, ScaleAndShift(context, x, mean, variance, epsilon));
  }
  std::vector<int> axes = AllAxes(Rank(x));
  axes.erase(axes.begin() + 1);
  const Moments m = MomentsOf(context, x, axes);
  const double momentum = context.Float("momentum", 0.9f);
  GraphBuilder& b = context.builder();
  const auto blend = [&](const tensor::Tensor& old, const tensor::Expr& now, const Exprs& s) {
    const tensor::Expr before = old.At(s);
    return before * LiteralLike(momentum, before) + now * LiteralLike(1 - momentum, now);
  };
  context.SetOutput(1, b.Map("batchnorm.mean", mean.shape(),
                             [&](const Exprs& s) { return blend(mean, m.Mean(s), s); }));
  context.SetOutput(2, b.Map("batchnorm.variance", mean.shape(),
                             [&](const Exprs& s) { return blend(variance, m.Variance(s), s); }));
  mean = b.Map("mean", mean.shape(), [&](const Exprs& s) { return m.Mean(s); });
  variance = b.Map("variance", mean.shape(), [&](const Exprs& s) { return m.Variance(s); });
  context.SetOutput(0, ScaleAndShift(context, x, mean, variance, epsilon));
}

void InstanceNormalization(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0), scale = context.Input(1), bias = context.Input(2);
  if (Rank(x) < 3) context.Refuse("the input needs 3 dimensions at least");
  CheckPerChannel(context, x, scale);
  CheckPerChannel(context, x, bias);
  const double epsilon = context.Float("epsilon", 1e-5f);
  std::vector<int> axes = AllAxes(Rank(x));
  axes.erase(axes.begin(), axes.begin() + 2);
  const Moments m = MomentsOf(context, x, axes);
  context.SetOutput(
      0, context.builder().Map("instancenormalization", x.shape(), [&](const Exprs& s) {
        const tensor::Expr factor = scale(s[1]) * OneOver(m.Deviation({s[0], s[1]}, epsilon));
        return m.centred.At(s) * factor + bias(s[1]);
      }));
}

/// The type of the statistics, attribute stash_type.
tensor::DType StatisticsType(OperatorContext& context) {
  const int64_t number = context.Int("stash_type", 1);
  const tensor::DType dtype = DTypeFromOnnx(static_cast<int>(std::clamp<int64_t>(number, 0, 99)));
  if (!tensor::IsFloat(dtype))
    context.RefuseAttribute("stash_type", OnnxName(dtype), "has to be a float type");
  return dtype;
}

/// Rounded to a type, and of that type unless it is one that is widened.
tensor::Tensor RoundedTo(OperatorContext& context, tensor::DType dtype, const tensor::Tensor& x) {
  const tensor::Tensor rounded = ConvertTo(context, dtype, x);
  return IsNarrowFloat(dtype) ? ConvertTo(context, tensor::DType::kFloat32, rounded) : rounded;
}

void LayerNormalization(OperatorContext& context) {
  const tensor::Tensor given = context.Input(0);
  const tensor::DType stash = StatisticsType(context);
  const tensor::Tensor x = RoundedTo(context, stash, given);
  const int first = context.Axis("axis", -1, Rank(x));
  const double epsilon = context.Float("epsilon", 1e-5f);
  std::vector<int> axes;
  for (int d = first; d < Rank(x); ++d) axes.push_back(d);
  const Moments m = MomentsOf(context, x, axes);
  const tensor::Tensor normal =
      context.builder().Map("layernormalization.normal", x.shape(), [&](const Exprs& s) {
        return m.centred.At(s) * OneOver(m.Deviation(Without(s, axes), epsilon));
      });
  std::vector<tensor::Tensor> operands = {
      ConvertTo(context, given.dtype(), RoundedTo(context, stash, normal)), context.Input(1)};
  if (context.HasInput(2)) operands.push_back(context.Input(2));
  const tensor::Tensor y = Elementwise(context, "layernormalization", operands, [](const Exprs& e) {
    return e.size() == 3 ? e[0] * e[1] + e[2] : e[0] * e[1];
  });
  if (y.shape() != x.shape()) context.Refuse("scale or bias has more elements than the input");
  context.SetOutput(0, y);
  GraphBuilder& b = context.builder();
  const std::vector<int64_t> rows = ReducedShape(x.shape(), axes, false);
  const std::vector<int64_t> kept = ReducedShape(x.shape(), axes, true);
  if (context.WantsOutput(1)) {
    const tensor::Tensor mean =
        b.Map("layernormalization.mean", rows, [&](const Exprs& s) { return m.Mean(s); });
    context.SetOutput(1, b.View(mean, kept));
  }
  if (context.WantsOutput(2)) {
    const tensor::Tensor inverse = b.Map("layernormalization.inverse", rows, [&](const Exprs& s) {
      return OneOver(m.Deviation(s, epsilon));
    });
    context.SetOutput(2, b.View(inverse, kept));
  }
}

/// Divides by a power of the mean square over neighbouring channels.
void Lrn(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const int64_t size = context.Int("size");
  if (Rank(x) < 2 || size < 1 || size > (1 << 20)) {
    context.Refuse("needs an input with channels and a positive size");
  }
  const double alpha = context.Float("alpha", 1e-4f), beta = context.Float("beta", 0.75f);
  const double bias = context.Float("bias", 1.0f);
  std::vector<int64_t> low(Rank(x), 0), high(Rank(x), 0);
  low[1] = (size - 1) / 2;
  high[1] = size - 1 - low[1];
  const tensor::Tensor padded = PadWith(context, x, low, high, tensor::Literal(0, x.dtype()));
  const tensor::Tensor squares =
      context.builder().Reduce("lrn.squares", x.shape(), {{"k", size}}, tensor::Reduction::kSum,
                               [&](const Exprs& s, const Exprs& r) {
                                 Exprs index = s;
                                 index[1] = s[1] + r[0];
                                 const tensor::Expr element = padded.At(index);
                                 return element * element;
                               });
  context.SetOutput(
      0, Elementwise(context, "lrn", {x, squares}, [&](const Exprs& e) {
        const tensor::Expr base =
            LiteralLike(bias, e[1]) + e[1] * LiteralLike(alpha / static_cast<double>(size), e[1]);
        return e[0] / tensor::Binary(tensor::ExprOp::kPow, base, LiteralLike(beta, base));
      }));
}

void LpNormalization(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const int axis = context.Axis("axis", -1, Rank(x));
  const int64_t p = context.Int("p", 2);
  if (p != 1 && p != 2) context.RefuseAttribute("p", fmt::format("{}", p), "has to be 1 or 2");
  const tensor::Tensor sum = ReduceAxes(
      context, "lpnorm.sum", x, {axis}, tensor::Reduction::kSum, [&](const tensor::Expr& e) {
        return p == 1 ? tensor::Unary(tensor::ExprOp::kAbs, e) : e * e;
      });
  context.SetOutput(0, context.builder().Map("lpnorm", x.shape(), [&](const Exprs& s) {
    const tensor::Expr total = sum.At(Without(s, {axis}));
    const tensor::Expr norm = p == 1 ? total : tensor::Unary(tensor::ExprOp::kSqrt, total);
    const tensor::Expr zero = LiteralLike(0, norm);
    return tensor::Select(tensor::Equal(norm, zero), zero, x.At(s) / norm);
  }));
}

}  // namespace

std::span<const Operator> NormalizationOperators() {
  static const Operator operators[] = {
      {"BatchNormalization", BatchNormalization},
      {"Hardmax", Hardmax},
      {"InstanceNormalization", InstanceNormalization},
      {"LRN", Lrn},
      {"LayerNormalization", LayerNormalization},
      {"LogSoftmax", LogSoftmax},
      {"LpNormalization", LpNormalization},
      {"Softmax", Softmax},
  };
  return operators;
}

}  // namespace bayloom::graph
