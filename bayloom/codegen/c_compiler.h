// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "bayloom/target/target.h"

namespace bayloom::codegen {

/// Runs, in the folder, the C compiler that makes code for machines of a kind: `CC` or `cc` for
/// this machine's kind; for others `CC` if it makes code for them, else Debian's cross compiler
/// (aarch64-linux-gnu-gcc). Options that make code run on all processors of the kind come first.
///
/// Throws InputError, saying what to install, when there is no compiler, SystemError when it fails.
void RunCompiler(target::TargetKind kind, const std::string& folder,
                 const std::vector<std::string>& arguments);

}  // namespace bayloom::codegen
