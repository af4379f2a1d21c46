// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/cold_constants.h"

#include "bayloom/graph/tasks.h"
#include "bayloom/target/machine_model.h"

namespace bayloom::tuning {
namespace {

int64_t ConstantBytes(const tensor::Workload& workload) {
  int64_t bytes = 0;
  for (const tensor::Buffer& buffer : workload.buffers) {
    if (buffer.role != tensor::BufferRole::kConstant) continue;
    bytes += buffer.ElementCount() * tensor::ByteSize(buffer.dtype);
  }
  return bytes;
}

}  // namespace

int64_t ConstantBytes(const graph::TaskGraph& network) {
  int64_t bytes = 0;
  for (const graph::GraphTask& task : network.tasks) {
    bytes += task.weight * ConstantBytes(task.workload);
  }
  return bytes;
}

bool AreCold(int64_t constant_bytes, const target::Target& target) {
  if (target.kind() == target::TargetKind::kNvidiaGpu) return false;
  const target::MachineModel machine = target::MachineOf(target);
  const target::MemoryLevel& last_cache = machine.levels[machine.levels.size() - 2];
  return constant_bytes > last_cache.bytes * machine.threads;
}

void HaveColdConstants(graph::TaskGraph& network) {
  for (graph::GraphTask& task : network.tasks) task.workload.has_cold_constants = true;
  for (graph::Alternative& one : network.alternatives) one.workload.has_cold_constants = true;
}

}  // namespace bayloom::tuning
