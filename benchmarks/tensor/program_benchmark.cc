/// What the search's hot path does to programs, on a tiled conv2d + bias + relu, and the speed of
/// the reference interpreter and of layout packing.

#include <benchmark/benchmark.h>

#include "bayloom/tensor/access.h"
#include "bayloom/tensor/interpreter.h"
#include "bayloom/tensor/operator_shorthand.h"
#include "bayloom/tensor/primitives.h"
#include "benchmarks/must.h"

namespace bayloom {
namespace {

/// Loops in the order SSRSRS, as multi-level tiling leaves them.
Program TiledConv() {
  Program program = Lower(ParseOperator("conv2d:56x56x64,64,3x3,pad=1,bias,relu"));
  const BlockId conv = program.FindBlock("conv");
  std::vector<LoopId> order(22);
  const std::vector<LoopId> loops = program.LoopsAround(NodeRef::Block(conv));
  const std::vector<std::vector<int64_t>> factors = {
      {1, 1, 1, 1}, {7, 2, 2, 2}, {7, 1, 4, 2}, {2, 2, 1, 16}, {3, 1}, {1, 3}, {16, 4}};
  for (size_t i = 0; i < loops.size(); ++i) {
    const std::vector<LoopId> parts = Must(Split(program, loops[i], factors[i]));
    if (i < 4) {
      const std::array<size_t, 4> places = {0, 4, 11, 18};
      for (size_t level = 0; level < 4; ++level) order[places[level] + i] = parts[level];
    } else {
      order[8 + i - 4] = parts[0];
      order[15 + i - 4] = parts[1];
    }
  }
  Must(Reorder(program, order));
  const LoopId fused = Must(Fuse(program, std::vector<LoopId>(order.begin(), order.begin() + 4)));
  Must(Parallelize(program, fused));
  return program;
}

void BM_Lower(benchmark::State& state) {
  const Workload workload = ParseOperator("conv2d:56x56x64,64,3x3,pad=1,bias,relu");
  for (auto _ : state) benchmark::DoNotOptimize(Lower(workload));
}
BENCHMARK(BM_Lower);

void BM_TileAndParallelize(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(TiledConv());
}
BENCHMARK(BM_TileAndParallelize);

void BM_Copy(benchmark::State& state) {
  const Program program = TiledConv();
  for (auto _ : state) benchmark::DoNotOptimize(Program(program));
}
BENCHMARK(BM_Copy);

void BM_StructuralHash(benchmark::State& state) {
  const Program program = TiledConv();
  for (auto _ : state) benchmark::DoNotOptimize(program.StructuralHash());
}
BENCHMARK(BM_StructuralHash);

void BM_Validate(benchmark::State& state) {
  const Program program = TiledConv();
  for (auto _ : state) benchmark::DoNotOptimize(Validate(program).ok());
}
BENCHMARK(BM_Validate);

void BM_AccessesOfAllBlocks(benchmark::State& state) {
  const Program program = TiledConv();
  for (auto _ : state) {
    for (BlockId block : program.BlocksInOrder()) {
      benchmark::DoNotOptimize(AccessesOf(program, block));
    }
  }
}
BENCHMARK(BM_AccessesOfAllBlocks);

void BM_AllocationOfAllIntermediates(benchmark::State& state) {
  const Program program = TiledConv();
  for (auto _ : state) {
    for (size_t b = 0; b < program.buffers.size(); ++b) {
      if (program.buffers[b].role != BufferRole::kIntermediate) continue;
      benchmark::DoNotOptimize(AllocationOf(program, static_cast<BufferId>(b)));
    }
  }
}
BENCHMARK(BM_AllocationOfAllIntermediates);

void BM_CheckParallel(benchmark::State& state) {
  const Program program = TiledConv();
  LoopId outer = program.roots[1].id;
  for (auto _ : state) benchmark::DoNotOptimize(CheckParallel(program, outer).ok());
}
BENCHMARK(BM_CheckParallel);

void BM_Interpret(benchmark::State& state) {
  const Workload workload = ParseOperator("conv2d:14x14x16,16,3x3,pad=1,bias,relu");
  const Program program = Lower(workload);
  std::vector<HostTensor> arguments;
  for (BufferId id : program.Parameters()) {
    arguments.push_back(HostTensor::Zeros(program.buffers[id].dtype, program.buffers[id].shape));
  }
  for (auto _ : state) Interpret(program, arguments);
  state.counters["flops"] = benchmark::Counter(
      workload.Flops() * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}
BENCHMARK(BM_Interpret)->Unit(benchmark::kMillisecond);

void BM_PackLayout(benchmark::State& state) {
  Buffer buffer;
  buffer.shape = {3, 3, 512, 512};
  buffer.layout = {{3, 16, 32}, {2, 8, 64}, {0, 1, 3}, {1, 1, 3}, {2, 1, 8}, {3, 1, 16}};
  const std::vector<std::byte> weights(static_cast<size_t>(buffer.ElementCount() * 4));
  for (auto _ : state) benchmark::DoNotOptimize(PackLayout(buffer, weights.data()));
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(weights.size()));
}
BENCHMARK(BM_PackLayout)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace bayloom
