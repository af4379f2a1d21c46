// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <llvm/MC/MCSubtargetInfo.h>

#include <memory>
#include <string>

#include "bayloom/target/target.h"

namespace bayloom::codegen {

/// What LLVM knows of a processor, whose name must be one of LLVM's. Throws InputError where LLVM
/// makes no code for the triple.
std::unique_ptr<llvm::MCSubtargetInfo> DescribeProcessor(const std::string& triple,
                                                         const std::string& cpu);

/// "+dotprod,+neon": the processor's features that shipped code may use (cpu_features.h).
std::string FeaturesOfProcessor(const std::string& triple, const std::string& cpu,
                                target::TargetKind kind);

}  // namespace bayloom::codegen
