// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/loops_by_kind.h"

namespace bayloom::sketch {

Result<LoopsByKind> OwnLoopsByKind(tensor::Schedule& schedule, tensor::BlockVar block) {
  Result<std::vector<tensor::LoopVar>> all = schedule.GetLoops(block);
  if (!all) return all.error();
  const std::vector<tensor::Iter>& iters = schedule.program().blocks[schedule.Get(block)].iters;
  const size_t around = all->size() - iters.size();
  LoopsByKind loops;
  for (size_t i = 0; i < iters.size(); ++i) {
    const bool is_spatial = iters[i].kind == tensor::IterKind::kSpatial;
    (is_spatial ? loops.spatial : loops.reduction).push_back((*all)[around + i]);
  }
  return loops;
}

}  // namespace bayloom::sketch
