// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/target/machine_model.h"
#include "bayloom/tensor/workload.h"

namespace bayloom::measure {

/// What one run of a workload cannot do without.
struct WorkloadDemand {
  /// Arithmetic, a multiply-add counting two; combining values that are only padding does not
  /// count, for a program may leave it out.
  double flops = 0;
  /// Elements of the parameters that are read or written, each once. Where it depends on data which
  /// ones those are, one counts.
  double bytes = 0;
};
WorkloadDemand DemandOf(const tensor::Workload& workload);

/// The least time in which the machine's threads can satisfy the demand: the roofline model
/// (Williams, Waterman, Patterson 2009) with a roof for each level of the memory (Ilic, Pratas,
/// Sousa 2014). What was used last may still be in the caches, so a level's roof only covers bytes
/// for which there is no room in the caches before it.
double RooflineSeconds(const target::MachineModel& machine, const WorkloadDemand& demand);

/// Part of the machine's ability that `seconds` for the demand are, 0 to 1. A run that beats the
/// roofline shows that the machine was busier when it was measured, or is of a derivation that
/// needs less arithmetic; it uses all of it.
double RooflineShare(const target::MachineModel& machine, const WorkloadDemand& demand,
                     double seconds);

}  // namespace bayloom::measure
