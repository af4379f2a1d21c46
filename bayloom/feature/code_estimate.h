// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/target/target.h"
#include "bayloom/tensor/program.h"

namespace bayloom::feature {

/// What a program may take on the machine, in seconds, judged by the plan of its code
/// (plan::PlanCpuNests): outputs of a reduction that stay in registers hide the latency of its sums
/// and share loaded values, and the reduction loops run inside of the loops that are cut off from
/// such a tile; what does not change within it is computed once for it, and what comes after it on
/// its registers; intermediate buffers hold what is needed at a time; elements that do not lie side
/// by side are loaded one by one; products of narrow numbers are summed up by the target's
/// instructions for that, if it has them; lines come from the caches that hold all of the program's
/// buffers, while it computes. Infinite for programs that the target cannot run.
///
/// EstimateTime knows none of that and orders random programs about as well. It is this estimate
/// that can be maximized: programs which it takes for the fastest of many are fast
/// (docs/studies/2026-11-zero-trials.md).
/// With open axes it is the geometric mean over the program's points: a program is as good as
/// another one that takes twice the time at some lengths and half of it at as many others. The
/// machine is the target's, as it was measured or as it is assumed to be (target::MachineOf). Of
/// programs for GPUs it is what gpu_estimate.h says.
double EstimateCodeTime(const tensor::Program& program, const target::Target& target);

}  // namespace bayloom::feature
