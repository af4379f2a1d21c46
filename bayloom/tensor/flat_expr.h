// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "bayloom/tensor/scalar.h"
#include "bayloom/tensor/workload.h"

namespace bayloom::tensor {

/// One element held for arithmetic: `f` for the float types, `i` for integers and bools.
union ScalarValue {
  double f;
  int64_t i;
};

ScalarValue LoadScalar(DType dtype, const std::byte* at);
void StoreScalar(DType dtype, std::byte* at, ScalarValue value);
/// combine(a, b) of a reduction over elements of the type, rounded to it.
ScalarValue CombineScalars(Reduction reduction, DType dtype, ScalarValue a, ScalarValue b);
/// The value of a literal.
ScalarValue ScalarOf(const Expr& literal);

/// The row-major place of an element whose indices are linear in the iterators.
class LinearIndex {
 public:
  /// All of `indices` must be linear.
  LinearIndex(const Buffer& buffer, std::span<const Expr> indices, int iter_count);

  /// Throws std::logic_error when an index lies outside of the buffer.
  int64_t Place(const int64_t* iters) const {
    int64_t place = 0;
    const Term* term = terms_.data();
    for (const Dimension& dimension : dimensions_) {
      int64_t index = dimension.constant;
      for (int t = 0; t < dimension.term_count; ++t, ++term) {
        index += iters[term->iter] * term->coefficient;
      }
      if (static_cast<uint64_t>(index) >= static_cast<uint64_t>(dimension.extent)) {
        ThrowOutOfRange(*buffer_, index, dimension.extent);
      }
      place = place * dimension.extent + index;
    }
    return place;
  }

  [[noreturn]] static void ThrowOutOfRange(const Buffer& buffer, int64_t index, int64_t extent);

 private:
  struct Term {
    int iter;
    int64_t coefficient;
  };
  struct Dimension {
    int64_t extent;
    int64_t constant;
    int term_count;
  };
  const Buffer* buffer_;
  std::vector<Dimension> dimensions_;
  std::vector<Term> terms_;
};

/// An expression as a list of steps on a stack, for evaluating it many times.
///
/// The buffers must outlive it. Which memory the loads go to is the caller's:
/// load(BufferId, place) gives the element at a row-major place.
class FlatExpr {
 public:
  FlatExpr(const Expr& e, std::span<const Buffer> buffers, int iter_count);

  template <typename Load>
  ScalarValue Evaluate(const int64_t* iters, Load&& load) const {
    std::array<ScalarValue, kInlineStack> inline_stack;  // NOLINT: written before it is read
    if (stack_size_ <= kInlineStack) return Run(iters, load, inline_stack.data());
    std::vector<ScalarValue> stack(static_cast<size_t>(stack_size_));
    return Run(iters, load, stack.data());
  }

 private:
  static constexpr int kInlineStack = 24;

  enum class StepKind : uint8_t {
    kConstant,
    kIter,
    kLoadLinear,  ///< `target`: which of linear_loads_
    kLoad,        ///< `target`: the buffer, whose indices are on the stack
    kUnary,
    kBinary,
    kCast,
    kJumpUnless,  ///< pops a condition
    kJump,
  };
  struct Step {
    StepKind kind = StepKind::kConstant;
    ExprOp op = ExprOp::kInt;
    DType dtype = DType::kInt64;  ///< of the operands
    DType result = DType::kInt64;
    int target = 0;
    ScalarValue constant = {.i = 0};
  };
  struct LinearLoad {
    BufferId buffer = -1;
    LinearIndex index;
  };

  void Compile(const Expr& e, int depth);
  int EmitJump(StepKind kind);
  static ScalarValue ApplyUnary(const Step& step, ScalarValue a);
  static ScalarValue ApplyBinary(const Step& step, ScalarValue a, ScalarValue b);
  static ScalarValue ApplyCast(const Step& step, ScalarValue a);
  /// Replaces the indices at the stack's top by their place.
  int64_t PopPlace(BufferId buffer, ScalarValue*& top) const;

  template <typename Load>
  ScalarValue Run(const int64_t* iters, Load&& load, ScalarValue* stack) const {
    ScalarValue* top = stack;  // one past the last value
    for (const Step *step = steps_.data(), *end = step + steps_.size(); step != end; ++step) {
      switch (step->kind) {
        case StepKind::kConstant:
          *top++ = step->constant;
          break;
        case StepKind::kIter:
          (top++)->i = iters[step->target];
          break;
        case StepKind::kLoadLinear: {
          const LinearLoad& linear = linear_loads_[static_cast<size_t>(step->target)];
          *top++ = load(linear.buffer, linear.index.Place(iters));
          break;
        }
        case StepKind::kLoad: {
          const int64_t place = PopPlace(step->target, top);
          *top++ = load(step->target, place);
          break;
        }
        case StepKind::kUnary:
          top[-1] = ApplyUnary(*step, top[-1]);
          break;
        case StepKind::kBinary:
          --top;
          top[-1] = ApplyBinary(*step, top[-1], top[0]);
          break;
        case StepKind::kCast:
          top[-1] = ApplyCast(*step, top[-1]);
          break;
        case StepKind::kJumpUnless:
          if ((--top)->i == 0) step = steps_.data() + step->target - 1;
          break;
        case StepKind::kJump:
          step = steps_.data() + step->target - 1;
          break;
      }
    }
    return top[-1];
  }

  std::span<const Buffer> buffers_;
  int iter_count_;
  int stack_size_ = 0;
  std::vector<Step> steps_;
  std::vector<LinearLoad> linear_loads_;
};

}  // namespace bayloom::tensor
