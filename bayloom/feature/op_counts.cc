// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/feature/op_counts.h"

#include <algorithm>
#include <vector>

#include "bayloom/tensor/library_call.h"

namespace bayloom::feature {
namespace {

constexpr int kFloatToInt = static_cast<int>(OpClass::kIntMad);

class OpCounter {
 public:
  void Count(const tensor::Expr& e) {
    const tensor::ExprNode& node = *e;
    if (node.operands.empty() || Seen(&node)) return;
    if (node.op == tensor::ExprOp::kAdd || node.op == tensor::ExprOp::kSub) {
      CountSum(node);
      return;
    }
    Tally(node);
    for (const tensor::Expr& operand : node.operands) Count(operand);
  }

  /// The reduction's own combine(accumulator, value).
  void CountCombine(tensor::Reduction reduction, const tensor::Expr& value) {
    switch (reduction) {
      case tensor::Reduction::kNone:
        break;
      case tensor::Reduction::kSum:
        if (value->op == tensor::ExprOp::kMul) {
          Add(OpClass::kFloatMad, value->dtype);
          CountOperands(*value);
          return;
        }
        Add(OpClass::kFloatAddSub, value->dtype);
        break;
      case tensor::Reduction::kProduct:
        Add(OpClass::kFloatMul, value->dtype);
        break;
      case tensor::Reduction::kMin:
      case tensor::Reduction::kMax:
        Add(OpClass::kFloatCompare, value->dtype);
        break;
    }
    Count(value);
  }

  const OpCounts& counts() const { return counts_; }

 private:
  bool Seen(const tensor::ExprNode* node) {
    if (std::find(seen_.begin(), seen_.end(), node) != seen_.end()) return true;
    seen_.push_back(node);
    return false;
  }

  /// Takes the class among the float ones and moves it to the integers' where the type asks so.
  void Add(OpClass op, tensor::DType dtype) {
    counts_[static_cast<int>(op) + (tensor::IsFloat(dtype) ? 0 : kFloatToInt)] += 1;
  }
  void AddUntyped(OpClass op) { counts_[static_cast<int>(op)] += 1; }

  void CountOperands(const tensor::ExprNode& node) {
    for (const tensor::Expr& operand : node.operands) Count(operand);
  }

  /// A sum one of whose terms is a product is one multiply-add.
  void CountSum(const tensor::ExprNode& node) {
    const bool left = node.operands[0]->op == tensor::ExprOp::kMul;
    const bool right = !left && node.operands[1]->op == tensor::ExprOp::kMul;
    Add(left || right ? OpClass::kFloatMad : OpClass::kFloatAddSub, node.dtype);
    left ? CountOperands(*node.operands[0]) : Count(node.operands[0]);
    right ? CountOperands(*node.operands[1]) : Count(node.operands[1]);
  }

  void Tally(const tensor::ExprNode& node) {
    if (tensor::IsTranscendental(node.op)) return Add(OpClass::kFloatMath, node.dtype);
    switch (node.op) {
      case tensor::ExprOp::kInt:
      case tensor::ExprOp::kFloat:
      case tensor::ExprOp::kIter:
      case tensor::ExprOp::kLoad:
      case tensor::ExprOp::kCast:
        return;
      case tensor::ExprOp::kMul:
        return Add(OpClass::kFloatMul, node.dtype);
      case tensor::ExprOp::kAdd:
      case tensor::ExprOp::kSub:
      case tensor::ExprOp::kNegate:
        return Add(OpClass::kFloatAddSub, node.dtype);
      case tensor::ExprOp::kDiv:
      case tensor::ExprOp::kFloorDiv:
      case tensor::ExprOp::kFloorMod:
      case tensor::ExprOp::kMod:
        return Add(OpClass::kFloatDivMod, node.dtype);
      case tensor::ExprOp::kMin:
      case tensor::ExprOp::kMax:
      case tensor::ExprOp::kLess:
      case tensor::ExprOp::kLessEqual:
      case tensor::ExprOp::kEqual:
        return Add(OpClass::kFloatCompare, node.operands[0]->dtype);
      case tensor::ExprOp::kAnd:
      case tensor::ExprOp::kOr:
      case tensor::ExprOp::kXor:
      case tensor::ExprOp::kNot:
        if (node.dtype == tensor::DType::kBool) return AddUntyped(OpClass::kBool);
        return Add(OpClass::kFloatOther, node.dtype);
      case tensor::ExprOp::kSelect:
        return AddUntyped(OpClass::kSelect);
      case tensor::ExprOp::kShiftLeft:
      case tensor::ExprOp::kShiftRight:
      case tensor::ExprOp::kAbs:
      case tensor::ExprOp::kSign:
      case tensor::ExprOp::kFloor:
      case tensor::ExprOp::kCeil:
      case tensor::ExprOp::kRound:
      case tensor::ExprOp::kSqrt:
      case tensor::ExprOp::kIsNan:
      case tensor::ExprOp::kIsInf:
        return Add(OpClass::kFloatOther, node.operands[0]->dtype);
      default:
        return;
    }
  }

  OpCounts counts_{};
  std::vector<const tensor::ExprNode*> seen_;
};

}  // namespace

OpCounts CountOps(const tensor::Block& block) {
  OpCounter counter;
  if (const auto call = tensor::AsCall(block.value);
      call && block.kind != tensor::BlockKind::kInit) {
    OpCounts counts{};
    counts[static_cast<int>(OpClass::kFloatOther)] = tensor::OperationsOf(*call);
    return counts;
  }
  if (block.kind == tensor::BlockKind::kReduce || block.kind == tensor::BlockKind::kUpdate) {
    counter.CountCombine(block.reduction, block.value);
  } else {
    counter.Count(block.value);
  }
  return counter.counts();
}

double FloatOps(const OpCounts& counts) {
  double total = counts[static_cast<int>(OpClass::kFloatMad)];
  for (int op = static_cast<int>(OpClass::kFloatMad); op < kFloatToInt; ++op) total += counts[op];
  return total;
}

}  // namespace bayloom::feature
