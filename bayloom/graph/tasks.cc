// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/tasks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/passes/rewriting.h"
#include "bayloom/graph/tasks/fusion.h"
#include "bayloom/sketch/pattern.h"
#include "bayloom/sketch/rows_for_pool.h"
#include "bayloom/tensor/program.h"

namespace bayloom::graph {
namespace {

/// Writes the nodes of one group as a workload. Parameters are declared in the order in which
/// the stages name them, so that equal groups give equal workloads.
class GroupWriter {
 public:
  /// `slices` as SlicePlaces gives them.
  GroupWriter(const Graph& graph, const std::vector<SlicePlace>& slices, const FusionGroup& group)
      : graph_(graph), slices_(slices), group_(group) {}

  tensor::Workload Write() {
    for (int n : group_.nodes) written_.push_back(graph_.nodes[n].output());
    workload_.name = Name();
    for (int n : group_.nodes) DeclareSizes(graph_.nodes[n]);
    for (int n : group_.nodes) DeclareOperands(graph_.nodes[n]);
    for (int n : group_.nodes) {
      const bool last = n == group_.nodes.back();
      Declare(graph_.nodes[n].output(),
              last ? tensor::BufferRole::kOutput : tensor::BufferRole::kIntermediate,
              graph_.nodes[n].op);
    }
    for (int n : group_.nodes) AddStage(graph_.nodes[n]);
    AddPoints();
    return std::move(workload_);
  }

  /// The graph's values behind the workload's parameters.
  std::vector<ValueId> Parameters(const tensor::Workload& workload) const {
    std::vector<ValueId> parameters;
    for (tensor::BufferId buffer : workload.Parameters()) parameters.push_back(value_of_[buffer]);
    return parameters;
  }

 private:
  /// What the group computes, in order: "conv+batchnorm+relu". Parts of one operator
  /// ("softmax.max") count once.
  std::string Name() const {
    std::string name, last;
    for (int n : group_.nodes) {
      std::istringstream ops(graph_.nodes[n].op);
      for (std::string op; std::getline(ops, op, '+');) {
        op = op.substr(0, op.find('.'));
        if (op != last) name += (name.empty() ? "" : "+") + op;
        last = op;
      }
    }
    return name;
  }

  /// Kernels of the library run over the largest lengths.
  bool IsCall() const { return graph_.nodes[group_.nodes[0]].kind == NodeKind::kCall; }

  void DeclareSizes(const Node& node) {
    for (ValueId size : SizesOf(graph_, node)) {
      if (!buffer_of_.contains(size)) DeclareSize(size);
    }
  }

  void AddPoints() {
    if (workload_.SizeCount() == 0) return;
    for (const std::vector<int64_t>& lengths : graph_.points) {
      std::vector<int64_t>& point = workload_.points.emplace_back();
      for (int size = 0; size < workload_.SizeCount(); ++size) {
        point.push_back(graph_.values[value_of_[size]].size->Evaluate(lengths));
      }
    }
  }

  void DeclareSize(ValueId size) {
    Declare(size, tensor::BufferRole::kSize, fmt::format("n{}", value_of_.size()));
    workload_.buffers.back().range = graph_.values[size].size->Range(graph_.symbols);
  }

  tensor::Bound BoundOf(tensor::Bound bound) const {
    if (IsCall()) return {};
    if (bound.is_open()) bound.size = buffer_of_.at(bound.size);
    return bound;
  }

  void DeclareOperands(const Node& node) {
    for (ValueId operand : OperandsOf(node)) {
      const bool inside = std::find(written_.begin(), written_.end(), operand) != written_.end();
      if (inside || buffer_of_.contains(operand)) continue;
      const bool constant = graph_.values[operand].constant != nullptr;
      const std::string name = fmt::format("{}{}", constant ? "w" : "x", value_of_.size());
      Declare(operand, constant ? tensor::BufferRole::kConstant : tensor::BufferRole::kInput, name);
    }
  }

  void Declare(ValueId value, tensor::BufferRole role, const std::string& name) {
    tensor::Buffer buffer;
    buffer.name = UniqueName(name);
    buffer.dtype = graph_.values[value].dtype;
    buffer.shape = graph_.values[value].shape;
    buffer.slice_of = SliceOf(value);
    buffer.role = role;
    if (!IsCall()) {
      for (ValueId size : graph_.values[value].bounds) buffer.bounds.push_back(BoundOf({size}));
    }
    buffer_of_[value] = static_cast<tensor::BufferId>(workload_.buffers.size());
    value_of_.push_back(value);
    workload_.buffers.push_back(std::move(buffer));
  }

