// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Operators that go along an axis in one order: sorting, prefix sums. Kernels of the library.
#include <fmt/format.h>

#include "bayloom/graph/operators/helpers.h"

namespace bayloom::graph {
namespace {

/// The indices come from a kernel; what they choose is gathered.
void TopK(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const int axis = context.Axis("axis", -1, Rank(x));
  const bool largest = context.Int("largest", 1) != 0;
  const int64_t k = context.opset() < 10 ? context.Int("k") : context.IntInput(1);
  if (k < 0 || k > x.shape()[axis]) {
    context.Refuse(fmt::format("the {} extreme elements of {}", k, x.shape()[axis]));
  }
  if (x.dtype() == tensor::DType::kBool) context.Refuse("bool has no order");
  std::vector<int64_t> numbers = LinesAlong(x.shape(), axis);
  numbers.insert(numbers.end(), {k, largest});
  std::vector<int64_t> shape = x.shape();
  shape[axis] = k;
  GraphBuilder& b = context.builder();
  const tensor::Tensor index = b.Call("topk.index", shape, tensor::DType::kInt64,
                                      tensor::LibraryKernel::kTopK, {x}, numbers);
  context.SetOutput(0, b.Map("topk", shape, [&](const Exprs& place) {
    Exprs at = place;
    at[axis] = WrappedIndex(index.At(place), x.shape()[axis]);
    return x.At(at);
  }));
  context.SetOutput(1, index);
}

void CumulateAlong(OperatorContext& context, bool product) {
  const tensor::Tensor x = context.Input(0);
  const int axis = context.CheckAxis(context.IntInput(1), Rank(x));
  const bool exclusive = context.Int("exclusive", 0) != 0, reverse = context.Int("reverse", 0) != 0;
  if (x.dtype() == tensor::DType::kBool) context.Refuse("bool cannot be summed up");
  std::vector<int64_t> numbers = LinesAlong(x.shape(), axis);
  numbers.insert(numbers.end(), {product, exclusive, reverse});
  context.SetOutput(0, context.builder().Call(context.label(), x.shape(), x.dtype(),
                                              tensor::LibraryKernel::kScan, {x}, numbers));
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
