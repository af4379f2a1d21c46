#include "bayloom/sketch/analysis.h"
#include "bayloom/sketch/rules/rules.h"

namespace bayloom {
namespace {

enum class Factored { kOuter, kInner };

Result<Schedule> FactorReduction(Schedule schedule, const std::string& name, Factored which) {
  Result<BlockVar> block = schedule.GetBlock(name);
  if (!block) return block.error();
  Result<std::vector<LoopVar>> loops = schedule.GetLoops(*block);
  if (!loops) return loops.error();
  const std::vector<Iter> iters = schedule.program().blocks[schedule.Get(*block)].iters;
  std::vector<LoopVar> reduction;
  for (size_t i = 0; i < iters.size(); ++i) {
    if (iters[i].kind == IterKind::kReduction) reduction.push_back((*loops)[i]);
  }
  LoopVar fused = reduction[0];
  if (reduction.size() > 1) {
    Result<LoopVar> all = schedule.Fuse(reduction);
    if (!all) return all.error();
    fused = *all;
  }
  Result<std::vector<ValueVar>> tile = schedule.SamplePerfectTile(fused, 2, kMaxInnermostFactor);
  if (!tile) return tile.error();
  Result<std::vector<LoopVar>> split = schedule.Split(fused, *tile);
  if (!split) return split.error();
  Result<BlockVar> partial = schedule.RFactor(*block, (*split)[which == Factored::kOuter ? 0 : 1]);
  if (!partial) return partial.error();
  return schedule;
}

/// The reduction walks memory contiguously, so the spatial axes cannot be vectorized.
bool ReducesContiguously(const Program& program, BlockId id) {
  const Block& block = program.blocks[id];
  const int last = static_cast<int>(block.iters.size()) - 1;
  bool contiguous = false;
  Visit(block.value, [&](const Expr& e) {
    if (e->op != ExprOp::kLoad || e->operands.empty()) return;
    const std::optional<LinearForm> form = ToLinear(e->operands.back(), last + 1);
    contiguous |= form && form->coefficients[last] == 1;
  });
  return contiguous && block.iters[last].kind == IterKind::kReduction;
}

}  // namespace

std::vector<Schedule> AddRFactor(Schedule schedule, const std::string& name, const Target& target) {
  const Program& program = schedule.program();
  const BlockId id = program.FindBlock(name);
  const Block& block = program.blocks[id];
  if (block.kind != BlockKind::kReduce || !IsUntransformed(program, id)) {
    return {std::move(schedule)};
  }
  const int64_t jobs = kJobsPerCore * target.cores;
  const int64_t space = SpatialExtent(block), reduction = ReductionExtent(block);
  const bool too_few_jobs = space < reduction && space <= jobs;
  if (HasDataReuse(program, id) && !too_few_jobs) return {std::move(schedule)};

  std::vector<Schedule> alternatives;
  if (ReducesContiguously(program, id) && reduction >= target.vector_bytes / 4) {
    Result<Schedule> inner = FactorReduction(schedule, name, Factored::kInner);
    if (inner) alternatives.push_back(*std::move(inner));
  }
  if (too_few_jobs) {
    Result<Schedule> outer = FactorReduction(schedule, name, Factored::kOuter);
    if (outer) alternatives.push_back(*std::move(outer));
  }
  alternatives.push_back(std::move(schedule));
  return alternatives;
}

}  // namespace bayloom
