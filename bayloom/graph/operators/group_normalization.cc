// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Normalizations by groups of channels, and by the root mean square.
#include <fmt/format.h>

#include "bayloom/graph/operators/apply.h"
#include "bayloom/graph/operators/normalization.h"

namespace bayloom::graph {
namespace {

void RmsNormalization(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const int axis = context.Axis("axis", -1, Rank(x));
  context.SetOutput(
      0, RmsNormalize(context, x, context.Input(1), axis, context.Float("epsilon", 1e-5f)).y);
}

/// Scale and bias belong to groups in operator set 18, to channels from 21 on.
void GroupNormalization(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0), scale = context.Input(1), bias = context.Input(2);
  const int64_t groups = context.Int("num_groups");
  const int64_t count = context.opset() < 21 ? groups : Rank(x) < 2 ? 0 : x.shape()[1];
  if (CheckedElementCount(scale.shape()) != count) {
    context.Refuse(fmt::format("scale {} has to have one element for each of {} {}",
                               ToString(scale.dtype(), scale.shape()), count,
                               context.opset() < 21 ? "groups" : "channels"));
  }
  const double epsilon = context.Float("epsilon", 1e-5f);
  context.SetOutput(0, GroupNormalize(context, x, scale, bias, groups, epsilon));
}

/// onnxruntime's optimizer emits this in ONNX's own domain.
void SimplifiedLayerNormalization(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const int axis = context.Axis("axis", -1, Rank(x));
  const RmsNormalized result =
      RmsNormalize(context, x, context.Input(1), axis, context.Float("epsilon", 1e-5f));
  context.SetOutput(0, result.y);
  if (context.WantsOutput(1)) context.SetOutput(1, result.inverse);
}

}  // namespace

RmsNormalized RmsNormalize(OperatorContext& context, const tensor::Tensor& x,
                           const tensor::Tensor& scale, int axis, double epsilon) {
  std::vector<int> axes;
  double count = 1;
  for (int d = axis; d < Rank(x); ++d) {
    axes.push_back(d);
    count *= static_cast<double>(x.shape()[d]);
  }
  const tensor::DType wide =
      x.dtype() == tensor::DType::kFloat64 ? x.dtype() : tensor::DType::kFloat32;
  const tensor::Tensor squares = ReduceAxes(context, "rmsnormalization.squares", x, axes,
                                            tensor::Reduction::kSum, [&](const tensor::Expr& e) {
                                              const tensor::Expr element = tensor::Cast(wide, e);
                                              return element * element;
                                            });
  const tensor::Tensor inverse =
      Elementwise(context, "rmsnormalization.inverse", squares, [&](const tensor::Expr& sum) {
        const tensor::Expr mean = sum / LiteralLike(count, sum);
        return LiteralLike(1, sum) /
               tensor::Unary(tensor::ExprOp::kSqrt, mean + LiteralLike(epsilon, sum));
      });
  const std::vector<int64_t> rows = ReducedShape(x.shape(), axes, true);
  const tensor::Tensor kept = context.builder().View(inverse, rows);
  const tensor::Tensor y =
      Elementwise(context, "rmsnormalization", {x, kept, scale}, [&](const Exprs& e) {
        return tensor::Cast(e[2]->dtype,
                            tensor::Cast(wide, e[0]) * e[1] * tensor::Cast(wide, e[2]));
      });
  if (y.shape() != x.shape()) context.Refuse("the scale has more elements than the input");
  return {y, kept};
}

tensor::Tensor GroupNormalize(OperatorContext& context, const tensor::Tensor& x,
                              const tensor::Tensor& scale, const tensor::Tensor& bias,
                              int64_t groups, double epsilon) {
  if (Rank(x) < 2 || groups < 1 || x.shape()[1] % groups != 0 || x.shape()[1] == 0) {
    context.Refuse(fmt::format("{} cannot be normalized in {} groups of channels",
                               ToString(x.dtype(), x.shape()), groups));
  }
  const int64_t channels = x.shape()[1];
  const int64_t parameters = CheckedElementCount(scale.shape());
  if (Rank(scale) != 1 || scale.shape() != bias.shape() ||
      (parameters != channels && parameters != groups)) {
    context.Refuse(
        fmt::format("scale {} and bias {} have to have one element for each of {} "
                    "channels or {} groups",
                    ToString(scale.dtype(), scale.shape()), ToString(bias.dtype(), bias.shape()),
                    channels, groups));
  }
  int64_t positions = 1;
  for (size_t d = 2; d < x.shape().size(); ++d) positions *= x.shape()[d];
  const int64_t size = channels / groups;
  GraphBuilder& b = context.builder();
  const tensor::Tensor rows = b.View(x, {x.shape()[0], groups, size * positions});
  const tensor::Tensor normal =
      ApplyOperator(context, "LayerNormalization", {rows, Filled(context, 1, x.dtype(), {1})},
                    {{{"axis", int64_t{2}}, {"epsilon", epsilon}}});
  const tensor::Tensor split = b.View(normal, {x.shape()[0], groups, size, positions});
  const bool per_group = parameters == groups && groups != channels;
  const std::vector<int64_t> shape = {groups, per_group ? 1 : size, 1};
  const tensor::Tensor y =
      Elementwise(context, "groupnormalization", {split, b.View(scale, shape), b.View(bias, shape)},
                  [&](const Exprs& e) {
                    return e[0] * tensor::Cast(x.dtype(), e[1]) + tensor::Cast(x.dtype(), e[2]);
                  });
  return b.View(y, x.shape());
}

std::span<const Operator> GroupNormalizationOperators() {
  static const Operator operators[] = {
      {"GroupNormalization", GroupNormalization},
      {"RMSNormalization", RmsNormalization},
      {"SimplifiedLayerNormalization", SimplifiedLayerNormalization},
  };
  return operators;
}

}  // namespace bayloom::graph
