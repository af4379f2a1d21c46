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

bool IsScatter(const tensor::LibraryCall& call) {
  return call.kernel == tensor::LibraryKernel::kScatterRows ||
         call.kernel == tensor::LibraryKernel::kScatterElements;
}

/// Of a kernel over x[outer, n, inner], the dimension of x that n is; nullopt for other kernels.
/// Where extents of 1 leave a choice, it is the first that is open or has more than one element.
std::optional<size_t> LineAxis(const tensor::LibraryCall& call, const std::vector<int64_t>& shape) {
  const bool has_lines =
      !tensor::FindsRows(call.kernel) || call.kernel == tensor::LibraryKernel::kUnique;
  if (IsScatter(call) || !has_lines) return std::nullopt;
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

/// The value where the dimensions reach; beyond that, the other expression, or the last element
/// again where that is not defined.
ValueId Within(Graph& graph, ValueId x, const std::vector<size_t>& axes, const tensor::Expr& beyond,
               std::vector<Node>& before) {
  const Value source = graph.values[x];
  const auto id = static_cast<ValueId>(graph.values.size());
  graph.values.push_back(source);
  graph.values.back().constant = nullptr;
  Node node{.op = "within", .kind = NodeKind::kMap};
  node.stage = {
      .name = source.name, .output = id, .iters = SpatialIters(source.shape), .value = {}};
  std::vector<tensor::Expr> place;
  tensor::Expr is_within;
  for (size_t d = 0; d < source.shape.size(); ++d) {
    const tensor::Expr at = tensor::IterVar(static_cast<int>(d));
    place.push_back(at);
    const ValueId bound = source.BoundOf(d);
    if (std::ranges::count(axes, d) == 0) {
      node.stage.iters[d].bound.size = bound;
      continue;
    }
    // The iterator goes beyond: what lies there is what matters.
    const tensor::Expr size = tensor::SizeOf(bound);
    if (beyond.defined()) {
      is_within = is_within.defined() ? is_within && at < size : at < size;
    } else {
      place.back() = tensor::Max(tensor::Min(at, size - tensor::Expr(1)), tensor::Expr(0));
    }
  }
  node.stage.value = tensor::Load(x, source.dtype, place);
  if (beyond.defined()) node.stage.value = tensor::Select(is_within, node.stage.value, beyond);
  before.push_back(std::move(node));
  return id;
}

/// Puts the value in the place of an operand of the call.
void Replace(ValueId operand, ValueId value, Node& call) {
  call.stage.value =
      tensor::Rewrite(call.stage.value, [&](const tensor::Expr& e) -> std::optional<tensor::Expr> {
        if (e->op != tensor::ExprOp::kLoad || e->index != operand) return std::nullopt;
        return tensor::Load(value, e->dtype, e->operands);
      });
}

std::string OpenLines(Graph& graph, const tensor::LibraryCall& called, Node& call,
                      std::vector<Node>& before) {
  const ValueId x = called.operands[0];
  const std::optional<size_t> axis = LineAxis(called, graph.values[x].shape);
  if (!axis) return "its lines are no dimension of its operand";
  if (graph.values[x].BoundOf(*axis) < 0) return "";  // further lines do not matter
  const bool is_last =
      called.kernel == tensor::LibraryKernel::kArgExtreme && called.numbers[4] != 0;
  if (is_last) return "it chooses the last of equal elements along an open dimension";
  const tensor::Expr beyond = NeutralOf(called, graph.values[x].dtype);
  if (beyond.defined()) Replace(x, Within(graph, x, {*axis}, beyond, before), call);
  return "";
}

/// The dimensions of a scatter's indices along which further updates would be made; nullopt where
/// these would go to elements that there are.
std::optional<std::vector<size_t>> UpdateAxes(const Graph& graph,
                                              const tensor::LibraryCall& called) {
  const Value& data = graph.values[called.operands[0]];
  const Value& indices = graph.values[called.operands[1]];
  const bool is_of_rows = called.kernel == tensor::LibraryKernel::kScatterRows;
  std::vector<size_t> axes;
  for (size_t d = 0; d < indices.shape.size(); ++d) {
    const ValueId size = indices.BoundOf(d);
    if (size < 0) continue;
    const bool names_place = !is_of_rows && static_cast<int64_t>(d) != called.numbers[1];
    if (!names_place) {
      axes.push_back(d);
    } else if (data.BoundOf(d) != size) {
      return std::nullopt;
    }
  }
  return axes;
}

/// Whether there may be no element along one of a value's dimensions; undefined where there is one
/// at least.
tensor::Expr IsEmptyAlong(const Graph& graph, ValueId x, const std::vector<size_t>& axes) {
  tensor::Expr is_empty;
  for (size_t d : axes) {
    const ValueId size = graph.values[x].BoundOf(d);
    if (graph.values[size].size->Range(graph.symbols).smallest > 0) continue;
    const tensor::Expr own = tensor::SizeOf(size) < tensor::Expr(1);
    is_empty = is_empty.defined() ? is_empty || own : own;
  }
  return is_empty;
}

/// Where there is no update at all, updates put what is there where it is.
void KeepData(const Graph& graph, const tensor::LibraryCall& called, const tensor::Expr& is_empty,
              Node& updates, Node& indices) {
  const Value& data = graph.values[called.operands[0]];
  const bool is_of_rows = called.kernel == tensor::LibraryKernel::kScatterRows;
  const size_t rank = data.shape.size(), own = graph.values[updates.output()].shape.size();
  std::vector<tensor::Expr> place;
  for (size_t d = 0; d < rank; ++d) {
    // The dimensions of a row are the last ones; of elements all but one are their own.
    const size_t from_end = rank - d;
    const bool is_first = is_of_rows ? static_cast<int64_t>(d) < called.numbers[2]
                                     : static_cast<int64_t>(d) == called.numbers[1];
    place.push_back(is_first ? tensor::Expr(0) : tensor::IterVar(static_cast<int>(own - from_end)));
  }
  const tensor::Expr kept = tensor::Load(called.operands[0], data.dtype, std::move(place));
  updates.stage.value = tensor::Select(is_empty, kept, updates.stage.value);
  indices.stage.value = tensor::Select(is_empty, tensor::Expr(0), indices.stage.value);
}

/// Updates beyond a bound add nothing, or are the last one again.
std::string OpenScatter(Graph& graph, const tensor::LibraryCall& called, Node& call,
                        std::vector<Node>& before) {
  const auto axes = UpdateAxes(graph, called);
  if (!axes) return "it scatters elements beyond an open dimension";
  if (axes->empty()) return "";
  const auto reduction = static_cast<tensor::Reduction>(called.numbers[0]);
  const bool adds =
      reduction == tensor::Reduction::kSum || reduction == tensor::Reduction::kProduct;
  const ValueId updates = called.operands[2];
  const tensor::Expr neutral =
      adds ? NeutralElement(reduction, graph.values[updates].dtype) : tensor::Expr();
  Replace(updates, Within(graph, updates, *axes, neutral, before), call);
  Replace(called.operands[1], Within(graph, called.operands[1], *axes, {}, before), call);
  const tensor::Expr is_empty =
      adds ? tensor::Expr() : IsEmptyAlong(graph, called.operands[1], *axes);
  if (is_empty.defined()) {
    KeepData(graph, called, is_empty, before[before.size() - 2], before.back());
  }
  return "";
}

/// How long dimensions are, kernels that find rows are told in an operand. Only those of unique
/// slices may not be open.
std::string OpenFinding(const Graph& graph, const tensor::LibraryCall& called) {
  if (called.kernel != tensor::LibraryKernel::kUnique) return "";
  const Value& x = graph.values[called.operands[0]];
  const std::optional<size_t> axis = LineAxis(called, x.shape);
  for (size_t d = 0; d < x.shape.size(); ++d) {
    if (x.BoundOf(d) >= 0 && d != axis) return "it compares slices with an open dimension";
  }
  return "";
}

/// What fixes the sizes in a call over operands of these shapes.
std::vector<int64_t> NumbersOver(const tensor::LibraryCall& call,
                                 const std::vector<int64_t>& largest,
                                 const std::vector<int64_t>& data,
                                 const std::vector<int64_t>& indices,
                                 const std::vector<int64_t>& result) {
  std::vector<int64_t> numbers = call.numbers;
  if (call.kernel == tensor::LibraryKernel::kNonZero) return {data[0], result[0] - 1};
  if (call.kernel == tensor::LibraryKernel::kNonMaxSuppression) {
    return {data[0], indices[1], data[1], numbers[3], result[0] - 1};
  }
  if (const std::optional<size_t> axis = LineAxis(call, largest)) {
    numbers[0] = ProductOf(data, 0, *axis);
    numbers[1] = data[*axis];
    numbers[2] = ProductOf(data, *axis + 1, data.size());
    if (call.kernel == tensor::LibraryKernel::kTopK) numbers[3] = result[*axis];
  } else if (call.kernel == tensor::LibraryKernel::kScatterRows) {
    const auto depth = static_cast<size_t>(numbers[2]);
    numbers[1] = ProductOf(indices, 0, indices.size() - 1);
    numbers[3] = ProductOf(data, depth, data.size());
    std::copy_n(data.begin(), depth, numbers.begin() + 4);
  } else if (call.kernel == tensor::LibraryKernel::kScatterElements) {
    std::ranges::copy(data, numbers.begin() + 3);
    std::ranges::copy(indices, numbers.begin() + 3 + std::ssize(data));
  }
  return numbers;
}

}  // namespace

