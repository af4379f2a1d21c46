// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string>

#include "bayloom/codegen/compile.h"
#include "bayloom/graph/package/package_source.h"

namespace bayloom::graph {

/// What codegen/runtime/bayloom_gpu.h needs to know of a variant, as C text: the tables of its
/// kernels, calls and tensors, and `kProgram`N, a bayloom_gpu_network.
std::string GpuTables(const CompiledVariant& compiled, size_t variant, int64_t constant_bytes);
/// Assembly with the modules of a variant's kernels, from files that the assembler finds.
std::string ImagesAssembly(const CompiledVariant& compiled, size_t variant);
/// The name of the file with a kernel's module.
std::string ImageFile(size_t variant, size_t kernel);

}  // namespace bayloom::graph
