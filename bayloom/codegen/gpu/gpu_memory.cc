// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/gpu/gpu_memory.h"

#include "bayloom/codegen/abi.h"

namespace bayloom::codegen {

llvm::Value* GpuMemoryEmitter::MakeBase(tensor::BufferId buffer) {
  IrBuilder& b = builder();
  const plan::GpuPlace& place = plan_.places[buffer];
  llvm::Value* offset = b.getInt64(static_cast<uint64_t>(place.position));
  switch (place.memory) {
    case plan::GpuMemory::kParameter:
      return machine_.Pointer(b, static_cast<int>(place.position));
    case plan::GpuMemory::kWorkspace:
      return b.CreatePtrAdd(machine_.Pointer(b, workspace_), offset);
    case plan::GpuMemory::kShared:
      return b.CreatePtrAdd(machine_.SharedMemory(b), offset);
    case plan::GpuMemory::kThread:
      break;
  }
  const auto bytes = static_cast<uint64_t>(plan_.memory.buffers[buffer].bytes);
  llvm::AllocaInst* memory = b.CreateAlloca(llvm::ArrayType::get(b.getInt8Ty(), bytes));
  memory->setAlignment(llvm::Align(static_cast<uint64_t>(target::kBufferAlignment)));
  return memory;
}

/// Whole panels, and whole rows after which the order of pieces repeats, move an element by as much
/// wherever it is; only of the rest the place has to be found out.
llvm::Value* GpuMemoryEmitter::AddressOf(tensor::BufferId buffer, const IndexValue& index) {
  const plan::SwizzledTiles& panels = plan_.places[buffer].panels;
  if (panels.rows == 0) return MemoryEmitter::AddressOf(buffer, index);
  const int64_t bytes = ElementBytes(buffer);
  const int64_t row = panels.row_bytes / bytes, slot = panels.rows * row;
  const int64_t panel_row = target::kPanelRowBytes / bytes;
  IndexValue whole, rest;
  for (const IndexValue::Term& term : index.terms) {
    const int64_t rows = term.coefficient / row, in_row = term.coefficient % row;
    if (term.coefficient % slot == 0) {
      whole.terms.push_back(term);
    } else if (rows % target::kSwizzledRows == 0 && in_row % panel_row == 0) {
      whole.terms.push_back({term.value, rows * panel_row + in_row * panels.rows});
    } else {
      rest.terms.push_back(term);
    }
  }
  rest.constant = index.constant % slot;
  whole.constant = index.constant - rest.constant;
  llvm::Value* offset = addresses().FunctionOf(
      rest, [&](llvm::Value* element) { return PlaceInPanels(buffer, element); });
  return builder().CreatePtrAdd(MemoryEmitter::AddressOf(buffer, whole), offset);
}

/// In bytes, of an element whose number is given (i64).
llvm::Value* GpuMemoryEmitter::PlaceInPanels(tensor::BufferId buffer, llvm::Value* element) {
  using target::kPanelRowBytes;
  IrBuilder& b = builder();
  const plan::SwizzledTiles& panels = plan_.places[buffer].panels;
  const auto number = [&](int64_t value) { return b.getInt64(static_cast<uint64_t>(value)); };
  llvm::Value* place = b.CreateMul(element, number(ElementBytes(buffer)));
  if (panels.row_bytes > kPanelRowBytes) {
    llvm::Value* row = b.CreateUDiv(place, number(panels.row_bytes));
    llvm::Value* in_row = b.CreateURem(place, number(panels.row_bytes));
    llvm::Value* panel = b.CreateUDiv(in_row, number(kPanelRowBytes));
    llvm::Value* in_panel = b.CreateAdd(b.CreateMul(row, number(kPanelRowBytes)),
                                        b.CreateURem(in_row, number(kPanelRowBytes)));
    place = b.CreateAdd(b.CreateMul(panel, number(panels.bytes())), in_panel);
  }
  llvm::Value* turned =
      b.CreateURem(b.CreateUDiv(place, number(kPanelRowBytes)), number(target::kSwizzledRows));
  return b.CreateXor(place, b.CreateMul(turned, number(target::kSwizzledPieceBytes)));
}

void GpuMemoryEmitter::BeforeAccess(tensor::BufferId buffer, llvm::Value* pointer, int64_t bytes,
                                    llvm::Value* guard, bool is_write) {
  if (plan_.places[buffer].memory == plan::GpuMemory::kThread) return;
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
