// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/open/instantiate.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "bayloom/graph/builder.h"
#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/open/corner.h"
#include "bayloom/graph/open/open_call.h"
#include "bayloom/tensor/library_call.h"
#include "bayloom/tensor/simplify.h"

namespace bayloom::graph {
namespace {

/// Elements that a confirmation may compute again.
constexpr int64_t kMaxKnown = 1 << 22;

/// The result of a node that reads constants only; null where it is too large.
std::shared_ptr<const tensor::HostTensor> Folded(const Graph& graph, const Node& node) {
  const auto is_unknown = [&](ValueId v) { return graph.values[v].constant == nullptr; };
  const Value& value = graph.values[node.output()];
  if (std::ranges::any_of(OperandsOf(node), is_unknown)) return nullptr;
  if (node.kind == NodeKind::kView) {
    return std::make_shared<const tensor::HostTensor>(value.dtype, value.shape,
                                                      graph.values[node.source].constant->data);
  }
  if (value.ElementCount() > kMaxKnown) return nullptr;
  return std::make_shared<const tensor::HostTensor>(EvaluateStage(
      node.stage,
      [&](ValueId v) -> const tensor::HostTensor& { return *graph.values[v].constant; }));
}

/// Whether the call scatters nothing: what it gives is what it takes.
bool HasNoUpdates(const Graph& graph, const Node& node) {
  const tensor::LibraryCall call = *tensor::AsCall(node.stage.value);
  const bool is_scatter = call.kernel == tensor::LibraryKernel::kScatterRows ||
                          call.kernel == tensor::LibraryKernel::kScatterElements;
  return is_scatter && graph.values[call.operands[1]].ElementCount() == 0;
}

tensor::Expr ElementThere(const Graph& graph, ValueId id) {
  const Value& value = graph.values[id];
  std::vector<tensor::Expr> place;
  for (size_t d = 0; d < value.shape.size(); ++d) {
    place.push_back(tensor::IterVar(static_cast<int>(d)));
  }
  return tensor::Load(id, value.dtype, std::move(place));
}

}  // namespace

void ZeroBehindLastRow(const Graph& graph, Node& node) {
  if (node.kind != NodeKind::kMap && node.kind != NodeKind::kSlice) return;
  const tensor::Expr load = node.stage.value;
  if (load->op != tensor::ExprOp::kLoad || load->operands.empty()) return;
  const auto row = tensor::ToLinear(load->operands[0], static_cast<int>(node.stage.iters.size()));
  if (!row || row->constant < graph.values[load->index].shape[0]) return;
  node.kind = NodeKind::kMap;
  node.stage.value = tensor::Literal(0, load->dtype);
}

Graph Instantiate(const Graph& graph, const SymbolValues& lengths) {
  Graph fixed = graph;
  fixed.symbols.clear();
  const auto length_of = [&](ValueId size) { return graph.values[size].size->Evaluate(lengths); };
  for (Value& value : fixed.values) {
    if (value.bounds.empty()) continue;
    for (size_t d = 0; d < value.shape.size(); ++d) {
      if (value.bounds[d] >= 0) value.shape[d] = length_of(value.bounds[d]);
    }
    value.bounds.clear();
    if (value.constant && value.constant->shape != value.shape) {
      value.constant =
          std::make_shared<const tensor::HostTensor>(CornerOf(*value.constant, value.shape));
    }
  }
  for (Node& node : fixed.nodes) {
    for (tensor::Iter& iter : node.stage.iters) {
      if (iter.bound.is_open()) iter.extent = length_of(std::exchange(iter.bound, {}).size);
    }
    const std::vector<int64_t>& shape = fixed.values[node.output()].shape;
    for (size_t d = 0; d < std::min(shape.size(), node.stage.iters.size()); ++d) {
      node.stage.iters[d].extent = shape[d];  // also where it goes beyond bounds (OpenCall)
    }
    if (node.kind != NodeKind::kView) {
      node.stage.value = tensor::Rewrite(node.stage.value,
                                         [&](const tensor::Expr& e) -> std::optional<tensor::Expr> {
                                           if (e->op != tensor::ExprOp::kSize) return std::nullopt;
                                           return tensor::IntLiteral(length_of(e->index));
                                         });
    }
    const bool reduces_nothing = std::ranges::any_of(node.stage.iters, [](const tensor::Iter& i) {
      return i.kind == tensor::IterKind::kReduction && i.extent == 0;
    });
    if (reduces_nothing && fixed.values[node.output()].ElementCount() > 0) ReduceNothing(node);
    if (node.kind == NodeKind::kCall && HasNoUpdates(fixed, node)) {
      node.kind = NodeKind::kMap;
      node.stage.value = ElementThere(fixed, tensor::AsCall(node.stage.value)->operands[0]);
    } else if (node.kind == NodeKind::kCall) {
      node.stage.value = CallOver(node, graph, fixed);
    } else if (node.kind != NodeKind::kView) {
      node.stage.value = tensor::Simplify(node.stage.value, node.stage.iters);
    }
    ZeroBehindLastRow(fixed, node);
    fixed.values[node.output()].constant = Folded(fixed, node);
  }
  return fixed;
}

}  // namespace bayloom::graph
