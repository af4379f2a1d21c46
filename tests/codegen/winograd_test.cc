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

/// The largest difference from a convolution of 3x3, summed up in double precision, over its
/// largest element.
double ErrorOf(const tensor::Program& program, const tensor::Workload& workload,
               std::vector<tensor::HostTensor> arguments) {
  tensor::PointEvaluator exact(workload, arguments);
  RunCompiled(program, arguments);
  const tensor::HostTensor& actual = arguments.back();
  const std::vector<int64_t>& shape = actual.shape;
  double largest = 0, error = 0;
  for (int64_t i = 0; i < actual.ElementCount(); ++i) {
    const double expected =
        exact.Evaluate(workload.Parameters().back(),
                       {i / (shape[1] * shape[2] * shape[3]), i / (shape[2] * shape[3]) % shape[1],
                        i / shape[3] % shape[2], i % shape[3]});
    largest = std::max(largest, std::abs(expected));
    error = std::max(error, std::abs(actual.Get(i) - expected));
  }
  return error / largest;
}

/// Sums in short blocks, whose errors do not grow with the channels.
TEST(CompiledWinograd, ErrsAFewTimesAsMuchAsTheDefinitionWithAnyChannels) {
  for (int64_t channels : {64, 256, 1024}) {
    const tensor::Workload workload = tensor::Conv2dWorkload(ConvShape(12, channels, 8, 3));
    const std::vector<tensor::HostTensor> arguments = RandomArguments(workload, 3);
    const double direct = ErrorOf(tensor::Lower(workload), workload, arguments);
    for (const auto& [tile, times] : {std::pair{2, 2}, {4, 5}}) {
      tensor::Program program = tensor::Lower(workload);
      ASSERT_TRUE(tensor::Winograd(program, program.FindBlock("conv"), tile));
      EXPECT_LE(ErrorOf(program, workload, arguments), times * direct) << tile << " " << channels;
      EXPECT_LE(ErrorOf(program, workload, arguments), tensor::DerivationError(program));
    }
    EXPECT_EQ(tensor::DerivationError(tensor::Lower(workload)), 0);
  }
}

}  // namespace
}  // namespace bayloom::testing
