// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>

#include "bayloom/tensor/primitives.h"
#include "bayloom/tensor/primitives/tree.h"

namespace bayloom::tensor {
namespace {

Status CheckPerfectlyNested(const Program& program, std::span<const LoopId> loops) {
  if (loops.empty()) return Error{"fuse needs at least one loop"};
  for (size_t i = 0; i < loops.size(); ++i) {
    if (Status s = CheckSerialLoop(program, loops[i]); !s) return s;
    if (i == 0) continue;
    const std::vector<NodeRef>& body = program.loops[loops[i - 1]].body;
    if (body.size() != 1 || !(body[0] == NodeRef::Loop(loops[i]))) {
      return Error{
          fmt::format("cannot fuse loops {} and {}: the second must be all that the first "
                      "contains",
                      loops[i - 1], loops[i])};
    }
  }
  return Ok();
}

}  // namespace

Result<LoopId> Fuse(Program& program, std::span<const LoopId> loops) {
  if (Status s = CheckPerfectlyNested(program, loops); !s) return s.error();
  bool some_reduce = false;
  bool some_do_not = false;
  for (LoopId loop : loops) {
    if (program.ExtentOf(loop) == 1) continue;
    (IsReductionLoop(program, loop) ? some_reduce : some_do_not) = true;
  }
  if (some_reduce && some_do_not) return Error{"cannot fuse reduction loops with spatial ones"};
  if (loops.size() == 1) return loops[0];

  std::vector<DigitId> digits;
  int64_t unroll_max_step = 0;
  for (LoopId loop : loops) {
    const Loop& old = program.loops[loop];
    digits.insert(digits.end(), old.digits.begin(), old.digits.end());
    unroll_max_step = std::max(unroll_max_step, old.unroll_max_step);
  }
  const LoopId fused = NewLoop(program, std::move(digits));
  program.loops[fused].unroll_max_step = unroll_max_step;
  SetBody(program, fused, std::move(program.loops[loops.back()].body));
  ReplaceNode(program, NodeRef::Loop(loops.front()), NodeRef::Loop(fused));
  for (LoopId loop : loops) program.loops[loop].alive = false;
  return fused;
}

}  // namespace bayloom::tensor
