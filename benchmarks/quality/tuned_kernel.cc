#include "benchmarks/quality/tuned_kernel.h"

#include <cstdlib>
#include <cstring>

#include "bayloom/base/result.h"
#include "bayloom/codegen/compile.h"
#include "bayloom/codegen/runtime/bayloom_runtime.h"
#include "bayloom/tensor/interpreter.h"

namespace bayloom {

TunedKernel::TunedKernel(const Program& program, const Target& target, const OperatorData& data)
    : threads_(target.cores) {
  const Result<KernelObject> object = CompileProgram(program, target, "kernel");
  if (!object) throw InputError(object.error().message);
  Result<LoadedKernel> kernel = LoadedKernel::Load(*object);
  if (!kernel) throw InputError(kernel.error().message);
  kernel_ = std::make_unique<LoadedKernel>(*std::move(kernel));
  workspace_ = AllocateAligned(object->WorkspaceBytes(threads_));
  size_t next = 0;
  for (BufferId id : program.Parameters()) {
    const Buffer& buffer = program.buffers[id];
    const int64_t bytes = buffer.ElementCount() * ByteSize(buffer.dtype);
    memory_.push_back(AllocateAligned(bytes));
    parameters_.push_back(memory_.back().get());
    if (buffer.role == BufferRole::kOutput) {
      output_count_ = buffer.ElementCount();
      continue;
    }
    const std::vector<std::byte> packed =
        PackLayout(buffer, reinterpret_cast<const std::byte*>(data[next++].data()));
    std::memcpy(parameters_.back(), packed.data(), packed.size());
  }
}

void TunedKernel::Run() const {
  bayloom_set_threads(threads_);
  (*kernel_)(parameters_.data(), workspace_.get());
}

std::vector<float> TunedKernel::Output() const {
  const float* output = static_cast<const float*>(parameters_.back());
  return {output, output + output_count_};
}

}  // namespace bayloom