std::string OpenCall(Graph& graph, Node& call, std::vector<Node>& before) {
  const tensor::LibraryCall called = *tensor::AsCall(call.stage.value);
  const bool is_any_open = std::ranges::any_of(
      called.operands, [&](ValueId operand) { return IsOpen(graph.values[operand]); });
  if (!is_any_open) return "";
  if (tensor::FindsRows(called.kernel)) return OpenFinding(graph, called);
  return IsScatter(called) ? OpenScatter(graph, called, call, before)
                           : OpenLines(graph, called, call, before);
}

tensor::Expr CallOver(const Node& node, const Graph& largest, const Graph& fixed) {
  const tensor::Expr& call = node.stage.value;
  const tensor::LibraryCall called = *tensor::AsCall(call);
  const auto shape_of = [&](const Graph& graph, size_t operand) {
    const size_t last = called.operands.size() - 1;
    return graph.values[called.operands[std::min(operand, last)]].shape;
  };
  const std::vector<int64_t> numbers =
      NumbersOver(called, shape_of(largest, 0), shape_of(fixed, 0), shape_of(fixed, 1),
                  fixed.values[node.output()].shape);
  tensor::ExprNode changed = *call;
  for (size_t i = 0; i < numbers.size(); ++i) {
    changed.operands[called.operands.size() + i] = tensor::IntLiteral(numbers[i]);
  }
  return tensor::Expr(std::make_shared<const tensor::ExprNode>(std::move(changed)));
}

}  // namespace bayloom::graph
