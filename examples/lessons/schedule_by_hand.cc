// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Lesson 1: what is computed, how it is scheduled, and what the schedule gains.

#include <fmt/core.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "bayloom/codegen.h"
#include "bayloom/tensor.h"

using namespace bayloom;

namespace {

constexpr int64_t kSize = 256;

/// A Result's value; ends the lesson with the reason if there is none.
template <typename T>
T Must(Result<T> result) {
  if (result) return *std::move(result);
  fmt::print(stderr, "refused: {}\n", result.error().message);
  std::exit(1);
}

/// A buffer as compiled code wants it (bayloom/codegen/abi.h).
struct AlignedFloats {
  explicit AlignedFloats(int64_t count)
      : memory(codegen::AllocateAligned(count * 4)), data(static_cast<float*>(memory.get())) {
    for (int64_t i = 0; i < count; ++i) data[i] = static_cast<float>(i % 7) - 3;
  }

  codegen::AlignedMemory memory;
  float* data;
};

/// Compiles the program, runs it, and says how fast it was. Returns a few of its results.
std::vector<float> CompileAndRun(const std::string& name, const Program& program) {
  const KernelObject object = Must(CompileProgram(program, HostTarget(1), "product"));
  const LoadedKernel kernel = Must(LoadedKernel::Load(object));
  const AlignedFloats a(kSize * kSize), b(kSize * kSize), c(kSize * kSize);
  const AlignedFloats workspace(object.WorkspaceBytes(1) / 4 + 16);
  void* const parameters[] = {a.data, b.data, c.data};

  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    kernel(parameters, workspace.data);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    best = std::min(best, elapsed.count());
  }
  fmt::print("{}: {:.3f} ms, {:.1f} GFLOP/s\n\n", name, best * 1e3,
             2.0 * kSize * kSize * kSize / best / 1e9);
  return {c.data[0], c.data[kSize + 1], c.data[kSize * kSize - 1]};
}

}  // namespace

int main() {
  // A workload says what is computed and nothing about how.
  tensor::WorkloadBuilder builder("product");
  const tensor::Tensor a = builder.Input("a", {kSize, kSize});
  const tensor::Tensor b = builder.Input("b", {kSize, kSize});
  const Workload workload = builder.Build({tensor::Matmul(builder, "c", a, b)});
  fmt::print("{}\n", tensor::Print(workload));

  // Its naive program is one loop per iterator.
  const Program naive = Lower(workload);
  fmt::print("{}\n", tensor::Print(naive));
  const std::vector<float> expected = CompileAndRun("naive", naive);

  // A schedule transforms it. Tiles of 8 x 32 elements of c stay in registers while k runs.
  Schedule schedule(workload, /*seed=*/0);
  const tensor::BlockVar c = Must(schedule.GetBlock("c"));
  const std::vector<tensor::LoopVar> loops = Must(schedule.GetLoops(c));
  const std::vector<tensor::LoopVar> i =
      Must(schedule.Split(loops[0], std::vector<int64_t>{32, 8}));
  const std::vector<tensor::LoopVar> j =
      Must(schedule.Split(loops[1], std::vector<int64_t>{8, 32}));
  const tensor::LoopVar k = loops[2];
  Must(schedule.Reorder({i[0], j[0], k, i[1], j[1]}));
  Must(schedule.DecomposeReduction(c, k));
  Must(schedule.Unroll(i[1]));
  Must(schedule.Vectorize(j[1]));
  fmt::print("{}\n", tensor::Print(schedule.program()));
  const std::vector<float> results = CompileAndRun("tiled", schedule.program());

  // A primitive that would make a wrong program refuses, with a reason.
  const Status refused = schedule.Parallelize(k);
  fmt::print("parallel k is refused: {}\n", refused ? "no?" : refused.error().message);

  return !refused && results == expected ? 0 : 1;
}
