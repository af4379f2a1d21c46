// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/primitives.h"
#include "tests/codegen/compiled.h"
#include "tests/effort.h"
#include "tests/tensor/random_schedule.h"
#include "tests/tensor/workloads.h"

namespace bayloom::testing {
namespace {

TEST(CompiledWinograd, ComputesWhatTheConvolutionDoesUnderAnySchedule) {
  constexpr int kSchedules = 60;
  base::RandomStream random(1);
  for (int i = 0; i < kSchedules * Effort(); ++i) {
    tensor::Conv2dShape shape = ConvShape(4 + random.UniformInt(8), 1 + random.UniformInt(20),
                                          1 + random.UniformInt(40), 3, random.UniformInt(2));
    shape.width = 4 + random.UniformInt(8);
    shape.epilogue.bias = shape.epilogue.relu = random.UniformInt(2) == 0;
    const tensor::Workload workload = tensor::Conv2dWorkload(shape);
    std::vector<tensor::HostTensor> actual = RandomArguments(workload, 7 + i);
    std::vector<tensor::HostTensor> expected = actual;
    tensor::Interpret(tensor::Lower(workload), expected);
    tensor::Program program = tensor::Lower(workload);
    const int64_t tile = 2 + 2 * random.UniformInt(3);
    ASSERT_TRUE(tensor::Winograd(program, program.FindBlock("conv"), tile));
    RandomScheduler scheduler(program, static_cast<uint64_t>(i));
    for (int64_t steps = random.UniformInt(50); steps > 0; --steps) scheduler.Step();
    for (tensor::Loop& loop : program.loops) {  // those for accelerators
      if (loop.kind > tensor::LoopKind::kUnrolled) loop.kind = tensor::LoopKind::kSerial;
    }
    SCOPED_TRACE(scheduler.history() + tensor::Print(program));
    RunCompiled(program, actual);
    ASSERT_FALSE(HasFatalFailure());
    ExpectClose(actual.back(), expected.back(), 5e-5, "the output");
    ASSERT_FALSE(HasFatalFailure());
  }
}

}  // namespace
}  // namespace bayloom::testing
