// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "bayloom/codegen/host.h"
#include "bayloom/codegen/jit.h"
#include "bayloom/codegen/runtime/bayloom_runtime.h"
#include "bayloom/tensor/interpreter.h"

namespace bayloom::testing {

/// Aligned as kernels want it. `bytes` exactly, so that address sanitizer sees overruns.
inline codegen::AlignedMemory Allocate(size_t bytes) {
  void* memory = nullptr;
  if (posix_memalign(&memory, target::kBufferAlignment, bytes > 0 ? bytes : 1) != 0)
    throw std::bad_alloc();
  return codegen::AlignedMemory(memory);
}

/// Runs what a program was compiled to like Interpret.
inline void RunObject(const codegen::KernelObject& object, const tensor::Program& program,
                      std::vector<tensor::HostTensor>& arguments) {
  const Result<codegen::LoadedKernel> kernel = codegen::LoadedKernel::Load(object);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const std::vector<tensor::BufferId> parameters = program.Parameters();
  std::vector<codegen::AlignedMemory> memory;
  std::vector<void*> pointers;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const std::vector<std::byte> packed =
        tensor::PackLayout(program.buffers[parameters[i]], arguments[i].data.data());
    memory.push_back(Allocate(packed.size()));
    pointers.push_back(memory.back().get());
    std::memcpy(pointers.back(), packed.data(), packed.size());
  }
  const auto workspace_bytes = static_cast<size_t>(object.WorkspaceBytes(bayloom_threads()));
  const codegen::AlignedMemory workspace = Allocate(workspace_bytes);
  std::memset(workspace.get(), 0xff, workspace_bytes);
  (*kernel)(pointers.data(), workspace.get());
  for (size_t i = 0; i < parameters.size(); ++i) {
    const tensor::Buffer& buffer = program.buffers[parameters[i]];
    if (buffer.role != tensor::BufferRole::kOutput) continue;
    std::memcpy(arguments[i].data.data(), pointers[i], arguments[i].data.size());
  }
}

/// Compiles a program for this machine and runs it like Interpret.
inline void RunCompiled(const tensor::Program& program, std::vector<tensor::HostTensor>& arguments,
                        const target::Target& target = codegen::HostTarget()) {
  const Result<codegen::KernelObject> object = codegen::CompileProgram(program, target, "kernel");
  ASSERT_TRUE(object.ok()) << object.error().message;
  RunObject(*object, program, arguments);
}

/// Equal up to rounding: relative to the larger of the value and `scale`.
inline void ExpectClose(const tensor::HostTensor& actual, const tensor::HostTensor& expected,
                        double tolerance, const std::string& what) {
  ASSERT_EQ(actual.ElementCount(), expected.ElementCount());
  double scale = 0;
  for (int64_t i = 0; i < expected.ElementCount(); ++i) {
    if (std::isfinite(expected.Get(i))) scale = std::max(scale, std::abs(expected.Get(i)));
  }
  for (int64_t i = 0; i < expected.ElementCount(); ++i) {
    const double a = actual.Get(i), e = expected.Get(i);
    if (a == e || (std::isnan(a) && std::isnan(e))) continue;
    const double allowed =
        tensor::IsFloat(expected.dtype) ? tolerance * std::max(std::abs(e), scale) : 0;
    ASSERT_LE(std::abs(a - e), allowed) << what << ", element " << i << ": " << a << " for " << e;
  }
}

inline double ToleranceOf(tensor::DType dtype) {
  switch (dtype) {
    case tensor::DType::kFloat64:
      return 1e-12;
    case tensor::DType::kFloat16:
    case tensor::DType::kTFloat32:
      return 2e-3;
    case tensor::DType::kBFloat16:
      return 1.6e-2;
    default:
      return 1e-5;
  }
}

/// Compiled, the program computes what the interpreter computes.
inline void ExpectMatchesInterpreter(const tensor::Program& program,
                                     std::vector<tensor::HostTensor> arguments,
                                     const std::string& what,
                                     const target::Target& target = codegen::HostTarget()) {
  std::vector<tensor::HostTensor> expected = arguments;
  tensor::Interpret(program, expected);
  RunCompiled(program, arguments, target);
  if (::testing::Test::HasFatalFailure()) return;
  const std::vector<tensor::BufferId> parameters = program.Parameters();
  for (size_t i = 0; i < parameters.size(); ++i) {
    const tensor::Buffer& buffer = program.buffers[parameters[i]];
    if (buffer.role != tensor::BufferRole::kOutput) continue;
    ExpectClose(arguments[i], expected[i], ToleranceOf(buffer.dtype), what);
  }
}

}  // namespace bayloom::testing
