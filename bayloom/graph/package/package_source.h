// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bayloom/codegen/compile.h"
#include "bayloom/graph/network_plan.h"
#include "bayloom/graph/package.h"
#include "bayloom/graph/tasks.h"
#include "bayloom/target/target.h"

namespace bayloom::graph {

/// The C sources of a package (package.h), as text.

/// The code for one target, compiled.
struct CompiledVariant {
  target::Target target;           ///< as it is shipped (codegen/cpu_features.h)
  std::vector<NetworkPlan> plans;  ///< one per shape; constants at positions in the package's,
                                   ///< PlannedCall::task is the number of a kernel
  std::vector<codegen::KernelObject> kernels;  ///< those of processors without their code

  bool IsForGpu() const { return target.kind() == target::TargetKind::kNvidiaGpu; }
};

/// The name of a variant's kernel is this and the kernel's number.
std::string KernelPrefix(size_t variant);

/// The public header. `common`: the text of codegen/runtime/bayloom_package.h.
std::string PackageHeader(std::span<const PackageShape> shapes,
                          std::span<const CompiledVariant> variants, const std::string& name,
                          std::string_view common);
/// What NAME_description returns: the tensors of each shape, as JSON.
std::string PackageDescription(std::span<const PackageShape> shapes, const std::string& name);
/// What the library says where a call's buffers have other sizes: which ones it is for.
std::string SizeErrorText(std::span<const PackageShape> shapes);
/// The functions the header declares, over the kernels and the constants' symbol; the first variant
/// that the processor can run is used.
std::string PackageSource(std::span<const PackageShape> shapes,
                          std::span<const CompiledVariant> variants, const std::string& name,
                          int64_t constant_bytes);
/// Assembly that includes a file, named as the assembler finds it, with the constants.
std::string ConstantsAssembly(const std::string& file);
/// The linker's version script: only the functions of the header are visible.
std::string VersionScript(std::span<const PackageShape> shapes, const std::string& name);

}  // namespace bayloom::graph