  /// As Buffer::slice_of. Extents that nothing depends on are the slice's own, so that tasks are
  /// equal where their memory is.
  std::vector<int64_t> SliceOf(ValueId value) const {
    if (slices_[value].whole < 0) return {};
    const std::vector<int64_t>& shape = graph_.values[value].shape;
    std::vector<int64_t> whole = graph_.values[slices_[value].whole].shape;
    for (size_t d = 0; d < shape.size(); ++d) {
      whole[d] = shape[d];
      if (shape[d] > 1) break;
    }
    return whole == shape ? std::vector<int64_t>{} : whole;
  }

  std::string UniqueName(const std::string& name) const {
    const auto taken = [&](const std::string& candidate) {
      return std::any_of(workload_.buffers.begin(), workload_.buffers.end(),
                         [&](const tensor::Buffer& buffer) { return buffer.name == candidate; });
    };
    std::string unique = name;
    for (int suffix = 2; taken(unique); ++suffix) unique = fmt::format("{}_{}", name, suffix);
    return unique;
  }

  void AddStage(const Node& node) {
    tensor::Stage stage = node.stage;
    stage.output = buffer_of_.at(node.output());
    stage.name = workload_.buffers[stage.output].name;
    stage.value =
        tensor::Rewrite(stage.value, [&](const tensor::Expr& e) -> std::optional<tensor::Expr> {
          if (e->op == tensor::ExprOp::kSize) return tensor::SizeOf(buffer_of_.at(e->index));
          if (e->op != tensor::ExprOp::kLoad) return std::nullopt;
          return tensor::Load(buffer_of_.at(e->index), e->dtype, e->operands);
        });
    for (tensor::Iter& iter : stage.iters) iter.bound = BoundOf(iter.bound);
    workload_.stages.push_back(std::move(stage));
  }

  const Graph& graph_;
  const std::vector<SlicePlace>& slices_;
  const FusionGroup& group_;
  tensor::Workload workload_;
  std::vector<ValueId> written_;
  std::unordered_map<ValueId, tensor::BufferId> buffer_of_;
  std::vector<ValueId> value_of_;  // by buffer
};

std::vector<SlicePlace> StorageOf(const Graph& graph, std::vector<SlicePlace> slices) {
  for (size_t v = 0; v < slices.size(); ++v) {
    if (slices[v].whole < 0) slices[v].whole = static_cast<ValueId>(v);
  }
  for (const Node& node : graph.nodes) {
    if (node.kind == NodeKind::kView) slices[node.output()] = slices[node.source];
    if (node.kind == NodeKind::kSlice) {
      const SlicePlace source = slices[node.stage.value->index];
      slices[node.output()] = {source.whole, source.first + SliceStart(graph, node)};
    }
  }
  return slices;
}

/// Adds calls to a network that has none, and the tasks that they are of.
class CallList {
 public:
  explicit CallList(TaskGraph& network) : network_(network) {}

  void Add(tensor::Workload workload, TaskCall call) {
    const auto [entry, is_new] =
        known_.emplace(workload.StructuralHash(), static_cast<int>(network_.tasks.size()));
    if (is_new) network_.tasks.push_back({std::move(workload), 0, {}});
    GraphTask& task = network_.tasks[entry->second];
    ++task.weight;
    task.calls.push_back(static_cast<int>(network_.calls.size()));
    call.task = entry->second;
    network_.calls.push_back(std::move(call));
  }

 private:
  TaskGraph& network_;
  std::map<uint64_t, int> known_;
};

/// Finds regions that could be one call.
class AlternativeFinder {
 public:
  AlternativeFinder(const Graph& graph, const std::vector<SlicePlace>& slices,
                    const std::vector<TaskCall>& calls)
      : graph_(graph),
        slices_(slices),
        calls_(calls),
        consumers_(graph.Consumers()),
        is_output_(graph.IsOutput()),
        call_of_(graph.nodes.size(), -1) {
    for (size_t c = 0; c < calls.size(); ++c) {
      for (int node : calls[c].nodes) call_of_[node] = static_cast<int>(c);
    }
  }

  std::vector<Alternative> Find() const {
    std::vector<Alternative> found;
    std::vector<bool> taken(calls_.size());
    for (size_t first = 0; first < calls_.size(); ++first) {
      const int second = OnlyReader(calls_[first]);
      if (second < 0 || taken[first] || taken[second] || !HasWindows(calls_[first])) continue;
      std::optional<Alternative> one = AsOne(static_cast<int>(first), second);
      if (!one) continue;
      taken[first] = taken[second] = true;
      found.push_back(*std::move(one));
    }
    return found;
  }

 private:
  ValueId ResultOf(const TaskCall& call) const { return graph_.nodes[call.nodes.back()].output(); }

