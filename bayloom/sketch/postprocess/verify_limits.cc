// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include "bayloom/sketch/postprocess/postprocess.h"
#include "bayloom/tensor/access.h"

namespace bayloom::sketch {
namespace {

/// Intermediates of one program may not need more memory than this.
constexpr int64_t kMaxWorkspaceBytes = int64_t{1} << 30;

/// Of one copy for each core, where every iteration of a loop has its own.
int64_t AllocatedBytes(const tensor::Program& program, tensor::BufferId buffer, int cores) {
  const tensor::Allocation allocation = tensor::AllocationOf(program, buffer);
  int64_t bytes = tensor::ByteSize(program.buffers[buffer].dtype);
  for (int64_t extent : allocation.shape) bytes *= extent;
  return allocation.scope.kind == tensor::NodeRef::Kind::kRoot ? bytes : cores * bytes;
}

}  // namespace

Status VerifyLimits(const tensor::Program& program, const target::Target& target) {
  int64_t bytes = 0;
  for (tensor::BufferId buffer = 0; buffer < static_cast<int>(program.buffers.size()); ++buffer) {
    if (program.buffers[buffer].role != tensor::BufferRole::kIntermediate) continue;
    if (program.WriterOf(buffer) < 0) continue;
    bytes += AllocatedBytes(program, buffer, target.cores);
  }
  if (bytes > kMaxWorkspaceBytes) {
    return Error{fmt::format("intermediate buffers need {} MiB, the limit is {} MiB", bytes >> 20,
                             kMaxWorkspaceBytes >> 20)};
  }
  return Ok();
}

}  // namespace bayloom::sketch
