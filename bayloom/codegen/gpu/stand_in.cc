// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/gpu/stand_in.h"

#include <llvm/IR/LLVMContext.h>

#include <algorithm>
#include <cstring>

#include "bayloom/codegen/abi.h"
#include "bayloom/codegen/host.h"
#include "bayloom/codegen/internal/gpu/fiber_block.h"
#include "bayloom/codegen/internal/gpu/gpu_module.h"
#include "bayloom/codegen/internal/gpu/stand_in_code.h"
#include "bayloom/codegen/object.h"

namespace bayloom::codegen {
namespace {

constexpr int kUnwritten = 0xff;  // NaN in all types of floats

Result<StandInCode::Kernel> CompileKernel(const tensor::Program& program, const GpuPlan& plan,
                                          size_t number, Machine& machine) {
  static const target::Target host = HostTarget(1);
  Result<llvm::TargetMachine*> target = TargetMachineFor(host);
  if (!target) return target.error();
  llvm::LLVMContext context;
  llvm::Module module("kernel", context);
  Result<GpuLaunch> launch = EmitKernel(module, program, plan, number, machine, "kernel");
  if (!launch) return launch.error();
  Optimize(module, **target, host);
  KernelObject object;
  object.symbol = launch->symbol;
  object.object = EmitMachineCode(module, **target, llvm::CodeGenFileType::ObjectFile);
  Result<LoadedKernel> code = LoadedKernel::Load(object);
  if (!code) return code.error();
  return StandInCode::Kernel{*launch, plan.kernels[number].scratch_bytes, *std::move(code)};
}

/// What threads may share in a launch, by BufferId; the last is for reductions between warps.
std::vector<WatchedMemory> WatchedMemories(const StandInCode& code,
                                           const StandInCode::Kernel& kernel,
                                           const std::vector<void*>& pointers,
                                           const std::byte* shared) {
  std::vector<WatchedMemory> memories;
  for (const StandInBuffer& buffer : code.buffers) {
    WatchedMemory memory{buffer.name, shared + buffer.place.position, buffer.bytes,
                         buffer.element_bytes, true};
    switch (buffer.place.memory) {
      case GpuMemory::kShared:
        if (buffer.place.position + buffer.bytes > kernel.launch.shared_bytes) memory.bytes = 0;
        break;
      case GpuMemory::kThread:
        memory.bytes = 0;
        break;
      case GpuMemory::kParameter:
        memory.base =
            static_cast<const std::byte*>(pointers[static_cast<size_t>(buffer.place.position)]);
        memory.of_block = false;
        break;
      case GpuMemory::kWorkspace:
        memory.base = static_cast<const std::byte*>(pointers.back()) + buffer.place.position;
        memory.of_block = false;
        break;
    }
    memories.push_back(std::move(memory));
  }
  const int64_t scratch = kernel.launch.shared_bytes - kernel.scratch_bytes;
  memories.push_back({"the memory of reductions", shared + scratch, kernel.scratch_bytes, 1, true});
  return memories;
}

}  // namespace

Result<StandIn> CompileForStandIn(const tensor::Program& program, const target::GpuLimits& limits,
                                  Machine& machine) {
  Result<GpuPlan> plan = MakeGpuPlan(program, limits);
  if (!plan) return plan.error();
  auto code = std::make_unique<StandInCode>();
  for (size_t i = 0; i < plan->kernels.size(); ++i) {
    Result<StandInCode::Kernel> kernel = CompileKernel(program, *plan, i, machine);
    if (!kernel) return kernel.error();
    code->kernels.push_back(*std::move(kernel));
  }
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    const tensor::Buffer& buffer = program.buffers[i];
    code->buffers.push_back({buffer.name, plan->places[i], plan->memory.buffers[i].bytes,
                             tensor::ByteSize(buffer.dtype)});
  }
  code->parameters = static_cast<int>(program.Parameters().size());
  code->workspace_bytes = plan->workspace_bytes;
  return StandIn(std::move(code));
}

Result<StandIn> StandIn::Compile(const tensor::Program& program, const target::GpuLimits& limits) {
  StandInMachine machine;
  return CompileForStandIn(program, limits, machine);
}

StandIn::StandIn(std::unique_ptr<StandInCode> code) : code_(std::move(code)) {}
StandIn::StandIn(StandIn&&) noexcept = default;
StandIn& StandIn::operator=(StandIn&&) noexcept = default;
StandIn::~StandIn() = default;

Result<StandInCounts> StandIn::Run(void* const* parameters, const StandInOptions& options) const {
  const AlignedMemory workspace = AllocateAligned(code_->workspace_bytes);
  std::memset(workspace.get(), kUnwritten, static_cast<size_t>(code_->workspace_bytes));
  std::vector<void*> pointers(parameters, parameters + code_->parameters);
  pointers.push_back(workspace.get());
  StandInCounts counts;
  for (const StandInCode::Kernel& kernel : code_->kernels) {
    const GpuLaunch& launch = kernel.launch;
    const AlignedMemory memory = AllocateAligned(launch.shared_bytes);
    auto* shared = static_cast<std::byte*>(memory.get());
    RaceChecker checker(WatchedMemories(*code_, kernel, pointers, shared));
    FiberBlock block(launch.threads, options);
    // Over a type of function that says nothing, as compilers want it.
    const auto function =
        reinterpret_cast<StandInKernel>(reinterpret_cast<void (*)()>(kernel.code.function()));
    for (int64_t i = 0; i < launch.blocks; ++i) {
      std::memset(shared, kUnwritten, static_cast<size_t>(launch.shared_bytes));
      if (auto fault = block.Run(function, pointers.data(), shared, i, checker)) {
        return Error{*std::move(fault)};
      }
    }
    ++counts.launches;
    counts.threads += launch.blocks * launch.threads;
    counts.barriers += block.barriers();
    counts.accesses += checker.accesses();
  }
  return counts;
}

}  // namespace bayloom::codegen
