// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

#include "bayloom/graph/package/ir_text.h"
#include "bayloom/graph/package/package_module.h"

namespace bayloom::graph {

/// What codegen/runtime/bayloom_gpu.h needs to know of a variant: its bayloom_gpu_network, as a
/// pointer. `name`: the package's.
std::string GpuProgram(IrText& ir, const CompiledVariant& compiled, const std::string& name,
                       int64_t constant_bytes);

}  // namespace bayloom::graph
