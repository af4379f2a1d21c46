// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Operators whose indices are data. Indices out of range, which ONNX leaves undefined, are
/// clamped: a compiled program never reads or writes outside its tensors.
#include <fmt/format.h>

#include <algorithm>

#include "bayloom/graph/internal/operators/helpers.h"

namespace bayloom::graph {
namespace {

void Gather(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0), indices = context.Input(1);
  const int axis = context.Axis("axis", 0, Rank(x));
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

/// Index tuples: the last axis of `indices` holds positions in axes [batch, batch + depth) of x.
struct Tuples {
  int batch = 0, depth = 0, outer = 0;
};

Tuples CheckTuples(OperatorContext& context, const tensor::Tensor& x, const tensor::Tensor& indices,
                   int64_t batch) {
  if (Rank(indices) < 1 || batch < 0 || batch >= std::min(Rank(x), Rank(indices))) {
    context.Refuse("indices and data do not fit together");
  }
  const int64_t depth = indices.shape().back();
  if (batch + depth > Rank(x) || depth < 1) {
    context.Refuse(fmt::format("index tuples of {} for {} dimensions", depth, Rank(x)));
  }
  if (!std::equal(x.shape().begin(), x.shape().begin() + batch, indices.shape().begin())) {
    context.Refuse("indices and data differ in their batch axes");
  }
  return {static_cast<int>(batch), static_cast<int>(depth), Rank(indices) - 1};
}

void GatherND(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0), indices = context.Input(1);
  const Tuples tuples = CheckTuples(context, x, indices, context.Int("batch_dims", 0));
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

tensor::Reduction ScatterReduction(OperatorContext& context) {
  const std::string name = context.String("reduction", "none");
  if (name == "none") return tensor::Reduction::kNone;
  if (name == "add") return tensor::Reduction::kSum;
  if (name == "mul") return tensor::Reduction::kProduct;
  context.RefuseAttribute("reduction", name, "has to be none, add or mul");
}

/// Scatters as a reduction over all updates that may fall onto an element. `hits`: whether update
/// number r falls onto `place`; `update`: its value. Without a reduction the last one wins.
tensor::Tensor Scatter(OperatorContext& context, const tensor::Tensor& x,
                       std::vector<GraphBuilder::Axis> axes,
                       const std::function<tensor::Expr(const Exprs&, const Exprs&)>& hits,
                       const std::function<tensor::Expr(const Exprs&, const Exprs&)>& update) {
  const tensor::Reduction reduction = ScatterReduction(context);
  GraphBuilder& b = context.builder();
  if (reduction != tensor::Reduction::kNone) {
    const tensor::Expr neutral = tensor::NeutralElement(reduction, x.dtype());
    const tensor::Tensor combined = b.Reduce(
        "scatter.updates", x.shape(), axes, reduction, [&](const Exprs& place, const Exprs& over) {
          return tensor::Select(hits(place, over), update(place, over), neutral);
        });
    return b.Map("scatter", x.shape(), [&](const Exprs& place) {
      return tensor::Combine(reduction, x.At(place), combined.At(place));
    });
  }
  std::vector<int64_t> extents;
  for (const auto& axis : axes) extents.push_back(axis.extent);
  const tensor::Tensor winner =
      b.Reduce("scatter.winner", x.shape(), axes, tensor::Reduction::kMax,
               [&](const Exprs& place, const Exprs& over) {
                 tensor::Expr number = 0;
                 for (size_t k = 0; k < over.size(); ++k)
                   number = number * tensor::Expr(extents[k]) + over[k];
                 return tensor::Select(hits(place, over), number, tensor::Expr(-1));
               });
  return b.Map("scatter", x.shape(), [&](const Exprs& place) {
    tensor::Expr rest = tensor::Max(winner.At(place), tensor::Expr(0));
    Exprs over(extents.size());
    for (size_t k = extents.size(); k-- > 0;) {
      over[k] = k == 0 ? rest : tensor::FloorMod(rest, tensor::Expr(extents[k]));
      rest = tensor::FloorDiv(rest, tensor::Expr(extents[k]));
    }
    return tensor::Select(tensor::Expr(0) <= winner.At(place), update(place, over), x.At(place));
  });
}

void ScatterElements(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0), indices = context.Input(1), updates = context.Input(2);
  const int axis = context.Axis("axis", 0, Rank(x));
  if (Rank(indices) != Rank(x) || updates.shape() != indices.shape()) {
    context.Refuse("data, indices and updates do not fit together");
  }
  if (CheckedElementCount(indices.shape()) == 0) return context.SetOutput(0, x);
  for (int d = 0; d < Rank(x); ++d) {
    if (d != axis && indices.shape()[d] > x.shape()[d]) {
      context.Refuse("indices are larger than the data");
    }
  }
  const auto at = [&](const Exprs& place, const tensor::Expr& over) {
    Exprs index = place;
    for (int d = 0; d < Rank(x); ++d) {  // the guard below discards what is clamped here
      if (indices.shape()[d] != x.shape()[d])
        index[d] = tensor::Min(place[d], tensor::Expr(indices.shape()[d] - 1));
    }
    index[axis] = over;
    return index;
  };
  const auto hits = [&](const Exprs& place, const Exprs& over) {
    const tensor::Expr target = WrappedIndex(indices.At(at(place, over[0])), x.shape()[axis]);
    tensor::Expr hit = tensor::Equal(target, place[axis]);
    for (int d = 0; d < Rank(x); ++d) {
      const bool partial = d != axis && indices.shape()[d] != x.shape()[d];
      if (partial) hit = hit && place[d] < tensor::Expr(indices.shape()[d]);
    }
    return hit;
  };
  context.SetOutput(0, Scatter(context, x, {{"update", indices.shape()[axis]}}, hits,
                               [&](const Exprs& place, const Exprs& over) {
                                 return updates.At(at(place, over[0]));
                               }));
}

void ScatterND(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0), indices = context.Input(1), updates = context.Input(2);
  const Tuples tuples = CheckTuples(context, x, indices, 0);
  std::vector<int64_t> expected(indices.shape().begin(), indices.shape().end() - 1);
  std::vector<GraphBuilder::Axis> axes;
  for (int64_t extent : expected) axes.push_back({fmt::format("u{}", axes.size()), extent});
  if (axes.empty()) axes.push_back({"u0", 1});
  expected.insert(expected.end(), x.shape().begin() + tuples.depth, x.shape().end());
  if (updates.shape() != expected) context.Refuse("updates do not fit data and indices");
  if (CheckedElementCount(updates.shape()) == 0) return context.SetOutput(0, x);
  const auto outer = [&](const Exprs& over) {
    return Exprs(over.begin(), over.begin() + tuples.outer);
  };
  const auto hits = [&](const Exprs& place, const Exprs& over) {
    tensor::Expr hit = tensor::BoolLiteral(true);
    for (int k = 0; k < tuples.depth; ++k) {
      Exprs tuple = outer(over);
      tuple.push_back(tensor::Expr(k));
      hit = hit && tensor::Equal(WrappedIndex(indices.At(tuple), x.shape()[k]), place[k]);
    }
    return hit;
  };
  context.SetOutput(0, Scatter(context, x, axes, hits, [&](const Exprs& place, const Exprs& over) {
                      Exprs index = outer(over);
                      index.insert(index.end(), place.begin() + tuples.depth, place.end());
                      return updates.At(index);
                    }));
}

