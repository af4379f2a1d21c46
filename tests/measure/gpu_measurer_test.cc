// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Measuring on a GPU, by the runner as it is, with what stands for the driver's library
// (tests/cuda_stand_in).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "bayloom/measure/measurement_details.h"
#include "bayloom/measure/measurer.h"
#include "bayloom/sketch/default_schedule.h"
#include "bayloom/sketch/design_space.h"
#include "bayloom/target/gpu_limits.h"
#include "bayloom/tensor/operator_shorthand.h"
#include "tests/temporary_folder.h"
#include "tests/with_variable.h"

namespace bayloom::measure {
namespace {

using testing::HasSubstr;
using trial::Verdict;

class GpuMeasurer : public ::testing::Test {
 protected:
  MeasureOptions Options() const {
    MeasureOptions options;
    options.runner.executable = BAYLOOM_TEST_RUNNER;
    options.timing.min_total_seconds = 1e-3;
    options.timing.min_batches = 2;
    options.builder.threads = 1;
    return options;
  }

  /// What an empty file makes happen to a launch or an allocation, once.
  std::string Fault(const std::string& kind) const {
    const std::string file = folder_ / kind;
    std::ofstream{file};
    return kind + ":" + file;
  }

  std::vector<trial::Outcome> Measure(int count) {
    const sketch::SpaceGenerator space(workload_, target_);
    std::vector<tensor::Program> programs;
    for (uint64_t seed = 0; std::ssize(programs) < count; ++seed) {
      const auto drawn =
          space.Sample(static_cast<int>(seed % space.spaces().size()), base::RandomStream(seed));
      EXPECT_TRUE(drawn) << drawn.error().message;
      programs.push_back(drawn->program);
    }
    std::vector<const tensor::Program*> pointers;
    for (const tensor::Program& program : programs) pointers.push_back(&program);
    return measurer_.Measure(workload_, pointers);
  }

