// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "bayloom/sketch/default_schedule.h"
#include "tests/codegen/compiled.h"
#include "tests/codegen/emulated_kernels.h"
#include "tests/codegen/random_cpu_program.h"
#include "tests/execute.h"
#include "tests/tensor/workloads.h"

namespace bayloom::testing {
namespace {

/// What a program should leave in its arguments, and what it was.
struct Expectation {
  std::vector<tensor::HostTensor> arguments;
  std::string description;
};

void ExpectResults(const std::vector<std::vector<tensor::HostTensor>>& results,
                   const std::vector<Expectation>& expected) {
  ASSERT_EQ(results.size(), expected.size());
  for (size_t i = 0; i < results.size(); ++i) {
    SCOPED_TRACE(expected[i].description);
    for (size_t a = 0; a < results[i].size(); ++a) {
      ExpectClose(results[i][a], expected[i].arguments[a], ToleranceOf(results[i][a].dtype),
                  "parameter " + std::to_string(a));
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(AArch64Code, RandomSchedulesComputeWhatTheNaiveProgramComputes) {
  if (const std::string missing = MissingForAArch64(); !missing.empty()) GTEST_SKIP() << missing;
  constexpr int kSchedules = 5;
  const target::Target targets[] = {
      codegen::TargetNamed("aarch64-linux-gnu", 2),
      codegen::TargetNamed("aarch64-linux-gnu:neoverse-n1", 2),
      codegen::TargetNamed("aarch64-linux-gnu:neoverse-v1", 2),  // with SVE
  };
  EmulatedKernels kernels;
  std::vector<Expectation> expected;
  for (const NamedWorkload& named : Catalogue()) {
    const std::vector<tensor::HostTensor> inputs = RandomArguments(named.workload, 7);
    std::vector<tensor::HostTensor> outputs = inputs;
    tensor::Interpret(tensor::Lower(named.workload), outputs);
    for (int i = 0; i < kSchedules; ++i) {
      const uint64_t seed = 5000 + expected.size();
      const target::Target& target = targets[expected.size() % std::size(targets)];
      const tensor::Program program = RandomCpuProgram(named.workload, seed);
      const std::string description = named.name + " for " + target.cpu + ", seed " +
                                      std::to_string(seed) + "\n" + tensor::Print(program);
      SCOPED_TRACE(description);
      kernels.Add(program, inputs, target);
      ASSERT_FALSE(HasFatalFailure());
      expected.push_back({outputs, description});
    }
  }
  EXPECT_GE(expected.size(), 200U);
  ExpectResults(kernels.Run("max"), expected);
}

/// Programs as they are without tuning, on processors that have no more than is needed.
TEST(AArch64Code, PlainProgramsRunOnTheirProcessors) {
  if (const std::string missing = MissingForAArch64(); !missing.empty()) GTEST_SKIP() << missing;
  const std::pair<const char*, const char*> processors[] = {
      {"aarch64-linux-gnu", "cortex-a57"},
      {"aarch64-linux-gnu:neoverse-n1", "neoverse-n1"},
      {"aarch64-linux-gnu:a64fx", "a64fx"}};
  for (const auto& [name, processor] : processors) {
    const target::Target target = codegen::TargetNamed(name, 2);
    EmulatedKernels kernels;
    std::vector<Expectation> expected;
    for (const NamedWorkload& named : Catalogue()) {
      const std::vector<tensor::HostTensor> inputs = RandomArguments(named.workload, 3);
      expected.push_back({inputs, named.name + " on " + processor});
      tensor::Interpret(tensor::Lower(named.workload), expected.back().arguments);
      kernels.Add(sketch::DefaultSchedule(named.workload, target), inputs, target);
      ASSERT_FALSE(HasFatalFailure());
    }
    ExpectResults(kernels.Run(processor), expected);
  }
}

/// Vectors are of 16 bytes, and a tile uses the 32 registers that there are.
TEST(AArch64Code, ATileOfTwentyFourVectorsStaysInRegisters) {
  tensor::Program program = tensor::Lower(tensor::MatmulWorkload(48, 64, 96));
  const tensor::BlockId block = program.FindBlock("matmul");
  const std::vector<tensor::LoopId> loops = program.LoopsAround(tensor::NodeRef::Block(block));
  const auto rows = *tensor::Split(program, loops[0], std::vector<int64_t>{-1, 6});
  const auto columns = *tensor::Split(program, loops[1], std::vector<int64_t>{-1, 16});
  ASSERT_TRUE(
      tensor::Reorder(program, std::vector{rows[0], columns[0], loops[2], rows[1], columns[1]}));
  ASSERT_TRUE(tensor::Vectorize(program, columns[1]));
  const auto assembly_for = [&](const char* name) {
    const Result<std::string> text =
        codegen::EmitAssembly(program, codegen::TargetNamed(name, 1), "kernel");
    return text ? *text : text.error().message;
  };
  const std::string assembly = assembly_for("aarch64-linux-gnu");
  EXPECT_THAT(assembly, ::testing::ContainsRegex("fmla\tv31\\.4s|fmla\tv2[0-9]\\.4s"));
  EXPECT_THAT(assembly, ::testing::Not(::testing::HasSubstr("Spill")));
  EXPECT_EQ(target::VectorRegisters(codegen::TargetNamed("aarch64-linux-gnu", 1)), 32);
}

}  // namespace
}  // namespace bayloom::testing
