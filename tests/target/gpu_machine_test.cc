// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/target/gpu_machine.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bayloom/target/gpu_limits.h"
#include "bayloom/target/mma_instruction.h"
#include "bayloom/target/wgmma_instruction.h"

namespace bayloom::target {
namespace {

/// Float32 operations a second, in 1e12, as NVIDIA's data sheets have them.
TEST(GpuMachineTest, PeaksAreThoseOfTheDataSheets) {
  const std::pair<int, double> peaks[] = {{70, 15.7}, {75, 8.1},  {80, 19.5},  {86, 37.4},
                                          {89, 91.6}, {90, 66.9}, {120, 104.8}};
  for (const auto& [capability, teraflops] : peaks) {
    const MachineModel machine = MachineModelOf(*TypicalGpu(capability));
    EXPECT_NEAR(machine.PeakFlops() / 1e12, teraflops, 0.01 * teraflops) << capability;
  }
  EXPECT_FALSE(TypicalGpu(62));
  EXPECT_EQ(TypicalGpu(103)->capability, 100);
}

/// The same of dense products of float16 matrices with sums in float32.
TEST(GpuMachineTest, PeaksOfMatricesAreThoseOfTheDataSheets) {
  const std::pair<int, double> peaks[] = {{80, 312}, {86, 149.7}, {89, 362}, {120, 209.5}};
  for (const auto& [capability, teraflops] : peaks) {
    const GpuMachine gpu = *TypicalGpu(capability);
    const double flops =
        2.0 * gpu.matrix_multiply_adds * gpu.multiprocessors * gpu.clock_hertz / 1e12;
    EXPECT_NEAR(flops, teraflops, 0.015 * teraflops) << capability;
  }
}

/// And of tf32.
TEST(GpuMachineTest, RatesOfInstructionsAreThoseOfTheDataSheets) {
  const std::pair<int, double> peaks[] = {{80, 156}, {86, 74.8}, {89, 181}};
  for (const auto& [capability, teraflops] : peaks) {
    const GpuMachine gpu = *TypicalGpu(capability);
    const double rate = WarpInstructionFor(capability, "tf32", "tf32")->rate;
    const double flops =
        2.0 * rate * gpu.matrix_multiply_adds * gpu.multiprocessors * gpu.clock_hertz / 1e12;
    EXPECT_NEAR(flops, teraflops, 0.015 * teraflops) << capability;
  }
}

TEST(GpuMachineTest, WarpsMultiplyMatricesFromSm80On) {
  EXPECT_EQ(WarpInstructionFor(75, "float16", "float16"), nullptr);
  EXPECT_EQ(WarpInstructionFor(90, "float16", "bfloat16"), nullptr);
  for (const std::string_view architecture : GpuArchitectures()) {
    const GpuLimits limits = *FindGpuLimits(architecture);
    ASSERT_NE(WarpInstructionFor(limits, "bfloat16", "bfloat16"), nullptr);
    ASSERT_NE(WarpInstructionFor(limits, "tf32", "tf32"), nullptr);
    EXPECT_EQ(WarpInstructionFor(limits, "float32", "float32"), nullptr);
    EXPECT_EQ(WarpInstructionFor(limits, "float16", "float16"),
              WarpInstructionFor(CapabilityOf(architecture), "float16", "float16"));
  }
}

TEST(GpuMachineTest, GroupsOfWarpsMultiplyMatricesOnSm90Alone) {
  for (const int capability : {75, 80, 86, 89, 90, 100, 120}) {
    const bool has = TypicalGpu(capability)->group_multiply_adds > 0;
    EXPECT_EQ(has, capability == 90);
    for (const char* type : {"float16", "bfloat16", "tf32"}) {
      EXPECT_EQ(WarpGroupInstructionFor(capability, type, type) != nullptr, has) << capability;
    }
  }
  EXPECT_NE(WarpGroupInstructionFor(*FindGpuLimits("sm_90a"), "float16", "float16"), nullptr);
  EXPECT_EQ(WarpGroupInstructionFor(*FindGpuLimits("sm_90"), "float16", "float16"), nullptr);
  EXPECT_EQ(WarpGroupInstructionFor(90, "float16", "bfloat16"), nullptr);
  EXPECT_EQ(WarpGroupInstructionFor(90, "float32", "float32"), nullptr);
}

TEST(GpuMachineTest, ArchitecturesAreNumbers) {
  EXPECT_EQ(CapabilityOf("sm_90"), 90);
  EXPECT_EQ(CapabilityOf("sm_90a"), 90);
  EXPECT_EQ(CapabilityOf("sm_100"), 100);
  EXPECT_EQ(CapabilityOf("znver4"), 0);
  EXPECT_GT(CapabilityOf("sm_100"), CapabilityOf("sm_90"));
  EXPECT_TRUE(RunsCodeOf("sm_90", 90) && RunsCodeOf("sm_90", 100) && RunsCodeOf("sm_90a", 90));
  EXPECT_FALSE(RunsCodeOf("sm_90", 89) || RunsCodeOf("sm_90a", 100) || RunsCodeOf("sm_90a", 89));
}

TEST(GpuMachineTest, WhatADriverDoesNotTellIsTypical) {
  GpuMachine told;
  told.capability = 90;
  told.multiprocessors = 66;
  const GpuMachine half = CompleteGpuMachine(told);
  EXPECT_EQ(half.multiprocessors, 66);
  EXPECT_DOUBLE_EQ(half.clock_hertz, TypicalGpu(90)->clock_hertz);
  EXPECT_DOUBLE_EQ(half.memory_bytes_per_second, TypicalGpu(90)->memory_bytes_per_second / 2);
  const MachineModel machine = MachineModelOf(half);
  EXPECT_TRUE(std::isfinite(machine.PeakFlops()));
  for (const MemoryLevel& level : machine.levels) {
    EXPECT_TRUE(std::isfinite(machine.BytesPerSecond(level)));
  }
  told.clock_hertz = 1e9;
  EXPECT_DOUBLE_EQ(CompleteGpuMachine(told).clock_hertz, 1e9);
  told.capability = 61;
  EXPECT_EQ(CompleteGpuMachine(told).multiply_adds, TypicalGpu(70)->multiply_adds);
}

TEST(GpuMachineTest, SurvivesAsTheMachineOfATarget) {
  for (const std::string_view architecture : GpuArchitectures()) {
    Target target = *GpuTarget(architecture);
    const GpuMachine typical = *TypicalGpu(CapabilityOf(architecture));
    EXPECT_EQ(GpuMachineOf(target), typical);
    GpuMachine slower = typical;
    slower.clock_hertz /= 2;
    slower.multiprocessors /= 2;
    slower.memory_bytes_per_second /= 3;
    target.machine = MachineModelOf(slower);
    const GpuMachine kept = GpuMachineOf(target);
    EXPECT_EQ(kept.multiprocessors, slower.multiprocessors);
    EXPECT_EQ(kept.multiply_adds, slower.multiply_adds);
    EXPECT_NEAR(kept.clock_hertz, slower.clock_hertz, 1);
    EXPECT_NEAR(kept.memory_bytes_per_second, slower.memory_bytes_per_second, 1e3);
    EXPECT_NEAR(kept.l2_bytes_a_clock, slower.l2_bytes_a_clock, 1e-9);
    EXPECT_NEAR(static_cast<double>(kept.l2_bytes), static_cast<double>(slower.l2_bytes), 1024);
  }
}

TEST(GpuMachineTest, TheNominalMachineOfAGpuIsTypical) {
  const Target target = *GpuTarget("sm_80");
  EXPECT_EQ(NominalMachine(target), MachineModelOf(*TypicalGpu(80)));
  EXPECT_EQ(MachineOf(target), NominalMachine(target));
}

}  // namespace
}  // namespace bayloom::target