void OneHot(OperatorContext& context) {
  const tensor::Tensor indices = context.Input(0), values = context.Input(2);
  const double given_depth = context.NumberInput(1);
  if (!(given_depth >= 1 && given_depth < 0x1p40) || values.shape() != std::vector<int64_t>{2}) {
    context.Refuse("needs a positive depth and two values");
  }
  const int64_t depth = static_cast<int64_t>(given_depth);
  const int axis = context.Axis("axis", -1, Rank(indices) + 1);
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

/// Every element's rank is the number of elements that come before it in the order; the k-th
/// place then takes the element whose rank is k.
void TopK(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const int axis = context.Axis("axis", -1, Rank(x));
  const bool largest = context.Int("largest", 1) != 0;
  const int64_t k = context.opset() < 10 ? context.Int("k") : context.IntInput(1);
  if (k < 0 || k > x.shape()[axis]) {
    context.Refuse(fmt::format("the {} extreme elements of {}", k, x.shape()[axis]));
  }
  GraphBuilder& b = context.builder();
  const tensor::Tensor rank =
      b.Reduce("topk.rank", x.shape(), {{"other", x.shape()[axis]}}, tensor::Reduction::kSum,
               [&](const Exprs& place, const Exprs& over) {
                 Exprs other = place;
                 other[axis] = over[0];
                 const tensor::Expr mine = x.At(place), theirs = x.At(other);
                 const tensor::Expr better = largest ? mine < theirs : theirs < mine;
                 const tensor::Expr before =
                     better || (tensor::Equal(mine, theirs) && over[0] < place[axis]);
                 return tensor::Select(before, tensor::Expr(1), tensor::Expr(0));
               });
  std::vector<int64_t> shape = x.shape();
  shape[axis] = k;
  const tensor::Tensor index = b.Reduce(
      "topk.index", shape, {{"at", x.shape()[axis]}}, tensor::Reduction::kSum,
      [&](const Exprs& place, const Exprs& over) {
        Exprs at = place;
        at[axis] = over[0];
        return tensor::Select(tensor::Equal(rank.At(at), place[axis]), over[0], tensor::Expr(0));
      });
  context.SetOutput(0, b.Map("topk", shape, [&](const Exprs& place) {
    Exprs at = place;
    at[axis] = WrappedIndex(index.At(place), x.shape()[axis]);
    return x.At(at);
  }));
  context.SetOutput(1, index);
}

/// Keeps the slices whose condition holds, which has to be known.
void Compress(OperatorContext& context) {
  tensor::Tensor x = context.Input(0);
  if (!context.HasAttribute("axis")) {
    x = context.builder().View(x, {CheckedElementCount(x.shape())});
  }
  const int axis = context.Axis("axis", 0, Rank(x));
  const std::vector<double> condition = context.NumbersInput(1);
  std::vector<int64_t> kept;
  for (size_t i = 0; i < condition.size(); ++i) {
    if (condition[i] != 0) kept.push_back(static_cast<int64_t>(i));
  }
  if (!kept.empty() && kept.back() >= x.shape()[axis]) {
    context.Refuse("the condition is longer than the axis");
  }
  const int64_t count = static_cast<int64_t>(kept.size());
  const tensor::Tensor places = IntConstant(context, kept, {count});
  std::vector<int64_t> shape = x.shape();
  shape[axis] = count;
  context.SetOutput(0, context.builder().Map("compress", shape, [&](const Exprs& place) {
    Exprs index = place;
    index[axis] = places(place[axis]);
    return x.At(index);
  }));
}

}  // namespace

std::span<const Operator> GatherOperators() {
  static const Operator operators[] = {
      {"Compress", Compress},
      {"Gather", Gather},
      {"GatherElements", GatherElements},
      {"GatherND", GatherND},
      {"OneHot", OneHot},
      {"Scatter", ScatterElements},
      {"ScatterElements", ScatterElements},
      {"ScatterND", ScatterND},
      {"TopK", TopK},
  };
  return operators;
}

}  // namespace bayloom::graph
