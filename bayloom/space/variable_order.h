// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <vector>

#include "bayloom/space/domain.h"
#include "bayloom/space/expression.h"

namespace bayloom::space {

/// Orders in which to build a tree over these domains, the most promising first.
///
/// A tree is as wide at some depth as there are different remainders of its constraints. Each order
/// is grown parameter by parameter, always taking the one after which an estimate of that number is
/// least; one such order for every parameter to start with, and the one given.
std::vector<std::vector<int>> PromisingOrders(const ExpressionGraph& graph,
                                              std::span<const int> constraints,
                                              std::span<const Domain> domains, int most);

/// An order for many domains, in little time: the one that most constraints are on first, then one
/// after the other the parts that have nothing in common once it is known, each in the same way.
/// Right where a few parameters say which of many others count.
std::vector<int> SeparatingOrder(const ExpressionGraph& graph, std::span<const int> constraints,
                                 std::span<const Domain> domains);

}  // namespace bayloom::space
