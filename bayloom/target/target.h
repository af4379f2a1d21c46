// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bayloom/target/machine_model.h"

namespace bayloom::target {

/// The kinds of machines: each has registers, instructions and rules of its own.
enum class TargetKind : uint8_t {
  kX86_64,
  kAArch64,
  kNvidiaGpu,  ///< what it has is told by GpuLimits (gpu_limits.h)
  kOtherCpu,   ///< a processor that LLVM makes code for, of which nothing more is known here
};

/// The name of the architecture in triples, "x86_64", "aarch64" or "nvptx64"; "other" for other
/// processors.
std::string_view ToString(TargetKind kind);

/// The machine that code is made for, as far as schedules and code generation care.
struct Target {
  std::string name;             ///< for people, e.g. "native"
  std::string triple;           ///< LLVM's, e.g. "x86_64-pc-linux-gnu"
  std::string cpu;              ///< LLVM's name of the processor, e.g. "znver3"
  std::string features;         ///< LLVM's feature string, e.g. "+avx2,+fma"
  int cores = 1;                ///< threads that parallel loops run on; 1 for GPUs
  int vector_bytes = 32;        ///< width of one vector register; of GPUs, of a thread's access
  int64_t l1_bytes = 32 << 10;  ///< data cache of one core; of GPUs, of a multiprocessor
  int64_t l2_bytes = 1 << 20;   ///< second-level cache of one core; of GPUs, of all of them
  /// How fast all of that is, if it was measured. Not part of a target's identity: two targets that
  /// differ in nothing else hash the same.
  std::optional<MachineModel> machine = {};

  /// As the triple says.
  TargetKind kind() const;
};

/// Whether the feature string turns the feature on.
bool HasFeature(const Target& target, std::string_view feature);

/// How many registers of vector_bytes code may use.
int VectorRegisters(const Target& target);

/// Whether vector instructions are those of AVX-512, with masks, on its long registers.
bool UsesAvx512(const Target& target);

/// A machine of the target's shape with rates that, under the weights of the time estimate, are
/// those fitted on an AMD EPYC of the Zen 5 generation: the same numbers everywhere, for tests and
/// for targets that were not measured. Only their ratios mean something. Of an AArch64 processor
/// the units and caches are those of target/arm_processor.h; per cycle, caches and memory are
/// assumed to be as fast as that EPYC's.
MachineModel NominalMachine(const Target& target);

/// The target's machine if it was measured, the nominal one otherwise.
MachineModel MachineOf(const Target& target);

}  // namespace bayloom::target
