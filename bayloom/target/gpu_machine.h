// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "bayloom/target/machine_model.h"
#include "bayloom/target/target.h"

namespace bayloom::target {

/// An NVIDIA GPU as the estimate of programs' times sees it (feature/gpu_estimate.h).
///
/// What a driver tells of a device replaces what is typical of its compute capability: see
/// CompleteGpuMachine. Where the numbers come from is said in gpu_machine.cc.
struct GpuMachine {
  int capability = 0;  ///< 90 for sm_90
  int multiprocessors = 0;
  double clock_hertz = 0;  ///< of the multiprocessors
  int64_t l2_bytes = 0;
  double memory_bytes_per_second = 0;

  // Of a multiprocessor, each clock.
  int multiply_adds = 128;       ///< of float32
  int special_functions = 16;    ///< exp2, 1/x and so on
  double l2_bytes_a_clock = 28;  ///< from the second-level cache while all multiprocessors read it

  // Limits of a multiprocessor, which decide how many blocks of threads it has at a time.
  int max_threads = 2048;
  int max_blocks = 32;
  int64_t registers = 65536;
  int64_t shared_bytes = 228 << 10;
  int64_t cache_bytes = 256 << 10;  ///< first-level cache, shared memory included

  // Latencies, in clocks.
  double shared_latency = 29;
  double l2_latency = 262;
  double memory_latency = 480;
  double launch_seconds = 2e-6;  ///< until the next kernel of a graph begins

  bool operator==(const GpuMachine&) const = default;
};

/// Clocks until the result of an arithmetic instruction can be used.
inline constexpr double kGpuArithmeticLatency = 4;
/// Bytes of shared memory, or of the first-level cache, that a multiprocessor moves each clock:
/// 32 banks of 4 bytes.
inline constexpr double kSharedBytesAClock = 128;
/// Warps of which an instruction is issued each clock.
inline constexpr double kWarpsAClock = 4;

/// A typical GPU of a compute capability: 70, 75, 80, 86, 89, 90, 100, 120, and of others the one
/// below it; nullopt below 70.
std::optional<GpuMachine> TypicalGpu(int capability);
/// 90 for "sm_90" and "sm_90a"; 0 for what is no architecture.
int CapabilityOf(std::string_view architecture);

/// What a driver told of a GPU; numbers that it does not tell (some tell no clock rates) are 0 and
/// become those of the typical GPU, a memory's as much faster as the GPU is larger. Capabilities
/// below 70 are taken for 70.
GpuMachine CompleteGpuMachine(const GpuMachine& told);

/// The same as a MachineModel, which is what targets have and databases keep: `threads` are
/// multiprocessors, `vector_bytes` is a thread's access of 16 bytes, all intervals are of one
/// multiprocessor and `together` of all; the levels are the second-level cache and the memory.
MachineModel MachineModelOf(const GpuMachine& gpu);

/// The GPU of a target: the typical one of the architecture that its code is for, with what its
/// machine says if that is known. The target is of kind kNvidiaGpu.
GpuMachine GpuMachineOf(const Target& target);

}  // namespace bayloom::target
