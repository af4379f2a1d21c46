// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bayloom/target/target.h"

namespace bayloom::codegen {

/// What code for a target needs of a processor, as LLVM names it. Only x86-64 processors are asked;
/// on others code has the features of all of their kind.

/// The target for code that is shipped: without the features that a processor cannot be asked for
/// when the code is loaded (runtime/bayloom_cpu.h). No code for loops depends on those.
target::Target ShippedTarget(const target::Target& target);

/// The features that code for the shipped target may use, in order of their names.
std::vector<std::string> RequiredFeatures(const target::Target& target);

/// The first of the required features that this processor lacks; nullopt if it has them all.
std::optional<std::string> MissingFeature(const target::Target& target);

}  // namespace bayloom::codegen
