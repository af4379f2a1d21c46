// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/ir/expression.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "bayloom/codegen/ir/arithmetic.h"
#include "bayloom/codegen/ir/float_range.h"

namespace bayloom::codegen {
namespace {

bool IsIntegerDivision(const tensor::ExprNode& node) {
  return !tensor::IsFloat(node.dtype) && node.op >= tensor::ExprOp::kDiv &&
         node.op <= tensor::ExprOp::kMod;
}

bool IsConstantBool(llvm::Value* condition, bool value) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(condition);
  return constant && (value ? constant->isAllOnesValue() : constant->isNullValue());
}

}  // namespace

bool EmitState::Holds(const plan::Guard& guard) const {
  return digits.RangeOf(guard.slack).min >= 0 || std::ranges::count(not_negative, guard.slack) > 0;
}

llvm::Value* ExpressionEmitter::Emit(const tensor::Expr& e) {
  for (auto known = memo_.rbegin(); known != memo_.rend(); ++known) {
    if (const auto found = known->find(e.get()); found != known->end()) return found->second;
  }
  if (const auto found = state_.hoisted.find({&accesses_, e.get()});
      found != state_.hoisted.end()) {
    return found->second;
  }
  llvm::Value* value = EmitNew(e);
  memo_.back()[e.get()] = value;
  return value;
}

llvm::Value* ExpressionEmitter::EmitNew(const tensor::Expr& e) {
  if (const auto affine = accesses_.affine.find(e.get()); affine != accesses_.affine.end()) {
    return state_.addresses.AllLanes(state_.digits.Evaluate(affine->second));
  }
  switch (e->op) {
    case tensor::ExprOp::kInt:
    case tensor::ExprOp::kFloat:
      return EmitLiteral(b_, *e);
    case tensor::ExprOp::kLoad:
      return EmitLoad(*e);
    case tensor::ExprOp::kAnd:
      if (e->dtype == tensor::DType::kBool) return EmitAnd(*e);
      break;
    case tensor::ExprOp::kSelect:
      return EmitSelect(*e);
    case tensor::ExprOp::kCast:
      if (tensor::IsInteger(e->dtype) && tensor::IsFloat(e->operands[0]->dtype) &&
          FloatRangeOf(e->operands[0]).FitsInt32()) {
        return EmitSmallFloatToInteger(b_, Emit(e->operands[0]), e->dtype);
      }
      return EmitCast(b_, Emit(e->operands[0]), e->operands[0]->dtype, e->dtype);
    default:
      break;
  }
  if (llvm::Value* decided = DecideComparison(*e)) return decided;
  const tensor::DType dtype = e->operands[0]->dtype;
  llvm::Value* a = Emit(e->operands[0]);
  if (e->operands.size() == 1) return EmitUnary(b_, e->op, dtype, a);
  llvm::Value* second = Emit(e->operands[1]);
  if (IsIntegerDivision(*e)) second = SafeDivisor(a, second, !tensor::IsUnsigned(dtype));
  return EmitBinary(b_, e->op, dtype, a, second);
}

/// Guards of padding hold in all of an unrolled tile but at its rim.
llvm::Value* ExpressionEmitter::DecideComparison(const tensor::ExprNode& node) {
  if (state_.known.contains(&node)) return b_.getTrue();
  const std::optional<plan::Guard> guard = plan::ToGuard(node, accesses_);
  if (!guard) return nullptr;
  if (state_.Holds(*guard)) return b_.getTrue();
  if (state_.digits.RangeOf(guard->slack).max < 0) return b_.getFalse();
  return CompareLanes(guard->slack);
}

/// In 32 bits: vectors of 64-bit indices are several registers, and their masks are packed.
llvm::Value* ExpressionEmitter::CompareLanes(const tensor::Affine& slack) {
  constexpr int64_t kReach = (int64_t{1} << 30) - 1;
  const tensor::IndexRange range = state_.digits.RangeOf(slack);
  IndexValue index = state_.digits.Evaluate(slack);
  if (index.lanes.empty() || range.min < -kReach || range.max > kReach) return nullptr;
  std::vector<uint32_t> missing;
  for (const int64_t lane : std::exchange(index.lanes, {})) {
    missing.push_back(static_cast<uint32_t>(-lane));
  }
  llvm::Value* first = b_.CreateTrunc(state_.addresses.Scalar(index), b_.getInt32Ty());
  llvm::Constant* steps = llvm::ConstantDataVector::get(b_.getContext(), missing);
  return b_.CreateICmpSLE(steps, Splat(b_, first, static_cast<int>(missing.size())));
}

llvm::Value* ExpressionEmitter::EmitAnd(const tensor::ExprNode& node) {
  llvm::Value* a = Emit(node.operands[0]);
  if (IsConstantBool(a, false)) return a;
  llvm::Value* b = Emit(node.operands[1]);
  if (IsConstantBool(a, true) || IsConstantBool(b, false)) return b;
  return IsConstantBool(b, true) ? a
                                 : EmitBinary(b_, tensor::ExprOp::kAnd, tensor::DType::kBool, a, b);
}

