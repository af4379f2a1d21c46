// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/passes/rewriting.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "bayloom/tensor/evaluation_cost.h"

namespace bayloom::graph {

bool MentionsIter(const tensor::Expr& e, int iter) {
  bool found = false;
  tensor::Visit(e, [&](const tensor::Expr& inner) {
    found |= inner->op == tensor::ExprOp::kIter && inner->index == iter;
  });
  return found;
}

std::vector<tensor::Expr> LoadsOf(const tensor::Expr& e) {
  std::vector<tensor::Expr> loads;
  tensor::Visit(e, [&](const tensor::Expr& inner) {
    if (inner->op == tensor::ExprOp::kLoad) loads.push_back(inner);
  });
  return loads;
}

std::vector<tensor::Expr> LoadsOf(const tensor::Expr& e, ValueId value) {
  std::vector<tensor::Expr> loads = LoadsOf(e);
  std::erase_if(loads, [&](const tensor::Expr& load) { return load->index != value; });
  return loads;
}

tensor::Expr RewriteLoads(
    const tensor::Expr& e,
    const std::function<std::optional<tensor::Expr>(const tensor::Expr&)>& replace) {
  return tensor::Rewrite(e, [&](const tensor::Expr& leaf) -> std::optional<tensor::Expr> {
    return leaf->op == tensor::ExprOp::kLoad ? replace(leaf) : std::nullopt;
  });
}

bool IsIter(const tensor::Expr& e, int iter) {
  return e->op == tensor::ExprOp::kIter && e->index == iter;
}

tensor::Expr AsLiteral(const Graph& graph, const tensor::Expr& e) {
  if (e->op != tensor::ExprOp::kLoad || !graph.values[e->index].constant) return {};
  const tensor::HostTensor& data = *graph.values[e->index].constant;
  if (data.ElementCount() != 1) return {};
  if (!tensor::IsFloat(data.dtype)) return tensor::IntLiteral(data.GetInt(0), data.dtype);
  return std::isnan(data.Get(0)) ? tensor::Expr() : tensor::FloatLiteral(data.Get(0), data.dtype);
}

std::optional<std::vector<int>> BareIters(const tensor::Expr& load) {
  std::vector<int> iters;
  for (const tensor::Expr& index : load->operands) {
    const bool is_iter = index->op == tensor::ExprOp::kIter;
    if (!is_iter && !tensor::IsIntLiteral(index, 0)) return std::nullopt;
    if (is_iter && std::find(iters.begin(), iters.end(), index->index) != iters.end()) {
      return std::nullopt;
    }
    iters.push_back(is_iter ? index->index : -1);
  }
  return iters;
}

bool ReadsElementwise(const Graph& graph, const Node& node, ValueId value) {
  if (graph.values[value].ElementCount() != PointsOf(node)) return false;
  for (const tensor::Expr& load : LoadsOf(node.stage.value, value)) {
    const auto iters = BareIters(load);
    if (!iters) return false;
    for (int i = 0; i < static_cast<int>(node.stage.iters.size()); ++i) {
      const bool used = std::find(iters->begin(), iters->end(), i) != iters->end();
      if (node.stage.iters[i].extent > 1 && !used) return false;
    }
  }
  return true;
}

bool ReadsInPlace(const Graph& graph, const Node& node, ValueId value) {
  if (graph.values[value].ElementCount() != PointsOf(node)) return false;
  for (const tensor::Expr& load : LoadsOf(node.stage.value, value)) {
    if (load->operands.size() != node.stage.iters.size()) return false;
    for (size_t d = 0; d < load->operands.size(); ++d) {
      const tensor::Expr& index = load->operands[d];
      const bool own = index->op == tensor::ExprOp::kIter && index->index == static_cast<int>(d);
      if (!own && !(node.stage.iters[d].extent == 1 && tensor::IsIntLiteral(index, 0)))
        return false;
    }
  }
  return true;
}

bool RunAlike(const Graph& graph, const Node& a, const Node& b) {
  const Value &x = graph.values[a.output()], &y = graph.values[b.output()];
  const auto same = [](const tensor::Iter& i, const tensor::Iter& j) {
    return i.extent == j.extent && i.kind == j.kind && i.bound == j.bound;
  };
  return x.dtype == y.dtype && x.shape == y.shape && a.stage.reduction == b.stage.reduction &&
         std::ranges::equal(a.stage.iters, b.stage.iters, same);
}

bool IsAnchor(const Node& node) {
  return node.kind == NodeKind::kWindow || node.kind == NodeKind::kMatmul;
}

bool IsMove(const Node& node) {
  if (node.kind != NodeKind::kMap || node.stage.value->op != tensor::ExprOp::kLoad) return false;
  const std::vector<tensor::Expr>& indices = node.stage.value->operands;
  const int iter_count = static_cast<int>(node.stage.iters.size());
  return std::all_of(indices.begin(), indices.end(), [&](const tensor::Expr& index) {
    return tensor::ToLinear(index, iter_count).has_value();
  });
}

tensor::Expr ThroughMoves(const Graph& graph, const tensor::Expr& e, int reader) {
  const std::vector<int> producers = graph.Producers();
  const std::vector<std::vector<int>> consumers = graph.Consumers();
  const std::vector<bool> is_output = graph.IsOutput();
  return RewriteLoads(e, [&](const tensor::Expr& load) -> std::optional<tensor::Expr> {
    const int producer = producers[load->index];
    if (producer < 0 || is_output[load->index] || consumers[load->index] != std::vector{reader} ||
        !IsMove(graph.nodes[producer]) || graph.nodes[producer].group >= 0) {
      return std::nullopt;
    }
    return tensor::SubstituteIters(graph.nodes[producer].stage.value, load->operands);
  });
}

namespace {

bool ChoosesBetweenTensors(const tensor::Expr& value) {
  return value->op == tensor::ExprOp::kSelect && !LoadsOf(value->operands[1]).empty() &&
         !LoadsOf(value->operands[2]).empty();
}

}  // namespace

bool IsCostlyInJoin(const Node& node, const Node& reader) {
  constexpr int64_t kMaxJoinedCost = 16;  // a copy with computed indices
  return ChoosesBetweenTensors(reader.stage.value) &&
         tensor::EvaluationCost(node.stage.value) > kMaxJoinedCost;
}

bool IsJoinReadAtComputedPlaces(const Node& node, const Node& reader) {
  if (!ChoosesBetweenTensors(node.stage.value)) return false;
  const std::vector<tensor::Expr> loads = LoadsOf(reader.stage.value, node.output());
  const auto is_computed = [](const tensor::Expr& load) {
    return std::ranges::any_of(load->operands,
                               [](const tensor::Expr& index) { return !LoadsOf(index).empty(); });
  };
  return std::ranges::any_of(loads, is_computed) &&
         static_cast<int64_t>(loads.size()) * PointsOf(reader) >= PointsOf(node);
}

std::vector<int64_t> ShapeOf(const Node& node) {
  std::vector<int64_t> shape;
  for (const tensor::Iter& iter : node.stage.iters) {
    if (iter.kind == tensor::IterKind::kSpatial) shape.push_back(iter.extent);
  }
  return shape;
}

int64_t PointsOf(const Node& node) {
  int64_t points = 1;
  for (const tensor::Iter& iter : node.stage.iters) points *= iter.extent;
  return points;
}

void SetParts(const Graph& graph, Node& node, int axis, const std::vector<ValueId>& parts) {
  std::vector<tensor::Expr> place;
  for (size_t d = 0; d < node.stage.iters.size(); ++d) {
    place.push_back(tensor::IterVar(static_cast<int>(d)));
  }
  int64_t start = node.stage.iters[axis].extent;
  tensor::Expr value;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    const int64_t end = start;
    start -= graph.values[*part].shape[axis];
    std::vector<tensor::Expr> index = place;
    index[axis] = place[axis] - tensor::Expr(start);
    const tensor::Expr element = tensor::Load(*part, graph.values[*part].dtype, std::move(index));
    value =
        value.defined() ? tensor::Select(place[axis] < tensor::Expr(end), element, value) : element;
  }
  node.stage.value = value;
}

