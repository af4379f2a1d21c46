// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/codegen/compiled.h"
#include "tests/codegen/random_cpu_program.h"
#include "tests/effort.h"
#include "tests/tensor/workloads.h"

namespace bayloom::testing {
namespace {

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
    const uint64_t seed = 77 + 1000 * i + workload.stages.size();
    const tensor::Program program = RandomCpuProgram(workload, seed);
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
