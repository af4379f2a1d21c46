// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/feature/time_estimate.h"

#include <gtest/gtest.h>

#include "bayloom/target/target.h"
#include "bayloom/tensor/operators.h"
#include "bayloom/tensor/primitives.h"

namespace bayloom::feature {
namespace {

constexpr int64_t kProductSize = 512;

tensor::Workload Product() {
  tensor::WorkloadBuilder b("matmul");
  tensor::Tensor x = b.Input("x", {kProductSize, kProductSize}),
                 y = b.Input("y", {kProductSize, kProductSize});
  tensor::Tensor z =
      b.Reduce("z", {kProductSize, kProductSize}, {{"k", kProductSize}}, tensor::Reduction::kSum,
               [&](auto s, auto r) { return x(s[0], r[0]) * y(r[0], s[1]); });
  return b.Build({z});
}

target::Target FourCores() {
  target::Target target;
  target.cores = 4;
  return target;
}

double TimeEstimateOf(const tensor::Program& program) {
  return EstimateTime(program, target::NominalMachine(FourCores()));
}

/// In blocks of so many rows and columns.
tensor::Program Tiled(int64_t tile) {
  tensor::Program tiled = tensor::Lower(Product());
  const std::vector<tensor::LoopId> loops =
      tiled.LoopsAround(tensor::NodeRef::Block(tiled.FindBlock("z")));
  const std::vector<int64_t> tiles = {kProductSize / tile, tile};
  const std::vector<tensor::LoopId> i = *tensor::Split(tiled, loops[0], tiles);
  const std::vector<tensor::LoopId> j = *tensor::Split(tiled, loops[1], tiles);
  const std::vector<tensor::LoopId> k = *tensor::Split(tiled, loops[2], tiles);
  EXPECT_TRUE(
      tensor::Reorder(tiled, std::vector<tensor::LoopId>{i[0], j[0], k[0], i[1], j[1], k[1]}));
  return tiled;
}

tensor::Program Vectorized(int64_t lanes) {
  tensor::Program program = tensor::Lower(Product());
  const std::vector<tensor::LoopId> loops =
      program.LoopsAround(tensor::NodeRef::Block(program.FindBlock("z")));
  const std::vector<tensor::LoopId> parts =
      *tensor::Split(program, loops[1], std::vector<int64_t>{kProductSize / lanes, lanes});
  EXPECT_TRUE(tensor::Reorder(program, std::vector<tensor::LoopId>{loops[2], parts[1]}));
  EXPECT_TRUE(tensor::Vectorize(program, parts[1]));
  return program;
}

tensor::Program InParallel(int64_t jobs) {
  tensor::Program program = tensor::Lower(Product());
  const tensor::LoopId i = program.LoopsAround(tensor::NodeRef::Block(program.FindBlock("z")))[0];
  const std::vector<tensor::LoopId> parts =
      *tensor::Split(program, i, std::vector<int64_t>{jobs, kProductSize / jobs});
  EXPECT_TRUE(tensor::Parallelize(program, parts[0]));
  return program;
}

std::vector<tensor::Program> CpuPrograms() {
  return {tensor::Lower(Product()), Tiled(16),     Tiled(64),     Tiled(256), Vectorized(8),
          Vectorized(64),           InParallel(4), InParallel(64)};
}

/// The nominal machine with all that slows threads down together and that costs a parallel loop.
target::MachineModel WholeMachine() {
  target::MachineModel machine = target::NominalMachine(FourCores());
  machine.multiply_add.together = machine.multiply_add.alone / 3;
  for (target::MemoryLevel& level : machine.levels) level.line.together = level.line.alone / 2;
  machine.fork_join = 1e-6;
  return machine;
}

TEST(TimeEstimateTest, FullVectorsAreFasterThanPartsOfThem) {
  const auto vectorized = [](int64_t lanes) { return TimeEstimateOf(Vectorized(lanes)); };
  EXPECT_LT(vectorized(8), 0.6 * vectorized(4));
  EXPECT_LT(vectorized(4), 0.6 * vectorized(2));
}

TEST(TimeEstimateTest, JobsThatDivideEvenlyAmongCoresAreFastest) {
  const auto parallel = [](int64_t jobs) { return TimeEstimateOf(InParallel(jobs)); };
  EXPECT_NEAR(parallel(4) / TimeEstimateOf(tensor::Lower(Product())), 0.25, 0.01);
  EXPECT_NEAR(parallel(2) / parallel(4), 2, 0.02);
  EXPECT_LT(parallel(4), parallel(512));
}

TEST(TimeEstimateTest, TilesThatFitIntoCachesAreFaster) {
  EXPECT_LT(TimeEstimateOf(Tiled(64)), TimeEstimateOf(tensor::Lower(Product())));
}

/// The estimate follows the machine: see the header.
TEST(TimeEstimateTest, AFasterMachineIsNeverSlower) {
  const target::MachineModel machine = WholeMachine();
  std::vector<target::MachineModel> faster;
  const auto add = [&](const auto& change) { change(faster.emplace_back(machine)); };
  for (size_t level = 0; level < machine.levels.size(); ++level) {
    add([&](target::MachineModel& m) { m.levels[level].line.alone /= 2; });
    add([&](target::MachineModel& m) { m.levels[level].line.together /= 2; });
    add([&](target::MachineModel& m) { m.levels[level].bytes *= 4; });
  }
  add([](target::MachineModel& m) { m.multiply_add.alone /= 2; });
  add([](target::MachineModel& m) { m.multiply_add.together /= 2; });
  add([](target::MachineModel& m) { m.vector_bytes *= 2; });
  add([](target::MachineModel& m) { m.fork_join /= 2; });
  add([](target::MachineModel& m) { m.job /= 2; });
  for (const tensor::Program& program : CpuPrograms()) {
    const double seconds = EstimateTime(program, machine);
    for (const target::MachineModel& other : faster)
      EXPECT_LE(EstimateTime(program, other), seconds);
  }
}

TEST(TimeEstimateTest, HalfTheLanesTakeTwiceAsLongWhereArithmeticBinds) {
  target::MachineModel machine = target::NominalMachine(FourCores());
  for (target::MemoryLevel& level : machine.levels) level.line = {};
  const double seconds = EstimateTime(Vectorized(8), machine);
  machine.vector_bytes /= 2;
  EXPECT_DOUBLE_EQ(EstimateTime(Vectorized(8), machine), 2 * seconds);
}

TEST(TimeEstimateTest, HalfTheBandwidthTakesTwiceAsLongWhereMemoryBinds) {
  target::MachineModel machine = target::NominalMachine(FourCores());
  machine.multiply_add.alone = 1e-30;
  for (target::MemoryLevel& level : machine.levels) level.bytes = 64;
  for (target::MemoryLevel& level : machine.levels) level.line.together = 0;
  const double seconds = EstimateTime(tensor::Lower(Product()), machine);
  for (target::MemoryLevel& level : machine.levels) level.line.alone *= 2;
  EXPECT_DOUBLE_EQ(EstimateTime(tensor::Lower(Product()), machine), 2 * seconds);
}

TEST(TimeEstimateTest, WhatThreadsShareBindsThemTogether) {
  target::MachineModel machine = target::NominalMachine(FourCores());
  const double alone = EstimateTime(tensor::Lower(Product()), machine);
  const double together = EstimateTime(InParallel(4), machine);
  for (target::MemoryLevel& level : machine.levels) level.line.together = level.line.alone;
  EXPECT_EQ(EstimateTime(tensor::Lower(Product()), machine), alone);
  EXPECT_GT(EstimateTime(InParallel(4), machine), 1.05 * together);
}

/// Tiles of 256 x 256 need 0.75 MiB, those of 64 x 64 48 KiB.
TEST(TimeEstimateTest, TheBestTileIsOneThatFitsTheMachinesCache) {
  target::MachineModel machine = target::NominalMachine(FourCores());
  machine.levels[0].bytes = 4 << 10;
  machine.levels[1].bytes = 1 << 20;
  EXPECT_LT(EstimateTime(Tiled(256), machine), EstimateTime(Tiled(64), machine));
  machine.levels[1].bytes = 128 << 10;
  machine.levels[2].bytes = 256 << 10;
  EXPECT_GT(EstimateTime(Tiled(256), machine), EstimateTime(Tiled(64), machine));
}

}  // namespace
}  // namespace bayloom::feature
