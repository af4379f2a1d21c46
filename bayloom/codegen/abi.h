// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "bayloom/target/alignment.h"

namespace bayloom::codegen {

// How compiled kernels are called; everything that makes, loads, runs or ships them goes by this.

/// A kernel's function, with the C calling convention. It returns nothing: what could go wrong was
/// refused when it was compiled.
///
/// `parameters` point to the buffers of Program::Parameters(), in that order, each aligned to
/// target::kBufferAlignment and none overlapping another; constants are packed as their layout
/// says. The array itself and the inputs are only read. `workspace` is memory for intermediates,
/// aligned in the same way and KernelObject::WorkspaceBytes() large (it may be null when that is
/// 0); nothing in it outlasts the call. Calls with different workspaces and outputs may run at the
/// same time.
using KernelFunction = void (*)(void* const* parameters, void* workspace);

inline bool IsAligned(const void* memory) {
  return reinterpret_cast<uintptr_t>(memory) % target::kBufferAlignment == 0;
}

struct FreeMemory {
  void operator()(void* memory) const { std::free(memory); }
};
using AlignedMemory = std::unique_ptr<void, FreeMemory>;

/// Memory for a buffer or a workspace; never null. Throws std::bad_alloc.
inline AlignedMemory AllocateAligned(int64_t bytes, int64_t alignment = target::kBufferAlignment) {
  const int64_t whole = (std::max<int64_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(static_cast<size_t>(alignment), static_cast<size_t>(whole));
  if (memory == nullptr) throw std::bad_alloc();
  return AlignedMemory(memory);
}

}  // namespace bayloom::codegen
