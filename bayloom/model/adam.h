// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace bayloom::model {

struct AdamOptions {
  double rate = 7e-4;
  double decay = 1e-6;  ///< of the weights, added to the gradient
  double clip = 0.5;    ///< largest Euclidean norm of a gradient; longer ones are shortened to it
  double momentum = 0.9, scale_momentum = 0.999, epsilon = 1e-8;
};

/// Gradient descent with a step size per parameter from its gradient's running mean and square
/// (Kingma and Ba 2015).
class Adam {
 public:
  Adam(size_t parameters, const AdamOptions& options)
      : options_(options), mean_(parameters, 0.0f), square_(parameters, 0.0f) {}

  void Step(std::span<const float> gradient, std::span<float> parameters);

 private:
  AdamOptions options_;
  std::vector<float> mean_, square_;
  int steps_ = 0;
};

}  // namespace bayloom::model
