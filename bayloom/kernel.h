// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

/// Module kernel: kernels of users, of which a scenario names the source and the
/// arguments: compiled, called in a guarded process, compared with a reference, timed.
///
/// Reading order: `kernel_evaluator.h`; `kernel_compiler.h` with `call_shim.h`; `kernel_data.h`,
/// `kernel_values.h`, `array_file.h`.

#include "bayloom/kernel/array_file.h"
#include "bayloom/kernel/call_shim.h"
#include "bayloom/kernel/kernel_compiler.h"
#include "bayloom/kernel/kernel_data.h"
#include "bayloom/kernel/kernel_evaluator.h"
#include "bayloom/kernel/kernel_values.h"
#include "bayloom/kernel/timed_size.h"
#include "bayloom/measure.h"
#include "bayloom/search.h"
