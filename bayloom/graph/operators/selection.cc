// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Operators whose results have as many rows as their data decide. Kernels of the library find the
/// rows and count them; what is known when a network is compiled is computed then.
#include <algorithm>
#include <limits>
#include <optional>

#include "bayloom/graph/operators/helpers.h"

namespace bayloom::graph {
namespace {

/// Rows that a kernel finds, in its result behind their count.
struct FoundRows {
  tensor::Tensor result;
  int64_t count;  ///< in this import

  tensor::Expr At(const tensor::Expr& row, int column) const {
    Exprs place = {row + tensor::Expr(1)};
    if (result.shape().size() > 1) place.emplace_back(column);
    return result.At(place);
  }
};

/// The rows in the result of a call, as many as output `output` has along `dimension`.
FoundRows RowsIn(OperatorContext& context, const tensor::Tensor& result, int output, int dimension,
                 int64_t bound) {
  const tensor::Tensor count = context.builder().Map("count", {}, [&](const Exprs&) {
    return result.At(Exprs(result.shape().size(), tensor::Expr(0)));
  });
  return {result, context.FindLength(count, output, dimension, bound)};
}

/// What a tensor is another view of, or itself.
ValueId ViewedBy(const Graph& graph, ValueId id) {
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    if (node->output() == id && node->kind == NodeKind::kView) id = node->source;
  }
  return id;
}

/// Where the places in a list of truth values are known already, as of several selections by one
/// mask.
std::optional<tensor::Tensor> KnownPlaces(const Graph& graph, const tensor::Tensor& mask) {
  for (const Node& node : graph.nodes) {
    if (node.kind != NodeKind::kCall) continue;
    const auto call = tensor::AsCall(node.stage.value);
    if (!call || call->kernel != tensor::LibraryKernel::kNonZero) continue;
    if (ViewedBy(graph, call->operands[0]) != ViewedBy(graph, mask.id())) continue;
    const Value& value = graph.values[node.output()];
    return tensor::Tensor(node.output(), value.dtype, value.shape);
  }
  return std::nullopt;
}

/// Where a list of n elements is not 0, in order.
FoundRows PlacesIn(OperatorContext& context, const tensor::Tensor& list, int output,
                   int dimension) {
  const int64_t n = list.shape()[0];
  const tensor::Tensor mask = ConvertTo(context, tensor::DType::kBool, list);
  if (const auto known = KnownPlaces(context.builder().graph(), mask)) {
    return RowsIn(context, *known, output, dimension, n);
  }
  const int64_t capacity = context.CapacityFor(output, dimension, n);
  const tensor::Tensor result = context.builder().Call(
      "nonzero", {capacity + 1}, tensor::DType::kInt64, tensor::LibraryKernel::kNonZero,
      {mask, IntConstant(context, {n}, {1})}, {n, capacity});
  return RowsIn(context, result, output, dimension, n);
}

/// Keeps the slices whose condition holds.
void Compress(OperatorContext& context) {
  tensor::Tensor x = context.Input(0);
  if (!context.HasAttribute("axis")) {
    x = context.builder().View(x, {CheckedElementCount(x.shape())});
  }
  const int axis = context.Axis("axis", 0, Rank(x));
  const int64_t extent = x.shape()[axis];
  tensor::Tensor condition = context.Input(1);
  if (Rank(condition) != 1) context.Refuse("the condition is no list");
  if (const tensor::HostTensor* known = context.ConstantInput(1)) {
    for (int64_t i = extent; i < known->ElementCount(); ++i) {
      if (known->Get(i) != 0) context.Refuse("the condition is longer than the axis");
    }
  }
  if (condition.shape()[0] > extent) condition = context.builder().Rows(condition, 0, extent);
  std::vector<int64_t> shape = x.shape();
  FoundRows rows = {};
  shape[axis] = 0;
  if (condition.shape()[0] > 0) {
    rows = PlacesIn(context, condition, 0, axis);
    shape[axis] = rows.count;
  }
  context.SetOutput(0, context.builder().Map("compress", shape, [&](const Exprs& place) {
    Exprs index = place;
    if (condition.shape()[0] > 0) index[axis] = ClampedIndex(rows.At(place[axis], 0), extent);
    return x.At(index);
  }));
}

/// The indices of all elements but zeros, an axis in each row.
void NonZero(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const int64_t elements = CheckedElementCount(x.shape()), rank = Rank(x);
  if (elements == 0) return context.SetOutput(0, IntConstant(context, {}, {rank, 0}));
  const FoundRows rows =
      PlacesIn(context, context.builder().View(x, {elements}), 0, /*dimension=*/1);
  context.SetOutput(0, context.builder().Map("nonzero", {rank, rows.count}, [&](const Exprs& at) {
    tensor::Expr place = rows.At(at[1], 0);
    tensor::Expr index = place;
    int64_t stride = 1;
    for (int64_t d = rank; d-- > 0;) {
      const int64_t extent = x.shape()[static_cast<size_t>(d)];
      const tensor::Expr quotient = tensor::FloorDiv(place, tensor::Expr(stride));
      const tensor::Expr own = d == 0 ? quotient : tensor::FloorMod(quotient, tensor::Expr(extent));
      index =
          d + 1 == rank ? own : tensor::Select(tensor::Equal(at[0], tensor::Expr(d)), own, index);
      stride *= extent;
    }
    return index;
  }));
}

void Unique(OperatorContext& context) {
  tensor::Tensor x = context.Input(0);
  if (!context.HasAttribute("axis")) {
    x = context.builder().View(x, {CheckedElementCount(x.shape())});
  }
  const int axis = context.Axis("axis", 0, Rank(x));
  if (CheckedElementCount(x.shape()) == 0) context.Refuse("the input has no elements");
  const std::vector<int64_t> lines = LinesAlong(x.shape(), axis);
  const int64_t n = lines[1];
  GraphBuilder& b = context.builder();
  const tensor::Tensor result = b.Call(
      "unique.rows", {n + 1, 3}, tensor::DType::kInt64, tensor::LibraryKernel::kUnique,
      {x, IntConstant(context, {n}, {1})}, {lines[0], n, lines[2], context.Int("sorted", 1) != 0});
  const FoundRows rows = RowsIn(context, result, 0, axis, n);
  std::vector<int64_t> shape = x.shape();
  shape[axis] = rows.count;
  context.SetOutput(0, b.Map("unique", shape, [&](const Exprs& place) {
    Exprs index = place;
    index[axis] = ClampedIndex(rows.At(place[axis], 0), n);
    return x.At(index);
  }));
  const auto set_column = [&](int output, int column, int64_t count) {
    if (!context.WantsOutput(output)) return;
    context.SetOutput(output, b.Map("unique", {count},
                                    [&](const Exprs& place) { return rows.At(place[0], column); }));
  };
  set_column(1, 0, rows.count);
  set_column(2, 2, n);
  set_column(3, 1, rows.count);
}

/// A number that an input may give.
tensor::Expr NumberOr(OperatorContext& context, int input, const tensor::Expr& otherwise) {
  if (!context.HasInput(input)) return otherwise;
  const tensor::Tensor number = context.Input(input);
  if (CheckedElementCount(number.shape()) != 1) context.Refuse("a limit is not one number");
  return tensor::Cast(otherwise->dtype, number.At(Exprs(number.shape().size(), tensor::Expr(0))));
}

tensor::Tensor ListOf(OperatorContext& context, const Exprs& elements) {
  return context.builder().Map("list", {std::ssize(elements)}, [&](const Exprs& place) {
    tensor::Expr element = elements.back();
    for (size_t i = elements.size() - 1; i-- > 0;) {
      element = tensor::Select(tensor::Equal(place[0], tensor::Expr(static_cast<int64_t>(i))),
                               elements[i], element);
    }
    return element;
  });
}

void NonMaxSuppression(OperatorContext& context) {
  const tensor::Tensor boxes = ConvertTo(context, tensor::DType::kFloat32, context.Input(0));
  const tensor::Tensor scores = ConvertTo(context, tensor::DType::kFloat32, context.Input(1));
  const bool fits = Rank(boxes) == 3 && Rank(scores) == 3 && boxes.shape()[2] == 4 &&
                    scores.shape()[0] == boxes.shape()[0] && scores.shape()[2] == boxes.shape()[1];
  if (!fits) context.Refuse("boxes and scores do not fit together");
  const bool is_centered = context.Int("center_point_box", 0) != 0;
  const int64_t batches = boxes.shape()[0], classes = scores.shape()[1], n = boxes.shape()[1];
  int64_t per_class = context.HasInput(2) ? n : 0;
  if (context.HasInput(2) && context.ConstantInput(2)) {
    per_class = std::clamp<int64_t>(context.IntInput(2), 0, n);
  }
  const int64_t bound = CheckedElementCount({batches, classes, per_class});
  if (bound == 0) return context.SetOutput(0, IntConstant(context, {}, {0, 3}));
  const tensor::Tensor limits =
      ListOf(context, {tensor::Expr(batches), tensor::Expr(classes), tensor::Expr(n),
                       NumberOr(context, 2, tensor::Expr(0))});
  const float least = -std::numeric_limits<float>::infinity();
  const tensor::Tensor thresholds =
      ListOf(context, {NumberOr(context, 3, tensor::FloatLiteral(0)),
                       NumberOr(context, 4, tensor::FloatLiteral(least))});
  const int64_t capacity = context.CapacityFor(0, 0, bound);
  const tensor::Tensor result = context.builder().Call(
      "nms", {capacity + 1, 3}, tensor::DType::kInt64, tensor::LibraryKernel::kNonMaxSuppression,
      {boxes, scores, limits, thresholds}, {batches, classes, n, is_centered, capacity});
  const FoundRows rows = RowsIn(context, result, 0, 0, bound);
  context.SetOutput(
      0, context.builder().Map("nonmaxsuppression", {rows.count, 3}, [&](const Exprs& place) {
        return result.At({place[0] + tensor::Expr(1), place[1]});
      }));
}

}  // namespace

std::span<const Operator> SelectionOperators() {
  static const Operator operators[] = {
      {"Compress", Compress},
      {"NonMaxSuppression", NonMaxSuppression},
      {"NonZero", NonZero},
      {"Unique", Unique},
  };
  return operators;
}

}  // namespace bayloom::graph
