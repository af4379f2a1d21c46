// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include "bayloom/tensor/accelerator_marks.h"
#include "bayloom/tensor/access.h"
#include "bayloom/tensor/primitives.h"
#include "bayloom/tensor/primitives/tree.h"

namespace bayloom::tensor {
namespace {

constexpr int64_t kMaxThreads = 1024;
constexpr int64_t kWarp = 32;

/// Whether the kind says how many threads share the iterations of a loop.
bool TakesThreads(LoopKind kind) {
  return kind == LoopKind::kCooperative || kind == LoopKind::kGridThread ||
         kind == LoopKind::kThreadReduce;
}

Status CheckThreads(LoopKind kind, int64_t threads) {
  if (threads == 0) return Ok();
  if (!TakesThreads(kind)) return Error{"the extent of the loop says how many threads there are"};
  if (threads < 0 || threads > kMaxThreads) {
    return Error{fmt::format("{} threads: a block has 1 to {}", threads, kMaxThreads)};
  }
  const bool power_of_two = (threads & (threads - 1)) == 0;
  if (kind == LoopKind::kThreadReduce && !power_of_two && threads % kWarp != 0) {
    return Error{fmt::format("{} threads: a power of two or a multiple of {} combine what they get",
                             threads, kWarp)};
  }
  return Ok();
}

}  // namespace

Status Bind(Program& program, LoopId loop, LoopKind kind, int64_t threads) {
  if (Status s = CheckSerialLoop(program, loop); !s) return s;
  const bool is_index = IsBlockIndex(kind) || IsThreadIndex(kind);
  if (!is_index && kind != LoopKind::kVirtualThread && !TakesThreads(kind)) {
    return Error{
        "a loop can only be bound to a block index, a thread index or a virtual thread, "
        "or be cooperative, a grid of threads or a reduction by threads"};
  }
  if (Status s = CheckThreads(kind, threads); !s) return s;
  for (LoopId outer : program.LoopsAround(NodeRef::Loop(loop))) {
    if (is_index && program.loops[outer].kind == kind) {
      return Error{fmt::format("cannot bind loop {}: a loop around it has the same index", loop)};
    }
  }
  if (!RunsInOrder(kind)) {
    if (Status s = CheckParallel(program, loop); !s) return s;
  }
  if (Status s = CheckAcceleratorMark(program, loop, kind); !s) return s;
  program.loops[loop].kind = kind;
  program.loops[loop].threads = threads;
  return Ok();
}

}  // namespace bayloom::tensor
