// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <utility>

#include "bayloom/target/machine_model.h"
#include "bayloom/target/target.h"
#include "bayloom/tensor/program.h"
#include "bayloom/tensor/workload.h"

namespace bayloom::measure {

/// Element types of the two factors of a dot product (tensor/dot_product.h).
using DotTypes = std::pair<tensor::DType, tensor::DType>;

/// What one run of a workload cannot do without.
struct WorkloadDemand {
  /// Arithmetic, a multiply-add counting two; combining values that are only padding does not
  /// count, for a program may leave it out.
  double flops = 0;
  /// Elements of the parameters that are read or written, each once. Where it depends on data which
  /// ones those are, one counts.
  double bytes = 0;
  /// Of `flops`, those of dot products of narrow elements.
  std::map<DotTypes, double> dot_flops = {};
};
WorkloadDemand DemandOf(const tensor::Workload& workload);

/// Of the terms that the workload adds up, the part that a program for it does: less than 1 for an
/// algorithm that needs fewer products, such as Winograd's, and 1 for others. Its transforms do not
/// count.
double PartOfSums(const tensor::Workload& workload, const tensor::Program& program);

/// What a program for the workload cannot do without: by its own algorithm.
WorkloadDemand DemandOf(const tensor::Workload& workload, const tensor::Program& program);

/// Operations a second that all threads do in dot products, a product and its addition counting
/// two (MeasureDotPeaks of measure_machine.h).
using DotPeaks = std::map<DotTypes, double>;

/// Those of a machine that issues these instructions as often as multiply-adds; none does better.
/// Of a GPU: what its tensor cores do by instructions of warps (target/mma_instruction.h). Without
/// the types that the target has no instruction for.
DotPeaks NominalDotPeaks(const target::Target& target, const target::MachineModel& machine,
                         const WorkloadDemand& demand);

/// The least time in which the machine's threads can satisfy the demand: the roofline model
/// (Williams, Waterman, Patterson 2009) with a roof for each level of the memory (Ilic, Pratas,
/// Sousa 2014). What was used last may still be in the caches, so a level's roof only covers bytes
/// for which there is no room in the caches before it. The roof of arithmetic is that of the
/// instructions used: dot products have their peaks' where those are known, everything else
/// float32's.
double RooflineSeconds(const target::MachineModel& machine, const WorkloadDemand& demand,
                       const DotPeaks& peaks = {});

/// Part of the machine's ability that `seconds` for the demand are, 0 to 1. A run that beats the
/// roofline shows that the machine was busier when it was measured; it uses all of it.
double RooflineShare(const target::MachineModel& machine, const WorkloadDemand& demand,
                     double seconds, const DotPeaks& peaks = {});

}  // namespace bayloom::measure
