#include "bayloom/feature/op_counts.h"

#include <algorithm>
#include <vector>

namespace bayloom {
namespace {

constexpr int kFloatToInt = static_cast<int>(OpClass::kIntMad);

class OpCounter {
 public:
  void Count(const Expr& e) {
    const ExprNode& node = *e;
    if (node.operands.empty() || Seen(&node)) return;
    if (node.op == ExprOp::kAdd || node.op == ExprOp::kSub) {
      CountSum(node);
      return;
    }
    Tally(node);
    for (const Expr& operand : node.operands) Count(operand);
  }

  /// The reduction's own combine(accumulator, value).
  void CountCombine(Reduction reduction, const Expr& value) {
    switch (reduction) {
      case Reduction::kNone:
        break;
      case Reduction::kSum:
        if (value->op == ExprOp::kMul) {
          Add(OpClass::kFloatMad, value->dtype);
          CountOperands(*value);
          return;
        }
        Add(OpClass::kFloatAddSub, value->dtype);
        break;
      case Reduction::kProduct:
        Add(OpClass::kFloatMul, value->dtype);
        break;
      case Reduction::kMin:
      case Reduction::kMax:
        Add(OpClass::kFloatCompare, value->dtype);
        break;
    }
    Count(value);
  }

  const OpCounts& counts() const { return counts_; }

 private:
  bool Seen(const ExprNode* node) {
    if (std::find(seen_.begin(), seen_.end(), node) != seen_.end()) return true;
    seen_.push_back(node);
    return false;
  }

  /// Takes the class among the float ones and moves it to the integers' where the type asks so.
  void Add(OpClass op, DType dtype) {
    counts_[static_cast<int>(op) + (IsFloat(dtype) ? 0 : kFloatToInt)] += 1;
  }
  void AddUntyped(OpClass op) { counts_[static_cast<int>(op)] += 1; }

  void CountOperands(const ExprNode& node) {
    for (const Expr& operand : node.operands) Count(operand);
  }

  /// A sum one of whose terms is a product is one multiply-add.
  void CountSum(const ExprNode& node) {
    const bool left = node.operands[0]->op == ExprOp::kMul;
    const bool right = !left && node.operands[1]->op == ExprOp::kMul;
    Add(left || right ? OpClass::kFloatMad : OpClass::kFloatAddSub, node.dtype);
    left ? CountOperands(*node.operands[0]) : Count(node.operands[0]);
    right ? CountOperands(*node.operands[1]) : Count(node.operands[1]);
  }

  void Tally(const ExprNode& node) {
    if (IsTranscendental(node.op)) return Add(OpClass::kFloatMath, node.dtype);
    switch (node.op) {
      case ExprOp::kInt:
      case ExprOp::kFloat:
      case ExprOp::kIter:
      case ExprOp::kLoad:
      case ExprOp::kCast:
        return;
      case ExprOp::kMul:
        return Add(OpClass::kFloatMul, node.dtype);
      case ExprOp::kAdd:
      case ExprOp::kSub:
      case ExprOp::kNegate:
        return Add(OpClass::kFloatAddSub, node.dtype);
      case ExprOp::kDiv:
      case ExprOp::kFloorDiv:
      case ExprOp::kFloorMod:
      case ExprOp::kMod:
        return Add(OpClass::kFloatDivMod, node.dtype);
      case ExprOp::kMin:
      case ExprOp::kMax:
      case ExprOp::kLess:
      case ExprOp::kLessEqual:
      case ExprOp::kEqual:
        return Add(OpClass::kFloatCompare, node.operands[0]->dtype);
      case ExprOp::kAnd:
      case ExprOp::kOr:
      case ExprOp::kXor:
      case ExprOp::kNot:
        if (node.dtype == DType::kBool) return AddUntyped(OpClass::kBool);
        return Add(OpClass::kFloatOther, node.dtype);
      case ExprOp::kSelect:
        return AddUntyped(OpClass::kSelect);
      case ExprOp::kShiftLeft:
      case ExprOp::kShiftRight:
      case ExprOp::kAbs:
      case ExprOp::kSign:
      case ExprOp::kFloor:
      case ExprOp::kCeil:
      case ExprOp::kRound:
      case ExprOp::kSqrt:
      case ExprOp::kIsNan:
      case ExprOp::kIsInf:
        return Add(OpClass::kFloatOther, node.operands[0]->dtype);
      default:
        return;
    }
  }

  OpCounts counts_{};
  std::vector<const ExprNode*> seen_;
};

}  // namespace

OpCounts CountOps(const Block& block) {
  OpCounter counter;
  if (block.kind == BlockKind::kReduce || block.kind == BlockKind::kUpdate) {
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

}  // namespace bayloom
