// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdlib>

#include "tests/codegen/compiled.h"
#include "tests/tensor/random_schedule.h"
#include "tests/tensor/workloads.h"

namespace bayloom::testing {
namespace {

/// BAYLOOM_FUZZ=n makes the test n times as long.
int Effort() {
  const char* text = std::getenv("BAYLOOM_FUZZ");
  return text == nullptr ? 1 : std::max(1, std::atoi(text));
}

/// A program for accelerators becomes one for CPUs.
void Unbind(tensor::Program& program) {
  for (tensor::Loop& loop : program.loops) {
    if (loop.kind > tensor::LoopKind::kUnrolled && loop.kind != tensor::LoopKind::kTensorized) {
      loop.kind = tensor::LoopKind::kSerial;
    }
  }
}

class CompiledRandomSchedules : public ::testing::TestWithParam<NamedWorkload> {};

TEST_P(CompiledRandomSchedules, ComputeWhatTheNaiveProgramComputes) {
  constexpr int kSchedules = 50;
  const tensor::Workload& workload = GetParam().workload;
  const tensor::Program naive = tensor::Lower(workload);
  const std::vector<tensor::HostTensor> inputs = RandomArguments(workload, 7);
  std::vector<tensor::HostTensor> expected = inputs;
  tensor::Interpret(naive, expected);
  const std::vector<tensor::BufferId> parameters = naive.Parameters();
  for (int i = 0; i < kSchedules * Effort(); ++i) {
    tensor::Program program = naive;
    const uint64_t seed = 77 + 1000 * i + workload.stages.size();
    RandomScheduler scheduler(program, seed);
    base::RandomStream length(seed);
    for (int64_t steps = 5 + length.UniformInt(60); steps > 0; --steps) scheduler.Step();
    Unbind(program);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + tensor::Print(program));
    std::vector<tensor::HostTensor> actual = inputs;
    ASSERT_NO_THROW(RunCompiled(program, actual));
    ASSERT_FALSE(HasFatalFailure());
    for (size_t a = 0; a < actual.size(); ++a) {
      const double tolerance = ToleranceOf(naive.buffers[parameters[a]].dtype);
      ExpectClose(actual[a], expected[a], tolerance, "parameter " + std::to_string(a));
      ASSERT_FALSE(HasFatalFailure());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Catalogue, CompiledRandomSchedules, ::testing::ValuesIn(Catalogue()),
                         [](const auto& named) { return named.param.name; });

}  // namespace
}  // namespace bayloom::testing
