// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/kernel_steps.h"

#include <gmock/gmock.h>

#include "bayloom/tensor/primitives.h"
#include "tests/codegen/compiled.h"
#include "tests/codegen/random_cpu_program.h"
#include "tests/tensor/workloads.h"

namespace bayloom::testing {
namespace {

using codegen::StepsOf;
using ::testing::ElementsAre;

/// y = 2 x + 1, in two nests.
tensor::Program TwoNests() {
  tensor::WorkloadBuilder b("two nests");
  const tensor::Tensor x = b.Input("x", {12, 8});
  const tensor::Tensor twice =
      b.Compute("twice", {12, 8}, [&](const auto& i) { return x.At(i) * tensor::FloatLiteral(2); });
  const tensor::Tensor y =
      b.Compute("y", {12, 8}, [&](const auto& i) { return twice.At(i) + tensor::FloatLiteral(1); });
  return tensor::Lower(b.Build({y}));
}

std::vector<bool> IsParallel(const tensor::Program& program) {
  std::vector<bool> parallel;
  const auto steps = StepsOf(program);
  for (const codegen::NestStep& step : steps.value()) parallel.push_back(step.is_parallel);
  return parallel;
}

TEST(KernelSteps, AreParallelLoopsAndWhatIsBetween) {
  tensor::Program program = TwoNests();
  EXPECT_THAT(IsParallel(program), ElementsAre(false));
  ASSERT_TRUE(tensor::Parallelize(program, program.roots[1].id));
  EXPECT_THAT(IsParallel(program), ElementsAre(false, true));
  ASSERT_TRUE(tensor::Parallelize(program, program.roots[0].id));
  EXPECT_THAT(IsParallel(program), ElementsAre(true, true));
}

TEST(KernelSteps, ThereAreNoneWhereThreadsMeetWithinANest) {
  tensor::Program program = TwoNests();
  const tensor::NodeRef inner = program.loops[program.roots[0].id].body[0];
  ASSERT_TRUE(tensor::Parallelize(program, inner.id));
  EXPECT_FALSE(StepsOf(program).has_value());
}

/// As the loop over a batch of one image.
TEST(KernelSteps, AreFoundInLoopsOfOneIteration) {
  tensor::WorkloadBuilder b("one row");
  const tensor::Tensor x = b.Input("x", {1, 8});
  const tensor::Tensor y =
      b.Compute("y", {1, 8}, [&](const auto& i) { return x.At(i) + tensor::FloatLiteral(1); });
  tensor::Program program = tensor::Lower(b.Build({y}));
  const tensor::NodeRef row = program.roots[0];
  ASSERT_TRUE(tensor::Parallelize(program, program.loops[row.id].body[0].id));
  EXPECT_THAT(IsParallel(program), ElementsAre(true));
}

/// What a call of a kernel needs.
struct Memory {
  Memory(const tensor::Program& program, const codegen::KernelObject& object,
         const std::vector<tensor::HostTensor>& arguments) {
    const std::vector<tensor::BufferId> parameters = program.Parameters();
    for (size_t i = 0; i < parameters.size(); ++i) {
      const std::vector<std::byte> packed =
          tensor::PackLayout(program.buffers[parameters[i]], arguments[i].data.data());
      buffers.push_back(Allocate(packed.size()));
      pointers.push_back(buffers.back().get());
      std::memcpy(pointers.back(), packed.data(), packed.size());
    }
    workspace = Allocate(static_cast<size_t>(object.WorkspaceBytes(bayloom_threads())));
  }

  std::vector<codegen::AlignedMemory> buffers;
  std::vector<void*> pointers;
  codegen::AlignedMemory workspace;
};

class SteppedKernels : public ::testing::TestWithParam<NamedWorkload> {
 protected:
  void SetUp() override { bayloom_set_threads(3); }
  void TearDown() override { bayloom_set_threads(0); }
};

/// A program's steps, beside those of another run of it, compute what its function computes, bit
/// for bit.
TEST_P(SteppedKernels, ComputeTheSameBesideOthers) {
  constexpr int kSchedules = 3;
  const tensor::Workload& workload = GetParam().workload;
  const target::Target target = codegen::HostTarget();
  for (uint64_t seed = 0; seed < kSchedules; ++seed) {
    const tensor::Program program = RandomCpuProgram(workload, 500 + seed);
    if (!StepsOf(program)) continue;
    SCOPED_TRACE(tensor::Print(program));
    const std::vector<tensor::HostTensor> inputs = RandomArguments(workload, seed);
    std::vector<tensor::HostTensor> expected = inputs;
    RunCompiled(program, expected, target);
    const auto object =
        codegen::CompileProgram(program, target, "kernel", codegen::KernelForm::kSteps);
    ASSERT_TRUE(object.ok()) << object.error().message;
    const auto kernel = codegen::LoadedKernel::Load(*object);
    ASSERT_TRUE(kernel.ok()) << kernel.error().message;
    std::vector<Memory> runs;
    std::vector<bayloom_kernel_call> calls;
    for (int run = 0; run < 3; ++run) {
      runs.emplace_back(program, *object, inputs);
      calls.push_back({runs[run].pointers.data(), runs[run].workspace.get(), kernel->steps().data(),
                       static_cast<int>(kernel->steps().size())});
    }
    bayloom_run_together(2, calls.data());
    (*kernel)(runs[2].pointers.data(), runs[2].workspace.get());
    const std::vector<tensor::BufferId> parameters = program.Parameters();
    for (size_t i = 0; i < parameters.size(); ++i) {
      if (program.buffers[parameters[i]].role != tensor::BufferRole::kOutput) continue;
      for (const Memory& run : runs) {
        EXPECT_EQ(std::memcmp(run.pointers[i], expected[i].data.data(), expected[i].data.size()),
                  0);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Catalogue, SteppedKernels, ::testing::ValuesIn(Catalogue()),
                         [](const auto& named) { return named.param.name; });

}  // namespace
}  // namespace bayloom::testing
