// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/target/target.h"

namespace bayloom::target {

// Times under an emulator say nothing of the processor that it stands for. They are kept apart by
// the target's identity: the vendor in its triple is "emulated", aarch64-emulated-linux-gnu. Code
// for it is the code for the processor. codegen::HostTarget of an emulated process says so.

/// The same machine run by an emulator, "(emulated)" in its name.
Target Emulated(Target target);
bool IsEmulated(const Target& target);

}  // namespace bayloom::target
