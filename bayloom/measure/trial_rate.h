// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/measure/timing.h"
#include "bayloom/target/machine_model.h"

namespace bayloom::measure {

/// Trials a second that a tuning can expect to make: candidates are compiled on so many threads at
/// a time, then timed one after the other. It decides how finely a budget of time is divided; a
/// third more or less does not matter.
double TrialsPerSecond(const target::MachineModel& machine, int build_threads,
                       const TimingOptions& timing = {});

}  // namespace bayloom::measure