Node MakeMap(Graph& graph, const std::string& name, const std::string& op,
             const std::vector<int64_t>& shape, tensor::Expr value) {
  Node node;
  node.op = op;
  node.stage.name = name;
  node.stage.output = static_cast<ValueId>(graph.values.size());
  node.stage.iters = SpatialIters(shape);
  graph.values.push_back({name, value->dtype, shape, nullptr});
  node.stage.value = std::move(value);
  return node;
}

ValueId AddView(Graph& graph, std::vector<Node>& nodes, ValueId source,
                const std::vector<int64_t>& shape) {
  const Value& from = graph.values[source];
  if (from.shape == shape) return source;
  Value value{from.name + ".view", from.dtype, shape, nullptr};
  const auto id = static_cast<ValueId>(graph.values.size());
  if (from.constant) {
    value.constant =
        std::make_shared<const tensor::HostTensor>(from.dtype, shape, from.constant->data);
  } else {
    Node view;
    view.op = "view";
    view.kind = NodeKind::kView;
    view.source = source;
    view.stage.name = value.name;
    view.stage.output = id;
    nodes.push_back(std::move(view));
  }
  graph.values.push_back(std::move(value));
  return id;
}

tensor::HostTensor PadWithZeros(const tensor::HostTensor& tensor,
                                const std::vector<int64_t>& shape) {
  tensor::HostTensor padded = tensor::HostTensor::Zeros(tensor.dtype, shape);
  const int64_t row = tensor.shape.back();
  const auto bytes = static_cast<size_t>(row * tensor::ByteSize(tensor.dtype));
  std::vector<int64_t> index(shape.size(), 0);
  for (int64_t from = 0; from < tensor.ElementCount(); from += row) {
    int64_t to = 0;
    for (size_t d = 0; d < shape.size(); ++d) to = to * shape[d] + index[d];
    std::memcpy(&padded.data[to * tensor::ByteSize(tensor.dtype)],
                &tensor.data[from * tensor::ByteSize(tensor.dtype)], bytes);
    for (size_t d = shape.size() - 1; d-- > 0;) {
      if (++index[d] < tensor.shape[d]) break;
      index[d] = 0;
    }
  }
  return padded;
}