  /// The one call that reads the call's result; -1 if others see it, or under another name.
  int OnlyReader(const TaskCall& call) const {
    const ValueId result = ResultOf(call);
    if (is_output_[result] || consumers_[result].empty()) return -1;
    const int reader = call_of_[consumers_[result].front()];
    const bool is_only =
        std::ranges::all_of(consumers_[result], [&](int node) { return call_of_[node] == reader; });
    return is_only ? reader : -1;
  }

  bool HasWindows(const TaskCall& call) const {
    return std::ranges::any_of(
        call.nodes, [&](int node) { return graph_.nodes[node].kind == NodeKind::kWindow; });
  }

  std::optional<Alternative> AsOne(int first, int second) const {
    FusionGroup both{calls_[first].nodes};
    both.nodes.insert(both.nodes.end(), calls_[second].nodes.begin(), calls_[second].nodes.end());
    std::ranges::sort(both.nodes);
    GroupWriter writer(graph_, slices_, both);
    tensor::Workload workload = writer.Write();
    if (!std::holds_alternative<sketch::WindowChain>(sketch::Recognize(workload))) {
      std::optional<tensor::Workload> pooled = sketch::WithRowsForPool(workload);
      if (!pooled) return std::nullopt;
      workload = *std::move(pooled);
    }
    const Value& between = graph_.values[ResultOf(calls_[first])];
    Alternative one;
    one.calls = {first, second};
    one.call = {-1, writer.Parameters(workload), std::move(both.nodes)};
    one.workload = std::move(workload);
    one.bytes_between = between.ElementCount() * tensor::ByteSize(between.dtype);
    return one;
  }

  const Graph& graph_;
  const std::vector<SlicePlace>& slices_;
  const std::vector<TaskCall>& calls_;
  const std::vector<std::vector<int>> consumers_;
  const std::vector<bool> is_output_;
  std::vector<int> call_of_;  // per node; -1 for other names of memory
};

}  // namespace

TaskGraph ExtractTasks(Graph graph) {
  InferBounds(graph);
  TaskGraph result;
  CallList calls(result);
  const std::vector<SlicePlace> slices = SlicePlaces(graph);
  for (const FusionGroup& group : Fuse(graph)) {
    GroupWriter writer(graph, slices, group);
    tensor::Workload workload = writer.Write();
    TaskCall call{-1, writer.Parameters(workload), group.nodes};
    calls.Add(std::move(workload), std::move(call));
  }
  result.alternatives = AlternativeFinder(graph, slices, result.calls).Find();
  result.storage = StorageOf(graph, slices);
  result.graph = std::move(graph);
  return result;
}

TaskGraph ForGpu(TaskGraph network) {
  if (!network.graph.found.empty()) {
    throw InputError(fmt::format("'{}': code for GPUs is for lengths that are known before a run",
                                 network.graph.found.front().name));
  }
  JoinProducts(network.graph);
  return ExtractTasks(std::move(network.graph));
}

TaskGraph Divide(const TaskGraph& network, const std::vector<bool>& wanted) {
  std::vector<const Alternative*> of_call(network.calls.size());
  for (size_t a = 0; a < network.alternatives.size(); ++a) {
    if (!wanted[a]) continue;
    for (int call : network.alternatives[a].calls) of_call[call] = &network.alternatives[a];
  }
  TaskGraph divided;
  divided.graph = network.graph;
  divided.storage = network.storage;
  CallList calls(divided);
  for (size_t c = 0; c < network.calls.size(); ++c) {
    const TaskCall& call = network.calls[c];
    const Alternative* const other = of_call[c];
    if (other == nullptr) {
      calls.Add(network.tasks[call.task].workload, call);
    } else if (other->calls.back() == static_cast<int>(c)) {
      calls.Add(other->workload, other->call);
    }
  }
  return divided;
}

std::string Print(const TaskGraph& tasks) {
  std::string text;
  for (size_t t = 0; t < tasks.tasks.size(); ++t) {
    const GraphTask& task = tasks.tasks[t];
    text += fmt::format("task {}: {} x {}, {:.3f} Mflop\n", t, task.weight, task.workload.name,
                        task.workload.Flops() / 1e6);
  }
  for (const TaskCall& call : tasks.calls) {
    std::vector<std::string> names;
    for (ValueId value : call.parameters) names.push_back(tasks.graph.values[value].name);
    text += fmt::format("call task {}: {}\n", call.task, fmt::join(names, ", "));
  }
  for (const Alternative& one : tasks.alternatives) {
    text += fmt::format("or calls {} as one: {}\n", fmt::join(one.calls, ", "), one.workload.name);
  }
  return text;
}

}  // namespace bayloom::graph
