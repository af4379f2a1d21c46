// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <functional>
#include <numeric>

#include "bayloom/graph/graph.h"

namespace bayloom::graph {
namespace {

/// What `iter < bound` compares an iterator with.
std::optional<int64_t> BoundOf(const tensor::Expr& condition, int& iter) {
  if (condition->op != tensor::ExprOp::kLess) return std::nullopt;
  const tensor::Expr &left = condition->operands[0], &right = condition->operands[1];
  if (left->op != tensor::ExprOp::kIter || right->op != tensor::ExprOp::kInt) return std::nullopt;
  if (iter >= 0 && left->index != iter) return std::nullopt;
  iter = left->index;
  return right->int_value;
}

/// Whether index d of the load is iterator d, on the axis less `start`.
bool ReadsFrom(const tensor::Expr& load, int axis, int64_t start, int iter_count) {
  if (load->op != tensor::ExprOp::kLoad || static_cast<int>(load->operands.size()) != iter_count) {
    return false;
  }
  for (int d = 0; d < iter_count; ++d) {
    const auto form = tensor::ToLinear(load->operands[d], iter_count);
    if (!form || form->constant != (d == axis ? -start : 0)) return false;
    for (int i = 0; i < iter_count; ++i) {
      if (form->coefficients[i] != (i == d ? 1 : 0)) return false;
    }
  }
  return true;
}

int64_t ElementsBehind(const std::vector<int64_t>& shape, int axis) {
  return std::accumulate(shape.begin() + axis + 1, shape.end(), int64_t{1}, std::multiplies<>());
}

bool IsState(const Graph& graph, ValueId value) {
  return std::ranges::count(graph.states, value, &State::present) > 0;
}

}  // namespace

ValueId AddedTo(const Node& present, const State& state) {
  const std::vector<ValueId> parts = OperandsOf(present);
  return parts[parts[0] == state.past ? 1 : 0];
}

std::optional<Concatenation> AsConcatenation(const Graph& graph, const Node& node) {
  if (node.kind != NodeKind::kMap && node.kind != NodeKind::kJoin) return std::nullopt;
  const std::vector<tensor::Iter>& iters = node.stage.iters;
  const auto iter_count = static_cast<int>(iters.size());
  Concatenation result{-1, {}, {}};
  int64_t start = 0;
  tensor::Expr rest = node.stage.value;
  while (rest.defined()) {
    tensor::Expr part = rest;
    int64_t end = -1;
    if (rest->op == tensor::ExprOp::kSelect) {
      const auto bound = BoundOf(rest->operands[0], result.axis);
      if (!bound) return std::nullopt;
      end = *bound;
      part = rest->operands[1];
      rest = rest->operands[2];
    } else if (result.axis >= 0) {
      end = iters[result.axis].extent;
      rest = tensor::Expr();
    }
    if (end <= start || !ReadsFrom(part, result.axis, start, iter_count)) return std::nullopt;
    std::vector<int64_t> shape;
    for (const tensor::Iter& iter : iters) shape.push_back(iter.extent);
    shape[result.axis] = end - start;
    if (graph.values[part->index].shape != shape) return std::nullopt;
    result.parts.push_back(part->index);
    result.starts.push_back(start);
    start = end;
  }
  return result;
}

int64_t SliceStart(const Graph& graph, const Node& slice) {
  const tensor::Expr& load = slice.stage.value;
  const std::vector<int64_t>& shape = graph.values[load->index].shape;
  int64_t start = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    const auto index =
        tensor::ToLinear(load->operands[d], static_cast<int>(slice.stage.iters.size()));
    start = start * shape[d] + index->constant;
  }
  return start;
}

std::vector<SlicePlace> SlicePlaces(const Graph& graph) {
  std::vector<SlicePlace> places(graph.values.size());
  const std::vector<int> producers = graph.Producers();
  for (const State& state : graph.states) {
    const std::vector<int64_t>& shape = graph.values[state.memory].shape;
    places[state.past] = places[state.present] = {state.memory, 0};
    places[AddedTo(graph.nodes[producers[state.present]], state)] = {
        state.memory, 0, state.start, ElementsBehind(shape, state.axis)};
  }
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    if (node->kind != NodeKind::kJoin || IsState(graph, node->output())) continue;
    SlicePlace whole = places[node->output()];
    if (whole.whole < 0) whole = {node->output(), 0};
    const Concatenation joined = *AsConcatenation(graph, *node);
    const std::vector<int64_t>& shape = graph.values[whole.whole].shape;
    const int64_t stride = ElementsBehind(shape, joined.axis);
    for (size_t k = 0; k < joined.parts.size(); ++k) {
      places[joined.parts[k]] = whole;
      places[joined.parts[k]].first += joined.starts[k] * stride;
    }
  }
  return places;
}

}  // namespace bayloom::graph
