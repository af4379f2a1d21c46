// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/target/machine_model.h"
#include "bayloom/target/target.h"
#include "bayloom/tensor/program.h"

namespace bayloom::feature {

/// What cannot be measured in isolation: how much of the time that the machine takes for each part
/// of a program shows in the program's own time. Fitted to the schedules of benchmarks/calibration
/// by its program; only their ratios matter.
struct EstimateWeights {
  /// A block's vector operation, in vector multiply-adds: it loads, computes addresses, and waits.
  double operation = 4;
  /// More for an operation where a vectorized loop needs over four registers at once, as a part.
  double long_vector = 0.8;
  /// Parts of the time for lines from the second level, from further caches and from main memory
  /// that are not hidden behind arithmetic.
  double second_level = 1;
  double further_level = 0.5;
  double memory = 0.0625;
  /// Of what a parallel loop and its jobs cost when threads are awake: they rarely are.
  double fork_join = 8;
  double job = 1;
};

/// What a program may take on the machine, in seconds, judged by its loops alone: vector
/// operations, cache lines that come from the next level, and how evenly jobs fall to threads. Its
/// absolute size means little, but programs of one workload come in nearly the order of their
/// measured times when they differ by much, before any program of the workload was measured
/// (docs/studies/2026-11-machine-model.md).
///
/// It follows the machine: none of its rates may grow without the estimate staying or falling.
double EstimateTime(const tensor::Program& program, const target::MachineModel& machine,
                    const EstimateWeights& weights = {});

/// The same on a target of any kind: of programs for GPUs what gpu_estimate.h says.
double EstimateTime(const tensor::Program& program, const target::Target& target);

}  // namespace bayloom::feature
