// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/target/gpu_machine.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace bayloom::target {
namespace {

constexpr int kAccessBytes = 16;
constexpr double kDivisionInstructions = 8;
constexpr double kExpInstructions = 8;
constexpr double kCompileSeconds = 0.1;

GpuMachine Make(int capability, int multiprocessors, double megahertz, double l2_mib,
                double memory_gigabytes) {
  GpuMachine gpu;
  gpu.capability = capability;
  gpu.multiprocessors = multiprocessors;
  gpu.clock_hertz = 1e6 * megahertz;
  gpu.l2_bytes = static_cast<int64_t>(l2_mib * (1 << 20));
  gpu.memory_bytes_per_second = 1e9 * memory_gigabytes;
  return gpu;
}

void SetLimits(GpuMachine& gpu, int threads, int blocks, int shared_kib, int cache_kib) {
  gpu.max_threads = threads;
  gpu.max_blocks = blocks;
  gpu.shared_bytes = int64_t{shared_kib} << 10;
  gpu.cache_bytes = int64_t{cache_kib} << 10;
}

void SetLatencies(GpuMachine& gpu, double shared, double l2, double memory) {
  gpu.shared_latency = shared;
  gpu.l2_latency = l2;
  gpu.memory_latency = memory;
}

/// Multiprocessors, boost clocks, caches and memories: NVIDIA's architecture whitepapers and data
/// sheets of V100 (SXM2), T4, A100 (SXM4, 80 GB), A40, L40S, H100 (SXM5), B200 and RTX 5090.
/// Threads, blocks and shared memory of a multiprocessor, float32 operations and special functions
/// a clock: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability" and
/// "Arithmetic Instructions". Latencies, and the second-level caches of V100 and T4: Jia et al.
/// 2018 and 2019 (arXiv 1804.06826, 1903.07486); latencies of sm_80, sm_89 and sm_90: Luo et al.
/// 2024 (arXiv 2402.13499); the second-level caches of A100 and H100: what chipsandcheese.com
/// measured in 2023, 28 bytes a clock and multiprocessor. Products of matrices: the dense rates of
/// float16 with sums in float32 in the same whitepapers and data sheets (A100 312, A40 150, L40S
/// 362, RTX 5090 210 TFLOP/s), over clock and multiprocessors. Of the rate of sm_90 (989 TFLOP/s,
/// 2048 multiply-adds a clock) instructions of a warp reach 63 % (Luo et al. 2024), as all of it is
/// for those of four warps; sm_100 is taken to be as sm_90. Of sm_86, sm_100 and sm_120 those are
/// taken to be as of sm_89, sm_90 and sm_89. A kernel in a graph begins 1.3 us after the one
/// before it: fitted to an H100 (docs/studies/2026-11-gpu-estimate.md), and taken for all.
std::array<GpuMachine, 8> MakeTypical() {
  std::array<GpuMachine, 8> all = {Make(70, 80, 1530, 6, 900),      Make(75, 40, 1590, 4, 320),
                                   Make(80, 108, 1410, 40, 2039),   Make(86, 84, 1740, 6, 696),
                                   Make(89, 142, 2520, 96, 864),    Make(90, 132, 1980, 50, 3350),
                                   Make(100, 148, 1965, 126, 8000), Make(120, 170, 2407, 96, 1792)};
  SetLimits(all[0], 2048, 32, 96, 128);
  SetLimits(all[1], 1024, 16, 64, 96);
  SetLimits(all[2], 2048, 32, 164, 192);
  SetLimits(all[3], 1536, 16, 100, 128);
  SetLimits(all[4], 1536, 24, 100, 128);
  SetLimits(all[5], 2048, 32, 228, 256);
  SetLimits(all[6], 2048, 32, 228, 256);
  SetLimits(all[7], 1536, 24, 100, 128);
  for (const size_t i : {0, 1, 2}) all[i].multiply_adds = 64;
  all[2].matrix_multiply_adds = 1024;
  for (const size_t i : {5, 6}) all[i].matrix_multiply_adds = 1290;
  all[5].group_multiply_adds = 2048;
  all[7].matrix_multiply_adds = 256;
  SetLatencies(all[0], 19, 193, 400);
  SetLatencies(all[1], 19, 188, 400);
  SetLatencies(all[2], 29, 262, 466);
  for (const size_t i : {3, 4, 7}) SetLatencies(all[i], 30, 273, 541);
  for (const size_t i : {5, 6}) SetLatencies(all[i], 29, 262, 479);
  for (const size_t i : {0, 1}) all[i].l2_bytes_a_clock = 20;
  for (const size_t i : {3, 4, 7}) all[i].l2_bytes_a_clock = 16;
  return all;
}

}  // namespace

