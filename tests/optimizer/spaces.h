// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "bayloom/space/space.h"
#include "bayloom/trial/outcome.h"

namespace bayloom::optimizer {

/// A space to test optimizers on.
struct SpaceCase {
  std::string name;
  std::function<std::shared_ptr<const space::Space>()> make;

  /// How GoogleTest shows it.
  friend void PrintTo(const SpaceCase& shown, std::ostream* out) { *out << shown.name; }
};

/// A chain of trees of 21 leaves, one of a single configuration, one with permutation, factors and
/// categories (hidden in 4,320 configurations), one with real parameters, a small and a
/// large one with conditional parameters, one of 1e11.
std::vector<SpaceCase> AllSpaceCases();

/// A smooth valley over the coordinates: positive, least somewhere in the middle.
trial::Outcome Evaluate(const space::Configuration& configuration);

}  // namespace bayloom::optimizer
