// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bayloom/target/machine_model.h"

namespace bayloom::target {

/// The machine that code is made for, as far as schedules and code generation care.
struct Target {
  std::string name;             ///< for people, e.g. "native"
  std::string triple;           ///< LLVM's, e.g. "x86_64-pc-linux-gnu"
  std::string cpu;              ///< LLVM's name of the processor, e.g. "znver3"
  std::string features;         ///< LLVM's feature string, e.g. "+avx2,+fma"
  int cores = 1;                ///< threads that parallel loops run on
  int vector_bytes = 32;        ///< width of one vector register
  int64_t l1_bytes = 32 << 10;  ///< data cache of one core
  int64_t l2_bytes = 1 << 20;   ///< second-level cache of one core
  /// How fast all of that is, if it was measured. Not part of a target's identity: two targets that
  /// differ in nothing else hash the same.
  std::optional<MachineModel> machine = {};
};

/// Whether the feature string turns the feature on.
bool HasFeature(const Target& target, std::string_view feature);

/// A machine of the target's shape with rates that, under the weights of the time estimate, are
/// those fitted on an AMD EPYC of the Zen 5 generation: the same numbers everywhere, for tests and
/// for targets that were not measured. Only their ratios mean something.
MachineModel NominalMachine(const Target& target);

/// The target's machine if it was measured, the nominal one otherwise.
MachineModel MachineOf(const Target& target);

}  // namespace bayloom::target
