// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/internal/random_search.h"

namespace bayloom::optimizer {

std::vector<space::Configuration> RandomSearch::Ask(int n) {
  std::vector<space::Configuration> asked;
  while (static_cast<int>(asked.size()) < n) {
    std::optional<space::Configuration> drawn = sampler_.Draw(memory_, random_);
    if (!drawn) break;
    memory_.MarkAsked(*drawn);
    asked.push_back(std::move(*drawn));
  }
  return asked;
}

}  // namespace bayloom::optimizer
