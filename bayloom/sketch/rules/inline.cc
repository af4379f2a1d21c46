#include "bayloom/sketch/analysis.h"
#include "bayloom/sketch/rules/rules.h"

namespace bayloom {
namespace {

bool AllSpatial(const Program& program) {
  for (BlockId id : program.BlocksInOrder()) {
    if (program.blocks[id].kind != BlockKind::kPlain) return false;
  }
  return true;
}

bool IsScalarConstant(const Block& block) {
  bool constant = true;
  Visit(block.value,
        [&](const Expr& e) { constant &= e->op != ExprOp::kLoad && e->op != ExprOp::kIter; });
  return constant;
}

/// Whether folding the block into its readers never repeats costly work.
bool IsFreeToInline(const Program& program, BlockId id) {
  const Block& block = program.blocks[id];
  if (AllSpatial(program)) return true;
  if (ContainsSelect(block.value)) {
    // A guard in a reduction's inner loop would be tested again for every product.
    for (BlockId reader : program.ReadersOf(block.output)) {
      if (program.blocks[reader].kind != BlockKind::kPlain) return false;
    }
  }
  return !IsExpensive(block.value) || ElementwiseConsumer(program, id) >= 0;
}

/// Whether the block copies a tensor or gives a constant, by a condition on its indices.
bool IsPadding(const Expr& value) {
  return value->op == ExprOp::kSelect && value->operands[1]->op == ExprOp::kLoad &&
         (value->operands[2]->op == ExprOp::kFloat || value->operands[2]->op == ExprOp::kInt);
}

std::vector<Schedule> InlineIf(Schedule schedule, const std::string& name, bool wanted) {
  if (wanted) {
    Schedule inlined = schedule;
    Result<BlockVar> block = inlined.GetBlock(name);
    if (block && inlined.ComputeInline(*block)) schedule = std::move(inlined);
  }
  return {std::move(schedule)};
}

}  // namespace

std::vector<Schedule> InlineConstants(Schedule schedule, const std::string& name, const Target&) {
  const BlockId id = schedule.program().FindBlock(name);
  const Block& block = schedule.program().blocks[id];
  const bool wanted = block.kind == BlockKind::kPlain && IsScalarConstant(block);
  return InlineIf(std::move(schedule), name, wanted);
}

std::vector<Schedule> AutoInline(Schedule schedule, const std::string& name, const Target&) {
  const Program& program = schedule.program();
  const BlockId id = program.FindBlock(name);
  const Block& block = program.blocks[id];
  const bool wanted = block.kind == BlockKind::kPlain &&
                      program.buffers[block.output].role == BufferRole::kIntermediate &&
                      IsFreeToInline(program, id);
  return InlineIf(std::move(schedule), name, wanted);
}

/// Generated code leaves out what only adds padding's zeros, so that a reduction can read the
/// tensor itself: no copy is made. A copy is closer together in memory; both are worth a trial.
std::vector<Schedule> InlinePadding(Schedule schedule, const std::string& name, const Target&) {
  const Program& program = schedule.program();
  const Block& block = program.blocks[program.FindBlock(name)];
  const std::vector<BlockId> readers = program.ReadersOf(block.output);
  std::vector<Schedule> alternatives = {schedule};
  if (block.kind != BlockKind::kPlain || !IsPadding(block.value) || readers.size() != 1 ||
      program.blocks[readers[0]].kind != BlockKind::kReduce) {
    return alternatives;
  }
  Result<BlockVar> padding = schedule.GetBlock(name);
  if (padding && schedule.ComputeInline(*padding)) {
    alternatives.insert(alternatives.begin(), std::move(schedule));
  }
  return alternatives;
}

}  // namespace bayloom
