// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string>
#include <vector>

#include "bayloom/search/scenario.h"
#include "bayloom/space/expression.h"

namespace bayloom::search {

/// A known constraint that a program adds to a scenario, because no expression says it. It is no
/// part of the scenario's text, so who reads that later sees a larger space.
struct CodeConstraint {
  std::vector<std::string> parameters;  ///< names, in the order of the function's values
  space::ConstraintFunction holds;
};

/// ParseScenario with further constraints. Throws InputError for one on an unknown parameter.
Scenario ParseScenario(const std::string& text, const std::string& path,
                       std::span<const CodeConstraint> constraints);

}  // namespace bayloom::search
