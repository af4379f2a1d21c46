// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "bayloom/sketch/analysis.h"
#include "bayloom/sketch/rules/rules.h"
#include "bayloom/target/dot_instruction.h"
#include "bayloom/tensor/dot_product.h"
#include "bayloom/tensor/evaluation_cost.h"

namespace bayloom::sketch {
namespace {

bool AllSpatial(const tensor::Program& program) {
  for (tensor::BlockId id : program.BlocksInOrder()) {
    if (program.blocks[id].kind != tensor::BlockKind::kPlain) return false;
  }
  return true;
}

bool IsScalarConstant(const tensor::Block& block) {
  bool constant = true;
  tensor::Visit(block.value, [&](const tensor::Expr& e) {
    constant &= e->op != tensor::ExprOp::kLoad && e->op != tensor::ExprOp::kIter;
  });
  return constant;
}

int64_t LoadsByReaders(const tensor::Program& program, const tensor::Block& block) {
  int64_t loads = 0;
  for (tensor::BlockId reader : program.ReadersOf(block.output)) {
    loads += tensor::CountLoads(program.blocks[reader].value, block.output);
  }
  return loads;
}

/// An instruction takes elements as they lie in memory. Bytes are worth storing without one, too:
/// quantizing takes longer than the product. Floats for which the processor has no instruction are
/// widened as they are read.
bool FeedsDotProduct(const tensor::Program& program, const tensor::Block& block,
                     const target::Target& target) {
  return std::ranges::any_of(program.ReadersOf(block.output), [&](tensor::BlockId reader) {
    const auto product = tensor::MatchDotProduct(program.blocks[reader]);
    if (!product) return false;
    const tensor::DType a = product->a.dtype(), b = product->b.dtype();
    const target::TargetKind kind = target.kind();
    const bool is_known =
        kind == target::TargetKind::kX86_64 || kind == target::TargetKind::kAArch64;
    return tensor::IsInteger(a) || !is_known ||
           target::DotMethodFor(target, tensor::ToString(a), tensor::ToString(b)).has_value();
  });
}

/// Whether folding the block into its readers never repeats costly work.
bool IsFreeToInline(const tensor::Program& program, tensor::BlockId id,
                    const target::Target& target) {
  const tensor::Block& block = program.blocks[id];
  if (!MayRepeat(block.value, LoadsByReaders(program, block))) return false;
  if (AllSpatial(program)) return true;
  if (FeedsDotProduct(program, block, target)) return false;
  if (ContainsSelect(block.value)) {
    // A guard in a reduction's inner loop would be tested again for every product.
    for (tensor::BlockId reader : program.ReadersOf(block.output)) {
      if (program.blocks[reader].kind != tensor::BlockKind::kPlain) return false;
    }
  }
  return !IsExpensive(block.value) || ElementwiseConsumer(program, id) >= 0;
}

/// Whether the block copies a tensor or gives a constant, by a condition on its indices.
bool IsPadding(const tensor::Expr& value) {
  return value->op == tensor::ExprOp::kSelect && value->operands[1]->op == tensor::ExprOp::kLoad &&
         (value->operands[2]->op == tensor::ExprOp::kFloat ||
          value->operands[2]->op == tensor::ExprOp::kInt);
}

std::vector<tensor::Schedule> InlineIf(tensor::Schedule schedule, const std::string& name,
                                       bool wanted) {
  if (wanted) {
    tensor::Schedule inlined = schedule;
    Result<tensor::BlockVar> block = inlined.GetBlock(name);
    if (block && inlined.ComputeInline(*block)) schedule = std::move(inlined);
  }
  return {std::move(schedule)};
}

}  // namespace

std::vector<tensor::Schedule> InlineConstants(tensor::Schedule schedule, const std::string& name,
                                              const target::Target&) {
  const tensor::BlockId id = schedule.program().FindBlock(name);
  const tensor::Block& block = schedule.program().blocks[id];
  const bool wanted = block.kind == tensor::BlockKind::kPlain && IsScalarConstant(block);
  return InlineIf(std::move(schedule), name, wanted);
}

std::vector<tensor::Schedule> AutoInline(tensor::Schedule schedule, const std::string& name,
                                         const target::Target& target) {
  const tensor::Program& program = schedule.program();
  const tensor::BlockId id = program.FindBlock(name);
  const tensor::Block& block = program.blocks[id];
  const bool wanted = block.kind == tensor::BlockKind::kPlain &&
                      program.buffers[block.output].role == tensor::BufferRole::kIntermediate &&
                      IsFreeToInline(program, id, target);
  return InlineIf(std::move(schedule), name, wanted);
}

/// Generated code leaves out what only adds padding's zeros, so that a reduction can read the
/// tensor itself: no copy is made. A copy is closer together in memory; both are worth a trial.
std::vector<tensor::Schedule> InlinePadding(tensor::Schedule schedule, const std::string& name,
                                            const target::Target& target) {
  const tensor::Program& program = schedule.program();
  const tensor::Block& block = program.blocks[program.FindBlock(name)];
  const std::vector<tensor::BlockId> readers = program.ReadersOf(block.output);
  std::vector<tensor::Schedule> alternatives = {schedule};
  if (block.kind != tensor::BlockKind::kPlain || !IsPadding(block.value) || readers.size() != 1 ||
      program.blocks[readers[0]].kind != tensor::BlockKind::kReduce) {
    return alternatives;
  }
  const bool has_axis = FindDotAxis(program, readers[0], target).has_value();
  Result<tensor::BlockVar> padding = schedule.GetBlock(name);
  if (padding && schedule.ComputeInline(*padding) &&
      has_axis == FindDotAxis(schedule.program(), readers[0], target).has_value()) {
    alternatives.insert(alternatives.begin(), std::move(schedule));
  }
  return alternatives;
}

}  // namespace bayloom::sketch
