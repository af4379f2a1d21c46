// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/model/adam.h"

#include <algorithm>
#include <cmath>

namespace bayloom::model {

void Adam::Step(std::span<const float> gradient, std::span<float> parameters) {
  double squares = 0;
  for (const float g : gradient) squares += static_cast<double>(g) * g;
  const double norm = std::sqrt(squares);
  const auto shorten = static_cast<float>(norm > options_.clip ? options_.clip / norm : 1);
  ++steps_;
  const auto b1 = static_cast<float>(options_.momentum);
  const auto b2 = static_cast<float>(options_.scale_momentum);
  const auto decay = static_cast<float>(options_.decay);
  const auto epsilon = static_cast<float>(options_.epsilon);
  const auto rate = static_cast<float>(options_.rate / (1 - std::pow(options_.momentum, steps_)));
  const auto square_scale = static_cast<float>(1 / (1 - std::pow(options_.scale_momentum, steps_)));
  for (size_t i = 0; i < parameters.size(); ++i) {
    const float g = shorten * gradient[i] + decay * parameters[i];
    mean_[i] = b1 * mean_[i] + (1 - b1) * g;
    square_[i] = b2 * square_[i] + (1 - b2) * g * g;
    parameters[i] -= rate * mean_[i] / (std::sqrt(square_scale * square_[i]) + epsilon);
  }
}

}  // namespace bayloom::model
