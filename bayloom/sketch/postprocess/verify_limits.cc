#include <fmt/format.h>

#include "bayloom/sketch/postprocess/postprocess.h"
#include "bayloom/tensor/access.h"

namespace bayloom {
namespace {

/// Intermediates of one program may not need more memory than this.
constexpr int64_t kMaxWorkspaceBytes = int64_t{1} << 30;

int64_t AllocatedBytes(const Program& program, BufferId buffer) {
  int64_t bytes = ByteSize(program.buffers[buffer].dtype);
  for (int64_t extent : AllocationOf(program, buffer).shape) bytes *= extent;
  return bytes;
}

}  // namespace

Status VerifyLimits(const Program& program, const Target& target) {
  int64_t bytes = 0;
  for (BufferId buffer = 0; buffer < static_cast<int>(program.buffers.size()); ++buffer) {
    if (program.buffers[buffer].role != BufferRole::kIntermediate) continue;
    if (program.WriterOf(buffer) < 0) continue;
    const int64_t copies =
        AllocationOf(program, buffer).scope.kind == NodeRef::Kind::kRoot ? 1 : target.cores;
    bytes += copies * AllocatedBytes(program, buffer);
  }
  if (bytes > kMaxWorkspaceBytes) {
    return Error{fmt::format("intermediate buffers need {} MiB, the limit is {} MiB", bytes >> 20,
                             kMaxWorkspaceBytes >> 20)};
  }
  return Ok();
}

}  // namespace bayloom
