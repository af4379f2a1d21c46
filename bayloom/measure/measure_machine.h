// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "bayloom/base/result.h"
#include "bayloom/measure/interruption.h"
#include "bayloom/measure/load_monitor.h"
#include "bayloom/measure/roofline.h"
#include "bayloom/target/target.h"

namespace bayloom::measure {

struct MeasuredMachine {
  target::MachineModel model;
  /// What other processes used while it was measured, where that was too much: the machine is
  /// faster than the model says, and the model is not worth keeping.
  std::optional<MachineLoad> disturbed = {};
};

/// Measures what this machine can do with as many threads as the target has cores, in a few
/// seconds. What is timed are loops of the target's own vector instructions (codegen/probe.h) and
/// compiled programs, so that it works wherever code can be generated. The sizes of caches are the
/// system's word; a last cache that is not faster than main memory is left out.
///
/// Other processes only make things slower, and do so for a while: each rate is the median, over
/// rounds some hundred milliseconds apart, of what was typical of pieces of work too short for most
/// of them to be interrupted. Threads are bound to processors meanwhile. Rounds in which other
/// processes took processors do not count, and up to as many again are tried in their place. What
/// cannot be is put right: no level is slower than the one behind it, and no thread faster together
/// with others than alone.
///
/// Fails when the target is not this machine. Throws Interrupted.
Result<MeasuredMachine> MeasureMachine(const target::Target& target, const StopCheck& stop = {});

/// The target's machine as it was measured before, or as it is measured now: what rooflines and
/// bounds need, for the nominal machine is not this one. That of a GPU is what its driver tells.
/// Throws Interrupted.
Result<MeasuredMachine> MeasuredMachineOf(const target::Target& target, const StopCheck& stop = {});

/// What this machine's instructions for dot products reach, timed as multiply-adds are, in a tenth
/// of a second for each of them: for the types of the demand that the target has an instruction
/// for. Those of a GPU are the nominal ones. Fails when the target is not this machine.
Result<DotPeaks> MeasureDotPeaks(const target::Target& target, const WorkloadDemand& demand);

}  // namespace bayloom::measure
