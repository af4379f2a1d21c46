// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/target/target.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "bayloom/target/named_target.h"
#include "bayloom/target/target_json.h"

namespace bayloom::target {
namespace {

MachineModel SomeMachine() {
  MachineModel machine;
  machine.threads = 2;
  machine.vector_bytes = 64;
  machine.multiply_add = {0.25e-9, 0.125e-9};
  machine.multiply_add_latency = 1e-9;
  machine.vector_load = 0.25e-9;
  machine.division = 2.5e-9;
  machine.transcendental = 7e-9;
  machine.fork_join = 0.3e-6;
  machine.job = 12e-9;
  machine.compile = 0.011;
  machine.levels = {{32 << 10, {0.25e-9, 0}}, {1 << 20, {0.5e-9, 0.25e-9}}, {0, {3e-9, 2e-9}}};
  return machine;
}

/// As databases of version 0.1 have it.
nlohmann::json EarlierTarget() {
  return {{"name", "native"},  {"triple", "x86_64-pc-linux-gnu"},
          {"cpu", "znver4"},   {"features", "+fma"},
          {"cores", 2},        {"vector_bytes", 64},
          {"l1_bytes", 32768}, {"l2_bytes", 1048576}};
}

TEST(MachineModelTest, SurvivesJson) {
  EXPECT_EQ(MachineModelFromJson(MachineModelToJson(SomeMachine())), SomeMachine());
  const MachineModel nominal = NominalMachine(Target());
  EXPECT_EQ(MachineModelFromJson(MachineModelToJson(nominal)), nominal);
}

TEST(MachineModelTest, RefusesWhatIsNoMachine) {
  nlohmann::json json = MachineModelToJson(SomeMachine());
  json["levels"].erase(1);
  json["levels"].erase(1);
  EXPECT_THROW(MachineModelFromJson(json), nlohmann::json::exception);
  EXPECT_THROW(MachineModelFromJson({{"threads", 2}}), nlohmann::json::exception);
}

TEST(MachineModelTest, SharedResourcesBindAllThreadsTogether) {
  const MachineModel machine = SomeMachine();
  EXPECT_DOUBLE_EQ(machine.PeakFlops(), 2 * 16 * 2 / 0.25e-9);
  EXPECT_DOUBLE_EQ(machine.BytesPerSecond(machine.levels[0]), 2 * 64 / 0.25e-9);
  EXPECT_DOUBLE_EQ(machine.BytesPerSecond(machine.levels.back()), 64 / 2e-9);
  EXPECT_DOUBLE_EQ(machine.levels.back().line.PerThread(1), 3e-9);
}

TEST(TargetTest, TheMeasuredMachineIsKeptButNotPartOfTheIdentity) {
  Target target = TargetFromJson(EarlierTarget());
  EXPECT_FALSE(target.machine);
  EXPECT_EQ(TargetToJson(target), EarlierTarget());
  const uint64_t hash = HashOf(target);
  EXPECT_EQ(hash, 9936044103523301237u);  // as in those databases
  target.machine = SomeMachine();
  EXPECT_EQ(HashOf(target), hash);
  EXPECT_EQ(TargetFromJson(TargetToJson(target)).machine, SomeMachine());
  target.cores = 3;
  EXPECT_NE(HashOf(target), hash);
}

TEST(TargetTest, EachLevelHasAllThatTheOneBelowHas) {
  std::string below;
  int vector_bytes = 8;
  for (std::string_view name : LevelNames()) {
    const std::optional<Target> level = LevelTarget(name, 3);
    ASSERT_TRUE(level);
    EXPECT_EQ(level->name, name);
    EXPECT_EQ(level->cores, 3);
    EXPECT_EQ(level->vector_bytes, 2 * vector_bytes);
    EXPECT_TRUE(level->features.starts_with(below)) << name;
    below = level->features;
    vector_bytes = level->vector_bytes;
  }
  EXPECT_FALSE(LevelTarget("x86-64-v1", 1));
  EXPECT_FALSE(LevelTarget("native", 1));
}

TEST(TargetTest, TheNominalMachineHasTheTargetsShape) {
  Target target;
  target.vector_bytes = 16;
  target.l2_bytes = 512 << 10;
  target.cores = 3;
  const MachineModel machine = MachineOf(target);
  EXPECT_EQ(machine, NominalMachine(target));
  EXPECT_EQ(machine.lanes(), 4);
  EXPECT_EQ(machine.levels[1].bytes, 512 << 10);
  EXPECT_EQ(machine.threads, 3);
  target.machine = SomeMachine();
  EXPECT_EQ(MachineOf(target), SomeMachine());
}

}  // namespace
}  // namespace bayloom::target
