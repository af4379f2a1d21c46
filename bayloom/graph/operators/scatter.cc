// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Operators that put updates where indices say, one after the other: kernels of the library.
#include <fmt/format.h>

#include <algorithm>

#include "bayloom/graph/operators/helpers.h"
#include "bayloom/graph/operators/index_tuples.h"

namespace bayloom::graph {
namespace {

/// Number of tensor::Reduction.
int64_t ScatterReduction(OperatorContext& context, tensor::DType dtype) {
  static constexpr std::pair<std::string_view, tensor::Reduction> kReductions[] = {
      {"none", tensor::Reduction::kNone},
      {"add", tensor::Reduction::kSum},
      {"mul", tensor::Reduction::kProduct},
      {"min", tensor::Reduction::kMin},
      {"max", tensor::Reduction::kMax}};
  const std::string name = context.String("reduction", "none");
  for (const auto& [known, reduction] : kReductions) {
    if (name != known) continue;
    if (reduction != tensor::Reduction::kNone && dtype == tensor::DType::kBool) {
      context.RefuseAttribute("reduction", name, "combines numbers, the data are bool");
    }
    return static_cast<int64_t>(reduction);
  }
  context.RefuseAttribute("reduction", name, "has to be none, add, mul, min or max");
}

/// Indices into dimensions of these extents, of which the last axis has one for each if there are
/// several. Kernels count negative ones from the ends of memory, where lengths of open dimensions
/// are not.
tensor::Tensor Places(OperatorContext& context, const tensor::Tensor& indices,
                      const std::vector<int64_t>& extents) {
  if (!context.builder().compares_lengths()) {
    return ConvertTo(context, tensor::DType::kInt64, indices);
  }
  return context.builder().Map("places", indices.shape(), [&](const Exprs& place) {
    tensor::Expr wrapped = WrappedIndex(indices.At(place), extents.back());
    for (size_t j = extents.size() - 1; j-- > 0;) {
      wrapped = tensor::Select(tensor::Equal(place.back(), static_cast<int64_t>(j)),
                               WrappedIndex(indices.At(place), extents[j]), wrapped);
    }
    return wrapped;
  });
}

void ScatterElements(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0), indices = context.Input(1), updates = context.Input(2);
  const int axis = context.Axis("axis", 0, Rank(x));
  if (Rank(indices) != Rank(x) || updates.shape() != indices.shape()) {
    context.Refuse("data, indices and updates do not fit together");
  }
  if (updates.dtype() != x.dtype()) context.Refuse("data and updates differ in their types");
  const int64_t reduction = ScatterReduction(context, x.dtype());
  CheckKnownIndices(context, 1, x.shape()[axis]);
  if (CheckedElementCount(indices.shape()) == 0) return context.SetOutput(0, x);
  for (int d = 0; d < Rank(x); ++d) {
    if (d != axis && indices.shape()[d] > x.shape()[d]) {
      context.Refuse("indices are larger than the data");
    }
  }
  std::vector<int64_t> numbers = {reduction, axis, Rank(x)};
  numbers.insert(numbers.end(), x.shape().begin(), x.shape().end());
  numbers.insert(numbers.end(), indices.shape().begin(), indices.shape().end());
  const tensor::Tensor places = Places(context, indices, {x.shape()[axis]});
  context.SetOutput(0, context.builder().Call("scatter", x.shape(), x.dtype(),
                                              tensor::LibraryKernel::kScatterElements,
                                              {x, places, updates}, numbers));
}

void ScatterND(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0), indices = context.Input(1), updates = context.Input(2);
  const IndexTuples tuples = CheckTuples(context, x, indices, 0);
  std::vector<int64_t> expected(indices.shape().begin(), indices.shape().end() - 1);
  const int64_t count = CheckedElementCount(expected);
  const std::vector<int64_t> row(x.shape().begin() + tuples.depth, x.shape().end());
  expected.insert(expected.end(), row.begin(), row.end());
  if (updates.shape() != expected) context.Refuse("updates do not fit data and indices");
  if (updates.dtype() != x.dtype()) context.Refuse("data and updates differ in their types");
  const int64_t reduction = ScatterReduction(context, x.dtype());
  if (CheckedElementCount(updates.shape()) == 0) return context.SetOutput(0, x);
  std::vector<int64_t> numbers = {reduction, count, tuples.depth, CheckedElementCount(row)};
  numbers.insert(numbers.end(), x.shape().begin(), x.shape().begin() + tuples.depth);
  const tensor::Tensor places =
      Places(context, indices, {x.shape().begin(), x.shape().begin() + tuples.depth});
  context.SetOutput(0, context.builder().Call("scatter", x.shape(), x.dtype(),
                                              tensor::LibraryKernel::kScatterRows,
                                              {x, places, updates}, numbers));
}

}  // namespace

std::span<const Operator> ScatterOperators() {
  static const Operator operators[] = {
      {"Scatter", ScatterElements},
      {"ScatterElements", ScatterElements},
      {"ScatterND", ScatterND},
  };
  return operators;
}

}  // namespace bayloom::graph
