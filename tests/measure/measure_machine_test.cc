// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/measure_machine.h"

#include <gtest/gtest.h>

#include "bayloom/codegen/cpu_features.h"
#include "bayloom/codegen/host.h"

namespace bayloom::measure {
namespace {

/// What holds for every machine's rates, however busy it is.
void ExpectPossible(const target::MachineModel& machine, const target::Target& target) {
  EXPECT_EQ(machine.threads, target.cores);
  EXPECT_EQ(machine.vector_bytes, target.vector_bytes);
  EXPECT_GT(machine.PeakFlops(), 1e8);
  EXPECT_LT(machine.PeakFlops(), 1e13 * target.cores);
  EXPECT_LE(machine.multiply_add.alone, machine.multiply_add.together * machine.threads);
  EXPECT_GE(machine.multiply_add_latency, machine.multiply_add.alone);
  EXPECT_GE(machine.division, machine.multiply_add.alone);
  EXPECT_GE(machine.transcendental, machine.multiply_add.alone);
  EXPECT_GT(machine.fork_join, 0);
  EXPECT_LT(machine.job, machine.fork_join);
  EXPECT_GT(machine.compile, 1e-4);
  ASSERT_GE(machine.levels.size(), 2U);
  EXPECT_EQ(machine.levels.back().bytes, 0);
  for (size_t i = 0; i + 2 < machine.levels.size(); ++i) {
    EXPECT_LT(machine.levels[i].bytes, machine.levels[i + 1].bytes);
  }
  for (size_t i = 0; i + 1 < machine.levels.size(); ++i) {
    EXPECT_LE(machine.levels[i].line.alone, machine.levels[i + 1].line.alone);
    EXPECT_LE(machine.levels[i].line.together, machine.levels[i + 1].line.together);
  }
}

TEST(MeasureMachine, IsThatOfAProcessor) {
  for (int threads : {1, 2}) {
    const target::Target target = codegen::HostTarget(threads);
    const Result<MeasuredMachine> machine = MeasureMachine(target);
    ASSERT_TRUE(machine) << machine.error().message;
    ExpectPossible(machine->model, target);
  }
}

TEST(MeasureMachine, NarrowVectorsDoLess) {
  target::Target target = codegen::HostTarget(1);
  if (target.vector_bytes < 32) GTEST_SKIP() << "one width only";
  const Result<MeasuredMachine> wide = MeasureMachine(target);
  target.vector_bytes = 16;
  const Result<MeasuredMachine> narrow = MeasureMachine(target);
  ASSERT_TRUE(wide && narrow);
  EXPECT_LT(narrow->model.PeakFlops(), 0.8 * wide->model.PeakFlops());
}

TEST(MeasureMachine, RunsNoCodeOfAnotherMachine) {
  for (const char* name : {"aarch64-linux-gnu:cortex-a76", "x86-64-v4"}) {
    const target::Target target = codegen::TargetNamed(name, 1);
    const std::optional<std::string> missing = codegen::MissingFeature(target);
    if (!missing) continue;  // it is this machine
    const Result<MeasuredMachine> machine = MeasureMachine(target);
    ASSERT_FALSE(machine) << name;
    EXPECT_NE(machine.error().message.find("is not this machine"), std::string::npos);
    EXPECT_FALSE(MeasureDotPeaks(target, {}));
  }
}

TEST(MeasureDotPeaks, AreThoseOfTheInstructions) {
  using tensor::DType;
  const target::Target target = codegen::HostTarget(1);
  const Result<MeasuredMachine> machine = MeasureMachine(target);
  ASSERT_TRUE(machine);
  WorkloadDemand demand;
  demand.dot_flops = {{{DType::kBFloat16, DType::kBFloat16}, 1},
                      {{DType::kUInt8, DType::kInt8}, 1},
                      {{DType::kInt8, DType::kInt8}, 1},
                      {{DType::kFloat16, DType::kFloat16}, 1}};
  const Result<DotPeaks> peaks = MeasureDotPeaks(target, demand);
  ASSERT_TRUE(peaks) << peaks.error().message;
  const DotPeaks nominal = NominalDotPeaks(target, machine->model, demand);
  ASSERT_EQ(peaks->size(), nominal.size());
  EXPECT_FALSE(peaks->contains({DType::kFloat16, DType::kFloat16}));
  for (const auto& [types, peak] : *peaks) {
    EXPECT_GT(peak, 1e8);
    // A busy machine may have measured the multiply-adds at a bad moment.
    EXPECT_LT(peak, 4 * nominal.at(types)) << tensor::ToString(types.first);
  }
}

TEST(MeasureMachine, RefusesAnotherMachine) {
  target::Target target = codegen::HostTarget(1);
  target.triple = "no-such-machine";
  EXPECT_FALSE(MeasureMachine(target));
}

TEST(MeasureMachine, IsNotMeasuredAgain) {
  target::Target target = codegen::HostTarget(1);
  target.machine = target::NominalMachine(target);
  const Result<MeasuredMachine> machine = MeasuredMachineOf(target);
  ASSERT_TRUE(machine);
  EXPECT_EQ(machine->model, *target.machine);
  EXPECT_FALSE(machine->disturbed);
}

}  // namespace
}  // namespace bayloom::measure
