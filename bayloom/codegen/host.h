// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/target/target.h"

namespace bayloom::codegen {

/// The machine this process runs on, with every feature its processor has.
/// `threads`: how many parallel loops are to use; 0 for all processors the process may run on.
target::Target HostTarget(int threads = 0);

}  // namespace bayloom::codegen
