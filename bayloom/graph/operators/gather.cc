// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Operators whose indices are data. Indices out of range are an error: those that are known are
/// refused, others are clamped, so that a compiled program never reads or writes outside its
/// tensors.
#include "bayloom/graph/operators/helpers.h"
#include "bayloom/graph/operators/index_tuples.h"

namespace bayloom::graph {
namespace {

void Gather(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0), indices = context.Input(1);
  const int axis = context.Axis("axis", 0, Rank(x));
  if (!context.builder().is_absent()) CheckKnownIndices(context, 1, x.shape()[axis]);
  std::vector<int64_t> shape(x.shape().begin(), x.shape().begin() + axis);
  shape.insert(shape.end(), indices.shape().begin(), indices.shape().end());
  shape.insert(shape.end(), x.shape().begin() + axis + 1, x.shape().end());
  context.SetOutput(0, context.builder().Map("gather", shape, [&](const Exprs& place) {
    const auto chosen = place.begin() + axis;
    Exprs index(place.begin(), chosen);
    index.push_back(WrappedIndex(indices.At({chosen, chosen + Rank(indices)}), x.shape()[axis]));
    index.insert(index.end(), chosen + Rank(indices), place.end());
    return x.At(index);
  }));
}

void GatherElements(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0), indices = context.Input(1);
  const int axis = context.Axis("axis", 0, Rank(x));
  if (Rank(indices) != Rank(x)) context.Refuse("indices and data differ in dimensions");
  CheckKnownIndices(context, 1, x.shape()[axis]);
  for (int d = 0; d < Rank(x); ++d) {
    if (d != axis && indices.shape()[d] > x.shape()[d]) {
      context.Refuse("indices are larger than the data");
    }
  }
  context.SetOutput(
      0, context.builder().Map("gatherelements", indices.shape(), [&](const Exprs& place) {
        Exprs index = place;
        index[axis] = WrappedIndex(indices.At(place), x.shape()[axis]);
        return x.At(index);
      }));
}

void GatherND(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0), indices = context.Input(1);
  const IndexTuples tuples = CheckTuples(context, x, indices, context.Int("batch_dims", 0));
  std::vector<int64_t> shape(indices.shape().begin(), indices.shape().end() - 1);
  const int inner = tuples.batch + tuples.depth;
  shape.insert(shape.end(), x.shape().begin() + inner, x.shape().end());
  context.SetOutput(0, context.builder().Map("gathernd", shape, [&](const Exprs& place) {
    Exprs index(place.begin(), place.begin() + tuples.batch);
    for (int k = 0; k < tuples.depth; ++k) {
      Exprs tuple(place.begin(), place.begin() + tuples.outer);
      tuple.push_back(tensor::Expr(k));
      index.push_back(WrappedIndex(indices.At(tuple), x.shape()[tuples.batch + k]));
    }
    index.insert(index.end(), place.begin() + tuples.outer, place.end());
    return x.At(index);
  }));
}

void OneHot(OperatorContext& context) {
  const tensor::Tensor indices = context.Input(0), values = context.Input(2);
  const int axis = context.Axis("axis", -1, Rank(indices) + 1);
  if (values.shape() != std::vector<int64_t>{2}) context.Refuse("needs two values");
  int64_t depth = 0;
  if (context.ConstantInput(1)) {
    const double given = context.NumberInput(1);
    if (!(given >= 1 && given < 0x1p40)) context.Refuse("needs a positive depth");
    depth = static_cast<int64_t>(given);
  } else {
    depth =
        context.FindLength(ConvertTo(context, tensor::DType::kInt64, context.Input(1)), 0, axis);
  }
  std::vector<int64_t> shape = indices.shape();
  shape.insert(shape.begin() + axis, depth);
  context.SetOutput(0, context.builder().Map("onehot", shape, [&](const Exprs& place) {
    const tensor::Expr index =
        tensor::Cast(tensor::DType::kInt64, indices.At(Without(place, {axis})));
    const tensor::Expr wrapped =
        tensor::Select(index < tensor::Expr(0), index + tensor::Expr(depth), index);
    return tensor::Select(tensor::Equal(wrapped, place[axis]), values(1), values(0));
  }));
}

}  // namespace

std::span<const Operator> GatherOperators() {
  static const Operator operators[] = {
      {"Gather", Gather},
      {"GatherElements", GatherElements},
      {"GatherND", GatherND},
      {"OneHot", OneHot},
  };
  return operators;
}

}  // namespace bayloom::graph
