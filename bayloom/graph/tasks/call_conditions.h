// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <vector>

#include "bayloom/graph/tasks.h"

namespace bayloom::graph {

/// By call of the network: what it computes is read only where this is above 0; nullopt: it always
/// is. A recurrent operator's steps are joined to a tensor of an open dimension: a step beyond its
/// bound is read by no one, nor is what only such steps read.
std::vector<std::optional<Length>> ConditionsOfCalls(const TaskGraph& network);

}  // namespace bayloom::graph
