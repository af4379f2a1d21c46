// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

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
tensor::Program TiledConv() {
  tensor::Program program =
      tensor::Lower(tensor::ParseOperator("conv2d:56x56x64,64,3x3,pad=1,bias,relu"));
  const tensor::BlockId conv = program.FindBlock("conv");
  std::vector<tensor::LoopId> order(22);
  const std::vector<tensor::LoopId> loops = program.LoopsAround(tensor::NodeRef::Block(conv));
  const std::vector<std::vector<int64_t>> factors = {
      {1, 1, 1, 1}, {7, 2, 2, 2}, {7, 1, 4, 2}, {2, 2, 1, 16}, {3, 1}, {1, 3}, {16, 4}};
  for (size_t i = 0; i < loops.size(); ++i) {
    const std::vector<tensor::LoopId> parts = Must(tensor::Split(program, loops[i], factors[i]));
    if (i < 4) {
      const std::array<size_t, 4> places = {0, 4, 11, 18};
      for (size_t level = 0; level < 4; ++level) order[places[level] + i] = parts[level];
    } else {
      order[8 + i - 4] = parts[0];
      order[15 + i - 4] = parts[1];
    }
  }
  Must(tensor::Reorder(program, order));
  const tensor::LoopId fused =
      Must(tensor::Fuse(program, std::vector<tensor::LoopId>(order.begin(), order.begin() + 4)));
  Must(tensor::Parallelize(program, fused));
  return program;
}

void BM_Lower(benchmark::State& state) {
  const tensor::Workload workload = tensor::ParseOperator("conv2d:56x56x64,64,3x3,pad=1,bias,relu");
  for (auto _ : state) benchmark::DoNotOptimize(tensor::Lower(workload));
}
BENCHMARK(BM_Lower);

void BM_TileAndParallelize(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(TiledConv());
}
BENCHMARK(BM_TileAndParallelize);

void BM_Copy(benchmark::State& state) {
  const tensor::Program program = TiledConv();
  for (auto _ : state) benchmark::DoNotOptimize(tensor::Program(program));
}
BENCHMARK(BM_Copy);

void BM_StructuralHash(benchmark::State& state) {
  const tensor::Program program = TiledConv();
  for (auto _ : state) benchmark::DoNotOptimize(program.StructuralHash());
}
BENCHMARK(BM_StructuralHash);

void BM_Validate(benchmark::State& state) {
  const tensor::Program program = TiledConv();
  for (auto _ : state) benchmark::DoNotOptimize(tensor::Validate(program).ok());
}
BENCHMARK(BM_Validate);

void BM_AccessesOfAllBlocks(benchmark::State& state) {
  const tensor::Program program = TiledConv();
  for (auto _ : state) {
    for (tensor::BlockId block : program.BlocksInOrder()) {
      benchmark::DoNotOptimize(tensor::AccessesOf(program, block));
    }
  }
}
BENCHMARK(BM_AccessesOfAllBlocks);

void BM_AllocationOfAllIntermediates(benchmark::State& state) {
  const tensor::Program program = TiledConv();
  for (auto _ : state) {
    for (size_t b = 0; b < program.buffers.size(); ++b) {
      if (program.buffers[b].role != tensor::BufferRole::kIntermediate) continue;
      benchmark::DoNotOptimize(tensor::AllocationOf(program, static_cast<tensor::BufferId>(b)));
    }
  }
}
BENCHMARK(BM_AllocationOfAllIntermediates);

void BM_CheckParallel(benchmark::State& state) {
  const tensor::Program program = TiledConv();
  tensor::LoopId outer = program.roots[1].id;
  for (auto _ : state) benchmark::DoNotOptimize(tensor::CheckParallel(program, outer).ok());
}
BENCHMARK(BM_CheckParallel);

void BM_Interpret(benchmark::State& state) {
  const tensor::Workload workload = tensor::ParseOperator("conv2d:14x14x16,16,3x3,pad=1,bias,relu");
  const tensor::Program program = tensor::Lower(workload);
  std::vector<tensor::HostTensor> arguments;
  for (tensor::BufferId id : program.Parameters()) {
    arguments.push_back(
        tensor::HostTensor::Zeros(program.buffers[id].dtype, program.buffers[id].shape));
  }
  for (auto _ : state) tensor::Interpret(program, arguments);
  state.counters["flops"] = benchmark::Counter(
      workload.Flops() * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}
BENCHMARK(BM_Interpret)->Unit(benchmark::kMillisecond);

void BM_PackLayout(benchmark::State& state) {
  tensor::Buffer buffer;
  buffer.shape = {3, 3, 512, 512};
  buffer.layout = {{3, 16, 32}, {2, 8, 64}, {0, 1, 3}, {1, 1, 3}, {2, 1, 8}, {3, 1, 16}};
  const std::vector<std::byte> weights(static_cast<size_t>(buffer.ElementCount() * 4));
  for (auto _ : state) benchmark::DoNotOptimize(tensor::PackLayout(buffer, weights.data()));
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(weights.size()));
}
BENCHMARK(BM_PackLayout)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace bayloom
