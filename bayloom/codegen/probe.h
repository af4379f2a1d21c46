// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "bayloom/base/result.h"
#include "bayloom/codegen/compile.h"
#include "bayloom/target/dot_instruction.h"

namespace bayloom::codegen {

/// Loops that do one thing, to time it: what a machine model is measured with. They are made by the
/// same code generator, for the same registers and instructions, as the programs that the model is
/// to describe, on every architecture that it makes code for.
enum class Probe : uint8_t {
  kMultiplyAdd,       ///< vector multiply-adds in registers, enough at once to hide their latency
  kMultiplyAddChain,  ///< the same, each of which waits for the one before
  kDivision,          ///< vector divisions in registers
  kRead,              ///< vector loads of consecutive addresses
};

/// What a probe is told.
struct ProbeArguments {
  int64_t operations = 0;  ///< rounded up to a multiple of kProbeOperations
  int64_t mask = 0;        ///< kRead: bytes read over and over, a power of two, less one
};

/// A loop's body has a divisor of this many operations.
constexpr int64_t kProbeOperations = 192;

/// Compiles a probe: a function of a kernel's type whose parameters are the memory that kRead reads
/// (at least kProbeOperations vectors), a ProbeArguments, and a vector for its result.
Result<KernelObject> CompileProbe(Probe probe, const target::Target& target,
                                  const std::string& symbol);

/// Compiles the probe of an instruction for dot products of operands as they are, enough at once to
/// hide its latency. It must be one of the target's (target::DotMethodFor).
Result<KernelObject> CompileDotProbe(const target::DotInstruction& instruction,
                                     const target::Target& target, const std::string& symbol);

}  // namespace bayloom::codegen
