// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bayloom/target/gpu_limits.h"
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
  int multiply_adds = 128;     ///< of float32
  int special_functions = 16;  ///< exp2, 1/x and so on
  /// Of float16 or bfloat16 in dense matrices, summed in float32, by instructions of warps
  /// (warp_instruction.h).
  int matrix_multiply_adds = 512;
  /// The same by instructions of groups of warps (warp_group_instruction.h); 0: there are none.
  int group_multiply_adds = 0;
  double l2_bytes_a_clock = 28;  ///< from the second-level cache while all multiprocessors read it

  // Limits of a multiprocessor, which decide how many blocks of threads it has at a time.
  int max_threads = 2048;
  int max_blocks = 32;
  int64_t registers = GpuLimits().multiprocessor_registers;
  int64_t shared_bytes = 228 << 10;
  int64_t cache_bytes = 256 << 10;  ///< first-level cache, shared memory included

  // Latencies, in clocks.
  double shared_latency = 29;
  double l2_latency = 262;
  double memory_latency = 480;
  double launch_seconds = 1.3e-6;  ///< until the next kernel of a graph begins

  bool operator==(const GpuMachine&) const = default;
};

/// Clocks until the result of an arithmetic instruction can be used.
inline constexpr double kGpuArithmeticLatency = 4;
/// The same of a product of matrices by a warp, about: Sun et al. 2022 (arXiv 2206.02874) for
/// sm_80, the others are taken to be as that.
inline constexpr double kGpuMatrixLatency = 33;
/// Bytes of shared memory, or of the first-level cache, that a multiprocessor moves each clock:
/// 32 banks of 4 bytes.
inline constexpr double kSharedBytesAClock = 128;
/// Bytes that one multiprocessor reads from the second-level cache each clock, at most.
inline constexpr double kGpuPortBytes = 64;
/// Warps of which an instruction is issued each clock.
inline constexpr double kWarpsAClock = 4;
/// Registers are distributed to warps so many at a time (CUDA C++ Programming Guide, "Technical
/// Specifications per Compute Capability").
inline constexpr int64_t kRegisterGranule = 256;
/// Threads of a block, at most, where the schedule does not say how many.
inline constexpr int64_t kDefaultBlockThreads = 256;

/// A typical GPU of a compute capability: 70, 75, 80, 86, 89, 90, 100, 120, and of others the one
/// below it; nullopt below 70.
std::optional<GpuMachine> TypicalGpu(int capability);
/// 90 for "sm_90" and "sm_90a"; 0 for what is no architecture.
int CapabilityOf(std::string_view architecture);
/// Whether "sm_90a" is meant and not "sm_90": code with instructions that later GPUs do not have.
bool IsOfOneCapability(std::string_view architecture);
/// "sm_90a" where groups of warps multiply, "sm_80": what code for the GPU is made for.
std::string ArchitectureOf(const GpuMachine& gpu);
/// Whether a GPU of the capability runs code for the architecture, once that is assembled for it.
bool RunsCodeOf(std::string_view architecture, int capability);

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
