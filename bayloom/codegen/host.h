// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "bayloom/target/target.h"

namespace bayloom::codegen {

/// Whether this build makes code at all: without BAYLOOM_COMPILER, what does so refuses.
bool HasCompiler();

/// How many processors this process may run on.
int AllowedProcessors();

/// The kind of the machine this process runs on.
target::TargetKind HostKind();

/// The machine this process runs on, with every feature its processor has.
/// `threads`: how many parallel loops are to use; 0 for all processors the process may run on.
target::Target HostTarget(int threads = 0);

/// The target of a name: "native" is HostTarget, others are levels of x86-64
/// (target/named_target.h) and processors of AArch64 (aarch64_target.h). Throws InputError, naming
/// those that there are, for other names.
target::Target TargetNamed(const std::string& name, int threads = 0);

}  // namespace bayloom::codegen
