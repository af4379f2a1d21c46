// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bayloom/base/result.h"
#include "bayloom/codegen/abi.h"
#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/operators/scaled_sum.h"

namespace bayloom::graph {
namespace {

constexpr int64_t kMaxElements = int64_t{1} << 40;
/// Constants made by folding: at most this many elements each (data from the model itself may be
/// of any size, and what is computed from it elementwise stays as large as it).
constexpr int64_t kMaxFoldedElements = int64_t{1} << 26;
/// Points of iteration domains beyond one for every element of the operands that may be computed:
/// for a node, and for all of them.
constexpr int64_t kMaxFoldedPoints = int64_t{1} << 25;
constexpr int64_t kFoldingBudget = int64_t{1} << 28;
constexpr int kMaxRank = 16;

/// a * b, or kMaxElements + 1 when it is more than that; a and b are not negative.
int64_t SaturatingProduct(int64_t a, int64_t b) {
  if (a != 0 && b > kMaxElements / a) return kMaxElements + 1;
  return a * b;
}

int64_t PointCount(const tensor::Stage& stage) {
  int64_t points = 1;
  for (const tensor::Iter& iter : stage.iters) points = SaturatingProduct(points, iter.extent);
  return points;
}

bool ReadsEmptyValue(const Graph& graph, const Node& node) {
  for (ValueId operand : OperandsOf(node)) {
    if (graph.values[operand].ElementCount() == 0) return true;
  }
  return false;
}

GraphBuilder::Exprs IterVars(size_t first, size_t count) {
  GraphBuilder::Exprs vars;
  for (size_t i = 0; i < count; ++i) vars.push_back(tensor::IterVar(static_cast<int>(first + i)));
  return vars;
}

}  // namespace

void ReduceNothing(Node& node) {
  tensor::Stage& stage = node.stage;
  std::erase_if(stage.iters,
                [](const tensor::Iter& i) { return i.kind == tensor::IterKind::kReduction; });
  stage.value = tensor::NeutralElement(stage.reduction, stage.value->dtype);
  stage.reduction = tensor::Reduction::kNone;
  node.kind = NodeKind::kMap;
}

int64_t CheckedElementCount(const std::vector<int64_t>& shape) {
  if (shape.size() > kMaxRank) {
    throw InputError(
        fmt::format("a tensor of {} dimensions; at most {} are supported", shape.size(), kMaxRank));
  }
  int64_t count = 1;
  for (int64_t extent : shape) {
    if (extent < 0) throw InputError(fmt::format("a tensor with the extent {}", extent));
    if (extent > kMaxElements) throw InputError("a tensor with an extent above 2^40");
    count = SaturatingProduct(count, extent);
  }
  if (count > kMaxElements) throw InputError("a tensor of more than 2^40 elements");
  return count;
}

GraphBuilder::GraphBuilder(std::string name) : GraphBuilder(Graph()) {
  graph_.name = std::move(name);
}

GraphBuilder::GraphBuilder(Graph graph)
    : graph_(std::move(graph)),
      known_floats_(std::make_shared<KnownFloats>()),
      folding_budget_(kFoldingBudget) {}

tensor::Tensor GraphBuilder::Input(std::string name, tensor::DType dtype,
                                   std::vector<int64_t> shape) {
  CheckedElementCount(shape);
  const ValueId id = static_cast<ValueId>(graph_.values.size());
  graph_.values.push_back({std::move(name), dtype, shape, nullptr});
  graph_.inputs.push_back(id);
  return tensor::Tensor(id, dtype, std::move(shape));
}

tensor::Tensor GraphBuilder::Constant(std::string name, tensor::HostTensor data) {
  return Constant(std::move(name), std::make_shared<const tensor::HostTensor>(std::move(data)));
}

tensor::Tensor GraphBuilder::Constant(std::string name,
                                      std::shared_ptr<const tensor::HostTensor> data) {
  const ValueId id = static_cast<ValueId>(graph_.values.size());
  tensor::Tensor tensor(id, data->dtype, data->shape);
  graph_.values.push_back({std::move(name), data->dtype, data->shape, std::move(data)});
  return tensor;
}

tensor::Tensor GraphBuilder::Map(std::string op, std::vector<int64_t> shape,
                                 const ElementFunction& value) {
  Node node{.op = std::move(op), .kind = NodeKind::kMap};
  node.stage.iters = SpatialIters(shape);
  node.stage.value = value(IterVars(0, shape.size()));
  return AddNode(std::move(node), std::move(shape));
}

tensor::Tensor GraphBuilder::Reduce(std::string op, std::vector<int64_t> shape,
                                    std::vector<Axis> axes, tensor::Reduction reduction,
                                    const TermFunction& term, NodeKind kind) {
  Node node{.op = std::move(op), .kind = kind};
  node.stage.iters = SpatialIters(shape);
  for (Axis& axis : axes) {
    node.stage.iters.push_back({std::move(axis.name), axis.extent, tensor::IterKind::kReduction});
  }
  node.stage.value = term(IterVars(0, shape.size()), IterVars(shape.size(), axes.size()));
  if (axes.empty()) {
    node.kind = NodeKind::kMap;
  } else {
    node.stage.reduction = reduction;
  }
  return AddNode(std::move(node), std::move(shape));
}

tensor::Tensor GraphBuilder::Call(std::string op, std::vector<int64_t> shape, tensor::DType dtype,
                                  tensor::LibraryKernel kernel,
                                  const std::vector<tensor::Tensor>& operands,
                                  const std::vector<int64_t>& numbers) {
  Node node{.op = std::move(op), .kind = NodeKind::kCall};
  node.stage.iters = SpatialIters(shape);
  node.stage.value = tensor::MakeCall(kernel, dtype, operands, numbers);
  return AddNode(std::move(node), std::move(shape));
}

tensor::Tensor GraphBuilder::View(const tensor::Tensor& source, std::vector<int64_t> shape) {
  if (CheckedElementCount(shape) != CheckedElementCount(source.shape())) {
    throw InputError(fmt::format("{} elements cannot take the shape {}",
                                 CheckedElementCount(source.shape()),
                                 ToString(source.dtype(), shape)));
  }
  if (shape == source.shape()) return source;
  Node node{.op = "view", .kind = NodeKind::kView};
  node.source = source.id();
  return AddNode(std::move(node), std::move(shape));
}

tensor::Tensor GraphBuilder::Rows(const tensor::Tensor& source, int64_t first, int64_t count) {
  std::vector<int64_t> shape = source.shape();
  if (first == 0 && count == shape.at(0)) return source;
  const bool is_beyond = first > shape[0] - count && (!compares_lengths() || ConstantOf(source));
  if (first < 0 || count < 0 || is_beyond) {
    throw InputError(
        fmt::format("rows {} to {} of {}", first, first + count, ToString(source.dtype(), shape)));
  }
  shape[0] = count;
  const int64_t elements = CheckedElementCount(shape);
  const int64_t start = count == 0 ? 0 : elements / count * first;
  Node node{.op = "slice", .kind = NodeKind::kSlice};
  if (elements == 0 || ConstantOf(source) ||
      start * tensor::ByteSize(source.dtype()) % target::kBufferAlignment != 0) {
    node.kind = NodeKind::kMap;
  }
  Exprs place = IterVars(0, shape.size());
  place[0] = place[0] + tensor::Expr(first);
  node.stage.iters = SpatialIters(shape);
  node.stage.value = source.At(std::move(place));
  return AddNode(std::move(node), std::move(shape));
}

bool GraphBuilder::CanFold(const tensor::Stage& stage, const std::vector<int64_t>& shape) {
  bool known = true;
  int64_t largest_operand = 0;
  tensor::Visit(stage.value, [&](const tensor::Expr& e) {
    if (e->op != tensor::ExprOp::kLoad) return;
    const Value& operand = graph_.values[e->index];
    known &= operand.constant != nullptr;
    largest_operand = std::max(largest_operand, operand.ElementCount());
  });
  const int64_t elements = CheckedElementCount(shape);
  const int64_t points = PointCount(stage);
  const int64_t cost = std::max<int64_t>(0, points - largest_operand);
  if (!known || elements > std::max(kMaxFoldedElements, largest_operand) ||
      cost > std::min(kMaxFoldedPoints, folding_budget_)) {
    return false;
  }
  folding_budget_ -= cost;
  return true;
}

std::shared_ptr<const tensor::HostTensor> GraphBuilder::Fold(const tensor::Stage& stage) {
  const auto compute = [&] {
    return std::make_shared<const tensor::HostTensor>(EvaluateStage(
        stage, [&](ValueId v) -> const tensor::HostTensor& { return *graph_.values[v].constant; }));
  };
  if (folded_ == nullptr) return compute();
  return folded_->OfStage(
      stage, [&](ValueId v) { return graph_.values[v].constant; }, compute);
}

tensor::Tensor GraphBuilder::AddNode(Node node, std::vector<int64_t> shape) {
  const int64_t elements = CheckedElementCount(shape);
  const ValueId id = static_cast<ValueId>(graph_.values.size());
  const bool is_view = node.kind == NodeKind::kView;
  const tensor::DType dtype = is_view ? graph_.values[node.source].dtype : node.stage.value->dtype;
  node.stage.name = scope_.empty() ? node.op : scope_ + "." + node.op;
  node.stage.output = id;
  Value value{node.stage.name, dtype, shape, nullptr};

  const int64_t points = is_view ? elements : PointCount(node.stage);
  if (elements > 0 && points > 0 && !is_view && ReadsEmptyValue(graph_, node)) {
    throw InputError("elements of an empty tensor are needed");
  }
  if (elements == 0) {
    value.constant =
        std::make_shared<const tensor::HostTensor>(tensor::HostTensor::Zeros(dtype, shape));
  } else if (is_view) {
    if (const auto& source = graph_.values[node.source].constant) {
      value.constant = folded_ != nullptr
                           ? folded_->OfView(source, shape)
                           : std::make_shared<const tensor::HostTensor>(dtype, shape, source->data);
    }
  } else if (points == 0) {  // reduces over nothing
    ReduceNothing(node);
  }
  if (!value.constant && !is_view && CanFold(node.stage, shape)) value.constant = Fold(node.stage);
  if (!value.constant || compares_lengths()) graph_.nodes.push_back(std::move(node));
  graph_.values.push_back(std::move(value));
  return tensor::Tensor(id, dtype, std::move(shape));
}

const tensor::HostTensor* GraphBuilder::ConstantOf(const tensor::Tensor& tensor) const {
  return graph_.values[tensor.id()].constant.get();
}

std::vector<std::string> GraphBuilder::InputsBehind(const tensor::Tensor& tensor) const {
  std::vector<bool> behind(graph_.values.size(), false);
  behind[tensor.id()] = true;
  for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend(); ++node) {
    if (!behind[node->output()]) continue;
    for (ValueId operand : OperandsOf(*node)) behind[operand] = true;
  }
  std::vector<std::string> names;
  for (ValueId input : graph_.inputs) {
    if (behind[input]) names.push_back(graph_.values[input].name);
  }
  return names;
}

void GraphBuilder::Rename(const tensor::Tensor& tensor, std::string name) {
  const bool is_input = std::ranges::find(graph_.inputs, tensor.id()) != graph_.inputs.end();
  Value& value = graph_.values[tensor.id()];
  if (!is_input && !value.constant) value.name = std::move(name);
}

Graph GraphBuilder::Build(std::vector<GraphOutput> outputs) {
  graph_.outputs = std::move(outputs);
  if (!compares_lengths()) RemoveDeadNodes(graph_);
  return std::move(graph_);
}

}  // namespace bayloom::graph
