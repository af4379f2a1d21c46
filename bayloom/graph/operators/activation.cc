/// Activation functions of one tensor.
#include "bayloom/graph/operators/helpers.h"
#include "bayloom/tensor/operators.h"

namespace bayloom {
namespace {

void Apply(OperatorContext& context, const std::function<Expr(const Expr&)>& function) {
  context.SetOutput(0, Elementwise(context, context.label(), context.Input(0), function));
}

Expr Zero(const Expr& like) { return LiteralLike(0, like); }
Expr One(const Expr& like) { return LiteralLike(1, like); }
Expr Exp(const Expr& x) { return Unary(ExprOp::kExp, x); }

void ReluOperator(OperatorContext& context) {
  Apply(context, [](const Expr& x) { return Relu(x); });
}

void SigmoidOperator(OperatorContext& context) {
  Apply(context, [](const Expr& x) { return Sigmoid(x); });
}

void SoftplusOperator(OperatorContext& context) { Apply(context, Softplus); }

void Softsign(OperatorContext& context) {
  Apply(context, [](const Expr& x) { return x / (One(x) + Unary(ExprOp::kAbs, x)); });
}

void LeakyRelu(OperatorContext& context) {
  const double alpha = context.Float("alpha", 0.01f);
  Apply(context, [&](const Expr& x) { return Select(x < Zero(x), LiteralLike(alpha, x) * x, x); });
}

void PRelu(OperatorContext& context) {
  const Tensor x = context.Input(0), slope = context.Input(1);
  const Tensor result = Elementwise(context, "prelu", {x, slope}, [](const Exprs& e) {
    return Select(e[0] < Zero(e[0]), e[1] * e[0], e[0]);
  });
  if (result.shape() != x.shape()) context.Refuse("the slope has more elements than the input");
  context.SetOutput(0, result);
}

void ThresholdedRelu(OperatorContext& context) {
  const double alpha = context.Float("alpha", 1.0f);
  Apply(context, [&](const Expr& x) { return Select(LiteralLike(alpha, x) < x, x, Zero(x)); });
}

void Elu(OperatorContext& context) {
  const double alpha = context.Float("alpha", 1.0f);
  Apply(context, [&](const Expr& x) {
    return Select(x < Zero(x), LiteralLike(alpha, x) * (Exp(x) - One(x)), x);
  });
}

void Selu(OperatorContext& context) {
  const double alpha = context.Float("alpha", 1.67326319217681884765625f);
  const double gamma = context.Float("gamma", 1.05070102214813232421875f);
  Apply(context, [&](const Expr& x) {
    const Expr negative = LiteralLike(alpha, x) * Exp(x) - LiteralLike(alpha, x);
    return LiteralLike(gamma, x) * Select(Zero(x) < x, x, negative);
  });
}

void Celu(OperatorContext& context) {
  const double alpha = context.Float("alpha", 1.0f);
  Apply(context, [&](const Expr& x) {
    const Expr negative = LiteralLike(alpha, x) * (Exp(x / LiteralLike(alpha, x)) - One(x));
    return Max(Zero(x), x) + Min(Zero(x), negative);
  });
}

Expr HardSigmoidOf(const Expr& x, double alpha, double beta) {
  return Max(Zero(x), Min(One(x), LiteralLike(alpha, x) * x + LiteralLike(beta, x)));
}

void HardSigmoid(OperatorContext& context) {
  const double alpha = context.Float("alpha", 0.2f), beta = context.Float("beta", 0.5f);
  Apply(context, [&](const Expr& x) { return HardSigmoidOf(x, alpha, beta); });
}

void HardSwish(OperatorContext& context) {
  Apply(context, [](const Expr& x) { return x * HardSigmoidOf(x, 1.0 / 6, 0.5); });
}

void Mish(OperatorContext& context) {
  Apply(context, [](const Expr& x) { return x * Unary(ExprOp::kTanh, Softplus(x)); });
}

void GeluOperator(OperatorContext& context) {
  const std::string approximate = context.String("approximate", "none");
  if (approximate != "none") {
    context.RefuseAttribute("approximate", approximate, "only none is supported");
  }
  Apply(context, [](const Expr& x) { return Gelu(x); });
}

void Shrink(OperatorContext& context) {
  const double lambda = context.Float("lambd", 0.5f), bias = context.Float("bias", 0.0f);
  Apply(context, [&](const Expr& x) {
    const Expr above = Select(LiteralLike(lambda, x) < x, x - LiteralLike(bias, x), Zero(x));
    return Select(x < LiteralLike(-lambda, x), x + LiteralLike(bias, x), above);
  });
}

}  // namespace

std::span<const Operator> ActivationOperators() {
  static const Operator operators[] = {
      {"Celu", Celu},
      {"Elu", Elu},
      {"Gelu", GeluOperator},
      {"HardSigmoid", HardSigmoid},
      {"HardSwish", HardSwish},
      {"LeakyRelu", LeakyRelu},
      {"Mish", Mish},
      {"PRelu", PRelu},
      {"Relu", ReluOperator},
      {"Selu", Selu},
      {"Shrink", Shrink},
      {"Sigmoid", SigmoidOperator},
      {"Softplus", SoftplusOperator},
      {"Softsign", Softsign},
      {"ThresholdedRelu", ThresholdedRelu},
  };
  return operators;
}

}  // namespace bayloom
