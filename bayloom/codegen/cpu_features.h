// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bayloom/target/target.h"

namespace bayloom::codegen {

/// What code for a target needs of a processor, as LLVM names it. Processors of x86-64 and AArch64
/// are asked; on others code has the features of all of their kind.

/// The features that a processor of the kind can be asked for when code is loaded
/// (runtime/bayloom_cpu_features.h).
std::span<const std::string_view> KnownFeatures(target::TargetKind kind);

/// The target for code that is shipped: without the features that a processor cannot be asked for.
/// No code for loops depends on those.
target::Target ShippedTarget(const target::Target& target);

/// The features that code for the shipped target may use, in order of their names.
std::vector<std::string> RequiredFeatures(const target::Target& target);

/// The first of the required features that this processor lacks, or the name of the target's
/// architecture if this processor is of another; nullopt if code for the target runs here.
std::optional<std::string> MissingFeature(const target::Target& target);

}  // namespace bayloom::codegen
