// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <set>
#include <vector>

#include "bayloom/feature/time_estimate.h"
#include "bayloom/feature/touched_memory.h"
#include "bayloom/target/machine_model.h"
#include "bayloom/tensor/program.h"

namespace bayloom::feature {

struct Cache {
  double bytes;
  double line_seconds;  ///< what a line costs that it does not hold
};

/// The caches while so many threads are busy: a line that is missing in one costs what it takes to
/// come from the next one, beyond what it takes from this one.
std::vector<Cache> CachesOf(const target::MachineModel& machine, double busy);

/// With costs from the next one altogether, by the weights.
std::vector<Cache> CachesOf(const target::MachineModel& machine, const EstimateWeights& weights,
                            double busy);

/// Steps of a loop that run together. A loop that is cut has two parts: what stays inside, which is
/// counted first, and what runs around it.
struct LoopPart {
  tensor::LoopId loop;
  int64_t steps;
  /// Inside of a reduction whose results are in registers: they do not touch memory there.
  bool in_registers = false;
};

/// The loops as the schedule has them.
std::vector<LoopPart> WholeLoops(const tensor::Program& program,
                                 const std::vector<tensor::LoopId>& loops);

/// Of lines that come into each cache: what the largest inner nest that fits touches, as often as
/// that nest runs. `parts` are outermost first. With `places`, elements that lie apart in memory
/// cost a line each, and what a cache holds of all buffers together is there already, but for cold
/// constants (Workload::has_cold_constants), which come from main memory; otherwise all lines are
/// taken for full, and each block finds the caches empty. Nothing of the buffer `handed` reaches
/// memory.
double LineSeconds(const tensor::Program& program, const tensor::Block& block,
                   const std::vector<LoopPart>& parts, const std::vector<Cache>& caches,
                   const BufferPlaces* places, tensor::BufferId handed = -1);

/// Of the outermost parallel loop among these, if it has not been counted.
double ForkJoinSeconds(const tensor::Program& program, const std::vector<tensor::LoopId>& loops,
                       const target::MachineModel& machine, std::set<tensor::LoopId>& counted);

}  // namespace bayloom::feature
