// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/feature/gpu_estimate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bayloom/feature/program_features.h"
#include "bayloom/feature/time_estimate.h"
#include "bayloom/sketch/gpu/gpu_spaces.h"
#include "bayloom/target/gpu_limits.h"
#include "bayloom/tensor/access.h"
#include "bayloom/tensor/async_copy.h"
#include "bayloom/tensor/operators.h"
#include "bayloom/tensor/primitives.h"
#include "bayloom/tensor/schedule.h"

namespace bayloom::feature {
namespace {

using tensor::LoopKind;
using Loops = std::vector<tensor::LoopId>;

target::GpuMachine Gpu(int capability = 90) { return *target::TypicalGpu(capability); }

GpuKernelEstimate GpuEstimateOf(const tensor::Program& program,
                                const target::GpuMachine& gpu = Gpu()) {
  const std::vector<GpuKernelEstimate> kernels = EstimateGpuKernels(program, gpu);
  EXPECT_EQ(kernels.size(), 1U);
  return kernels.at(0);
}

/// Sums of rows in tiles of 32 rows and as many threads; `points`: of the open number of rows.
tensor::Program SumsOfRows(int64_t rows, const std::vector<std::vector<int64_t>>& points) {
  tensor::WorkloadBuilder b("sums");
  const tensor::BufferId size = points.empty() ? -1 : b.Size("n", {1, rows});
  const auto bounded = [&](const tensor::Tensor& tensor) {
    if (size >= 0) b.Bound(tensor, 0, size);
    return tensor;
  };
  const tensor::Tensor x = bounded(b.Input("x", {rows, 512}));
  tensor::Workload workload =
      b.Build({bounded(b.Reduce("sum", {rows}, {{"k", 512}}, tensor::Reduction::kSum,
                                [&](const auto& s, const auto& r) { return x(s[0], r[0]); }))});
  workload.points = points;
  tensor::Program program = tensor::Lower(workload);
  const Loops loops = program.LoopsAround(tensor::NodeRef::Block(program.FindBlock("sum")));
  const Loops parts = *tensor::Split(program, loops[0], std::vector<int64_t>{-1, 32});
  EXPECT_TRUE(tensor::Bind(program, parts[0], LoopKind::kBlockX));
  EXPECT_TRUE(tensor::Bind(program, parts[1], LoopKind::kThreadX));
  return program;
}

/// A copy whose threads read neighbouring elements of a row, or the same column of many rows.
tensor::Program Copy(int64_t rows, int64_t columns, bool along_rows, int64_t threads = 256) {
  tensor::WorkloadBuilder b("copy");
  const tensor::Tensor x = b.Input("x", {rows, columns});
  const tensor::Tensor y =
      b.Compute("y", {rows, columns}, [&](const auto& i) { return x(i[0], i[1]) + x(i[0], i[1]); });
  tensor::Program program = tensor::Lower(b.Build({y}));
  Loops loops = program.LoopsAround(tensor::NodeRef::Block(program.FindBlock("y")));
  if (!along_rows) {
    EXPECT_TRUE(tensor::Reorder(program, Loops{loops[1], loops[0]}));
    std::swap(loops[0], loops[1]);
  }
  const auto fused = tensor::Fuse(program, loops);
  EXPECT_TRUE(fused);
  EXPECT_TRUE(tensor::Bind(program, *fused, LoopKind::kGridThread, threads));
  return program;
}

/// How a product is cut: a block's rows and columns, those of a thread, and a stage's steps.
struct Tiles {
  int64_t block_m, block_n, thread_m, thread_n, steps;
  bool stage = true;
  bool rows_fastest = false;  ///< neighbouring threads have neighbouring rows
};

tensor::Program TiledProduct(int64_t size, const Tiles& t) {
  tensor::Schedule schedule(tensor::MatmulWorkload(size, size, size), 1);
  const tensor::BlockVar block =
      *schedule.GetBlock(schedule.program().blocks[schedule.program().BlocksInOrder()[0]].name);
  const tensor::BlockVar copy = *schedule.CacheWrite(block, tensor::StorageScope::kLocal);
  std::vector<tensor::BlockVar> stages;
  if (t.stage) {
    for (int i = 0; i < 2; ++i) {
      stages.push_back(*schedule.CacheRead(block, i, tensor::StorageScope::kShared));
    }
  }
  const auto loops = *schedule.GetLoops(block);
  const auto split = [&](int loop, const std::vector<int64_t>& factors) {
    return *schedule.Split(loops[static_cast<size_t>(loop)], factors);
  };
  const auto i = split(0, {size / t.block_m, t.block_m / t.thread_m, t.thread_m});
  const auto j = split(1, {size / t.block_n, t.block_n / t.thread_n, t.thread_n});
  const auto k = split(2, {size / t.steps, t.steps});
  const std::vector<tensor::LoopVar> threads =
      t.rows_fastest ? std::vector{j[1], i[1]} : std::vector{i[1], j[1]};
  EXPECT_TRUE(schedule.Reorder({i[0], j[0], threads[0], threads[1], k[0], k[1], i[2], j[2]}));
  const auto grid = *schedule.Fuse({i[0], j[0]});
  const auto team = *schedule.Fuse(threads);
  EXPECT_TRUE(schedule.Bind(grid, LoopKind::kBlockX));
  EXPECT_TRUE(schedule.Bind(team, LoopKind::kThreadX));
  EXPECT_TRUE(schedule.ReverseComputeAt(copy, team));
  for (const tensor::BlockVar stage : stages) EXPECT_TRUE(schedule.ComputeAt(stage, k[0]));
  tensor::Program program = schedule.program();
  for (const tensor::BlockVar stage : stages) {
    const Loops around = program.LoopsAround(tensor::NodeRef::Block(schedule.Get(stage)));
    const auto fused = tensor::Fuse(program, Loops(around.end() - 2, around.end()));
    EXPECT_TRUE(fused);
    EXPECT_TRUE(tensor::Bind(program, *fused, LoopKind::kCooperative));
  }
  return program;
}

double TeraflopsOf(int64_t size, const Tiles& tiles, const target::GpuMachine& gpu) {
  const auto n = static_cast<double>(size);
  return 2 * n * n * n / GpuEstimateOf(TiledProduct(size, tiles), gpu).seconds / 1e12;
}

constexpr Tiles kNaive{32, 32, 1, 1, 1, false, true};
constexpr Tiles kCoalesced{32, 32, 1, 1, 1, false, false};
constexpr Tiles kStaged{32, 32, 1, 1, 32};
constexpr Tiles kRows{64, 64, 8, 1, 8};
constexpr Tiles kSquares{128, 128, 8, 8, 8};

std::vector<tensor::Program> GpuPrograms() {
  std::vector<tensor::Program> programs = {Copy(512, 512, true), Copy(512, 512, false)};
  for (const Tiles& tiles : {kNaive, kCoalesced, kStaged, kRows, kSquares}) {
    programs.push_back(TiledProduct(512, tiles));
  }
  return programs;
}

TEST(GpuEstimateTest, AFasterGpuIsNeverSlower) {
  const target::GpuMachine gpu = Gpu();
  std::vector<target::GpuMachine> faster;
  const auto add = [&](const auto& change) { change(faster.emplace_back(gpu)); };
  add([](target::GpuMachine& g) { g.clock_hertz *= 1.5; });
  add([](target::GpuMachine& g) { g.multiprocessors *= 2; });
  add([](target::GpuMachine& g) { g.multiply_adds *= 2; });
  add([](target::GpuMachine& g) { g.special_functions *= 2; });
  add([](target::GpuMachine& g) { g.l2_bytes_a_clock *= 2; });
  add([](target::GpuMachine& g) { g.l2_bytes *= 4; });
  add([](target::GpuMachine& g) { g.memory_bytes_per_second *= 2; });
  add([](target::GpuMachine& g) { g.shared_latency /= 2; });
  add([](target::GpuMachine& g) { g.l2_latency /= 2; });
  add([](target::GpuMachine& g) { g.launch_seconds /= 2; });
  for (const tensor::Program& program : GpuPrograms()) {
    const double seconds = EstimateGpuTime(program, gpu);
    for (const target::GpuMachine& other : faster) {
      EXPECT_LE(EstimateGpuTime(program, other), seconds) << tensor::Print(program);
    }
  }
}

TEST(GpuEstimateTest, CoalescedIsNeverSlower) {
  for (const int64_t columns : {32, 256, 4096}) {
    const GpuKernelEstimate along = GpuEstimateOf(Copy(4096, columns, true));
    const GpuKernelEstimate across = GpuEstimateOf(Copy(4096, columns, false));
    EXPECT_LT(along.seconds, across.seconds) << columns;
    EXPECT_LT(along.cache, across.cache) << columns;
  }
  EXPECT_GT(GpuEstimateOf(Copy(4096, 4096, false)).seconds,
            2 * GpuEstimateOf(Copy(4096, 4096, true)).seconds);
  EXPECT_LT(GpuEstimateOf(TiledProduct(1024, kCoalesced)).seconds,
            GpuEstimateOf(TiledProduct(1024, kNaive)).seconds);
}

/// Each thread reads one element and writes one: 2 x 64 MiB, of which 50 MiB stay in the cache.
TEST(GpuEstimateTest, ALargeCopyTakesAsLongAsItsBytes) {
  const GpuKernelEstimate copy = GpuEstimateOf(Copy(4096, 4096, true));
  EXPECT_DOUBLE_EQ(copy.l2_bytes, 2.0 * 4096 * 4096 * 4);
  EXPECT_DOUBLE_EQ(copy.memory_bytes, 2.0 * 4096 * 4096 * 4 - (50 << 20));
  EXPECT_GE(copy.seconds, copy.memory);
  EXPECT_LT(copy.seconds, 2 * copy.memory);
}

/// A table larger than the cache, of which 128 rows are read.
TEST(GpuEstimateTest, ReadsOfRowsThatDataNameAreNoMoreThanThereAre) {
  tensor::WorkloadBuilder b("gather");
  const tensor::Tensor table = b.Input("table", {30000, 768});
  const tensor::Tensor ids = b.Input("ids", {128}, tensor::DType::kInt64);
  const tensor::Tensor rows =
      b.Compute("rows", {128, 768}, [&](const auto& i) { return table(ids(i[0]), i[1]); });
  tensor::Program program = tensor::Lower(b.Build({rows}));
  const auto fused =
      tensor::Fuse(program, program.LoopsAround(tensor::NodeRef::Block(program.FindBlock("rows"))));
  ASSERT_TRUE(fused);
  ASSERT_TRUE(tensor::Bind(program, *fused, LoopKind::kGridThread, 128));
  EXPECT_EQ(GpuEstimateOf(program).memory_bytes, 0);
}

/// Strides between a thread's sums are no registers.
TEST(GpuEstimateTest, SumsThatAreApartTakeNoMoreRegisters) {
  const sketch::GpuSpaces spaces(tensor::MatmulWorkload(1024, 1024, 512),
                                 *target::FindGpuLimits("sm_90"));
  const tensor::Trace trace = spaces.spaces()[0];
  const auto registers = [&](const std::vector<int64_t>& rows,
                             const std::vector<int64_t>& columns) {
    std::vector<std::optional<tensor::Decision>> decisions(trace.instructions().size());
    const std::vector<int> steps = trace.SamplingSteps();
    const std::vector<std::vector<int64_t>> tiles = {rows, columns, {64, 8}, {2}};
    for (size_t i = 0; i < tiles.size(); ++i) decisions[steps[i]] = tensor::Decision{tiles[i]};
    for (size_t i = tiles.size(); i < steps.size(); ++i)
      decisions[steps[i]] = tensor::Decision{{0}};
    const auto candidate = spaces.Replay(0, trace.WithDecisions(decisions), base::RandomStream(1));
    EXPECT_TRUE(candidate) << candidate.error().message;
    return GpuEstimateOf(candidate->program).registers;
  };
  EXPECT_LE(registers({8, 2, 16, 4}, {8, 2, 16, 4}), registers({8, 1, 16, 8}, {8, 1, 16, 8}));
}

TEST(GpuEstimateTest, ThreadsMeetInEachIterationOfStraightCode) {
  tensor::Program program = TiledProduct(512, {32, 32, 4, 4, 2});
  const double steps = 512 / 2, far = Gpu().l2_latency / Gpu().clock_hertz;
  EXPECT_GE(GpuEstimateOf(program).latency, steps * far);
  for (tensor::Loop& loop : program.loops) loop.unroll_max_step = 1024;
  EXPECT_GE(GpuEstimateOf(program).latency, steps * far);
}

TEST(GpuEstimateTest, OccupancyFollowsFromThreadsRegistersAndSharedMemory) {
  const tensor::Program program = TiledProduct(1024, kSquares);
  const auto resident = [&](int registers) {
    const KernelRegisters known[] = {{registers, 0}};
    return EstimateGpuKernels(program, Gpu(), known)[0].resident;
  };
  EXPECT_EQ(GpuEstimateOf(program).threads, 256);
  EXPECT_EQ(GpuEstimateOf(program).shared_bytes, 2 * 128 * 8 * 4);
  // 65,536 registers, distributed to warps of 32 threads 256 at a time.
  EXPECT_EQ(resident(32), 8);
  EXPECT_EQ(resident(33), 6);
  EXPECT_EQ(resident(128), 2);
  EXPECT_EQ(resident(129), 1);
  target::GpuMachine little = Gpu();
  little.shared_bytes = 20 << 10;
  EXPECT_EQ(GpuEstimateOf(program, little).resident, 2);
  EXPECT_DOUBLE_EQ(GpuEstimateOf(program, little).occupancy, 0.25);
}

TEST(GpuEstimateTest, SpillsAndRegistersAreNeverFaster) {
  for (const tensor::Program& program : {TiledProduct(1024, kSquares), TiledProduct(1024, kRows)}) {
    double before = 0;
    for (const double spilled : {0.0, 8.0, 64.0, 512.0}) {
      const KernelRegisters known[] = {{128, spilled}};
      const double seconds = EstimateGpuTime(program, Gpu(), known);
      EXPECT_GE(seconds, before);
      before = seconds;
    }
    EXPECT_GT(before, 1.2 * EstimateGpuTime(program, Gpu(), {{KernelRegisters{128, 0}}}));
  }
}

/// A column of 32 threads in a row of 32 words: all of them want one bank.
TEST(GpuEstimateTest, BankConflictsCost) {
  const GpuKernelEstimate along = GpuEstimateOf(TiledProduct(1024, kStaged));
  Tiles across = kStaged;
  across.rows_fastest = true;
  const GpuKernelEstimate conflicts = GpuEstimateOf(TiledProduct(1024, across));
  EXPECT_GT(conflicts.shared, 8 * along.shared);
  EXPECT_GT(conflicts.seconds, 2 * along.seconds);
}

TEST(GpuEstimateTest, OpenAxesTakeWhatThereIsOfThem) {
  for (const int64_t rows : {64, 1024, 65536}) {
    const double open = EstimateGpuTime(SumsOfRows(65536, {{rows}}), Gpu());
    const double fixed = EstimateGpuTime(SumsOfRows(rows, {}), Gpu());
    EXPECT_NEAR(open / fixed, 1, 0.02) << rows;
  }
  const double both = EstimateGpuTime(SumsOfRows(65536, {{64}, {65536}}), Gpu());
  const double first = EstimateGpuTime(SumsOfRows(65536, {{64}}), Gpu());
  const double second = EstimateGpuTime(SumsOfRows(65536, {{65536}}), Gpu());
  EXPECT_NEAR(both, std::sqrt(first * second), 1e-9 * both);
  EXPECT_LT(first, second);
}

TEST(GpuEstimateTest, FewBlocksLeaveMultiprocessorsIdle) {
  const Tiles large{128, 128, 8, 8, 8}, small{32, 32, 4, 4, 8};
  EXPECT_GT(GpuEstimateOf(TiledProduct(256, large)).seconds,
            GpuEstimateOf(TiledProduct(256, small)).seconds);
  EXPECT_LT(GpuEstimateOf(TiledProduct(4096, large)).seconds,
            GpuEstimateOf(TiledProduct(4096, small)).seconds);
}

TEST(GpuEstimateTest, NothingIsFasterThanItsLaunchAndItsArithmetic) {
  for (const int capability : {70, 75, 80, 86, 89, 90, 100, 120}) {
    const target::GpuMachine gpu = Gpu(capability);
    const double peak = 2.0 * gpu.multiply_adds * gpu.multiprocessors * gpu.clock_hertz;
    for (const int64_t size : {256, 1024}) {
      const double seconds = GpuEstimateOf(TiledProduct(size, kSquares), gpu).seconds;
      const auto n = static_cast<double>(size);
      EXPECT_GE(seconds, 2 * n * n * n / peak + gpu.launch_seconds) << capability;
    }
  }
}

/// Float32 products of 4096 x 4096 matrices on an RTX A6000, as S. Boehm ("How to Optimize a CUDA
/// Matmul Kernel", 2022) measured kernels of such tiles: 0.31, 1.99, 2.98, 8.47 and 15.97 TFLOP/s.
/// The order is right, and each within a factor of 1.75.
TEST(GpuEstimateTest, PublishedProductsOnAnRtxA6000) {
  const std::pair<Tiles, double> published[] = {
      {kNaive, 0.309}, {kCoalesced, 1.987}, {kStaged, 2.980}, {kRows, 8.475}, {kSquares, 15.972}};
  target::GpuMachine a6000;
  a6000.capability = 86;
  a6000.multiprocessors = 84;
  a6000.clock_hertz = 1.8e9;
  a6000.memory_bytes_per_second = 768e9;
  a6000 = target::CompleteGpuMachine(a6000);
  double before = 0;
  for (const auto& [tiles, measured] : published) {
    const double estimated = TeraflopsOf(4096, tiles, a6000);
    RecordProperty("measured_" + std::to_string(measured), std::to_string(estimated));
    EXPECT_GT(estimated, before);
    EXPECT_GT(estimated, measured / 1.75);
    EXPECT_LT(estimated, measured * 1.75);
    before = estimated;
  }
}

/// cuBLAS multiplies 8192 x 8192 matrices in float32 at 50.5 TFLOP/s on an H100 and at about 19 on
/// an A100, whose peaks are 66.9 and 19.5; tiles as large libraries choose come within a factor of
/// two of that.
TEST(GpuEstimateTest, PublishedProductsOnDataCenterGpus) {
  RecordProperty("h100", std::to_string(TeraflopsOf(8192, kSquares, Gpu(90))));
  RecordProperty("a100", std::to_string(TeraflopsOf(8192, kSquares, Gpu(80))));
  EXPECT_GT(TeraflopsOf(8192, kSquares, Gpu(90)), 50.5 / 2);
  EXPECT_LT(TeraflopsOf(8192, kSquares, Gpu(90)), 66.9);
  EXPECT_GT(TeraflopsOf(8192, kSquares, Gpu(80)), 19.0 / 2);
  EXPECT_LT(TeraflopsOf(8192, kSquares, Gpu(80)), 19.5);
}

tensor::Workload HalfProduct(int64_t size) {
  tensor::WorkloadBuilder b("product");
  const tensor::Tensor x = b.Input("x", {size, size}, tensor::DType::kFloat16);
  const tensor::Tensor w = b.Constant("w", {size, size}, tensor::DType::kFloat16);
  return b.Build({tensor::Matmul(b, "product", x, w, {.accumulator = tensor::DType::kFloat32})});
}

/// Draws of a space, the last of which is that of tensor cores.
std::vector<tensor::Program> Draws(const sketch::GpuSpaces& spaces, int space, uint64_t count) {
  std::vector<tensor::Program> programs;
  for (uint64_t seed = 0; seed < count; ++seed) {
    const auto candidate = spaces.Sample(space, base::RandomStream(seed));
    EXPECT_TRUE(candidate) << candidate.error().message;
    if (candidate) programs.push_back(candidate->program);
  }
  return programs;
}

double BestOf(const std::vector<tensor::Program>& programs, const target::GpuMachine& gpu) {
  double best = std::numeric_limits<double>::infinity();
  for (const tensor::Program& program : programs) {
    best = std::min(best, EstimateGpuTime(program, gpu));
  }
  return best;
}

TEST(GpuEstimateTest, LargeProductsOfHalvesAreFasterOnTensorCores) {
  constexpr int64_t kSize = 4096;
  const sketch::GpuSpaces spaces(HalfProduct(kSize), *target::FindGpuLimits("sm_90a"));
  const int last = static_cast<int>(spaces.spaces().size()) - 1;
  // By warps, and by groups of warps where there are instructions for these.
  const std::vector<tensor::Program> matrices = Draws(spaces, last - 1, 40);
  const std::vector<tensor::Program> groups = Draws(spaces, last, 40);
  const std::vector<tensor::Program> multiply_adds = Draws(spaces, 0, 40);
  for (const int capability : {80, 86, 89, 90, 100}) {
    const target::GpuMachine gpu = Gpu(capability);
    const auto expect_within_peak = [&](double best, int rate) {
      const double peak = 2.0 * rate * gpu.multiprocessors * gpu.clock_hertz;
      EXPECT_GT(best, 2 * std::pow(kSize, 3) / peak) << capability;
      RecordProperty("share_of_peak_" + std::to_string(capability),
                     std::to_string(2 * std::pow(kSize, 3) / peak / best));
    };
    const double best = BestOf(matrices, gpu), best_group = BestOf(groups, gpu);
    EXPECT_LT(2 * best, BestOf(multiply_adds, gpu)) << capability;
    expect_within_peak(best, gpu.matrix_multiply_adds);
    expect_within_peak(best_group, std::max(gpu.matrix_multiply_adds, gpu.group_multiply_adds));
    if (gpu.group_multiply_adds > 0) {
      EXPECT_LT(best_group, best) << capability;
    }
  }
  // Before there was the instruction, its program is one of multiply-adds.
  const target::GpuMachine before = Gpu(75);
  EXPECT_GT(BestOf(matrices, before),
            std::pow(kSize, 3) /
                (1.0 * before.multiply_adds * before.multiprocessors * before.clock_hertz));
}

TEST(GpuEstimateTest, AFasterUnitForMatricesIsNeverSlower) {
  const sketch::GpuSpaces spaces(HalfProduct(512), *target::FindGpuLimits("sm_90a"));
  target::GpuMachine faster = Gpu();
  faster.matrix_multiply_adds *= 2;
  for (int space = 0; space < static_cast<int>(spaces.spaces().size()); ++space) {
    for (const tensor::Program& program : Draws(spaces, space, 10)) {
      EXPECT_LE(EstimateGpuTime(program, faster), EstimateGpuTime(program, Gpu()));
    }
  }
}

/// Each stage takes as much shared memory as the first.
TEST(GpuEstimateTest, MoreStagesNeverRaiseTheOccupancy) {
  const sketch::GpuSpaces spaces(HalfProduct(1024), *target::FindGpuLimits("sm_90a"));
  int lower = 0;
  for (const int space : {0, static_cast<int>(spaces.spaces().size()) - 1}) {
    for (tensor::Program& program : Draws(spaces, space, 20)) {
      double before = 1, first_bytes = 0;
      for (const int64_t stages : {1, 2, 3, 4}) {
        for (tensor::Block& block : program.blocks) {
          const auto wish = block.annotations.find(tensor::kAsyncStages);
          if (wish != block.annotations.end()) wish->second = stages;
        }
        const GpuKernelEstimate estimate = GpuEstimateOf(program);
        EXPECT_LE(estimate.occupancy, before) << tensor::Print(program);
        if (stages == 1) first_bytes = estimate.shared_bytes;
        EXPECT_LE(estimate.shared_bytes, static_cast<double>(stages) * first_bytes);
        EXPECT_GE(estimate.shared_bytes, first_bytes);
        lower += estimate.occupancy < before && stages > 1;
        before = estimate.occupancy;
      }
    }
  }
  EXPECT_GT(lower, 0);
}

/// A grid's blocks and threads are seen by cost models as those of loops that are bound.
TEST(GpuFeaturesTest, GridsAreBlocksAndThreads) {
  const FeatureMatrix features = ExtractFeatures(Copy(64, 1024, true, 128));
  ASSERT_EQ(features.rows, 1);
  EXPECT_EQ(features.Row(0)[kAcceleratorColumn], 1);
  EXPECT_FLOAT_EQ(features.Row(0)[kAcceleratorColumn + 1], std::log2(512.0F + 1));
  EXPECT_FLOAT_EQ(features.Row(0)[kAcceleratorColumn + 4], std::log2(128.0F + 1));
  EXPECT_NE(features, ExtractFeatures(Copy(64, 1024, true, 256)));
}

TEST(GpuEstimateTest, TargetsOfGpusHaveIt) {
  const target::Target target = *target::GpuTarget("sm_90");
  const tensor::Program program = TiledProduct(512, kSquares);
  EXPECT_DOUBLE_EQ(EstimateTime(program, target), EstimateGpuTime(program, Gpu(90)));
  target::Target half = target;
  target::GpuMachine machine = Gpu(90);
  machine.clock_hertz /= 2;
  half.machine = target::MachineModelOf(machine);
  EXPECT_GT(EstimateTime(program, half), EstimateTime(program, target));
}

}  // namespace
}  // namespace bayloom::feature
