// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

/// Module measure: builder and runner processes, timing, output checking; measuring the machine
/// model, rooflines.
///
/// Reading order: `measurer.h` (a candidate in, a time out); `builder.h` and `runner.h` (the
/// processes); `trial_runner.h` and `timing.h` (what happens in them); `reference.h` and
/// `output_check.h`; `measure_machine.h`.

#include "bayloom/measure/build_worker.h"
#include "bayloom/measure/builder.h"
#include "bayloom/measure/channel.h"
#include "bayloom/measure/crash_note.h"
#include "bayloom/measure/guarded_memory.h"
#include "bayloom/measure/host_caches.h"
#include "bayloom/measure/interruption.h"
#include "bayloom/measure/kernel_json.h"
#include "bayloom/measure/kernel_worker.h"
#include "bayloom/measure/load_monitor.h"
#include "bayloom/measure/measure_machine.h"
#include "bayloom/measure/measurement_details.h"
#include "bayloom/measure/measurer.h"
#include "bayloom/measure/opencl_library.h"
#include "bayloom/measure/output_check.h"
#include "bayloom/measure/paired_ratio.h"
#include "bayloom/measure/protocol.h"
#include "bayloom/measure/reference.h"
#include "bayloom/measure/reference_programs.h"
#include "bayloom/measure/roofline.h"
#include "bayloom/measure/runner.h"
#include "bayloom/measure/runner_main.h"
#include "bayloom/measure/task_memory.h"
#include "bayloom/measure/task_timer.h"
#include "bayloom/measure/timing.h"
#include "bayloom/measure/trial_rate.h"

namespace bayloom {

using measure::Measurer;

}  // namespace bayloom
