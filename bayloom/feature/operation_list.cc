// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/feature/operation_list.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "bayloom/tensor/access.h"
#include "bayloom/tensor/digits.h"

namespace bayloom::feature {
namespace {

// What cannot be measured in isolation, in vector multiply-adds; judged by the programs of
// benchmarks/zero_trials.
constexpr double kStridedElement = 1.3;  ///< of a register that is gathered or scattered
constexpr double kMaxInFlight = 8;       ///< multiply-adds, as codegen reckons
constexpr double kGuard = 0.3;           ///< of an element that may lie in the padding
constexpr int64_t kLineBytes = 64;

/// Whether it follows from the place alone, as the guards of padding do: code is split by those.
bool ReadsNothing(const tensor::ExprNode& node) {
  return node.op != tensor::ExprOp::kLoad &&
         std::ranges::all_of(node.operands,
                             [](const tensor::Expr& operand) { return ReadsNothing(*operand); });
}

bool IsAffine(const tensor::ExprNode& load) {
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
      in_flight(std::min(machine.multiply_add_latency, kMaxInFlight * machine.multiply_add.alone)) {
}

OperationList::OperationList(const tensor::Program& program, const BufferPlaces& places,
                             const tensor::Block& block, const RegisterNest& nest,
                             const Costs& costs, const std::optional<DotWork>& dot)
    : program_(program), places_(places), block_(block), nest_(nest), costs_(costs), dot_(dot) {
  for (const tensor::Affine& binding : block.bindings) masks_.push_back(MaskOf(binding));
}

std::vector<Operation> OperationList::Take(const tensor::Expr& value) {
  if (dot_) {
    TakeFactors(*tensor::MatchDotProduct(block_));
    return std::move(operations_);
  }
  // A product of floats that is summed is part of the multiply-add.
  const bool fused = nest_.is_reduction && value->op == tensor::ExprOp::kMul &&
                     block_.reduction == tensor::Reduction::kSum && tensor::IsFloat(value->dtype);
  if (fused) {
    for (const tensor::Expr& operand : value->operands) Add(operand);
  } else {
    Add(value);
  }
  return std::move(operations_);
}

/// The instruction takes elements as they are, or adapted.
void OperationList::TakeFactors(const tensor::DotProduct& product) {
  // What is shifted is the factor that is the same in all lanes, if there is one.
  const bool swapped = (MaskOf(product.a.load) & kVector) != 0;
  for (const tensor::DotFactor* factor : {&product.a, &product.b}) {
    const LoopMask mask = Add(factor->load).mask;
    const bool is_first = (factor == &product.a) != swapped;
    const double adapt = is_first ? dot_->adapt_first : dot_->adapt_second;
    if (adapt > 0) operations_.push_back({mask, adapt * costs_.multiply_add});
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
    if (IsAffine(*e)) operations_.resize(before);
    operations_.push_back(
        {mask, LoadCost(e->operands, e->index, mask), true, SlidesOf(e->operands, e->index)});
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
  return costs_.division * ((mask & kVector) != 0 ? std::min(nest_.width, nest_.lanes) : 1);
}

double OperationList::MemoryCost(const std::vector<tensor::Expr>& indices, tensor::BufferId buffer,
                                 LoopMask mask) const {
  if ((mask & kVector) == 0 && nest_.at_once == 1) return kScalarOperation * costs_.multiply_add;
  const std::optional<tensor::Affine> offset = OffsetOf(indices, buffer);
  const int64_t at_once = offset ? offset->CoefficientOf(nest_.at_once_digit) : 0;
  // Elements that are summed up at once and do not lie next to each other are put together.
  const double parts = at_once == 0 || at_once == 1 ? 1 : static_cast<double>(nest_.at_once);
  const double together = parts > 1 && dot_ ? dot_->pack * costs_.multiply_add : 0;
  if ((mask & kVector) == 0) return parts * kScalarOperation * costs_.multiply_add + together;
  const bool contiguous = offset && IsContiguous(*offset, at_once == 1 ? nest_.at_once : 1);
  if (contiguous) return together + parts * costs_.load * LinesOf(*offset, buffer);
  const double strided = kStridedElement * std::min(nest_.width, nest_.lanes);
  return together + parts * strided * costs_.multiply_add;
}

/// The same for loads, which a loop around may help: where it runs along memory, as many of its
/// steps as there are lanes are loaded together and transposed in registers.
double OperationList::LoadCost(const std::vector<tensor::Expr>& indices, tensor::BufferId buffer,
                               LoopMask mask) const {
  const double alone = MemoryCost(indices, buffer, mask);
  if ((mask & kVector) == 0 || nest_.is_reduction || nest_.across < 0) return alone;
  const std::optional<tensor::Affine> offset = OffsetOf(indices, buffer);
  if (!offset || offset->CoefficientOf(nest_.across) != 1 || IsContiguous(*offset, 1)) {
    return alone;
  }
  return std::min(alone, costs_.load + std::log2(std::max(nest_.width, 2.0)) * costs_.multiply_add);
}

/// Cache lines that a register's elements lie in on average: more than one where the loops around
/// move by other steps than whole registers.
double OperationList::LinesOf(const tensor::Affine& offset, tensor::BufferId buffer) const {
  const int64_t element = tensor::ByteSize(program_.buffers[buffer].dtype);
  const int64_t together =
      offset.CoefficientOf(nest_.at_once_digit) == 1 ? nest_.at_once * element : element;
  const int64_t bytes =
      std::min(static_cast<int64_t>(std::min(nest_.width, nest_.lanes)) * together, kLineBytes);
  bool aligned = offset.constant * element % bytes == 0;
  for (const tensor::Affine::Term& term : offset.terms) {
    if (program_.digit_extents[term.digit] == 1 || Contains(nest_.vectorized, term.digit)) continue;
    aligned = aligned && term.coefficient * element % bytes == 0;
  }
  return aligned ? 1 : 1 + static_cast<double>(bytes) / kLineBytes;
}

/// Whether the vectorized loop's elements, so many at each place, lie next to each other.
bool OperationList::IsContiguous(const tensor::Affine& offset, int64_t elements) const {
  for (const tensor::LoopId loop : nest_.vectorized) {  // the innermost first
    const std::vector<tensor::DigitId>& digits = program_.loops[loop].digits;
    for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
      if (program_.digit_extents[*digit] > 1) return offset.CoefficientOf(*digit) == elements;
    }
  }
  return false;
}

int OperationList::SlidesOf(const std::vector<tensor::Expr>& indices,
                            tensor::BufferId buffer) const {
  if (!nest_.is_reduction || nest_.reduction.empty()) return -1;
  const tensor::DigitId reduced = tensor::OnlyDigit(program_, nest_.reduction.back());
  const std::optional<tensor::Affine> offset = OffsetOf(indices, buffer);
  const int64_t step = offset && reduced >= 0 ? offset->CoefficientOf(reduced) : 0;
  for (size_t i = 0; step != 0 && i < nest_.tile.size(); ++i) {
    const tensor::DigitId digit = tensor::OnlyDigit(program_, nest_.tile[i].loop);
    if (digit >= 0 && offset->CoefficientOf(digit) == step) return static_cast<int>(i);
  }
  return -1;
}

std::optional<tensor::Affine> OperationList::OffsetOf(const std::vector<tensor::Expr>& indices,
                                                      tensor::BufferId buffer) const {
  tensor::Access access{buffer, false, {}};
  for (const tensor::Expr& index : indices) {
    access.indices.push_back(tensor::ComposeIndex(index, block_.bindings));
    // Wherever the row of a gather is, its lanes are neighbours.
    const bool same_for_lanes = (MaskOf(index) & kVector) == 0 && nest_.at_once == 1;
    if (!access.indices.back() && same_for_lanes) access.indices.back().emplace();
  }
  return places_.OffsetOf(program_, access);
}

bool OperationList::Contains(const std::vector<tensor::LoopId>& loops,
                             tensor::DigitId digit) const {
  return std::ranges::any_of(loops, [&](tensor::LoopId loop) {
    return std::ranges::find(program_.loops[loop].digits, digit) !=
           program_.loops[loop].digits.end();
  });
}

LoopMask OperationList::MaskOf(const std::vector<tensor::Expr>& indices) const {
  LoopMask mask = 0;
  for (const tensor::Expr& index : indices) mask |= MaskOf(index);
  return mask;
}

LoopMask OperationList::MaskOf(const tensor::Expr& e) const {
  if (e->op == tensor::ExprOp::kIter) return MaskOfIter(e->index);
  LoopMask mask = 0;
  for (const tensor::Expr& operand : e->operands) mask |= MaskOf(operand);
  return mask;
}

LoopMask OperationList::MaskOf(const tensor::Affine& affine) const {
  LoopMask mask = 0;
  for (const tensor::Affine::Term& term : affine.terms) {
    if (Contains(nest_.vectorized, term.digit)) mask |= kVector;
    if (Contains(nest_.reduction, term.digit)) mask |= kReductionMask;
    for (size_t i = 0; i < nest_.tile.size(); ++i) {
      if (Contains({nest_.tile[i].loop}, term.digit)) mask |= LoopMask{1} << (kFirstTile + i);
    }
  }
  return mask;
}

/// Blocks that are in no loop need not bind their iterators.
LoopMask OperationList::MaskOfIter(int iter) const {
  return iter < static_cast<int>(masks_.size()) ? masks_[iter] : 0;
}

}  // namespace bayloom::feature
