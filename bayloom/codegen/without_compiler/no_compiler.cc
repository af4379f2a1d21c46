// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// What stands for the compiler in a build without it (BAYLOOM_COMPILER=OFF): each of its entry
// points refuses, and the description of this machine is that of the processor alone.

#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "bayloom/base/emulator.h"
#include "bayloom/base/result.h"
#include "bayloom/codegen/aarch64_target.h"
#include "bayloom/codegen/compile.h"
#include "bayloom/codegen/cpu_features.h"
#include "bayloom/codegen/gpu/gpu_image.h"
#include "bayloom/codegen/host.h"
#include "bayloom/codegen/jit.h"
#include "bayloom/codegen/probe.h"
#include "bayloom/codegen/runtime/bayloom_cpu.h"
#include "bayloom/codegen/shared_library.h"
#include "bayloom/codegen/x86_target.h"
#include "bayloom/target/emulated.h"
#include "bayloom/target/named_target.h"

namespace bayloom::codegen {
namespace {

Error Refusal() { return Error{"this build has no compiler"}; }

}  // namespace

bool HasCompiler() { return false; }

target::Target HostTarget(int threads) {
  target::Target target;
  target.name = "native";
  target.triple = std::string(target::ToString(HostKind())) + "-unknown-linux-gnu";
  target.cpu = "generic";
  for (const std::string_view feature : KnownFeatures(HostKind())) {
    if (bayloom_cpu_has(std::string(feature).c_str()) == 0) continue;
    target.features.append(target.features.empty() ? "+" : ",+").append(feature);
  }
  target.cores = threads > 0 ? threads : AllowedProcessors();
  target.vector_bytes = target::HasFeature(target, "avx512f") ? 64
                        : target::HasFeature(target, "avx")   ? 32
                                                              : 16;
  return base::EmulatorOfThisProcess() != nullptr ? target::Emulated(target) : target;
}

std::optional<target::Target> X86Target(const std::string&, int) { return std::nullopt; }

bool IsAArch64Name(const std::string&) { return false; }

target::Target AArch64Target(const std::string& name, int) {
  throw InputError("there is no target '" + name + "' in a build without the compiler");
}

Result<KernelObject> CompileProgram(const tensor::Program&, const target::Target&,
                                    const std::string&, KernelForm) {
  return Refusal();
}

Result<std::string> EmitLlvmIr(const tensor::Program&, const target::Target&, const std::string&) {
  return Refusal();
}

Result<std::string> EmitAssembly(const tensor::Program&, const target::Target&,
                                 const std::string&) {
  return Refusal();
}

Result<KernelObject> CompileProbe(Probe, const target::Target&, const std::string&) {
  return Refusal();
}

Result<KernelObject> CompileDotProbe(const target::DotInstruction&, const target::Target&,
                                     const std::string&) {
  return Refusal();
}

GpuImage WantedGpuImage() { return GpuImage::kPtx; }

struct LoadedKernel::Code {
  LoadedLibrary library;
};

LoadedKernel::LoadedKernel(std::unique_ptr<Code> code, KernelFunction entry)
    : code_(std::move(code)), function_(entry) {}
LoadedKernel::LoadedKernel(LoadedKernel&&) noexcept = default;
LoadedKernel& LoadedKernel::operator=(LoadedKernel&&) noexcept = default;
LoadedKernel::~LoadedKernel() = default;

Result<LoadedKernel> LoadedKernel::Load(const KernelObject& kernel) {
  if (!IsSharedLibrary(kernel.object)) return Refusal();
  Result<LoadedLibrary> library = LoadedLibrary::Load(kernel.object, kernel.symbol);
  if (!library) return library.error();
  const KernelFunction function = library->function();
  return LoadedKernel(std::make_unique<Code>(*std::move(library)), function);
}

}  // namespace bayloom::codegen
