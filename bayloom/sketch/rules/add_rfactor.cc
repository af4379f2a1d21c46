// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "bayloom/sketch/analysis.h"
#include "bayloom/sketch/loops_by_kind.h"
#include "bayloom/sketch/rules/rules.h"
#include "bayloom/sketch/tile_levels.h"

namespace bayloom::sketch {
namespace {

/// The part of a reduction that becomes an axis of partial results: the inner part of the axis
/// along memory, for vectors, or the outer part of the longest one, for threads.
enum class Factored { kOuter, kInner };

tensor::LoopVar Longest(const tensor::Schedule& schedule,
                        const std::vector<tensor::LoopVar>& loops) {
  return *std::ranges::max_element(loops, {}, [&](tensor::LoopVar loop) {
    return schedule.program().ExtentOf(schedule.Get(loop));
  });
}

Result<tensor::Schedule> FactorReduction(tensor::Schedule schedule, const std::string& name,
                                         Factored which) {
  Result<tensor::BlockVar> block = schedule.GetBlock(name);
  if (!block) return block.error();
  Result<LoopsByKind> loops = OwnLoopsByKind(schedule, *block);
  if (!loops) return loops.error();
  // Of one axis: factors of several that are fused need not fall on their parts.
  const tensor::LoopVar cut =
      which == Factored::kInner ? loops->reduction.back() : Longest(schedule, loops->reduction);
  Result<std::vector<tensor::LoopVar>> split = TilePerfectly(schedule, cut, 2, kMaxInnermostFactor);
  if (!split) return split.error();
  Result<tensor::BlockVar> partial =
      schedule.RFactor(*block, (*split)[which == Factored::kOuter ? 0 : 1]);
  if (!partial) return partial.error();
  return schedule;
}

/// The reduction walks memory contiguously, so the spatial axes cannot be vectorized.
bool ReducesContiguously(const tensor::Program& program, tensor::BlockId id) {
  const tensor::Block& block = program.blocks[id];
  const int last = static_cast<int>(block.iters.size()) - 1;
  bool contiguous = false;
  tensor::Visit(block.value, [&](const tensor::Expr& e) {
    if (e->op != tensor::ExprOp::kLoad || e->operands.empty()) return;
    const std::optional<tensor::LinearForm> form = tensor::ToLinear(e->operands.back(), last + 1);
    contiguous |= form && form->coefficients[last] == 1;
  });
  return contiguous && block.iters[last].kind == tensor::IterKind::kReduction;
}

}  // namespace

std::vector<tensor::Schedule> AddRFactor(tensor::Schedule schedule, const std::string& name,
                                         const target::Target& target) {
  const tensor::Program& program = schedule.program();
  const tensor::BlockId id = program.FindBlock(name);
  const tensor::Block& block = program.blocks[id];
  if (block.kind != tensor::BlockKind::kReduce || !IsUntransformed(program, id)) {
    return {std::move(schedule)};
  }
  const int64_t jobs = kJobsPerCore * target.cores;
  const int64_t space = SpatialExtent(block), reduction = ReductionExtent(block);
  const bool too_few_jobs = space < reduction && space <= jobs;
  if (HasDataReuse(program, id) && !too_few_jobs) return {std::move(schedule)};

  std::vector<tensor::Schedule> alternatives;
  if (ReducesContiguously(program, id) && reduction >= target.vector_bytes / 4) {
    Result<tensor::Schedule> inner = FactorReduction(schedule, name, Factored::kInner);
    if (inner) alternatives.push_back(*std::move(inner));
  }
  if (too_few_jobs) {
    Result<tensor::Schedule> outer = FactorReduction(schedule, name, Factored::kOuter);
    if (outer) alternatives.push_back(*std::move(outer));
  }
  alternatives.push_back(std::move(schedule));
  return alternatives;
}

}  // namespace bayloom::sketch
