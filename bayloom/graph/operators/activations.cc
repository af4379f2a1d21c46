// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/operators/activations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "bayloom/tensor/operators.h"

namespace bayloom::graph {

tensor::Expr Elu(const tensor::Expr& x, double alpha) {
  const tensor::Expr below =
      LiteralLike(alpha, x) * (tensor::Unary(tensor::ExprOp::kExp, x) - LiteralLike(1, x));
  return tensor::Select(x < LiteralLike(0, x), below, x);
}

tensor::Expr HardSigmoid(const tensor::Expr& x, double alpha, double beta) {
  const tensor::Expr line = LiteralLike(alpha, x) * x + LiteralLike(beta, x);
  return tensor::Max(LiteralLike(0, x), tensor::Min(LiteralLike(1, x), line));
}

tensor::Expr LeakyRelu(const tensor::Expr& x, double alpha) {
  return tensor::Select(x < LiteralLike(0, x), LiteralLike(alpha, x) * x, x);
}

tensor::Expr Softsign(const tensor::Expr& x) {
  return x / (LiteralLike(1, x) + tensor::Unary(tensor::ExprOp::kAbs, x));
}

tensor::Expr ThresholdedRelu(const tensor::Expr& x, double alpha) {
  return tensor::Select(LiteralLike(alpha, x) < x, x, LiteralLike(0, x));
}

/// A function by its name in lower case, its number of parameters and their defaults.
struct NamedActivation::Known {
  std::string_view name;
  Function function;
  int parameters;
  double alpha;
  double beta;
};

const NamedActivation::Known& NamedActivation::Find(OperatorContext& context,
                                                    const std::string& name) {
  using E = tensor::Expr;
  static constexpr Known kKnown[] = {
      {"affine",
       [](const E& x, double a, double b) { return LiteralLike(a, x) * x + LiteralLike(b, x); }, 2,
       1, 0},
      {"elu", [](const E& x, double a, double) { return Elu(x, a); }, 1, 1, 0},
      {"hardsigmoid", [](const E& x, double a, double b) { return HardSigmoid(x, a, b); }, 2, 0.2,
       0.5},
      {"leakyrelu", [](const E& x, double a, double) { return LeakyRelu(x, a); }, 1, 0.01, 0},
      {"relu", [](const E& x, double, double) { return tensor::Relu(x); }, 0, 0, 0},
      {"scaledtanh",
       [](const E& x, double a, double b) {
         return LiteralLike(a, x) * tensor::Unary(tensor::ExprOp::kTanh, LiteralLike(b, x) * x);
       },
       2, 1, 1},
      {"sigmoid", [](const E& x, double, double) { return tensor::Sigmoid(x); }, 0, 0, 0},
      {"softplus", [](const E& x, double, double) { return Softplus(x); }, 0, 0, 0},
      {"softsign", [](const E& x, double, double) { return Softsign(x); }, 0, 0, 0},
      {"tanh", [](const E& x, double, double) { return tensor::Unary(tensor::ExprOp::kTanh, x); },
       0, 0, 0},
      {"thresholdedrelu", [](const E& x, double a, double) { return ThresholdedRelu(x, a); }, 1, 1,
       0},
  };
  std::string lower = name;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto* known = std::find_if(std::begin(kKnown), std::end(kKnown),
                                   [&](const Known& each) { return each.name == lower; });
  if (known == std::end(kKnown)) {
    context.RefuseAttribute("activations", name, "there is no such function");
  }
  return *known;
}

std::vector<NamedActivation> NamedActivation::Read(OperatorContext& context,
                                                   const std::vector<std::string>& defaults) {
  const std::vector<std::string> names = context.Strings("activations", defaults);
  if (names.size() != defaults.size()) {
    context.Refuse(fmt::format("attribute activations has {} names; {} are needed", names.size(),
                               defaults.size()));
  }
  const std::vector<float> alphas = context.Floats("activation_alpha");
  const std::vector<float> betas = context.Floats("activation_beta");
  size_t next_alpha = 0, next_beta = 0;
  std::vector<NamedActivation> activations;
  for (const std::string& name : names) {
    const Known& known = Find(context, name);
    NamedActivation& made = activations.emplace_back();
    made.function_ = known.function;
    const bool has_alpha = known.parameters > 0 && next_alpha < alphas.size();
    const bool has_beta = known.parameters > 1 && next_beta < betas.size();
    made.alpha_ = has_alpha ? alphas[next_alpha++] : known.alpha;
    made.beta_ = has_beta ? betas[next_beta++] : known.beta;
    made.exceeds_one_ = known.name == "affine" && std::abs(made.beta_) > 1;
  }
  return activations;
}

}  // namespace bayloom::graph