  const TemporaryFolder folder_;
  const WithVariable driver_{"BAYLOOM_CUDA_DRIVER", BAYLOOM_TEST_CUDA};
  const WithVariable nvml_{"BAYLOOM_NVML", BAYLOOM_TEST_CUDA};
  const WithVariable image_{"BAYLOOM_CUDA_IMAGE", "stand-in"};
  const target::Target target_ = *target::GpuTarget("sm_90");
  const tensor::Workload workload_ = tensor::ParseOperator("matmul:16,24,32");
  Measurer measurer_{target_, Options()};
};

TEST_F(GpuMeasurer, ChecksAndTimesWhatIsDrawn) {
  for (const trial::Outcome& outcome : Measure(6)) {
    ASSERT_TRUE(outcome.ok()) << outcome.reason;
    EXPECT_GT(outcome.value, 1e-7);
    const MeasurementDetails details = DetailsOf(outcome);
    EXPECT_GT(details.build_seconds, 0);
    EXPECT_EQ(details.clock_mhz, 1980);
    EXPECT_EQ(details.power_watts, 412.5);
  }
  EXPECT_EQ(measurer_.statistics().runner_starts, 1);
}

/// Of as many rows as there are.
tensor::Workload OpenSoftmax() {
  tensor::WorkloadBuilder b("softmax");
  const tensor::BufferId rows = b.Size("rows", {1, 64});
  const tensor::Tensor x = b.Input("x", {64, 24});
  b.Bound(x, 0, rows);
  const tensor::Tensor sum = b.Reduce("sum", {64}, {{"k", 24}}, tensor::Reduction::kSum,
                                      [&](const auto& s, const auto& r) { return x(s[0], r[0]); });
  b.Bound(sum, 0, rows);
  const tensor::Tensor part =
      b.Compute("part", {64, 24}, [&](const auto& i) { return x(i[0], i[1]) / sum(i[0]); });
  b.Bound(part, 0, rows);
  tensor::Workload workload = b.Build({part});
  workload.points = {{64}, {9}, {1}};
  return workload;
}

TEST_F(GpuMeasurer, ProgramsOfOpenAxesAreTimedAtEachPoint) {
  const tensor::Workload workload = OpenSoftmax();
  const sketch::SpaceGenerator space(workload, target_);
  std::vector<tensor::Program> programs = {sketch::DefaultSchedule(workload, target_)};
  for (int s = 0; s < std::ssize(space.spaces()); ++s) {
    programs.push_back(space.Sample(s, base::RandomStream(3))->program);
  }
  std::vector<const tensor::Program*> pointers;
  for (const tensor::Program& program : programs) pointers.push_back(&program);
  for (const trial::Outcome& outcome : measurer_.Measure(workload, pointers)) {
    ASSERT_TRUE(outcome.ok()) << outcome.reason;
    const std::vector<TimeAtSizes> times = DetailsOf(outcome).at_sizes;
    ASSERT_EQ(times.size(), workload.points.size());
    for (size_t p = 0; p < times.size(); ++p) {
      EXPECT_EQ(times[p].sizes, workload.points[p]);
      EXPECT_GT(times[p].seconds, 0);
    }
    EXPECT_EQ(DetailsOf(outcome).registers, 32);
  }
}

/// As the driver says of what it assembled: the device is not asked, and the process lives on.
TEST_F(GpuMeasurer, WhatTheDriverCouldNotRunWellIsNotRun) {
  {
    const WithVariable spills("STAND_IN_LOCAL_BYTES", "400");
    const trial::Outcome outcome = Measure(1).front();
    EXPECT_EQ(outcome.verdict, Verdict::kMemory);
    EXPECT_EQ(outcome.reason, "spills 800 bytes");
  }
  Measurer measurer(target_, Options());
  const WithVariable registers("STAND_IN_REGISTERS", "48");
  const tensor::Program program = sketch::DefaultSchedule(workload_, target_);
  const tensor::Program* const programs[] = {&program};
  const trial::Outcome outcome = measurer.Measure(workload_, programs).front();
  ASSERT_TRUE(outcome.ok()) << outcome.reason;
  EXPECT_EQ(DetailsOf(outcome).registers, 48);
}

/// What the assembler says is known before the device is asked, and not asked for again.
TEST_F(GpuMeasurer, WhatTheAssemblerRefusesIsNotAssembledAgain) {
  const std::string built = folder_ / "built";
  MeasureOptions options = Options();
  options.builder.compile = [&](const tensor::Program&) {
    std::ofstream(built, std::ios::app) << "x";
    codegen::KernelObject kernel;
    kernel.symbol = "kernel";
    kernel.launches = {{"kernel_0", 1, 256, 2048, 255, 1024}};
    return Result<codegen::KernelObject>(kernel);
  };
  Measurer measurer(target_, options);
  const tensor::Program program = sketch::DefaultSchedule(workload_, target_);
  const tensor::Program* const programs[] = {&program};
  for (int i = 0; i < 3; ++i) {
    const trial::Outcome outcome = measurer.Measure(workload_, programs).front();
    EXPECT_EQ(outcome.verdict, Verdict::kMemory);
    EXPECT_EQ(outcome.reason, "spills 1024 bytes");
    EXPECT_EQ(DetailsOf(outcome).registers, 255);
    EXPECT_EQ(DetailsOf(outcome).spill_bytes, 1024);
    EXPECT_EQ(DetailsOf(outcome).shared_bytes, 2048);
  }
  EXPECT_EQ(std::filesystem::file_size(built), 1U);
}

TEST_F(GpuMeasurer, WrongResultsAreFound) {
  tensor::Program wrong = sketch::DefaultSchedule(workload_, target_);
  tensor::Block& block = wrong.blocks[wrong.BlocksInOrder().back()];
  block.value = block.value + tensor::FloatLiteral(0.5);
  const tensor::Program* const programs[] = {&wrong};
  const trial::Outcome outcome = measurer_.Measure(workload_, programs).front();
  EXPECT_EQ(outcome.verdict, Verdict::kWrongOutput) << outcome.reason;
}

/// After a kernel that failed, every call of that process fails: the next trial has another one.
TEST_F(GpuMeasurer, AFailedKernelCostsOneTrial) {
  const WithVariable fault("STAND_IN_FAULT", Fault("illegal-address"));
  const std::vector<trial::Outcome> outcomes = Measure(3);
  EXPECT_EQ(outcomes[0].verdict, Verdict::kCrash);
  EXPECT_THAT(outcomes[0].reason, HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
  EXPECT_TRUE(outcomes[1].ok()) << outcomes[1].reason;
  EXPECT_TRUE(outcomes[2].ok()) << outcomes[2].reason;
  EXPECT_EQ(measurer_.statistics().runner_starts, 2);
}

TEST_F(GpuMeasurer, WhatIsWrittenBesideABufferIsFound) {
  const WithVariable fault("STAND_IN_FAULT", Fault("overrun"));
  const std::vector<trial::Outcome> outcomes = Measure(2);
  EXPECT_EQ(outcomes[0].verdict, Verdict::kWrongOutput);
  EXPECT_THAT(outcomes[0].reason, HasSubstr("something was written behind output"));
  EXPECT_TRUE(outcomes[1].ok()) << outcomes[1].reason;
}

TEST_F(GpuMeasurer, OutOfMemoryCostsOneTrial) {
  const WithVariable fault("STAND_IN_FAULT", Fault("out-of-memory"));
  const std::vector<trial::Outcome> outcomes = Measure(2);
  EXPECT_EQ(outcomes[0].verdict, Verdict::kMemory);
  EXPECT_THAT(outcomes[0].reason, HasSubstr("CUDA_ERROR_OUT_OF_MEMORY"));
  EXPECT_TRUE(outcomes[1].ok()) << outcomes[1].reason;
}

TEST_F(GpuMeasurer, AKernelThatHangsCostsOneTrial) {
  const WithVariable fault("STAND_IN_FAULT", Fault("hang"));
  MeasureOptions options = Options();
  options.runner.timeout_seconds = 1;
  Measurer measurer(target_, options);
  const tensor::Program program = sketch::DefaultSchedule(workload_, target_);
  const tensor::Program* const programs[] = {&program, &program};
  const std::vector<trial::Outcome> outcomes = measurer.Measure(workload_, programs);
  EXPECT_EQ(outcomes[0].verdict, Verdict::kTimeout) << outcomes[0].reason;
  EXPECT_NE(outcomes[1].verdict, Verdict::kCrash) << outcomes[1].reason;
  EXPECT_EQ(measurer.statistics().runner_starts, 2);
}

TEST_F(GpuMeasurer, CachesAreFlushedBetweenRunsIfWanted) {
  MeasureOptions options = Options();
  options.timing.flush_cache = true;
  Measurer measurer(target_, options);
  const tensor::Program program = sketch::DefaultSchedule(workload_, target_);
  const tensor::Program* const programs[] = {&program};
  const trial::Outcome outcome = measurer.Measure(workload_, programs).front();
  EXPECT_TRUE(outcome.ok()) << outcome.reason;
}

TEST_F(GpuMeasurer, WithoutADriverEveryTrialSaysSo) {
  const WithVariable none("BAYLOOM_CUDA_DRIVER", "/nowhere/libcuda.so.1");
  const std::vector<trial::Outcome> outcomes = Measure(1);
  EXPECT_EQ(outcomes[0].verdict, Verdict::kCrash);
  EXPECT_THAT(outcomes[0].reason, HasSubstr("there is no NVIDIA driver here"));
}

}  // namespace
}  // namespace bayloom::measure
