// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <utility>

#include "bayloom/base/result.h"
#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/tasks.h"
#include "bayloom/tensor/program.h"

namespace bayloom::graph {
namespace {

/// A join with what its sizes are in a run. Elements beyond its bound are any of its parts'.
tensor::Stage WithSizes(const Graph& graph, tensor::Stage join,
                        const std::vector<tensor::HostTensor>& data) {
  const auto within = [&](const tensor::Expr& load) {
    std::vector<tensor::Expr> indices;
    for (size_t d = 0; d < load->operands.size(); ++d) {
      const tensor::Expr last = graph.values[load->index].shape[d] - 1;
      indices.push_back(tensor::Max(tensor::Min(load->operands[d], last), tensor::Expr(0)));
    }
    return tensor::Load(load->index, load->dtype, std::move(indices));
  };
  join.value = tensor::Rewrite(join.value, [&](const tensor::Expr& e) {
    if (e->op == tensor::ExprOp::kLoad) return std::optional(within(e));
    if (e->op != tensor::ExprOp::kSize) return std::optional<tensor::Expr>();
    return std::optional(tensor::IntLiteral(data[e->index].GetInt(0)));
  });
  return join;
}

/// The lengths that a network's symbols have while its tasks are interpreted.
class InterpretedLengths {
 public:
  InterpretedLengths(const TaskGraph& tasks, std::span<const int64_t> given,
                     std::vector<tensor::HostTensor>& data)
      : tasks_(tasks), lengths_(given.begin(), given.end()), data_(data) {
    for (size_t s = lengths_.size(); s < tasks.graph.symbols.size(); ++s) {
      lengths_.push_back(tasks.graph.symbols[s].largest);
    }
    WriteSizes();
  }

  /// Takes what is found in the memory of that value.
  void Find(ValueId whole, const std::function<const tensor::HostTensor&(ValueId)>& read) {
    for (const FoundLength& found : tasks_.graph.found) {
      if (tasks_.storage[found.count].whole != whole) continue;
      const int64_t count = read(found.count).GetInt(0);
      if (count < found.least || count > found.most) {
        throw InputError(fmt::format("the length {} is found for '{}', which is {}", count,
                                     found.name, BoundText(found.least, found.most)));
      }
      if (found.symbol >= 0) lengths_[found.symbol] = count;
      WriteSizes();
    }
  }

  std::vector<int64_t> Take() { return std::move(lengths_); }

 private:
  void WriteSizes() {
    const Graph& graph = tasks_.graph;
    for (size_t v = 0; v < data_.size(); ++v) {
      if (!graph.values[v].size) continue;
      data_[v] = tensor::HostTensor::Zeros(tensor::DType::kInt64, {});
      data_[v].SetInt(0, graph.values[v].size->Evaluate(lengths_));
    }
  }

  const TaskGraph& tasks_;
  std::vector<int64_t> lengths_;
  std::vector<tensor::HostTensor>& data_;
};

}  // namespace

Interpreted InterpretNetwork(const TaskGraph& tasks, const std::vector<tensor::HostTensor>& inputs,
                             std::span<const int64_t> lengths) {
  const Graph& graph = tasks.graph;
  std::vector<tensor::HostTensor> data(graph.values.size());
  for (size_t v = 0; v < data.size(); ++v) {
    if (graph.values[v].constant) data[v] = *graph.values[v].constant;
  }
  for (size_t i = 0; i < graph.inputs.size(); ++i) data[graph.inputs[i]] = inputs[i];
  InterpretedLengths current(tasks, lengths, data);
  const std::vector<int> producers = graph.Producers();
  // Other names for memory are looked through when they are read.
  const std::function<const tensor::HostTensor&(ValueId)> read =
      [&](ValueId value) -> const tensor::HostTensor& {
    const Node* node = producers[value] < 0 ? nullptr : &graph.nodes[producers[value]];
    if (node && node->kind == NodeKind::kView) {
      data[value] = read(node->source);
    } else if (node && node->IsAlias()) {
      data[value] = EvaluateStage(WithSizes(graph, node->stage, data), read);
    }
    data[value].shape = graph.values[value].shape;
    return data[value];
  };
  for (size_t v = 0; v < data.size(); ++v) {
    if (producers[v] < 0) current.Find(static_cast<ValueId>(v), read);
  }
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
    current.Find(tasks.storage[output].whole, read);
  }
  Interpreted result;
  for (const GraphOutput& output : graph.outputs) result.outputs.push_back(read(output.value));
  result.lengths = current.Take();
  return result;
}

std::vector<tensor::HostTensor> InterpretTasks(const TaskGraph& tasks,
                                               const std::vector<tensor::HostTensor>& inputs,
                                               std::span<const int64_t> lengths) {
  return InterpretNetwork(tasks, inputs, lengths).outputs;
}

}  // namespace bayloom::graph
