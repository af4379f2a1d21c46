// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/tasks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "bayloom/graph/internal/evaluate.h"
#include "bayloom/graph/internal/fusion.h"
#include "bayloom/graph/internal/passes/rewriting.h"
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
    for (int n : group_.nodes) DeclareOperands(graph_.nodes[n]);
    for (int n : group_.nodes) {
      const bool last = n == group_.nodes.back();
      Declare(graph_.nodes[n].output(),
              last ? tensor::BufferRole::kOutput : tensor::BufferRole::kIntermediate,
              graph_.nodes[n].op);
    }
    for (int n : group_.nodes) AddStage(graph_.nodes[n]);
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
    stage.value = RewriteLoads(stage.value, [&](const tensor::Expr& load) {
      return std::optional(tensor::Load(buffer_of_.at(load->index), load->dtype, load->operands));
    });
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

}  // namespace

TaskGraph ExtractTasks(Graph graph) {
  TaskGraph result;
  std::map<uint64_t, int> known;
  const std::vector<SlicePlace> slices = SlicePlaces(graph);
  for (const FusionGroup& group : Fuse(graph)) {
    GroupWriter writer(graph, slices, group);
    tensor::Workload workload = writer.Write();
    TaskCall call{0, writer.Parameters(workload), group.nodes};
    const auto [entry, is_new] =
        known.emplace(workload.StructuralHash(), static_cast<int>(result.tasks.size()));
    if (is_new) result.tasks.push_back({std::move(workload), 0, {}});
    GraphTask& task = result.tasks[entry->second];
    ++task.weight;
    task.groups.push_back(static_cast<int>(result.calls.size()));
    call.task = entry->second;
    result.calls.push_back(std::move(call));
  }
  result.storage = StorageOf(graph, slices);
  result.graph = std::move(graph);
  return result;
}

std::vector<tensor::HostTensor> InterpretTasks(const TaskGraph& tasks,
                                               const std::vector<tensor::HostTensor>& inputs) {
  const Graph& graph = tasks.graph;
  std::vector<tensor::HostTensor> data(graph.values.size());
  for (size_t v = 0; v < data.size(); ++v) {
    if (graph.values[v].constant) data[v] = *graph.values[v].constant;
  }
  for (size_t i = 0; i < graph.inputs.size(); ++i) data[graph.inputs[i]] = inputs[i];
  const std::vector<int> producers = graph.Producers();
  // Other names for memory are looked through when they are read.
  const std::function<const tensor::HostTensor&(ValueId)> read =
      [&](ValueId value) -> const tensor::HostTensor& {
    const Node* node = producers[value] < 0 ? nullptr : &graph.nodes[producers[value]];
    if (node && node->kind == NodeKind::kView) {
      data[value] = read(node->source);
    } else if (node && node->IsAlias()) {
      data[value] = EvaluateStage(node->stage, read);
    }
    data[value].shape = graph.values[value].shape;
    return data[value];
  };
  for (const TaskCall& call : tasks.calls) {
    const ValueId output = call.parameters.back();
    data[output] =
        tensor::HostTensor::Zeros(graph.values[output].dtype, graph.values[output].shape);
    std::vector<tensor::HostTensor> arguments;
    for (ValueId value : call.parameters) {
      arguments.push_back(value == output ? data[output] : read(value));
    }
    tensor::Interpret(tensor::Lower(tasks.tasks[call.task].workload), arguments);
    data[output] = std::move(arguments.back());
  }
  std::vector<tensor::HostTensor> outputs;
  for (const GraphOutput& output : graph.outputs) outputs.push_back(read(output.value));
  return outputs;
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
  return text;
}

}  // namespace bayloom::graph
