// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Normalizations of a sum of a tensor, a residual and a bias.
#include "bayloom/graph/operators/normalization.h"

#include <fmt/format.h>

#include "bayloom/graph/operators/apply.h"
#include "bayloom/graph/operators/microsoft.h"
#include "bayloom/tensor/operators.h"

namespace bayloom::graph::microsoft {
namespace {

/// input + skip + bias; the skip and the bias broadcast to the input.
tensor::Tensor SkipSum(OperatorContext& context, int bias) {
  const tensor::Tensor x = context.Input(0);
  std::vector<tensor::Tensor> terms = {x, context.Input(1)};
  if (context.HasInput(bias)) terms.push_back(context.Input(bias));
  const tensor::Tensor sum = Elementwise(context, "skip", terms, [](const Exprs& e) {
    return e.size() == 3 ? e[0] + e[1] + e[2] : e[0] + e[1];
  });
  if (sum.shape() != x.shape()) context.Refuse("skip or bias has more elements than the input");
  return sum;
}

void SkipLayerNormalization(OperatorContext& context) {
  const tensor::Tensor sum = SkipSum(context, 4);
  const double epsilon = context.Float("epsilon", 1e-12f);
  const std::vector<tensor::Tensor> results = ApplyOperatorAll(
      context, "LayerNormalization", {sum, context.Input(2), OptionalInput(context, 3)}, 3,
      {{{"axis", int64_t{-1}}, {"epsilon", epsilon}}});
  for (int i = 0; i < 3; ++i) {
    if (context.WantsOutput(i)) context.SetOutput(i, results[i]);
  }
  if (context.WantsOutput(3)) context.SetOutput(3, sum);
}

void SkipSimplifiedLayerNormalization(OperatorContext& context) {
  const tensor::Tensor sum = SkipSum(context, 3);
  if (Rank(sum) < 1) context.Refuse("the input is a scalar");
  const RmsNormalized result =
      RmsNormalize(context, sum, context.Input(2), Rank(sum) - 1, context.Float("epsilon", 1e-12f));
  context.SetOutput(0, result.y);
  if (context.WantsOutput(2)) context.SetOutput(2, result.inverse);
  if (context.WantsOutput(3)) context.SetOutput(3, sum);
}

/// The channels of images are the last axis unless `channels_last` is 0.
void GroupNormOf(OperatorContext& context, const tensor::Tensor& x) {
  const bool channels_last = context.Int("channels_last", 1) != 0;
  if (Rank(x) != 4) context.Refuse("the input needs 4 dimensions");
  const int64_t activation = context.Int("activation");
  const tensor::Tensor image = channels_last ? Permute(context, x, {0, 3, 1, 2}) : x;
  tensor::Tensor y = GroupNormalize(context, image, context.Input(1), context.Input(2),
                                    context.Int("groups"), context.Float("epsilon", 1e-5f));
  if (activation == 1) {
    y = Elementwise(context, "silu", y, [](const tensor::Expr& e) { return tensor::Silu(e); });
  } else if (activation != 0) {
    context.RefuseAttribute("activation", fmt::format("{}", activation), "has to be 0 or 1");
  }
  context.SetOutput(0, channels_last ? Permute(context, y, {0, 2, 3, 1}) : y);
}

void GroupNorm(OperatorContext& context) { GroupNormOf(context, context.Input(0)); }

/// The skip is an image, or one row of channels per batch.
void SkipGroupNorm(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  if (context.Int("channels_last", 1) == 0) {
    context.RefuseAttribute("channels_last", "0", "has to be 1");
  }
  tensor::Tensor skip = context.Input(3);
  if (Rank(skip) == 2)
    skip = context.builder().View(skip, {skip.shape()[0], 1, 1, skip.shape()[1]});
  tensor::Tensor sum = ApplyOperator(context, "Add", {x, skip});
  if (context.HasInput(4)) sum = ApplyOperator(context, "Add", {sum, context.Input(4)});
  if (sum.shape() != x.shape()) context.Refuse("skip or bias has more elements than the input");
  if (context.WantsOutput(1)) context.SetOutput(1, sum);
  GroupNormOf(context, sum);
}

}  // namespace

std::span<const Operator> NormalizationOperators() {
  static const Operator operators[] = {
      {"GroupNorm", GroupNorm, kDomain},
      {"SkipGroupNorm", SkipGroupNorm, kDomain},
      {"SkipLayerNormalization", SkipLayerNormalization, kDomain},
      {"SkipSimplifiedLayerNormalization", SkipSimplifiedLayerNormalization, kDomain},
  };
  return operators;
}

}  // namespace bayloom::graph::microsoft
