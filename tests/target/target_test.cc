// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/target/target.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "bayloom/target/arm_processor.h"
#include "bayloom/target/gpu_limits.h"
#include "bayloom/target/named_target.h"
#include "bayloom/target/target_json.h"

namespace bayloom::target {
namespace {

MachineModel SomeMachine() {
  MachineModel machine;
  machine.threads = 2;
  machine.vector_bytes = 64;
  machine.vector_registers = 32;
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

TEST(MachineModelTest, EarlierRecordsHaveTheRegistersOfX86) {
  nlohmann::json json = MachineModelToJson(SomeMachine());
  json.erase("vector_registers");
  EXPECT_EQ(MachineModelFromJson(json).vector_registers, 32);
  json["vector_bytes"] = 32;
  EXPECT_EQ(MachineModelFromJson(json).vector_registers, 16);
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

/// Databases find their records by these numbers.
TEST(TargetTest, KeysStayWhatTheyAre) {
  const std::pair<const char*, uint64_t> keys[] = {{"x86-64-v2", 11318349943587533402u},
                                                   {"x86-64-v3", 13144996531440492993u},
                                                   {"x86-64-v4", 9754617430953766457u}};
  for (const auto& [name, key] : keys) EXPECT_EQ(HashOf(*LevelTarget(name, 2)), key) << name;
  Target arm;
  arm.triple = "aarch64-unknown-linux-gnu";
  arm.cpu = "generic";
  arm.features = "+fp-armv8,+neon";
  arm.cores = 2;
  arm.vector_bytes = 16;
  EXPECT_EQ(HashOf(arm), 5762882430795929336u);
}

TEST(TargetTest, GpusOfAnArchitectureAreOneTarget) {
  std::set<uint64_t> keys;
  for (const std::string_view architecture : GpuArchitectures()) {
    const std::optional<Target> gpu = GpuTarget(architecture);
    ASSERT_TRUE(gpu);
    EXPECT_EQ(gpu->kind(), TargetKind::kNvidiaGpu);
    EXPECT_EQ(gpu->name, "cuda:" + std::string(architecture));
    EXPECT_EQ(LimitsOf(*gpu).architecture, architecture);
    EXPECT_EQ(LimitsOf(*gpu).max_shared_bytes, FindGpuLimits(architecture)->max_shared_bytes);
    EXPECT_EQ(HashOf(TargetFromJson(TargetToJson(*gpu))), HashOf(*gpu));
    keys.insert(HashOf(*gpu));
  }
  EXPECT_EQ(keys.size(), GpuArchitectures().size());
  EXPECT_FALSE(GpuTarget("sm_11"));
}

TEST(TargetTest, TheTripleSaysTheKind) {
  const std::pair<const char*, TargetKind> kinds[] = {
      {"x86_64-pc-linux-gnu", TargetKind::kX86_64},
      {"aarch64-unknown-linux-gnu", TargetKind::kAArch64},
      {"nvptx64-nvidia-cuda", TargetKind::kNvidiaGpu},
      {"aarch64_be-unknown-linux-gnu", TargetKind::kOtherCpu},
      {"riscv64-unknown-linux-gnu", TargetKind::kOtherCpu},
      {"", TargetKind::kOtherCpu}};
  for (const auto& [triple, kind] : kinds) {
    Target target;
    target.triple = triple;
    EXPECT_EQ(target.kind(), kind) << triple;
  }
}

TEST(TargetTest, RegistersAreThoseOfTheKind) {
  EXPECT_EQ(VectorRegisters(*LevelTarget("x86-64-v3", 1)), 16);
  EXPECT_EQ(VectorRegisters(*LevelTarget("x86-64-v4", 1)), 32);
  EXPECT_TRUE(UsesAvx512(*LevelTarget("x86-64-v4", 1)));
  Target arm;
  arm.triple = "aarch64-unknown-linux-gnu";
  arm.vector_bytes = 16;
  EXPECT_EQ(VectorRegisters(arm), 32);
  EXPECT_EQ(NominalMachine(arm).vector_registers, 32);
  arm.vector_bytes = 64;  // as of some with SVE
  EXPECT_FALSE(UsesAvx512(arm));
}

TEST(TargetTest, NominalMachinesOfAArch64DifferInUnitsAndCaches) {
  const auto machine_of = [](const char* cpu) {
    Target arm;
    arm.triple = "aarch64-unknown-linux-gnu";
    arm.cpu = cpu;
    return NominalMachine(arm);
  };
  const MachineModel a53 = machine_of("cortex-a53"), v1 = machine_of("neoverse-v1");
  EXPECT_DOUBLE_EQ(a53.multiply_add.alone, 4 * v1.multiply_add.alone);
  EXPECT_DOUBLE_EQ(a53.multiply_add_latency, v1.multiply_add_latency);
  EXPECT_EQ(a53.levels.size(), 3u);  // no third cache
  EXPECT_EQ(v1.levels.size(), 4u);
  EXPECT_EQ(machine_of("unknown"), machine_of("generic"));
  EXPECT_EQ(ArmProcessorNamed("unknown").cpu, "generic");
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