std::vector<DimGroup> MatchShapes(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  std::vector<DimGroup> groups;
  const int a_rank = static_cast<int>(a.size()), b_rank = static_cast<int>(b.size());
  int i = 0, j = 0;
  while (i < a_rank && j < b_rank) {
    DimGroup group{i, i + 1, j, j + 1};
    int64_t a_product = a[i++], b_product = b[j++];
    while (a_product != b_product) {
      if (a_product < b_product) {
        a_product *= a[i++];
      } else {
        b_product *= b[j++];
      }
    }
    group.a_end = i;
    group.b_end = j;
    groups.push_back(group);
  }
  if (groups.empty()) return {{0, a_rank, 0, b_rank}};
  groups.back().a_end = a_rank;  // extents of 1 at the end belong to the last group
  groups.back().b_end = b_rank;
  return groups;
}

std::optional<std::vector<tensor::Expr>> IndicesBehindView(
    const std::vector<int64_t>& source, const std::vector<int64_t>& shown,
    const std::vector<tensor::Expr>& indices) {
  std::vector<tensor::Expr> behind(source.size(), tensor::Expr(0));
  for (const DimGroup& group : MatchShapes(source, shown)) {
    int wide = -1;
    for (int d = group.a_begin; d < group.a_end; ++d) {
      if (source[d] == 1) continue;
      if (wide >= 0) return std::nullopt;
      wide = d;
    }
    if (wide < 0) continue;
    tensor::Expr position = 0;
    for (int d = group.b_begin; d < group.b_end; ++d) {
      if (shown[d] > 1) position = position * tensor::Expr(shown[d]) + indices[d];
    }
    behind[wide] = position;
  }
  return behind;
}

std::vector<bool> AnchoredValues(const Graph& graph) {
  const std::vector<std::vector<int>> consumers = graph.Consumers();
  std::vector<bool> anchored(graph.values.size(), false);
  for (const Node& node : graph.nodes) {
    if (IsAnchor(node)) anchored[node.output()] = true;
    if (node.kind != NodeKind::kMap) continue;
    for (ValueId operand : OperandsOf(node)) {
      if (anchored[operand] && consumers[operand].size() == 1 &&
          ReadsElementwise(graph, node, operand)) {
        anchored[node.output()] = true;
      }
    }
  }
  return anchored;
}

}  // namespace bayloom::graph
