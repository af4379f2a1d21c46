// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/codegen/compiled.h"
#include "tests/codegen/random_cpu_program.h"
#include "tests/effort.h"
#include "tests/tensor/open_workloads.h"

namespace bayloom::testing {
namespace {

using CompiledOpenAxes = ::testing::TestWithParam<OpenWorkload>;

/// One kernel for all sizes.
void ExpectRightAtSizes(const tensor::Workload& workload, const tensor::Program& program,
                        const std::vector<std::vector<int64_t>>& tries) {
  const Result<codegen::KernelObject> object =
      codegen::CompileProgram(program, codegen::HostTarget(), "kernel");
  ASSERT_TRUE(object.ok()) << object.error().message;
  const tensor::Buffer& output = workload.buffers[workload.Parameters().back()];
  for (const std::vector<int64_t>& sizes : tries) {
    std::vector<tensor::HostTensor> expected = OpenArguments(workload, sizes, 7);
    std::vector<tensor::HostTensor> actual = expected;
    tensor::Interpret(tensor::Lower(workload), expected);
    RunObject(*object, program, actual);
    ASSERT_FALSE(::testing::Test::HasFatalFailure());
    std::string what = "sizes";
    for (int64_t size : sizes) what += " " + std::to_string(size);
    ExpectClose(WithinBounds(output, sizes, actual.back()),
                WithinBounds(output, sizes, expected.back()), ToleranceOf(output.dtype), what);
    ASSERT_FALSE(::testing::Test::HasFatalFailure());
  }
}

TEST_P(CompiledOpenAxes, GiveWhatTheInterpreterGives) {
  const tensor::Workload workload = GetParam().Open();
  ExpectRightAtSizes(workload, tensor::Lower(workload), SizesToTry(workload, 8, 21));
}

TEST_P(CompiledOpenAxes, StayRightUnderRandomSchedules) {
  const tensor::Workload workload = GetParam().Open();
  const std::vector<std::vector<int64_t>> tries = SizesToTry(workload, 4, 33);
  for (int i = 0; i < 40 * Effort(); ++i) {
    const uint64_t seed = 101 + 1000 * i;
    const tensor::Program program = RandomCpuProgram(workload, seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + tensor::Print(program));
    ExpectRightAtSizes(workload, program, tries);
    ASSERT_FALSE(HasFatalFailure());
  }
}

INSTANTIATE_TEST_SUITE_P(Catalogue, CompiledOpenAxes, ::testing::ValuesIn(OpenCatalogue()),
                         [](const auto& open) { return open.param.name; });

}  // namespace
}  // namespace bayloom::testing
