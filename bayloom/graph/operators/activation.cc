// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Activation functions of one tensor.
#include <cmath>
#include <numbers>

#include "bayloom/graph/operators/activations.h"
#include "bayloom/tensor/operators.h"

namespace bayloom::graph {
namespace {

void Apply(OperatorContext& context,
           const std::function<tensor::Expr(const tensor::Expr&)>& function) {
  context.SetOutput(0, Elementwise(context, context.label(), context.Input(0), function));
}

tensor::Expr Zero(const tensor::Expr& like) { return LiteralLike(0, like); }
tensor::Expr One(const tensor::Expr& like) { return LiteralLike(1, like); }
tensor::Expr Exp(const tensor::Expr& x) { return tensor::Unary(tensor::ExprOp::kExp, x); }

void ReluOperator(OperatorContext& context) {
  Apply(context, [](const tensor::Expr& x) { return tensor::Relu(x); });
}

void SigmoidOperator(OperatorContext& context) {
  Apply(context, [](const tensor::Expr& x) { return tensor::Sigmoid(x); });
}

void SoftplusOperator(OperatorContext& context) { Apply(context, Softplus); }

void SoftsignOperator(OperatorContext& context) { Apply(context, Softsign); }

void LeakyReluOperator(OperatorContext& context) {
  const double alpha = context.Float("alpha", 0.01f);
  Apply(context, [&](const tensor::Expr& x) { return LeakyRelu(x, alpha); });
}

void PRelu(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0), slope = context.Input(1);
  const tensor::Tensor result = Elementwise(context, "prelu", {x, slope}, [](const Exprs& e) {
    return tensor::Select(e[0] < Zero(e[0]), e[1] * e[0], e[0]);
  });
  if (result.shape() != x.shape()) context.Refuse("the slope has more elements than the input");
  context.SetOutput(0, result);
}

void ThresholdedReluOperator(OperatorContext& context) {
  const double alpha = context.Float("alpha", 1.0f);
  Apply(context, [&](const tensor::Expr& x) { return ThresholdedRelu(x, alpha); });
}

void EluOperator(OperatorContext& context) {
  const double alpha = context.Float("alpha", 1.0f);
  Apply(context, [&](const tensor::Expr& x) { return Elu(x, alpha); });
}

void Selu(OperatorContext& context) {
  const double alpha = context.Float("alpha", 1.67326319217681884765625f);
  const double gamma = context.Float("gamma", 1.05070102214813232421875f);
  Apply(context, [&](const tensor::Expr& x) {
    const tensor::Expr negative = LiteralLike(alpha, x) * Exp(x) - LiteralLike(alpha, x);
    return LiteralLike(gamma, x) * tensor::Select(Zero(x) < x, x, negative);
  });
}

void Celu(OperatorContext& context) {
  const double alpha = context.Float("alpha", 1.0f);
  Apply(context, [&](const tensor::Expr& x) {
    const tensor::Expr negative = LiteralLike(alpha, x) * (Exp(x / LiteralLike(alpha, x)) - One(x));
    return tensor::Max(Zero(x), x) + tensor::Min(Zero(x), negative);
  });
}

void HardSigmoidOperator(OperatorContext& context) {
  const double alpha = context.Float("alpha", 0.2f), beta = context.Float("beta", 0.5f);
  Apply(context, [&](const tensor::Expr& x) { return HardSigmoid(x, alpha, beta); });
}

void HardSwish(OperatorContext& context) {
  Apply(context, [](const tensor::Expr& x) { return x * HardSigmoid(x, 1.0 / 6, 0.5); });
}

void Mish(OperatorContext& context) {
  Apply(context, [](const tensor::Expr& x) {
    return x * tensor::Unary(tensor::ExprOp::kTanh, Softplus(x));
  });
}

/// x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))
tensor::Expr GeluByTanh(const tensor::Expr& x) {
  const tensor::Expr inner =
      LiteralLike(std::sqrt(2 / std::numbers::pi), x) * (x + LiteralLike(0.044715, x) * x * x * x);
  return LiteralLike(0.5, x) * x * (One(x) + tensor::Unary(tensor::ExprOp::kTanh, inner));
}

void GeluOperator(OperatorContext& context) {
  const std::string approximate = context.String("approximate", "none");
  if (approximate == "tanh") return Apply(context, GeluByTanh);
  if (approximate != "none") {
    context.RefuseAttribute("approximate", approximate, "has to be none or tanh");
  }
  Apply(context, [](const tensor::Expr& x) { return tensor::Gelu(x); });
}

void Swish(OperatorContext& context) {
  const double alpha = context.Float("alpha", 1.0f);
  Apply(context,
        [&](const tensor::Expr& x) { return x * tensor::Sigmoid(LiteralLike(alpha, x) * x); });
}

/// a * sigmoid(alpha * a) * b.
void SwiGlu(OperatorContext& context) {
  const double alpha = context.Float("alpha", 1.0f);
  const tensor::Tensor a = context.Input(0), b = context.Input(1);
  if (a.shape() != b.shape()) context.Refuse("the inputs need the same shape");
  context.SetOutput(0, Elementwise(context, "swiglu", {a, b}, [&](const Exprs& e) {
                      return e[0] * tensor::Sigmoid(LiteralLike(alpha, e[0]) * e[0]) * e[1];
                    }));
}

/// Of integers, too, to which floats are added.
void Shrink(OperatorContext& context) {
  const double lambda = context.Float("lambd", 0.5f), bias = context.Float("bias", 0.0f);
  Apply(context, [&](const tensor::Expr& given) {
    const bool is_float = tensor::IsFloat(given->dtype);
    const tensor::Expr x = is_float ? given : tensor::Cast(tensor::DType::kFloat64, given);
    const tensor::Expr above =
        tensor::Select(LiteralLike(lambda, x) < x, x - LiteralLike(bias, x), Zero(x));
    return tensor::Cast(
        given->dtype, tensor::Select(x < LiteralLike(-lambda, x), x + LiteralLike(bias, x), above));
  });
}

}  // namespace

std::span<const Operator> ActivationOperators() {
  static const Operator operators[] = {
      {"Celu", Celu},
      {"Elu", EluOperator},
      {"Gelu", GeluOperator},
      {"HardSigmoid", HardSigmoidOperator},
      {"HardSwish", HardSwish},
      {"LeakyRelu", LeakyReluOperator},
      {"Mish", Mish},
      {"PRelu", PRelu},
      {"Relu", ReluOperator},
      {"Selu", Selu},
      {"Shrink", Shrink},
      {"Sigmoid", SigmoidOperator},
      {"Softplus", SoftplusOperator},
      {"Softsign", SoftsignOperator},
      {"SwiGLU", SwiGlu},
      {"Swish", Swish},
      {"ThresholdedRelu", ThresholdedReluOperator},
  };
  return operators;
}

}  // namespace bayloom::graph
