// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "bayloom/graph/tasks.h"
#include "bayloom/tensor/program.h"

namespace bayloom::graph {

/// The calls of a network, positions in TaskGraph::calls, as rounds: those of one round neither
/// write what another one of it reads nor what it writes, and so can run at the same time. What a
/// call reads was computed in earlier rounds.
using Rounds = std::vector<std::vector<int>>;

/// Each call in a round of its own, in the network's order.
Rounds OneByOne(const TaskGraph& network);

/// Rounds of up to BAYLOOM_MAX_LOOPS calls. Calls that follow each other run side by side where
/// they can. One is moved to the round of an earlier one, past few others, where all that the round
/// touches is at most `near_bytes`: branches of a network (the paths of an inception block) so
/// begin together, but what the next call reads is not driven out of near caches. Calls whose
/// programs have no steps (codegen/kernel_steps.h) are alone. `programs`: one per task.
Rounds SideBySide(const TaskGraph& network, const std::vector<const tensor::Program*>& programs,
                  int64_t near_bytes);

}  // namespace bayloom::graph
