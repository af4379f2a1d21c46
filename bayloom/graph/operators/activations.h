// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "bayloom/graph/operators/helpers.h"

namespace bayloom::graph {

// Activation functions of one element, as ONNX defines the operators of their names.
tensor::Expr Elu(const tensor::Expr& x, double alpha);
tensor::Expr HardSigmoid(const tensor::Expr& x, double alpha, double beta);
tensor::Expr LeakyRelu(const tensor::Expr& x, double alpha);
tensor::Expr Softsign(const tensor::Expr& x);
tensor::Expr ThresholdedRelu(const tensor::Expr& x, double alpha);

/// An activation function that a recurrent operator names.
class NamedActivation {
 public:
  /// Reads the attributes activations, activation_alpha and activation_beta; `defaults` are the
  /// names where there are none. Parameters are consumed by the functions that have some, in
  /// order; the last functions may be without.
  static std::vector<NamedActivation> Read(OperatorContext& context,
                                           const std::vector<std::string>& defaults);

  tensor::Expr operator()(const tensor::Expr& x) const { return function_(x, alpha_, beta_); }
  /// Whether the function's value at 0 is above 1, or below -1.
  bool ExceedsOneAtZero() const { return exceeds_one_; }

 private:
  using Function = tensor::Expr (*)(const tensor::Expr& x, double alpha, double beta);
  struct Known;
  static const Known& Find(OperatorContext& context, const std::string& name);

  Function function_ = nullptr;
  double alpha_ = 0;
  double beta_ = 0;
  bool exceeds_one_ = false;
};

}  // namespace bayloom::graph
