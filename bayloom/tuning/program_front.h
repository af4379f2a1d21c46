// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "bayloom/record/store.h"
#include "bayloom/sketch/design_space.h"
#include "bayloom/tuning/program_objective.h"

namespace bayloom::tuning {

/// A recorded program of a task.
struct FrontProgram {
  sketch::Candidate candidate;
  record::StoredTrial trial;
  ProgramCost cost;
};

/// The recorded programs of the generator's workload on its target that no other one dominates,
/// the fastest first, for a task that is called so many times. Those that cannot be made again and
/// those of unknown size are left out. Latencies are as Store::BestOf has them; no program counts
/// as faster than the one that comes first there, which measurements in turns have decided.
std::vector<FrontProgram> ProgramFront(record::Store& store, const sketch::SpaceGenerator& space,
                                       double calls,
                                       const std::vector<ProgramObjective>& objectives);

}  // namespace bayloom::tuning
