// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <utility>

#include "bayloom/strategy/rating.h"

namespace bayloom::strategy {

/// A program that a search starts from, and the best it has led to.
struct InputSchedule {
  explicit InputSchedule(Rated from) : start(std::move(from)) {}

  Rated start;
  std::optional<Rated> best;
  int feasible = 0, infeasible = 0;  ///< suggestions so far

  void Offer(const Rated& found) {
    if (!best || found.rating > best->rating) best = found;
  }
};

}  // namespace bayloom::strategy
