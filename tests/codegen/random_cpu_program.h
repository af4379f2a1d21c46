// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "tests/tensor/random_schedule.h"

namespace bayloom::testing {

/// The workload after some random primitives; what they bind to an accelerator's threads is serial.
inline tensor::Program RandomCpuProgram(const tensor::Workload& workload, uint64_t seed) {
  tensor::Program program = tensor::Lower(workload);
  RandomScheduler scheduler(program, seed);
  base::RandomStream length(seed);
  for (int64_t steps = 5 + length.UniformInt(60); steps > 0; --steps) scheduler.Step();
  for (tensor::Loop& loop : program.loops) {
    if (loop.kind > tensor::LoopKind::kUnrolled && loop.kind != tensor::LoopKind::kTensorized) {
      loop.kind = tensor::LoopKind::kSerial;
    }
  }
  return program;
}

}  // namespace bayloom::testing
