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

/// What a package (package.h) has besides its kernels, its weights and the runtime.

/// The code for one target, compiled.
struct CompiledVariant {
  target::Target target;           ///< as it is shipped (codegen/cpu_features.h)
  std::vector<NetworkPlan> plans;  ///< one per shape; constants at positions in the package's,
                                   ///< PlannedCall::task is the number of a kernel
  std::vector<codegen::KernelObject> kernels;  ///< without their code
  std::vector<int64_t> images;  ///< of GPUs: where each kernel's code is among the images

  bool IsForGpu() const { return target.kind() == target::TargetKind::kNvidiaGpu; }
};

/// Symbols of a package's data. Programs may have several packages, which have other names.
std::string ConstantsSymbol(const std::string& name);
std::string ImagesSymbol(const std::string& name);

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
/// What it says where the network finds a length beyond its bounds: which these are.
std::string BoundErrorText(std::span<const PackageShape> shapes);
/// The network as the runtime's tables (codegen/runtime/bayloom_model.h) and the functions that the
/// header declares, as a module of LLVM's intermediate representation, over the kernels, the
/// constants and the runtime. The first variant that the processor can run is used.
std::string PackageModule(std::span<const PackageShape> shapes,
                          std::span<const CompiledVariant> variants, const std::string& name,
                          int64_t constant_bytes);
/// The functions that the header declares.
std::vector<std::string> PackageFunctions(std::span<const PackageShape> shapes,
                                          const std::string& name);

}  // namespace bayloom::graph
