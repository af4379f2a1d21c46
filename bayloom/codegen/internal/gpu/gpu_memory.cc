// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/internal/gpu/gpu_memory.h"

#include "bayloom/codegen/abi.h"

namespace bayloom::codegen {

llvm::Value* GpuMemoryEmitter::MakeBase(tensor::BufferId buffer) {
  IrBuilder& b = builder();
  const GpuPlace& place = plan_.places[buffer];
  llvm::Value* offset = b.getInt64(static_cast<uint64_t>(place.position));
  switch (place.memory) {
    case GpuMemory::kParameter:
      return machine_.Pointer(b, static_cast<int>(place.position));
    case GpuMemory::kWorkspace:
      return b.CreatePtrAdd(machine_.Pointer(b, workspace_), offset);
    case GpuMemory::kShared:
      return b.CreatePtrAdd(machine_.SharedMemory(b), offset);
    case GpuMemory::kThread:
      break;
  }
  const auto bytes = static_cast<uint64_t>(plan_.memory.buffers[buffer].bytes);
  llvm::AllocaInst* memory = b.CreateAlloca(llvm::ArrayType::get(b.getInt8Ty(), bytes));
  memory->setAlignment(llvm::Align(static_cast<uint64_t>(kBufferAlignment)));
  return memory;
}

void GpuMemoryEmitter::BeforeAccess(tensor::BufferId buffer, llvm::Value* pointer, int64_t bytes,
                                    llvm::Value* guard, bool is_write) {
  if (plan_.places[buffer].memory == GpuMemory::kThread) return;
  IrBuilder& b = builder();
  const int parts = guard ? LanesOf(guard) : 1;
  for (int part = 0; part < parts; ++part) {
    llvm::Value* holds = parts == 1 ? guard : b.CreateExtractElement(guard, part);
    const int64_t size = bytes / parts;
    llvm::Value* at = part == 0
                          ? pointer
                          : b.CreatePtrAdd(pointer, b.getInt64(static_cast<uint64_t>(part * size)));
    machine_.BeforeAccess(b, buffer, at, size, holds, is_write);
  }
}

}  // namespace bayloom::codegen
