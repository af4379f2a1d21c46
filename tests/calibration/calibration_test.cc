// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// The time estimate on recorded schedules: nothing is timed here.
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "bayloom/base/result.h"
#include "bayloom/feature/code_estimate.h"
#include "benchmarks/calibration/fit.h"
#include "tests/temporary_folder.h"

namespace bayloom {
namespace {

ScheduleRecords Read(const std::string& name) {
  return ScheduleRecords::Read(BAYLOOM_CALIBRATION_RECORDS "/" + name);
}

const ScheduleRecords& Recorded() {
  static const ScheduleRecords records = Read("schedules.jsonl.gz");
  return records;
}

TEST(Calibration, RecordsAreManyAndOfAllFamilies) {
  size_t schedules = 0;
  std::set<std::string> families;
  for (const MeasuredSchedules& task : Recorded().tasks) {
    schedules += task.programs.size();
    families.insert(task.family);
    EXPECT_EQ(task.programs.size(), task.seconds.size());
  }
  EXPECT_GE(schedules, 1000U);
  EXPECT_GE(Recorded().tasks.size(), 30U);
  EXPECT_GE(families.size(), 10U);
}

TEST(Calibration, EstimatesOrderSchedulesNearlyAsTheirTimes) {
  const target::MachineModel machine = target::MachineOf(Recorded().target);
  const RankCorrelations measured = CorrelationsOf(Recorded(), machine, {});
  EXPECT_GE(measured.mean, 0.77);
  for (const auto& [family, correlation] : measured.families) {
    // Elementwise programs differ by little more than the noise of timing.
    EXPECT_GE(correlation, family == "elementwise" ? 0.45 : 0.55) << family;
  }
}

TEST(Calibration, EstimatesOfCodeOrderSchedulesNearlyAsTheirTimes) {
  const RankCorrelations measured = CorrelationsOf(Recorded(), [](const tensor::Program& program) {
    return feature::EstimateCodeTime(program, Recorded().target);
  });
  EXPECT_GE(measured.mean, 0.74);
}

TEST(Calibration, TheMeasuredMachineIsBetterThanTheNominalOne) {
  target::Target unmeasured = Recorded().target;
  unmeasured.machine.reset();
  EXPECT_GE(CorrelationsOf(Recorded(), target::MachineOf(Recorded().target), {}).mean,
            CorrelationsOf(Recorded(), target::NominalMachine(unmeasured), {}).mean + 0.03);
}

TEST(Calibration, TheWeightsAreAboutAsGoodAsThoseFitted) {
  const feature::EstimateWeights weights, fitted = FitWeights(Recorded(), weights);
  const target::MachineModel machine = target::MachineOf(Recorded().target);
  EXPECT_LE(CorrelationsOf(Recorded(), machine, fitted).mean,
            CorrelationsOf(Recorded(), machine, weights).mean + 0.005);
}

RankCorrelations CorrelationsOfGpu(const ScheduleRecords& records) {
  return CorrelationsOf(records, [&](const tensor::Program& program) {
    return feature::EstimateTime(program, records.target);
  });
}

/// Of random programs, and those evolved from them, that were measured on an H100.
TEST(Calibration, EstimatesOrderProgramsOfAGpuNearlyAsTheirTimes) {
  const RankCorrelations measured = CorrelationsOfGpu(Read("h100_schedules.jsonl.gz"));
  EXPECT_GE(measured.mean, 0.73);
  for (const auto& [family, correlation] : measured.families) {
    // Of those most programs take little longer than their launch.
    const double least = family == "elementwise" ? 0 : family == "pooling" ? 0.3 : 0.6;
    EXPECT_GE(correlation, least) << family;
  }
}

/// Of programs that tunings proposed, most of them by an earlier estimate, measured on an H200:
/// those are harder to order, as it thought them equally good.
TEST(Calibration, EstimatesOrderWhatTuningsOfAGpuPropose) {
  const RankCorrelations measured = CorrelationsOfGpu(Read("h200_schedules.jsonl.gz"));
  EXPECT_GE(measured.mean, 0.62);
  for (const char* const family : {"attention", "conv2d", "dense", "depthwise", "layer-norm"}) {
    EXPECT_GE(measured.families.at(family), 0.5) << family;
  }
}

TEST(Calibration, DamagedRecordsAreRefusedWithTheirLine) {
  const TemporaryFolder folder;
  const std::string path = folder / "records.jsonl";
  std::ofstream(path) << R"({"space": 0, "decisions": [], "seconds": 1})"
                      << "\n";
  try {
    ScheduleRecords::Read(path);
    FAIL() << "read a schedule without a task";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()), path + ":1: a schedule before any task");
  }
}

}  // namespace
}  // namespace bayloom
