// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Activations with a bias or a gate.
#include <fmt/format.h>

#include "bayloom/graph/operators/apply.h"
#include "bayloom/graph/operators/microsoft.h"
#include "bayloom/tensor/operators.h"

namespace bayloom::graph::microsoft {
namespace {

const Attributes& TanhApproximation() {
  static const Attributes attributes{{{"approximate", std::string("tanh")}}};
  return attributes;
}

/// Input 0, plus input `bias` if there is one.
tensor::Tensor WithBias(OperatorContext& context, int bias) {
  const tensor::Tensor x = context.Input(0);
  if (!context.HasInput(bias)) return x;
  const tensor::Tensor sum = ApplyOperator(context, "Add", {x, context.Input(bias)});
  if (sum.shape() != x.shape()) context.Refuse("the bias has more elements than the input");
  return sum;
}

void Gelu(OperatorContext& context) {
  context.SetOutput(0, ApplyOperator(context, "Gelu", {context.Input(0)}));
}
void BiasGelu(OperatorContext& context) {
  context.Input(1);
  context.SetOutput(0, ApplyOperator(context, "Gelu", {WithBias(context, 1)}));
}
void FastGelu(OperatorContext& context) {
  context.SetOutput(0, ApplyOperator(context, "Gelu", {WithBias(context, 1)}, TanhApproximation()));
}
void GemmFastGelu(OperatorContext& context) {
  tensor::Tensor y = ApplyOperator(context, "MatMul", {context.Input(0), context.Input(1)});
  if (context.HasInput(2)) y = ApplyOperator(context, "Add", {y, context.Input(2)});
  context.SetOutput(0, ApplyOperator(context, "Gelu", {y}, TanhApproximation()));
}

void QuickGelu(OperatorContext& context) {
  const double alpha = context.Float("alpha", 1.702f);
  context.SetOutput(0, ApplyOperator(context, "Swish", {context.Input(0)}, {{{"alpha", alpha}}}));
}

/// The first half of the channels times the Gelu of the second half.
void BiasSplitGelu(OperatorContext& context) {
  const tensor::Tensor x = WithBias(context, 1);
  if (Rank(x) < 1 || x.shape().back() % 2 != 0) context.Refuse("the channels have no halves");
  const int64_t half = x.shape().back() / 2;
  const tensor::Tensor gate =
      ApplyOperator(context, "Gelu", {LastAxisSlice(context, x, half, half)});
  context.SetOutput(0, ApplyOperator(context, "Mul", {LastAxisSlice(context, x, 0, half), gate}));
}

void BiasAdd(OperatorContext& context) {
  context.SetOutput(0, ApplyOperator(context, "Add", {WithBias(context, 1), context.Input(2)}));
}

/// The bias broadcasts over the axes up to `axis` from the outside, or from the inside.
void BiasSoftmax(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const int axis = context.Axis("axis", 1, Rank(x));
  tensor::Tensor bias = context.Input(1);
  if (context.Int("is_inner_broadcast") == 0 && Rank(bias) > Rank(x)) {
    context.Refuse("the bias has more dimensions than the input");
  }
  const tensor::Tensor sum = ApplyOperator(context, "Add", {x, bias});
  if (sum.shape() != x.shape()) context.Refuse("the bias has more elements than the input");
  std::vector<int64_t> rows(x.shape().begin(), x.shape().begin() + axis);
  std::vector<int64_t> row(x.shape().begin() + axis, x.shape().end());
  const tensor::Tensor flat =
      context.builder().View(sum, {CheckedElementCount(rows), CheckedElementCount(row)});
  context.SetOutput(0,
                    context.builder().View(ApplyOperator(context, "Softmax", {flat}), x.shape()));
}

}  // namespace

std::span<const Operator> ActivationOperators() {
  static const Operator operators[] = {
      {"BiasAdd", BiasAdd, kDomain},           {"BiasGelu", BiasGelu, kDomain},
      {"BiasSoftmax", BiasSoftmax, kDomain},   {"BiasSplitGelu", BiasSplitGelu, kDomain},
      {"FastGelu", FastGelu, kDomain},         {"Gelu", Gelu, kDomain},
      {"GemmFastGelu", GemmFastGelu, kDomain}, {"QuickGelu", QuickGelu, kDomain},
  };
  return operators;
}

}  // namespace bayloom::graph::microsoft
