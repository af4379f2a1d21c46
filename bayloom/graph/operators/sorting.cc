// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Operators that go along an axis in one order: sorting, prefix sums. Kernels of the library.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "bayloom/graph/operators/found_axes.h"
#include "bayloom/graph/operators/helpers.h"

namespace bayloom::graph {
namespace {

/// How many elements a TopK selects of so many; where that is known when the network runs only, the
/// second number is how many it may be.
std::pair<int64_t, int64_t> CountInput(OperatorContext& context, int axis, int64_t extent) {
  const tensor::Tensor count = context.Input(1);
  if (CheckedElementCount(count.shape()) != 1 || !tensor::IsInteger(count.dtype())) {
    context.Refuse("input 1 has to be one integer");
  }
  const tensor::Expr known =
      context.builder().ElementOf(count, std::vector<int64_t>(count.shape().size(), 0));
  if (known->op == tensor::ExprOp::kInt) return {known->int_value, 0};
  const int64_t capacity = std::min(context.CapacityFor(0, axis, extent), extent);
  return {context.FindLength(count, 0, axis, extent), capacity};
}

/// The indices come from a kernel; what they choose is gathered.
void TopK(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const int axis = context.Axis("axis", -1, Rank(x));
  const bool largest = context.Int("largest", 1) != 0;
  const int64_t extent = x.shape()[axis];
  int64_t k = context.opset() < 10 ? context.Int("k") : 0, capacity = 0;
  if (context.opset() >= 10) std::tie(k, capacity) = CountInput(context, axis, extent);
  if (capacity == 0 && (k < 0 || k > extent)) {
    context.Refuse(fmt::format("the {} extreme elements of {}", k, extent));
  }
  if (x.dtype() == tensor::DType::kBool) context.Refuse("bool has no order");
  std::vector<int64_t> numbers = LinesAlong(x.shape(), axis);
  numbers.insert(numbers.end(), {capacity > 0 ? capacity : k, largest});
  std::vector<int64_t> shape = x.shape();
  shape[axis] = numbers[3];
  GraphBuilder& b = context.builder();
  tensor::Tensor index = b.Call("topk.index", shape, tensor::DType::kInt64,
                                tensor::LibraryKernel::kTopK, {x}, numbers);
  if (capacity > 0) {
    shape[axis] = k;
    index = b.Map("topk.found", shape, [&](const Exprs& place) { return index.At(place); });
  }
  context.SetOutput(0, b.Map("topk", shape, [&](const Exprs& place) {
    Exprs at = place;
    at[axis] = WrappedIndex(index.At(place), extent);
    return x.At(at);
  }));
  context.SetOutput(1, index);
}

void CumulateAlong(OperatorContext& context, bool product) {
  const tensor::Tensor x = context.Input(0);
  if (x.dtype() == tensor::DType::kBool) context.Refuse("bool cannot be summed up");
  const bool exclusive = context.Int("exclusive", 0) != 0, reverse = context.Int("reverse", 0) != 0;
  const auto along = [&](int axis) {
    std::vector<int64_t> numbers = LinesAlong(x.shape(), axis);
    numbers.insert(numbers.end(), {product, exclusive, reverse});
    return context.builder().Call(context.label(), x.shape(), x.dtype(),
                                  tensor::LibraryKernel::kScan, {x}, numbers);
  };
  if (!HasFoundAxes(context, 1)) {
    return context.SetOutput(0, along(context.CheckAxis(context.IntInput(1), Rank(x))));
  }
  // An axis that is known when the network runs is one of them: all are computed.
  const tensor::Tensor axis = context.Input(1);
  if (Rank(x) == 0 || CheckedElementCount(axis.shape()) != 1 || !tensor::IsInteger(axis.dtype())) {
    context.Refuse("the axis is not one integer");
  }
  tensor::Tensor result = along(Rank(x) - 1);
  for (int d = Rank(x) - 1; d-- > 0;) {
    const tensor::Tensor own = along(d), others = result;
    result = context.builder().Map(context.label() + ".axis", x.shape(), [&](const Exprs& place) {
      const tensor::Expr given =
          tensor::Cast(tensor::DType::kInt64, axis.At(Exprs(axis.shape().size(), tensor::Expr(0))));
      return tensor::Select(IsAmong({given}, d, Rank(x)), own.At(place), others.At(place));
    });
  }
  context.SetOutput(0, result);
}

void CumSum(OperatorContext& context) { CumulateAlong(context, false); }
void CumProd(OperatorContext& context) { CumulateAlong(context, true); }

}  // namespace

std::span<const Operator> SortingOperators() {
  static const Operator operators[] = {
      {"CumProd", CumProd},
      {"CumSum", CumSum},
      {"TopK", TopK},
  };
  return operators;
}

}  // namespace bayloom::graph
