// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/kernel/kernel_data.h"
#include "bayloom/kernel/kernel_values.h"
#include "bayloom/measure/task_timer.h"

namespace bayloom::kernel {

/// One of the sizes that a kernel is timed with: its arrays, and a process that keeps them.
struct TimedSize {
  /// `options` must outlive it.
  TimedSize(const search::KernelDefinition& kernel, Values given,
            const measure::KernelOptions& options)
      : values(std::move(given)),
        data(kernel, values),
        runner(options.runner),
        timer(runner, options) {}

  Values values;
  KernelData data;
  measure::Runner runner;
  measure::TaskTimer timer;
};

}  // namespace bayloom::kernel
