// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/tensor/dtype.h"

namespace bayloom::tensor {

/// Position of a buffer in its Workload's or Program's `buffers`.
using BufferId = int;

enum class ExprOp : uint8_t {
  // Leaves
  kInt,    ///< integer or bool literal, `int_value`
  kFloat,  ///< floating-point literal, `float_value`
  kIter,   ///< iteration variable number `index` of the enclosing stage or block, int64
  kLoad,   ///< element of buffer `index`; the operands are its indices, one per dimension
  // Binary arithmetic; both operands have the result's type
  kAdd,
  kSub,
  kMul,
  kDiv,       ///< true division on floats; division rounding towards zero on integers
  kFloorDiv,  ///< integers only, rounds towards minus infinity
  kFloorMod,  ///< integers only, takes the divisor's sign
  kMod,       ///< C's remainder (fmod on floats), takes the dividend's sign
  kMin,       ///< a NaN operand gives NaN
  kMax,
  kPow,
  kShiftLeft,
  kShiftRight,
  // Comparison; the result is bool
  kLess,
  kLessEqual,
  kEqual,
  // Boolean; kAnd, kOr and kXor of integers work on their bits
  kAnd,
  kOr,
  kXor,
  kNot,
  // select(condition, then, otherwise): only the chosen side's loads may be performed, so it
  // guards out-of-range indices (padding)
  kSelect,
  kCast,
  // Unary mathematics on floats (kNegate, kAbs, kSign on integers too)
  kNegate,
  kAbs,
  kSign,
  kFloor,
  kCeil,
  kRound,  ///< half to even
  kSqrt,
  kExp,
  kLog,
  kErf,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kTanh,
  kAsinh,
  kAcosh,
  kAtanh,
  kIsNan,  ///< result is bool
  kIsInf,  ///< result is bool
  // The whole tensor, by kernel `index` of the library; only as a stage's value (library_call.h)
  kCall,
  kSize,  ///< a leaf: the value of buffer `index`, which is a size (BufferRole::kSize), int64
};

/// Powers, exponentials, logarithms and the trigonometric kind: dozens of instructions each.
constexpr bool IsTranscendental(ExprOp op) {
  return op == ExprOp::kPow || (op >= ExprOp::kExp && op <= ExprOp::kAtanh);
}

struct ExprNode;

/// An immutable scalar expression; copying shares the node.
///
/// Expressions compute the value a stage stores and the indices of its accesses. The only names
/// in them are positions: iteration variables of the enclosing stage (kIter) and buffers (kLoad,
/// kSize), so the same expression serves the Workload and every Program made from it.
///
/// The operators below fold constants and drop neutral elements; they check types and throw
/// std::invalid_argument on a mismatch, except that an integer literal adapts to the other
/// operand's type.
class Expr {
 public:
  Expr() = default;
  /// An int64 literal.
  Expr(int64_t value);                                    // NOLINT: literals read as numbers
  Expr(int value) : Expr(static_cast<int64_t>(value)) {}  // NOLINT
  explicit Expr(std::shared_ptr<const ExprNode> node) : node_(std::move(node)) {}

  bool defined() const { return node_ != nullptr; }
  const ExprNode& operator*() const { return *node_; }
  const ExprNode* operator->() const { return node_.get(); }
  /// Identity of the shared node.
  const ExprNode* get() const { return node_.get(); }

 private:
  std::shared_ptr<const ExprNode> node_;
};

struct ExprNode {
  ExprOp op;
  DType dtype;
  int index = -1;  ///< kIter: position of the iterator; kLoad, kSize: BufferId; kCall: kernel
  int64_t int_value = 0;   ///< kInt
  double float_value = 0;  ///< kFloat
  std::vector<Expr> operands = {};
};

Expr IntLiteral(int64_t value, DType dtype = DType::kInt64);
Expr FloatLiteral(double value, DType dtype = DType::kFloat32);
Expr BoolLiteral(bool value);
/// A literal of any type: `value` converted to dtype.
Expr Literal(double value, DType dtype);
Expr IterVar(int position);
/// What a size is when the program runs.
Expr SizeOf(BufferId size);
Expr Load(BufferId buffer, DType dtype, std::vector<Expr> indices);
/// Any unary op of ExprOp.
Expr Unary(ExprOp op, Expr a);
/// Any binary op of ExprOp (arithmetic, comparison, boolean).
Expr Binary(ExprOp op, Expr a, Expr b);
Expr Select(Expr condition, Expr then, Expr otherwise);
Expr Cast(DType dtype, Expr a);

Expr operator+(Expr a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator*(Expr a, Expr b);
Expr operator/(Expr a, Expr b);
Expr operator-(Expr a);
Expr operator<(Expr a, Expr b);
Expr operator<=(Expr a, Expr b);
Expr operator&&(Expr a, Expr b);
Expr operator||(Expr a, Expr b);
Expr operator!(Expr a);
Expr FloorDiv(Expr a, Expr b);
Expr FloorMod(Expr a, Expr b);
Expr Min(Expr a, Expr b);
Expr Max(Expr a, Expr b);
Expr Equal(Expr a, Expr b);

/// True for kInt; for kFloat too where stated by the caller.
bool IsIntLiteral(const Expr& e, int64_t value);
bool StructurallyEqual(const Expr& a, const Expr& b);

/// Rebuilds an expression bottom-up: `leaf` may replace a kIter, kLoad or kSize node (its operands
/// already rewritten) and returns nullopt to keep it. Shares unchanged subtrees.
Expr Rewrite(const Expr& e, const std::function<std::optional<Expr>(const Expr&)>& leaf);
/// Replaces iteration variable i by values[i].
Expr SubstituteIters(const Expr& e, const std::vector<Expr>& values);
/// Calls `visit` on every node, parents first.
void Visit(const Expr& e, const std::function<void(const Expr&)>& visit);
/// True if the expression reads the buffer anywhere.
bool Loads(const Expr& e, BufferId buffer);

/// constant + sum of coefficients[i] * iterator i, over the iterators of one stage or block.
struct LinearForm {
  int64_t constant = 0;
  std::vector<int64_t> coefficients;  ///< one per iterator
};

/// The expression as a linear form over `iter_count` iterators; nullopt when it is not linear
/// (division, remainder, data-dependent loads).
std::optional<LinearForm> ToLinear(const Expr& e, int iter_count);

}  // namespace bayloom::tensor
