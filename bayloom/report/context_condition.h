// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bayloom/search/context_table.h"
#include "bayloom/search/context_tree.h"

namespace bayloom::report {

/// What an inner node of a tree asks: whether a context's number is below a limit, or its name is
/// one of several.
struct ContextCondition {
  std::string context;
  std::optional<double> below;
  std::vector<std::string> names = {};
};

/// The limit lies half way between the values that it parts: of positive ones, as sizes are, by
/// their logarithms. Between whole numbers it is a whole number.
ContextCondition ConditionOf(const search::ContextTable& table,
                             const search::ContextTree::Node& node);

}  // namespace bayloom::report
