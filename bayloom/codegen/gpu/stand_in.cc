// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/gpu/stand_in.h"

#include <llvm/IR/LLVMContext.h>

#include <algorithm>
#include <cstring>

#include "bayloom/codegen/abi.h"
#include "bayloom/codegen/gpu/fiber_block.h"
#include "bayloom/codegen/gpu/gpu_module.h"
#include "bayloom/codegen/gpu/stand_in_code.h"
#include "bayloom/codegen/host.h"
#include "bayloom/codegen/object.h"

namespace bayloom::codegen {
namespace {

constexpr int kUnwritten = 0xff;  // NaN in all types of floats

Result<StandInObjects::Kernel> CompileKernel(const tensor::Program& program,
                                             const plan::GpuPlan& plan, size_t number,
                                             Machine& machine, const std::string& symbol) {
  static const target::Target host = HostTarget(1);
  Result<llvm::TargetMachine*> target = TargetMachineFor(host);
  if (!target) return target.error();
  llvm::LLVMContext context;
  llvm::Module module(symbol, context);
  Result<GpuLaunch> launch = EmitKernel(module, program, plan, number, machine, symbol);
  if (!launch) return launch.error();
  Optimize(module, **target, host);
  Result<std::string> object = EmitMachineCode(module, **target, llvm::CodeGenFileType::ObjectFile);
  if (!object) return object.error();
  return StandInObjects::Kernel{*launch, plan.kernels[number].scratch_bytes, *std::move(object)};
}

/// With all slots of a ring.
int64_t BytesOf(const plan::GpuPlace& place, const plan::BufferPlace& buffer) {
  return (place.slots - 1) * place.slot_bytes + buffer.bytes;
}

/// What threads may share in a launch, by BufferId; the last is for reductions between warps.
std::vector<WatchedMemory> WatchedMemories(const StandInObjects& code,
                                           const StandInObjects::Kernel& kernel,
                                           const std::vector<void*>& pointers,
                                           const std::byte* shared) {
  std::vector<WatchedMemory> memories;
  for (const StandInBuffer& buffer : code.buffers) {
    WatchedMemory memory{buffer.name, shared + buffer.place.position, buffer.bytes,
                         buffer.element_bytes, true};
    switch (buffer.place.memory) {
      case plan::GpuMemory::kShared:
        if (buffer.place.position + buffer.bytes > kernel.launch.shared_bytes) memory.bytes = 0;
        break;
      case plan::GpuMemory::kThread:
        memory.bytes = 0;
        break;
      case plan::GpuMemory::kParameter:
        memory.base =
            static_cast<const std::byte*>(pointers[static_cast<size_t>(buffer.place.position)]);
        memory.of_block = false;
        break;
      case plan::GpuMemory::kWorkspace:
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

Result<StandInObjects> CompileStandInObjects(const tensor::Program& program,
                                             const target::GpuLimits& limits, Machine& machine,
                                             const std::string& symbol) {
  Result<plan::GpuPlan> plan = plan::MakeGpuPlan(program, limits);
  if (!plan) return plan.error();
  StandInObjects objects;
  for (size_t i = 0; i < plan->kernels.size(); ++i) {
    Result<StandInObjects::Kernel> kernel =
        CompileKernel(program, *plan, i, machine, symbol + "_" + std::to_string(i));
    if (!kernel) return kernel.error();
    objects.kernels.push_back(*std::move(kernel));
  }
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    const tensor::Buffer& buffer = program.buffers[i];
    objects.buffers.push_back({buffer.name, plan->places[i],
                               BytesOf(plan->places[i], plan->memory.buffers[i]),
                               tensor::ByteSize(buffer.dtype)});
  }
  objects.parameters = static_cast<int>(program.Parameters().size());
  objects.workspace_bytes = plan->workspace_bytes;
  return objects;
}

Result<StandIn> LoadStandIn(StandInObjects objects) {
  auto code = std::make_unique<StandInCode>();
  for (const StandInObjects::Kernel& kernel : objects.kernels) {
    KernelObject object;
    object.symbol = kernel.launch.symbol;
    object.object = kernel.object;
    Result<LoadedKernel> loaded = LoadedKernel::Load(object);
    if (!loaded) return loaded.error();
    code->loaded.push_back(*std::move(loaded));
  }
  code->objects = std::move(objects);
  return StandIn(std::move(code));
}

Result<StandIn> CompileForStandIn(const tensor::Program& program, const target::GpuLimits& limits,
                                  Machine& machine) {
  Result<StandInObjects> objects = CompileStandInObjects(program, limits, machine, "kernel");
  if (!objects) return objects.error();
  return LoadStandIn(*std::move(objects));
}

Result<StandIn> StandIn::Compile(const tensor::Program& program, const target::GpuLimits& limits) {
  StandInMachine machine;
  return CompileForStandIn(program, limits, machine);
}

StandIn::StandIn(std::unique_ptr<StandInCode> code) : code_(std::move(code)) {}
StandIn::StandIn(StandIn&&) noexcept = default;
StandIn& StandIn::operator=(StandIn&&) noexcept = default;
StandIn::~StandIn() = default;

std::vector<GpuLaunch> StandIn::launches() const {
  std::vector<GpuLaunch> launches;
  for (const StandInObjects::Kernel& kernel : code_->objects.kernels) {
    launches.push_back(kernel.launch);
  }
  return launches;
}

std::vector<int64_t> StandIn::ParameterBytes() const {
  std::vector<int64_t> bytes(static_cast<size_t>(code_->objects.parameters));
  for (const StandInBuffer& buffer : code_->objects.buffers) {
    if (buffer.place.memory != plan::GpuMemory::kParameter) continue;
    bytes[static_cast<size_t>(buffer.place.position)] = buffer.bytes;
  }
  bytes.push_back(code_->objects.workspace_bytes);
  return bytes;
}

int64_t StandIn::BlocksOf(size_t kernel, const std::vector<void*>& pointers) const {
  const GpuLaunch& launch = code_->objects.kernels[kernel].launch;
  int64_t count = 0;
  for (const GridReach& reach : launch.reaches) count = std::max(count, reach.size + 1);
  std::vector<int64_t> sizes(static_cast<size_t>(count));
  for (size_t i = 0; i < sizes.size(); ++i) std::memcpy(&sizes[i], pointers[i], sizeof(int64_t));
  return BlocksAt(launch, sizes);
}

Result<StandInCounts> StandIn::RunKernel(size_t number, int64_t blocks,
                                         const std::vector<void*>& pointers,
                                         const StandInOptions& options) const {
  const StandInObjects::Kernel& kernel = code_->objects.kernels[number];
  const GpuLaunch& launch = kernel.launch;
  const AlignedMemory memory = AllocateAligned(launch.shared_bytes, target::kPanelAlignment);
  auto* shared = static_cast<std::byte*>(memory.get());
  RaceChecker checker(WatchedMemories(code_->objects, kernel, pointers, shared));
  FiberBlock block(launch.threads, options);
  // Over a type of function that says nothing, as compilers want it.
  const auto function = reinterpret_cast<StandInKernel>(
      reinterpret_cast<void (*)()>(code_->loaded[number].function()));
  for (int64_t i = 0; i < blocks; ++i) {
    std::memset(shared, kUnwritten, static_cast<size_t>(launch.shared_bytes));
    if (auto fault = block.Run(function, pointers.data(), shared, i, checker)) {
      return Error{*std::move(fault)};
    }
  }
  return StandInCounts{1,
                       blocks * launch.threads,
                       block.barriers(),
                       checker.accesses(),
                       block.copies(),
                       block.products()};
}

Result<StandInCounts> StandIn::Run(void* const* parameters, const StandInOptions& options) const {
  const AlignedMemory workspace = AllocateAligned(code_->objects.workspace_bytes);
  std::memset(workspace.get(), kUnwritten, static_cast<size_t>(code_->objects.workspace_bytes));
  std::vector<void*> pointers(parameters, parameters + code_->objects.parameters);
  pointers.push_back(workspace.get());
  StandInCounts counts;
  for (size_t i = 0; i < code_->loaded.size(); ++i) {
    const int64_t blocks =
        options.largest_grids ? code_->objects.kernels[i].launch.blocks : BlocksOf(i, pointers);
    const Result<StandInCounts> seen = RunKernel(i, blocks, pointers, options);
    if (!seen) return seen.error();
    counts.launches += seen->launches;
    counts.threads += seen->threads;
    counts.barriers += seen->barriers;
    counts.accesses += seen->accesses;
    counts.copies += seen->copies;
    counts.products += seen->products;
  }
  return counts;
}

}  // namespace bayloom::codegen
