// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/open/open_call.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>

namespace bayloom::graph {
namespace {

int64_t ProductOf(const std::vector<int64_t>& shape, size_t begin, size_t end) {
  return std::accumulate(shape.begin() + static_cast<std::ptrdiff_t>(begin),
                         shape.begin() + static_cast<std::ptrdiff_t>(end), int64_t{1},
                         std::multiplies<>());
}

/// Of a kernel over x[outer, n, inner], the dimension of x that n is; nullopt for other kernels.
/// Where extents of 1 leave a choice, it is the first that is open or has more than one element.
std::optional<size_t> LineAxis(const tensor::LibraryCall& call, const std::vector<int64_t>& shape) {
  const bool is_scatter = call.kernel == tensor::LibraryKernel::kScatterRows ||
                          call.kernel == tensor::LibraryKernel::kScatterElements;
  if (is_scatter) return std::nullopt;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == call.numbers[1] && ProductOf(shape, 0, d) == call.numbers[0]) return d;
  }
  return std::nullopt;
}

/// What is chosen or added last where elements of a line are these; undefined where what lies
/// beyond a line's end changes nothing before it.
tensor::Expr NeutralOf(const tensor::LibraryCall& call, tensor::DType dtype) {
  const std::vector<int64_t>& n = call.numbers;
  const auto beyond = [&](bool largest) {
    return NeutralElement(largest ? tensor::Reduction::kMax : tensor::Reduction::kMin, dtype);
  };
  switch (call.kernel) {
    case tensor::LibraryKernel::kTopK:
      return beyond(n[4] != 0);
    case tensor::LibraryKernel::kArgExtreme:
      return beyond(n[3] != 0);
    default:
      break;
  }
  const bool is_reverse = n[5] != 0;
  if (!is_reverse) return {};
  return NeutralElement(n[3] != 0 ? tensor::Reduction::kProduct : tensor::Reduction::kSum, dtype);
}

/// The value where the dimension reaches, beyond that the other expression.
ValueId Within(Graph& graph, ValueId x, size_t axis, const tensor::Expr& beyond,
               std::vector<Node>& before) {
  const Value source = graph.values[x];
  const auto id = static_cast<ValueId>(graph.values.size());
  graph.values.push_back(source);
  graph.values.back().constant = nullptr;
  Node node{.op = "within", .kind = NodeKind::kMap};
  node.stage = {
      .name = source.name, .output = id, .iters = SpatialIters(source.shape), .value = {}};
  std::vector<tensor::Expr> place;
  for (size_t d = 0; d < source.shape.size(); ++d) {
    place.push_back(tensor::IterVar(static_cast<int>(d)));
    // What lies beyond is what matters.
    node.stage.iters[d].bound.size = d == axis ? -1 : source.BoundOf(d);
  }
  node.stage.value =
      tensor::Select(place[axis] < tensor::SizeOf(source.BoundOf(axis)),
                     tensor::Load(x, source.dtype, place), beyond);
  before.push_back(std::move(node));
  return id;
}

}  // namespace

std::string OpenCall(Graph& graph, Node& call, std::vector<Node>& before) {
  const tensor::LibraryCall called = *tensor::AsCall(call.stage.value);
  const ValueId x = called.operands[0];
  const bool is_any_open = std::ranges::any_of(
      called.operands, [&](ValueId operand) { return IsOpen(graph.values[operand]); });
  if (!is_any_open) return "";
  const std::optional<size_t> axis = LineAxis(called, graph.values[x].shape);
  if (!axis) return "it scatters elements over open dimensions";
  if (graph.values[x].BoundOf(*axis) < 0) return "";  // further lines do not matter
  const bool is_last =
      called.kernel == tensor::LibraryKernel::kArgExtreme && called.numbers[4] != 0;
  if (is_last) return "it chooses the last of equal elements along an open dimension";
  const tensor::Expr beyond = NeutralOf(called, graph.values[x].dtype);
  if (!beyond.defined()) return "";
  const ValueId within = Within(graph, x, *axis, beyond, before);
  call.stage.value = tensor::Rewrite(
      call.stage.value, [&](const tensor::Expr& e) -> std::optional<tensor::Expr> {
        if (e->op != tensor::ExprOp::kLoad || e->index != x) return std::nullopt;
        return tensor::Load(within, e->dtype, e->operands);
      });
  return "";
}

tensor::Expr CallOver(const tensor::Expr& call, const std::vector<int64_t>& largest,
                      const std::vector<int64_t>& shape) {
  const std::optional<size_t> axis = LineAxis(*tensor::AsCall(call), largest);
  if (!axis) return call;
  const int64_t lines[] = {ProductOf(shape, 0, *axis), shape[*axis],
                           ProductOf(shape, *axis + 1, shape.size())};
  tensor::ExprNode changed = *call;
  for (size_t i = 0; i < 3; ++i) changed.operands[i + 1] = tensor::IntLiteral(lines[i]);
  return tensor::Expr(std::make_shared<const tensor::ExprNode>(std::move(changed)));
}

}  // namespace bayloom::graph
