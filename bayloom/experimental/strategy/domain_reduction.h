// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <vector>

#include "bayloom/experimental/strategy/decision_space.h"

namespace bayloom::experimental {

/// Narrows a search to where the best configurations keep being found: the successive response
/// surface method of Stander and Craig 2002, with the constants of the library that Rocke 2024
/// uses. Windows shrink by a tenth where the optimum stays, by less where it moves, and follow it.
class DomainReduction {
 public:
  explicit DomainReduction(const space::Space& space);

  /// One window a parameter; at first the whole domain.
  std::span<const Window> windows() const { return windows_; }
  /// Ends an iteration, of whose best configuration it is told.
  void Update(const space::Configuration& best);

 private:
  std::vector<Window> domain_, windows_;
  std::vector<double> optimum_, move_;  ///< the last optimum, and how it moved, in half windows
};

}  // namespace bayloom::experimental
