// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/quality/tuned_kernel.h"

#include <cstdlib>
#include <cstring>

#include "bayloom/base/result.h"
#include "bayloom/codegen/compile.h"
#include "bayloom/codegen/runtime/bayloom_runtime.h"
#include "bayloom/tensor/interpreter.h"

namespace bayloom {

TunedKernel::TunedKernel(const tensor::Program& program, const target::Target& target,
                         const OperatorData& data)
    : threads_(target.cores) {
  const Result<codegen::KernelObject> object = codegen::CompileProgram(program, target, "kernel");
  if (!object) throw InputError(object.error().message);
  Result<codegen::LoadedKernel> kernel = codegen::LoadedKernel::Load(*object);
  if (!kernel) throw InputError(kernel.error().message);
  kernel_ = std::make_unique<codegen::LoadedKernel>(*std::move(kernel));
  workspace_ = codegen::AllocateAligned(object->WorkspaceBytes(threads_));
  size_t next = 0;
  for (tensor::BufferId id : program.Parameters()) {
    const tensor::Buffer& buffer = program.buffers[id];
    const int64_t bytes = buffer.ElementCount() * tensor::ByteSize(buffer.dtype);
    memory_.push_back(codegen::AllocateAligned(bytes));
    parameters_.push_back(memory_.back().get());
    if (buffer.role == tensor::BufferRole::kOutput) {
      output_count_ = buffer.ElementCount();
      output_type_ = buffer.dtype;
      continue;
    }
    const std::vector<std::byte> packed = tensor::PackLayout(buffer, data[next++].data.data());
    std::memcpy(parameters_.back(), packed.data(), packed.size());
  }
}

void TunedKernel::Run() const {
  bayloom_set_threads(threads_);
  (*kernel_)(parameters_.data(), workspace_.get());
}

std::vector<float> TunedKernel::Output() const {
  if (output_type_ == tensor::DType::kUInt8) {
    const auto* bytes = static_cast<const uint8_t*>(parameters_.back());
    return {bytes, bytes + output_count_};
  }
  const float* output = static_cast<const float*>(parameters_.back());
  return {output, output + output_count_};
}

}  // namespace bayloom
