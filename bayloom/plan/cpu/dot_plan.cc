// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/plan/cpu/dot_plan.h"

#include <algorithm>
#include <utility>

#include "bayloom/tensor/digits.h"
#include "bayloom/tensor/loop_tree.h"

namespace bayloom::plan {
namespace {

/// The vectorized loop between `outer` and the block whose lanes an instruction's lanes become.
const VectorLoop* VectorLoopInside(const tensor::Program& program, tensor::LoopId outer,
                                   tensor::BlockId block,
                                   const std::map<tensor::LoopId, VectorLoop>& vector_loops) {
  for (tensor::LoopId loop : program.LoopsAround(tensor::NodeRef::Block(block))) {
    const auto found = vector_loops.find(loop);
    if (found != vector_loops.end() &&
        tensor::IsBelow(program, tensor::NodeRef::Loop(loop), tensor::NodeRef::Loop(outer))) {
      return &found->second;
    }
  }
  return nullptr;
}

/// Floats are in other registers than their bits: those are not put together from elements. Where
/// data says which elements they are, it is the same for all lanes.
bool CanBeTaken(const tensor::Program& program, const DotPlan& plan, const BlockAccesses& accesses,
                const VectorLoop& vector, const tensor::DotFactor& factor) {
  const tensor::Block& block = program.blocks[plan.block];
  for (const PlacedAccess::Dynamic& part : accesses.loads.at(factor.load.get()).dynamic) {
    const auto moves = [&](tensor::DigitId digit) {
      return MovesWith(program, block, part.index, digit);
    };
    if (plan.IsShifted() || moves(plan.digit) || std::ranges::any_of(vector.lanes, moves)) {
      return false;
    }
  }
  return (tensor::IsInteger(factor.dtype()) || !IsTakenApart(program, plan, factor));
}

bool VariesInLanes(const PlacedAccess& access, const VectorLoop& vector) {
  return std::ranges::any_of(
      vector.lanes, [&](tensor::DigitId digit) { return access.affine.CoefficientOf(digit) != 0; });
}

/// The name of the elements' type for instructions.
std::string TypeName(const tensor::DotFactor& factor) {
  constexpr int64_t kMostOfSmall = 127;
  const bool is_small = factor.shift.defined() && factor.mask <= kMostOfSmall &&
                        factor.dtype() == tensor::DType::kUInt8;
  return is_small ? std::string(target::kSmallByte) : tensor::ToString(factor.dtype());
}

/// Parts of bytes are taken as signed where that spares a shift.
std::optional<target::DotMethod> MethodOf(tensor::DotProduct& product,
                                          const target::Target& target) {
  const auto method = [&] {
    return target::DotMethodFor(target, TypeName(product.a), TypeName(product.b));
  };
  const auto is_shifted = [](const std::optional<target::DotMethod>& found) {
    return found && found->operands == target::DotOperands::kShifted;
  };
  std::optional<target::DotMethod> found = method();
  if (product.IsPlain() || !is_shifted(found)) return found;
  for (tensor::DotFactor* factor : {&product.a, &product.b}) {
    factor->as_signed = factor->shift.defined();
  }
  found = method();
  return is_shifted(found) ? std::nullopt : found;
}

/// What the scale of products depends on, and how many have one.
void FindScales(const tensor::Block& block, const tensor::DotProduct& product, DotPlan& plan) {
  plan.block_scale = product.block;
  for (int i = 0; i < static_cast<int>(block.iters.size()); ++i) {
    if (block.iters[i].kind != tensor::IterKind::kReduction) continue;
    if (product.HasOneScaleAlong(i)) {
      plan.terms_of_scale *= block.iters[i].extent;
    } else {
      plan.scaled_iters.push_back(i);
    }
  }
}

/// Whether 16 bits hold the sums for one scale of an instruction that adds up pairs of products.
bool FitHalves(const DotPlan& plan) {
  if (plan.method.instruction->a != target::kSmallByte) return false;
  constexpr int64_t kMost = 32767, kMostOfByte = 128;
  const int64_t mask = std::min(plan.a.mask, plan.b.mask);
  const int64_t steps = std::max<int64_t>(plan.terms_of_scale * plan.parts / plan.depth, 1);
  return 2 * mask * kMostOfByte * steps <= kMost;
}

/// A shift, which the byte's first part does not need, and a mask.
constexpr double kOperationsOfPart = 1.5;
/// A conversion, a product of two scales, a multiply-add.
constexpr double kOperationsOfScale = 3;

/// Sums of integers and their total are in registers; what belongs to a scale is done once for it.
void AddScales(const DotPlan& plan, TileWork& work) {
  const auto steps = static_cast<double>(std::max<int64_t>(plan.terms_of_scale / plan.depth, 1));
  // An instruction of each product, for one more of a scale.
  const double saved = plan.in_halves ? static_cast<double>(plan.parts) : 0;
  work.registers = 2;
  work.combine += (kOperationsOfScale + (plan.in_halves ? 1 : 0)) / steps - saved;
  for (const tensor::Expr& once : {plan.block_scale->scale, plan.block_scale->zero}) {
    if (!once.defined()) continue;
    tensor::Visit(once, [&](const tensor::Expr& e) {
      if (e->op == tensor::ExprOp::kLoad) work.values[e.get()] = {0, 1 / steps, 0, 0};
    });
  }
  if (!plan.block_scale->zero.defined()) return;
  TileWork::Value& beside = work.values[plan.BesideZero().load.get()];
  beside.operations += plan.method.Operations() - saved;
  beside.sums += 1;
}

std::optional<DotPlan> PlanDot(const tensor::Program& program, const target::Target& target,
                               const std::map<tensor::BlockId, BlockAccesses>& all_accesses,
                               const std::map<tensor::LoopId, VectorLoop>& vector_loops,
                               tensor::LoopId loop, tensor::BlockId id) {
  const tensor::Block& block = program.blocks[id];
  const BlockAccesses& accesses = all_accesses.at(id);
  const VectorLoop* vector = VectorLoopInside(program, loop, id, vector_loops);
  std::optional<tensor::DotProduct> product = tensor::MatchDotProduct(block);
  const auto method = MethodOf(*product, target);
  if (vector == nullptr || !method) return std::nullopt;
  if (program.ExtentOf(loop) > product->matrix_depth()) return std::nullopt;  // for GPUs
  DotPlan plan{.block = id,
               .loop = loop,
               .digit = tensor::OnlyDigit(program, loop),
               .method = *method,
               .a = product->a,
               .b = product->b,
               .depth = program.ExtentOf(loop)};
  plan.parts = plan.depth / product->depth();
  if (product->block) {
    FindScales(block, *product, plan);
    plan.in_halves = FitHalves(plan);
  }
  if (plan.depth == product->matrix_depth() && product->IsPlain()) {
    plan.matrix = target::MatrixInstructionFor(target, tensor::ToString(product->a.dtype()),
                                               tensor::ToString(product->b.dtype()));
  }
  for (const tensor::DotFactor* factor : {&plan.a, &plan.b}) {
    if (!CanBeTaken(program, plan, accesses, *vector, *factor)) return std::nullopt;
  }
  if (method->operands == target::DotOperands::kSwapped) {
    std::swap(plan.a, plan.b);
    plan.zero_of_a = true;
  }
  if (plan.IsShifted()) {
    // What is taken away belongs to the operand that is not shifted: it is needed once for all
    // sums that share it, so it must be there for all of them. Where both could be, it is the
    // second: sums share weights.
    const auto suits = [&](const tensor::DotFactor& factor) {
      return !factor.condition.defined() &&
             VariesInLanes(accesses.loads.at(factor.load.get()), *vector);
    };
    if (!suits(plan.b)) std::swap(plan.a, plan.b);
    if (!suits(plan.b)) return std::nullopt;
  }
  return plan;
}

}  // namespace

bool MovesWith(const tensor::Program& program, const tensor::Block& block, const tensor::Expr& e,
               tensor::DigitId digit) {
  bool moves = false;
  tensor::Visit(e, [&](const tensor::Expr& node) {
    moves = moves || (node->op == tensor::ExprOp::kIter &&
                      block.bindings[node->index].CoefficientOf(digit) != 0);
  });
  return moves && program.digit_extents[digit] > 1;
}

bool IsTakenApart(const tensor::Program& program, const DotPlan& plan,
                  const tensor::DotFactor& factor) {
  if (!factor.condition.defined()) return false;
  return !factor.otherwise ||
         MovesWith(program, program.blocks[plan.block], factor.condition, plan.digit);
}

std::map<tensor::BlockId, DotPlan> PlanDots(
    const tensor::Program& program, const target::Target& target,
    const std::map<tensor::BlockId, BlockAccesses>& accesses,
    const std::map<tensor::LoopId, VectorLoop>& vector_loops) {
  std::map<tensor::BlockId, DotPlan> plans;
  for (tensor::LoopId loop = 0; loop < static_cast<int>(program.loops.size()); ++loop) {
    const tensor::Loop& candidate = program.loops[loop];
    if (!candidate.alive || candidate.kind != tensor::LoopKind::kTensorized) continue;
    const Result<tensor::BlockId> block = tensor::BlockToTensorize(program, loop);
    if (!block) continue;
    if (auto plan = PlanDot(program, target, accesses, vector_loops, loop, *block)) {
      plans.emplace(*block, *std::move(plan));
    }
  }
  return plans;
}

TileWork WorkOf(const DotPlan& plan, const BlockAccesses& accesses) {
  TileWork work;
  work.combine = plan.matrix ? plan.matrix->operations
                             : static_cast<double>(plan.parts * plan.method.Operations());
  for (const tensor::DotFactor* factor : {&plan.a, &plan.b}) {
    TileWork::Value& value = work.values[factor->load.get()];
    const bool adjacent =
        accesses.loads.at(factor->load.get()).affine.CoefficientOf(plan.digit) == 1;
    if (!adjacent) value.operations += static_cast<double>(2 * plan.depth);
    value.registers = plan.parts;
    if (plan.method.operands == target::DotOperands::kWidened) {
      value.operations += static_cast<double>(3 * plan.parts);
      value.registers = 2 * plan.parts;
    }
    if (factor->shift.defined()) value.operations += kOperationsOfPart;
    if (!plan.IsShifted()) continue;
    value.operations += 1;
    if (factor == &plan.b) value.sums = 1;
  }
  if (plan.block_scale) AddScales(plan, work);
  return work;
}

}  // namespace bayloom::plan