std::optional<GpuMachine> TypicalGpu(int capability) {
  static const std::array<GpuMachine, 8> typical = MakeTypical();
  std::optional<GpuMachine> best;
  for (const GpuMachine& gpu : typical) {
    if (gpu.capability <= capability) best = gpu;
  }
  return best;
}

int CapabilityOf(std::string_view architecture) {
  int capability = 0;
  if (!architecture.starts_with("sm_")) return 0;
  const char* const end = architecture.data() + architecture.size();
  std::from_chars(architecture.data() + 3, end, capability);
  return capability;
}

bool IsOfOneCapability(std::string_view architecture) { return architecture.ends_with('a'); }

std::string ArchitectureOf(const GpuMachine& gpu) {
  return "sm_" + std::to_string(gpu.capability) + (gpu.group_multiply_adds > 0 ? "a" : "");
}

bool RunsCodeOf(std::string_view architecture, int capability) {
  const int least = CapabilityOf(architecture);
  return IsOfOneCapability(architecture) ? capability == least : capability >= least;
}

GpuMachine CompleteGpuMachine(const GpuMachine& told) {
  GpuMachine gpu = *TypicalGpu(std::max(told.capability, 70));
  const double typical_size = gpu.multiprocessors;
  gpu.capability = told.capability;
  if (told.multiprocessors > 0) gpu.multiprocessors = told.multiprocessors;
  if (told.clock_hertz > 0) gpu.clock_hertz = told.clock_hertz;
  if (told.l2_bytes > 0) gpu.l2_bytes = told.l2_bytes;
  gpu.memory_bytes_per_second =
      told.memory_bytes_per_second > 0
          ? told.memory_bytes_per_second
          : gpu.memory_bytes_per_second * gpu.multiprocessors / typical_size;
  return gpu;
}

MachineModel MachineModelOf(const GpuMachine& gpu) {
  const double clock = 1 / gpu.clock_hertz;
  const double l2_bytes_per_second = gpu.l2_bytes_a_clock * gpu.multiprocessors * gpu.clock_hertz;
  MachineModel machine;
  machine.threads = gpu.multiprocessors;
  machine.vector_bytes = kAccessBytes;
  machine.vector_registers = 255;
  machine.multiply_add.alone = machine.lanes() / gpu.multiply_adds * clock;
  machine.multiply_add_latency = kGpuArithmeticLatency * clock;
  machine.vector_load = kAccessBytes / kSharedBytesAClock * clock;
  machine.division = kDivisionInstructions * machine.multiply_add.alone;
  machine.transcendental = machine.lanes() / gpu.special_functions * clock +
                           kExpInstructions * machine.multiply_add.alone;
  machine.fork_join = gpu.launch_seconds;
  machine.compile = kCompileSeconds;
  const double alone = kLineBytes / kGpuPortBytes * clock;
  machine.levels = {{gpu.l2_bytes / gpu.multiprocessors, {alone, kLineBytes / l2_bytes_per_second}},
                    {0, {alone, kLineBytes / gpu.memory_bytes_per_second}}};
  return machine;
}

GpuMachine GpuMachineOf(const Target& target) {
  GpuMachine gpu = *TypicalGpu(std::max(CapabilityOf(target.cpu), 70));
  if (!target.machine) return gpu;
  const MachineModel& machine = *target.machine;
  gpu.multiprocessors = machine.threads;
  gpu.clock_hertz = kGpuArithmeticLatency / machine.multiply_add_latency;
  gpu.multiply_adds = static_cast<int>(
      std::lround(machine.lanes() / (machine.multiply_add.alone * gpu.clock_hertz)));
  gpu.l2_bytes = machine.levels.front().bytes * machine.threads;
  gpu.l2_bytes_a_clock =
      machine.BytesPerSecond(machine.levels.front()) / (gpu.clock_hertz * gpu.multiprocessors);
  gpu.memory_bytes_per_second = machine.BytesPerSecond(machine.levels.back());
  gpu.launch_seconds = machine.fork_join;
  return gpu;
}

}  // namespace bayloom::target
