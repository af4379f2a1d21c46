#include "bayloom/feature/time_estimate.h"

#include <gtest/gtest.h>

#include "bayloom/target/target.h"
#include "bayloom/tensor/operators.h"
#include "bayloom/tensor/primitives.h"

namespace bayloom {
namespace {

constexpr int64_t kSize = 512;

Workload Product() {
  WorkloadBuilder b("matmul");
  Tensor x = b.Input("x", {kSize, kSize}), y = b.Input("y", {kSize, kSize});
  Tensor z = b.Reduce("z", {kSize, kSize}, {{"k", kSize}}, Reduction::kSum,
                      [&](auto s, auto r) { return x(s[0], r[0]) * y(r[0], s[1]); });
  return b.Build({z});
}

Target FourCores() {
  Target target;
  target.cores = 4;
  return target;
}

double EstimateOf(const Program& program) {
  return EstimateTime(program, NominalMachine(FourCores()));
}

/// In blocks of so many rows and columns.
Program Tiled(int64_t tile) {
  Program tiled = Lower(Product());
  const std::vector<LoopId> loops = tiled.LoopsAround(NodeRef::Block(tiled.FindBlock("z")));
  const std::vector<int64_t> tiles = {kSize / tile, tile};
  const std::vector<LoopId> i = *Split(tiled, loops[0], tiles);
  const std::vector<LoopId> j = *Split(tiled, loops[1], tiles);
  const std::vector<LoopId> k = *Split(tiled, loops[2], tiles);
  EXPECT_TRUE(Reorder(tiled, std::vector<LoopId>{i[0], j[0], k[0], i[1], j[1], k[1]}));
  return tiled;
}

Program Vectorized(int64_t lanes) {
  Program program = Lower(Product());
  const std::vector<LoopId> loops = program.LoopsAround(NodeRef::Block(program.FindBlock("z")));
  const std::vector<LoopId> parts =
      *Split(program, loops[1], std::vector<int64_t>{kSize / lanes, lanes});
  EXPECT_TRUE(Reorder(program, std::vector<LoopId>{loops[2], parts[1]}));
  EXPECT_TRUE(Vectorize(program, parts[1]));
  return program;
}

Program InParallel(int64_t jobs) {
  Program program = Lower(Product());
  const LoopId i = program.LoopsAround(NodeRef::Block(program.FindBlock("z")))[0];
  const std::vector<LoopId> parts = *Split(program, i, std::vector<int64_t>{jobs, kSize / jobs});
  EXPECT_TRUE(Parallelize(program, parts[0]));
  return program;
}

std::vector<Program> AllKinds() {
  return {Lower(Product()), Tiled(16),      Tiled(64),     Tiled(256),
          Vectorized(8),    Vectorized(64), InParallel(4), InParallel(64)};
}

/// The nominal machine with all that slows threads down together and that costs a parallel loop.
MachineModel WholeMachine() {
  MachineModel machine = NominalMachine(FourCores());
  machine.multiply_add.together = machine.multiply_add.alone / 3;
  for (MemoryLevel& level : machine.levels) level.line.together = level.line.alone / 2;
  machine.fork_join = 1e-6;
  return machine;
}

TEST(TimeEstimateTest, FullVectorsAreFasterThanPartsOfThem) {
  const auto vectorized = [](int64_t lanes) { return EstimateOf(Vectorized(lanes)); };
  EXPECT_LT(vectorized(8), 0.6 * vectorized(4));
  EXPECT_LT(vectorized(4), 0.6 * vectorized(2));
}

TEST(TimeEstimateTest, JobsThatDivideEvenlyAmongCoresAreFastest) {
  const auto parallel = [](int64_t jobs) { return EstimateOf(InParallel(jobs)); };
  EXPECT_NEAR(parallel(4) / EstimateOf(Lower(Product())), 0.25, 0.01);
  EXPECT_NEAR(parallel(2) / parallel(4), 2, 0.02);
  EXPECT_LT(parallel(4), parallel(512));
}

TEST(TimeEstimateTest, TilesThatFitIntoCachesAreFaster) {
  EXPECT_LT(EstimateOf(Tiled(64)), EstimateOf(Lower(Product())));
}

/// The estimate follows the machine: see the header.
TEST(TimeEstimateTest, AFasterMachineIsNeverSlower) {
  const MachineModel machine = WholeMachine();
  std::vector<MachineModel> faster;
  const auto add = [&](const auto& change) { change(faster.emplace_back(machine)); };
  for (size_t level = 0; level < machine.levels.size(); ++level) {
    add([&](MachineModel& m) { m.levels[level].line.alone /= 2; });
    add([&](MachineModel& m) { m.levels[level].line.together /= 2; });
    add([&](MachineModel& m) { m.levels[level].bytes *= 4; });
  }
  add([](MachineModel& m) { m.multiply_add.alone /= 2; });
  add([](MachineModel& m) { m.multiply_add.together /= 2; });
  add([](MachineModel& m) { m.vector_bytes *= 2; });
  add([](MachineModel& m) { m.fork_join /= 2; });
  add([](MachineModel& m) { m.job /= 2; });
  for (const Program& program : AllKinds()) {
    const double seconds = EstimateTime(program, machine);
    for (const MachineModel& other : faster) EXPECT_LE(EstimateTime(program, other), seconds);
  }
}

TEST(TimeEstimateTest, HalfTheLanesTakeTwiceAsLongWhereArithmeticBinds) {
  MachineModel machine = NominalMachine(FourCores());
  for (MemoryLevel& level : machine.levels) level.line = {};
  const double seconds = EstimateTime(Vectorized(8), machine);
  machine.vector_bytes /= 2;
  EXPECT_DOUBLE_EQ(EstimateTime(Vectorized(8), machine), 2 * seconds);
}

TEST(TimeEstimateTest, HalfTheBandwidthTakesTwiceAsLongWhereMemoryBinds) {
  MachineModel machine = NominalMachine(FourCores());
  machine.multiply_add.alone = 1e-30;
  for (MemoryLevel& level : machine.levels) level.bytes = 64;
  for (MemoryLevel& level : machine.levels) level.line.together = 0;
  const double seconds = EstimateTime(Lower(Product()), machine);
  for (MemoryLevel& level : machine.levels) level.line.alone *= 2;
  EXPECT_DOUBLE_EQ(EstimateTime(Lower(Product()), machine), 2 * seconds);
}

TEST(TimeEstimateTest, WhatThreadsShareBindsThemTogether) {
  MachineModel machine = NominalMachine(FourCores());
  const double alone = EstimateTime(Lower(Product()), machine);
  const double together = EstimateTime(InParallel(4), machine);
  for (MemoryLevel& level : machine.levels) level.line.together = level.line.alone;
  EXPECT_EQ(EstimateTime(Lower(Product()), machine), alone);
  EXPECT_GT(EstimateTime(InParallel(4), machine), 1.05 * together);
}

/// Tiles of 256 x 256 need 0.75 MiB, those of 64 x 64 48 KiB.
TEST(TimeEstimateTest, TheBestTileIsOneThatFitsTheMachinesCache) {
  MachineModel machine = NominalMachine(FourCores());
  machine.levels[0].bytes = 4 << 10;
  machine.levels[1].bytes = 1 << 20;
  EXPECT_LT(EstimateTime(Tiled(256), machine), EstimateTime(Tiled(64), machine));
  machine.levels[1].bytes = 128 << 10;
  machine.levels[2].bytes = 256 << 10;
  EXPECT_GT(EstimateTime(Tiled(256), machine), EstimateTime(Tiled(64), machine));
}

}  // namespace
}  // namespace bayloom
