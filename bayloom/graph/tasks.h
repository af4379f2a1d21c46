// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "bayloom/graph/graph.h"
#include "bayloom/tensor/workload.h"

namespace bayloom::graph {

/// One step of running a network: a call of a task's kernel.
struct TaskCall {
  int task;
  /// The graph's values behind Workload::Parameters(), in that order; constants have their data
  /// in the graph, row-major.
  std::vector<ValueId> parameters;
  std::vector<int> nodes;  ///< what it computes, positions in Graph::nodes
};

/// Something to be tuned: calls with equal workloads share it.
struct GraphTask {
  tensor::Workload workload;
  int weight = 0;           ///< how often the network calls it
  std::vector<int> groups;  ///< the calls, positions in TaskGraph::calls
};

/// A network as calls of kernels.
struct TaskGraph {
  Graph graph;
  std::vector<TaskCall> calls;  ///< in the order in which they run
  std::vector<GraphTask> tasks;

  /// Per value: where its elements lie. In memory of its own, or as a view or a slice in that of
  /// another value.
  std::vector<SlicePlace> storage;
};

/// Fuses the nodes of an (optimized) graph and makes every group a workload.
TaskGraph ExtractTasks(Graph graph);

/// Runs the tasks by the reference interpreter; `inputs` parallel to graph.inputs, the result to
/// graph.outputs.
std::vector<tensor::HostTensor> InterpretTasks(const TaskGraph& tasks,
                                               const std::vector<tensor::HostTensor>& inputs);

/// The calls and tasks as people read them.
std::string Print(const TaskGraph& tasks);

}  // namespace bayloom::graph