llvm::Value* ExpressionEmitter::OneIfUndefined(llvm::Value* dividend, llvm::Value* divisor,
                                               bool is_signed) {
  const int lanes = std::max(LanesOf(dividend), LanesOf(divisor));
  dividend = Splat(b_, dividend, lanes);
  divisor = Splat(b_, divisor, lanes);
  llvm::Type* type = divisor->getType();
  llvm::Value* undefined = b_.CreateICmpEQ(divisor, llvm::Constant::getNullValue(type));
  if (is_signed) {
    const auto least = llvm::APInt::getSignedMinValue(type->getScalarSizeInBits());
    llvm::Value* overflows =
        b_.CreateAnd(b_.CreateICmpEQ(dividend, llvm::ConstantInt::get(type, least)),
                     b_.CreateICmpEQ(divisor, llvm::Constant::getAllOnesValue(type)));
    undefined = b_.CreateOr(undefined, overflows);
  }
  return b_.CreateSelect(undefined, llvm::ConstantInt::get(type, 1), divisor);
}

llvm::Value* ExpressionEmitter::SafeDivisor(llvm::Value* dividend, llvm::Value* divisor,
                                            bool is_signed) {
  if (llvm::isa<llvm::Constant>(divisor)) return divisor;
  const plan::Chunk chunk = state_.chunk;
  if (HasOpenAxes()) divisor = OneIfUndefined(dividend, divisor, is_signed);
  llvm::Value* matters = guard_;
  if (chunk.active < chunk.width && divisor->getType()->isVectorTy()) {
    std::vector<llvm::Constant*> lanes;
    for (int l = 0; l < chunk.width; ++l) lanes.push_back(b_.getInt1(l < chunk.active));
    llvm::Value* active = llvm::ConstantVector::get(lanes);
    matters = matters ? b_.CreateAnd(active, Splat(b_, matters, chunk.width)) : active;
  }
  if (!matters) return divisor;
  divisor = Splat(b_, divisor, LanesOf(matters));
  return b_.CreateSelect(matters, divisor, llvm::ConstantInt::get(divisor->getType(), 1));
}

llvm::Value* ExpressionEmitter::LoadedIndex(const plan::PlacedAccess::Dynamic& part) {
  using tensor::DType;
  using tensor::ExprOp;
  llvm::Value* index = EmitCast(b_, Emit(part.index), part.index->dtype, DType::kInt64);
  if (!HasOpenAxes()) return index;
  index = EmitBinary(b_, ExprOp::kMax, DType::kInt64, index, b_.getInt64(0));
  return EmitBinary(b_, ExprOp::kMin, DType::kInt64, index,
                    b_.getInt64(static_cast<uint64_t>(part.extent - 1)));
}

llvm::Value* ExpressionEmitter::DynamicOffset(const plan::PlacedAccess& access) {
  llvm::Value* dynamic = nullptr;
  for (const plan::PlacedAccess::Dynamic& part : access.dynamic) {
    llvm::Value* index = LoadedIndex(part);
    llvm::Value* offset = EmitBinary(b_, tensor::ExprOp::kMul, tensor::DType::kInt64, index,
                                     b_.getInt64(static_cast<uint64_t>(part.stride)));
    dynamic = dynamic ? EmitBinary(b_, tensor::ExprOp::kAdd, tensor::DType::kInt64, dynamic, offset)
                      : offset;
  }
  return dynamic;
}

llvm::Value* ExpressionEmitter::EmitLoad(const tensor::ExprNode& node) {
  const plan::PlacedAccess& access = accesses_.loads.at(&node);
  llvm::Value* dynamic = DynamicOffset(access);
  Steps steps;
  if (!conditional_ && state_.across && access.affine.CoefficientOf(state_.across->digit) == 1) {
    steps = state_.across->steps;
  }
  return state_.memory.Load(access.buffer, state_.digits.Evaluate(access.affine), dynamic,
                            state_.chunk, guard_, steps);
}

llvm::Value* ExpressionEmitter::EmitGuarded(const tensor::Expr& e, llvm::Value* condition) {
  llvm::Value* const outer = guard_;
  guard_ = outer ? EmitBinary(b_, tensor::ExprOp::kAnd, tensor::DType::kBool, outer, condition)
                 : condition;
  memo_.emplace_back();
  llvm::Value* value = Emit(e);
  memo_.pop_back();
  guard_ = outer;
  return value;
}

/// Both sides are computed and one chosen, without control flow; the guard keeps the side that is
/// not chosen from touching memory it must not.
llvm::Value* ExpressionEmitter::EmitSelect(const tensor::ExprNode& node) {
  llvm::Value* condition = Emit(node.operands[0]);
  for (const bool value : {true, false}) {
    if (!IsConstantBool(condition, value)) continue;
    const bool outer = std::exchange(conditional_, true);
    llvm::Value* chosen = Emit(node.operands[value ? 1 : 2]);
    conditional_ = outer;
    return chosen;
  }
  llvm::Value* then = EmitGuarded(node.operands[1], condition);
  llvm::Value* otherwise = EmitGuarded(node.operands[2], b_.CreateNot(condition));
  const int lanes = std::max({LanesOf(condition), LanesOf(then), LanesOf(otherwise)});
  return b_.CreateSelect(Splat(b_, condition, lanes), Splat(b_, then, lanes),
                         Splat(b_, otherwise, lanes));
}

}  // namespace bayloom::codegen
