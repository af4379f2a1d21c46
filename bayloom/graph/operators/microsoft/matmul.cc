// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Matrix products with transposed operands, scales and activations.
#include <fmt/format.h>

#include "bayloom/graph/operators/apply.h"
#include "bayloom/graph/operators/microsoft.h"

namespace bayloom::graph::microsoft {
namespace {

/// `batch_first`: the rows are axis 0 and the batch axes follow; `transposed`: the last two axes
/// are then exchanged.
tensor::Tensor Operand(OperatorContext& context, const tensor::Tensor& x, bool batch_first,
                       bool transposed) {
  const int rank = Rank(x);
  std::vector<int> permutation = AllAxes(rank);
  if (batch_first && rank > 2) {
    permutation.erase(permutation.begin());
    permutation.insert(permutation.end() - 1, 0);
  }
  if (transposed && rank > 1) std::swap(permutation[rank - 1], permutation[rank - 2]);
  return permutation == AllAxes(rank) ? x : Permute(context, x, permutation);
}

tensor::Tensor ScaledProduct(OperatorContext& context) {
  const auto flag = [&](const char* name) { return context.Int(name, 0) != 0; };
  const tensor::Tensor a = Operand(context, context.Input(0), flag("transBatchA"), flag("transA"));
  const tensor::Tensor b = Operand(context, context.Input(1), flag("transBatchB"), flag("transB"));
  const tensor::Tensor y = ApplyOperator(context, "MatMul", {a, b});
  const double alpha = context.Float("alpha", 1.0f);
  if (alpha == 1) return y;
  return Elementwise(context, "scale", y,
                     [&](const tensor::Expr& e) { return e * LiteralLike(alpha, e); });
}

void FusedMatMul(OperatorContext& context) { context.SetOutput(0, ScaledProduct(context)); }

std::vector<float> ActivationParameters(OperatorContext& context) {
  std::vector<float> parameters;
  for (const char* name : {"activation_alpha", "activation_beta", "activation_gamma"}) {
    if (context.HasAttribute(name)) parameters.push_back(context.Float(name));
  }
  return parameters;
}

void FusedMatMulActivation(OperatorContext& context) {
  const std::string name = context.String("activation");
  const tensor::Tensor y = ScaledProduct(context);
  if (name == "Softmax") {
    const Attributes axis{{{"axis", context.Int("activation_axis", -1)}}};
    return context.SetOutput(0, ApplyOperator(context, name, {y}, axis));
  }
  context.SetOutput(0, Activate(context, y, name, ActivationParameters(context)));
}

void FusedGemm(OperatorContext& context) {
  const tensor::Tensor y = ApplyOperator(
      context, "Gemm", {context.Input(0), context.Input(1), OptionalInput(context, 2)},
      {{}, {"alpha", "beta", "transA", "transB"}});
  context.SetOutput(
      0, Activate(context, y, context.String("activation", ""), ActivationParameters(context)));
}

}  // namespace

std::span<const Operator> MatmulOperators() {
  static const Operator operators[] = {
      {"FusedGemm", FusedGemm, kDomain},
      {"FusedMatMul", FusedMatMul, kDomain},
      {"FusedMatMulActivation", FusedMatMulActivation, kDomain},
      {"TransposeMatMul", FusedMatMul, kDomain},
  };
  return operators;
}

}  // namespace bayloom::graph::microsoft
