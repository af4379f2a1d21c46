// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <set>
#include <vector>

#include "bayloom/feature/time_estimate.h"
#include "bayloom/target/machine_model.h"
#include "bayloom/tensor/program.h"

namespace bayloom::feature {

struct Cache {
  double bytes;
  double line_seconds;  ///< what a line costs that it does not hold
};

/// The caches while so many threads are busy.
std::vector<Cache> CachesOf(const target::MachineModel& machine, const EstimateWeights& weights,
                            double busy);

/// Of lines that come into each cache: what the largest inner nest that fits touches, as often as
/// that nest runs. With `whole_lines`, elements that lie apart cost a line each; otherwise all
/// lines are taken for full.
double LineSeconds(const tensor::Program& program, tensor::BlockId block,
                   const std::vector<tensor::LoopId>& loops, double iterations,
                   const std::vector<Cache>& caches, bool whole_lines);

/// Of the outermost parallel loop among these, if it has not been counted.
double ForkJoinSeconds(const tensor::Program& program, const std::vector<tensor::LoopId>& loops,
                       const target::MachineModel& machine, std::set<tensor::LoopId>& counted);

}  // namespace bayloom::feature
