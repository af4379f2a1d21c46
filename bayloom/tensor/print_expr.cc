// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/print_expr.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bayloom/tensor/names.h"
#include "bayloom/tensor/program.h"

namespace bayloom::tensor {
namespace {

/// Binding strength of operators, weakest first; functions and leaves bind strongest.
enum Precedence {
  kOrLevel = 1,
  kXorLevel,
  kAndLevel,
  kCompareLevel,
  kShiftLevel,
  kSumLevel,
  kProductLevel,
  kUnaryLevel
};

struct Infix {
  ExprOp op;
  std::string_view symbol;
  Precedence precedence;
};

constexpr auto kInfix = std::to_array<Infix>({
    {ExprOp::kAdd, "+", kSumLevel},
    {ExprOp::kSub, "-", kSumLevel},
    {ExprOp::kMul, "*", kProductLevel},
    {ExprOp::kDiv, "/", kProductLevel},
    {ExprOp::kFloorDiv, "//", kProductLevel},
    {ExprOp::kFloorMod, "%", kProductLevel},
    {ExprOp::kShiftLeft, "<<", kShiftLevel},
    {ExprOp::kShiftRight, ">>", kShiftLevel},
    {ExprOp::kLess, "<", kCompareLevel},
    {ExprOp::kLessEqual, "<=", kCompareLevel},
    {ExprOp::kEqual, "==", kCompareLevel},
    {ExprOp::kAnd, "and", kAndLevel},
    {ExprOp::kOr, "or", kOrLevel},
    {ExprOp::kXor, "xor", kXorLevel},
});

const Infix* FindInfix(ExprOp op) {
  for (const Infix& infix : kInfix) {
    if (infix.op == op) return &infix;
  }
  return nullptr;
}

std::string Enclosed(std::string text, int precedence, int context) {
  return precedence < context ? "(" + text + ")" : text;
}

/// The shortest text that reads back as the same number of the type.
std::string PrintFloat(const ExprNode& node) {
  std::string text = node.dtype == DType::kFloat64
                         ? fmt::format("{}", node.float_value)
                         : fmt::format("{}", static_cast<float>(node.float_value));
  const bool looks_integer = text.find_first_not_of("-0123456789") == std::string::npos;
  return looks_integer ? text + ".0" : text;
}

}  // namespace

std::string ExprPrinter::List(std::span<const Expr> items) const {
  std::string text;
  for (const Expr& item : items) text += (text.empty() ? "" : ", ") + Print(item);
  return text;
}

std::string ExprPrinter::BufferName(BufferId id) const {
  return static_cast<size_t>(id) < buffers_.size() ? buffers_[id].name
                                                   : fmt::format("buffer{}", id);
}

std::string ExprPrinter::Print(const Expr& e, int context) const {
  switch (e->op) {
    case ExprOp::kInt:
      if (e->dtype == DType::kBool) return e->int_value ? "true" : "false";
      return fmt::format("{}", e->int_value);
    case ExprOp::kFloat:
      return PrintFloat(*e);
    case ExprOp::kIter:
      return static_cast<size_t>(e->index) < iters_.size() ? iters_[e->index].name
                                                           : fmt::format("i{}", e->index);
    case ExprOp::kLoad:
      return fmt::format("{}[{}]", BufferName(e->index), List(e->operands));
    case ExprOp::kSize:
      return BufferName(e->index);
    case ExprOp::kCall:
      return PrintCall(e);
    case ExprOp::kCast:
      return fmt::format("{}({})", ToString(e->dtype), List(e->operands));
    case ExprOp::kNegate:
      return Enclosed("-" + Print(e->operands[0], kUnaryLevel), kUnaryLevel, context);
    case ExprOp::kNot:
      return Enclosed("not " + Print(e->operands[0], kCompareLevel), kAndLevel, context);
    default:
      if (FindInfix(e->op)) return PrintInfix(*e, context);
      return fmt::format("{}({})", NameOf(e->op), List(e->operands));
  }
}

/// Operands stand for whole tensors.
std::string ExprPrinter::PrintCall(const Expr& e) const {
  const LibraryCall call = *AsCall(e);
  std::vector<std::string> operands;
  for (BufferId operand : call.operands) operands.push_back(BufferName(operand));
  return fmt::format("{}({}; {})", NameOf(call.kernel), fmt::join(operands, ", "),
                     fmt::join(call.numbers, ", "));
}

std::string ExprPrinter::PrintInfix(const ExprNode& node, int context) const {
  const Infix& infix = *FindInfix(node.op);
  const Expr& a = node.operands[0];
  const Expr& b = node.operands[1];
  if (node.op == ExprOp::kAdd && b->op == ExprOp::kInt && b->int_value < 0) {
    const std::string text =
        fmt::format("{} - {}", Print(a, kSumLevel), 0 - static_cast<uint64_t>(b->int_value));
    return Enclosed(text, kSumLevel, context);
  }
  const bool chains = infix.precedence != kCompareLevel;
  // a * (b / c) is another number than a * b / c, and a * (b // c) even more so.
  const bool associative = node.op == ExprOp::kAdd || node.op == ExprOp::kAnd ||
                           node.op == ExprOp::kOr ||
                           (node.op == ExprOp::kMul && b->op == ExprOp::kMul);
  const std::string left = Print(a, infix.precedence + (chains ? 0 : 1));
  const std::string right = Print(b, infix.precedence + (associative ? 0 : 1));
  return Enclosed(fmt::format("{} {} {}", left, infix.symbol, right), infix.precedence, context);
}

std::string Print(const Expr& e, const std::vector<Iter>& iters,
                  const std::vector<Buffer>& buffers) {
  return ExprPrinter(iters, buffers).Print(e);
}

}  // namespace bayloom::tensor
