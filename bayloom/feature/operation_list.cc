// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/feature/operation_list.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "bayloom/plan/cpu/load_lines.h"
#include "bayloom/tensor/digits.h"

namespace bayloom::feature {
namespace {

// What cannot be measured in isolation, in vector multiply-adds; judged by the programs of
// benchmarks/zero_trials.
constexpr double kStridedElement = 1.3;  ///< of a register that is gathered or scattered
constexpr double kGuard = 0.3;           ///< of an element that may lie in the padding

/// Whether it follows from the place alone, as the guards of padding do: code is split by those.
bool ReadsNothing(const tensor::ExprNode& node) {
  return node.op != tensor::ExprOp::kLoad &&
         std::ranges::all_of(node.operands,
                             [](const tensor::Expr& operand) { return ReadsNothing(*operand); });
}

bool PlaceIsAffine(const tensor::ExprNode& load) {
  return std::ranges::all_of(load.operands,
                             [](const tensor::Expr& index) { return ReadsNothing(*index); });
}

/// A literal by which is divided by multiplying, or by shifting.
bool IsPowerOfTwo(const tensor::ExprNode& node) {
  int exponent = 0;
  return node.op == tensor::ExprOp::kFloat
             ? std::frexp(node.float_value, &exponent) == 0.5
             : node.op == tensor::ExprOp::kInt && node.int_value > 0 &&
                   std::has_single_bit(static_cast<uint64_t>(node.int_value));
}

}  // namespace

Costs::Costs(const target::MachineModel& machine)
    : multiply_add(machine.multiply_add.alone),
      load(machine.vector_load),
      division(machine.division),
      transcendental(machine.transcendental),
      in_flight(plan::TileRates::Of(machine).in_flight * multiply_add) {}

OperationList::OperationList(const tensor::Program& program, const tensor::Block& block,
                             const plan::BlockAccesses& accesses, const CpuNest& nest,
                             const Costs& costs, tensor::BufferId handed)
    : program_(program),
      block_(block),
      accesses_(accesses),
      nest_(nest),
      costs_(costs),
      handed_(handed) {
  for (const tensor::Affine& binding : block.bindings) masks_.push_back(nest_.MaskOf(binding));
}

std::vector<Operation> OperationList::Take(const plan::TileWork& work) {
  const tensor::Expr& value = block_.value;
  // A product of floats that is summed is part of the multiply-add.
  const bool fused = nest_.is_reduction && value->op == tensor::ExprOp::kMul &&
                     block_.reduction == tensor::Reduction::kSum && tensor::IsFloat(value->dtype);
  if (nest_.dot) {
    TakeFactors(*nest_.dot, work);
  } else if (fused) {
    for (const tensor::Expr& operand : value->operands) Add(operand);
  } else {
    Add(value);
  }
  return std::move(operations_);
}

/// The instruction takes elements as they are, or adapted.
void OperationList::TakeFactors(const plan::DotPlan& dot, const plan::TileWork& work) {
  for (const tensor::DotFactor* factor : {&dot.a, &dot.b}) {
    const LoopMask mask = Add(factor->load).mask;
    const auto adapted = work.values.find(factor->load.get());
    if (adapted != work.values.end() && adapted->second.operations > 0) {
      operations_.push_back({mask, adapted->second.operations * costs_.multiply_add});
    }
    if (factor->condition.defined()) operations_.push_back({0, kGuard * costs_.multiply_add});
  }
}

OperationList::Value OperationList::Add(const tensor::Expr& e) {
  if (const auto known = by_node_.find(e.get()); known != by_node_.end()) return known->second;
  LoopMask mask = 0;
  std::vector<int64_t> key = {static_cast<int64_t>(e->op), static_cast<int64_t>(e->dtype), e->index,
                              e->int_value, std::bit_cast<int64_t>(e->float_value)};
  const size_t before = operations_.size();
  for (const tensor::Expr& operand : e->operands) {
    const Value value = Add(operand);
    key.push_back(value.id);
    mask |= value.mask;
  }
  if (e->op == tensor::ExprOp::kIter) mask = MaskOfIter(e->index);
  const auto [place, is_new] =
      by_content_.emplace(std::move(key), Value{static_cast<int>(by_content_.size()), mask});
  if (is_new && e->op == tensor::ExprOp::kLoad) {
    // Places are computed along with the loops.
    if (PlaceIsAffine(*e)) operations_.resize(before);
    if (e->index != handed_) {
      const plan::PlacedAccess& load = accesses_.loads.at(e.get());
      operations_.push_back({mask, LoadCost(load, mask), true, SlidesOf(load)});
    }
  } else if (is_new) {
    if (const double cost = CostOf(*e, mask); cost > 0) operations_.push_back({mask, cost});
  }
  by_node_.emplace(e.get(), place->second);
  return place->second;
}

double OperationList::CostOf(const tensor::ExprNode& node, LoopMask mask) const {
  if (node.operands.empty() || (ReadsNothing(node) && node.op != tensor::ExprOp::kCast)) return 0;
  if (node.op == tensor::ExprOp::kSelect && ReadsNothing(*node.operands[0])) {
    return kGuard * costs_.multiply_add;
  }
  if (tensor::IsTranscendental(node.op)) return costs_.transcendental;
  if (node.op == tensor::ExprOp::kSqrt) return costs_.division;
  const double operation = ((mask & kVector) != 0 ? 1 : kScalarOperation) * costs_.multiply_add;
  const bool divides = node.op >= tensor::ExprOp::kDiv && node.op <= tensor::ExprOp::kMod &&
                       node.op != tensor::ExprOp::kMul;
  if (!divides || IsPowerOfTwo(*node.operands[1])) return operation;
  if (tensor::IsFloat(node.dtype)) return costs_.division;
  // Integer divisions have no vector form.
  return costs_.division * ((mask & kVector) != 0 ? std::min(nest_.width(), nest_.lanes()) : 1);
}

LoopMask OperationList::StoreMask() const {
  LoopMask mask = 0;
  for (const tensor::Expr& index : block_.output_index) mask |= MaskOf(index);
  return mask;
}

double OperationList::MemoryCost(const plan::PlacedAccess& access, LoopMask mask) const {
  const int64_t at_once = nest_.at_once();
  if ((mask & kVector) == 0 && at_once == 1) return kScalarOperation * costs_.multiply_add;
  const bool affine = IsAffine(access);
  const int64_t step = affine && nest_.dot ? access.affine.CoefficientOf(nest_.dot->digit) : 0;
  // Elements that are summed up at once and do not lie next to each other are loaded one by one.
  const double parts = step == 0 || step == 1 ? 1 : static_cast<double>(at_once);
  if ((mask & kVector) == 0) return parts * kScalarOperation * costs_.multiply_add;
  if (affine && IsContiguous(access.affine, step == 1 ? at_once : 1)) {
    return parts * costs_.load *
           plan::LinesOf(program_, access, *nest_.vector, step == 1 ? at_once : 1);
  }
  const double strided = kStridedElement * std::min(nest_.width(), nest_.lanes());
  return parts * strided * costs_.multiply_add;
}

/// The same for loads, which a loop around may help: where it runs along memory, as many of its
/// steps as there are lanes are loaded together and transposed in registers.
double OperationList::LoadCost(const plan::PlacedAccess& access, LoopMask mask) const {
  const double alone = MemoryCost(access, mask);
  if ((mask & kVector) == 0 || nest_.is_reduction || nest_.across < 0) return alone;
  if (!IsAffine(access) || access.affine.CoefficientOf(nest_.across) != 1 ||
      IsContiguous(access.affine, 1)) {
    return alone;
  }
  return std::min(alone,
                  costs_.load + std::log2(std::max(nest_.width(), 2.0)) * costs_.multiply_add);
}

/// Whether the vectorized loop's elements, so many at each place, lie next to each other.
bool OperationList::IsContiguous(const tensor::Affine& offset, int64_t elements) const {
  return nest_.vector && offset.CoefficientOf(nest_.vector->lanes.back()) == elements;
}

int OperationList::SlidesOf(const plan::PlacedAccess& access) const {
  if (nest_.reduction.empty() || !IsAffine(access)) return -1;
  const tensor::DigitId reduced = tensor::OnlyDigit(program_, nest_.reduction.back());
  const int64_t step = reduced >= 0 ? access.affine.CoefficientOf(reduced) : 0;
  for (size_t i = 0; step != 0 && i < nest_.steps.size(); ++i) {
    if (access.affine.CoefficientOf(nest_.steps[i].digit) == step) return static_cast<int>(i);
  }
  return -1;
}

/// Wherever the row of a gather is, its lanes are neighbours.
bool OperationList::IsAffine(const plan::PlacedAccess& access) const {
  return std::ranges::all_of(access.dynamic, [&](const plan::PlacedAccess::Dynamic& part) {
    return (MaskOf(part.index) & kVector) == 0 && nest_.at_once() == 1;
  });
}

LoopMask OperationList::MaskOf(const tensor::Expr& e) const {
  if (e->op == tensor::ExprOp::kIter) return MaskOfIter(e->index);
  LoopMask mask = 0;
  for (const tensor::Expr& operand : e->operands) mask |= MaskOf(operand);
  return mask;
}

/// Blocks that are in no loop need not bind their iterators.
LoopMask OperationList::MaskOfIter(int iter) const {
  return iter < static_cast<int>(masks_.size()) ? masks_[iter] : 0;
}

}  // namespace bayloom::feature
