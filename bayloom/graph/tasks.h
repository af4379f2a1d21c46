// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string>
#include <vector>

#include "bayloom/graph/graph.h"
#include "bayloom/tensor/workload.h"

namespace bayloom::graph {

/// One step of running a network: a call of a task's kernel.
struct TaskCall {
  int task;
  /// The graph's values behind Workload::Parameters(), in that order, sizes first; constants have
  /// their data in the graph, row-major.
  std::vector<ValueId> parameters;
  std::vector<int> nodes;  ///< what it computes, positions in Graph::nodes
};

/// Something to be tuned: calls with equal workloads share it.
struct GraphTask {
  tensor::Workload workload;
  int weight = 0;          ///< how often the network calls it
  std::vector<int> calls;  ///< the calls, positions in TaskGraph::calls
};

/// Another division of a region of a network: one call in place of several.
struct Alternative {
  std::vector<int> calls;     ///< those that it replaces, positions in TaskGraph::calls, ascending
  tensor::Workload workload;  ///< of the one task
  TaskCall call;              ///< in the place of the last of `calls`; its `task` says nothing
  int64_t bytes_between = 0;  ///< what the calls hand on to each other, through memory
};

/// A network as calls of kernels.
struct TaskGraph {
  Graph graph;
  std::vector<TaskCall> calls;  ///< in the order in which they run
  std::vector<GraphTask> tasks;

  /// Regions that could be divided otherwise, no two of which have a call in common.
  std::vector<Alternative> alternatives;

  /// Per value: where its elements lie. In memory of its own, or as a view or a slice in that of
  /// another value.
  std::vector<SlicePlace> storage;
};

/// Fuses the nodes of an (optimized) graph and makes every group a workload. Where a second way is
/// known to compute what two groups do (sketch/window_chain.h, pooled_convolution.h), it is an
/// alternative: which is faster depends on the machine, and is for the tuning to say.
TaskGraph ExtractTasks(Graph graph);

/// The network with the tasks that suit GPUs: products of one matrix with several are one
/// (JoinProducts). Throws InputError where the network finds lengths itself.
TaskGraph ForGpu(TaskGraph network);

/// The network with those of its alternatives that are `wanted` (a flag for each), and no more of
/// them to choose from. Its tasks are those that it calls, in the order of their first calls.
TaskGraph Divide(const TaskGraph& network, const std::vector<bool>& wanted);

/// Runs the tasks by the reference interpreter; `inputs` parallel to graph.inputs, the result to
/// graph.outputs, both of the largest shapes. `lengths`: of the graph's symbols.
std::vector<tensor::HostTensor> InterpretTasks(const TaskGraph& tasks,
                                               const std::vector<tensor::HostTensor>& inputs,
                                               std::span<const int64_t> lengths = {});

/// The same, and the lengths that the symbols have in the end. Of those that the network finds none
/// need be given.
struct Interpreted {
  std::vector<tensor::HostTensor> outputs;
  std::vector<int64_t> lengths;
};
Interpreted InterpretNetwork(const TaskGraph& tasks, const std::vector<tensor::HostTensor>& inputs,
                             std::span<const int64_t> lengths = {});

/// The calls and tasks as people read them.
std::string Print(const TaskGraph& tasks);

}  // namespace bayloom::graph
