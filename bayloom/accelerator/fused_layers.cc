// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/accelerator/fused_layers.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "bayloom/accelerator/network_layers.h"
#include "bayloom/graph/graph.h"

namespace bayloom::accelerator {
namespace {

using mapspace::AccessStep;
using mapspace::FusedOperand;
using mapspace::FusedOperator;

/// Whether a box stays the same box.
bool IsIdentity(const AccessStep& step, const std::vector<int64_t>& from) {
  if (!step.from.empty() || step.shape != from || step.axes.size() != from.size()) return false;
  for (size_t a = 0; a < step.axes.size(); ++a) {
    const AccessStep::Axis& axis = step.axes[a];
    if (from[a] == 1) continue;  // there is one index only
    const bool is_same = !axis.is_whole && axis.constant == 0 && axis.terms.size() == 1 &&
                         axis.terms[0].dimension == static_cast<int>(a) &&
                         axis.terms[0].coefficient == 1;
    if (!is_same) return false;
  }
  return true;
}

AccessStep WholeStep(const std::vector<int64_t>& shape) {
  AccessStep step{.shape = shape, .inner = {}, .axes = {}, .from = {}};
  step.axes.resize(shape.size(), {.constant = 0, .terms = {}, .is_whole = true});
  return step;
}

/// How a node's stage reads an element of a value.
AccessStep StepOf(const tensor::ExprNode& load, const tensor::Stage& stage,
                  const std::vector<int64_t>& shape) {
  const int iters = static_cast<int>(stage.iters.size());
  AccessStep step{.shape = shape, .inner = {}, .axes = {}, .from = {}};
  // A box has the output's axes; behind them come the reduction's.
  std::vector<int> position(stage.iters.size());
  int spatial = 0;
  for (int i = 0; i < iters; ++i) {
    if (stage.iters[i].kind == tensor::IterKind::kSpatial) position[i] = spatial++;
  }
  for (int i = 0; i < iters; ++i) {
    if (stage.iters[i].kind == tensor::IterKind::kSpatial) continue;
    position[i] = spatial + static_cast<int>(step.inner.size());
    step.inner.push_back(stage.iters[i].extent);
  }
  for (const tensor::Expr& index : load.operands) {
    AccessStep::Axis& axis = step.axes.emplace_back();
    const std::optional<tensor::LinearForm> form = tensor::ToLinear(index, iters);
    axis.is_whole = !form;
    if (!form) continue;
    axis.constant = form->constant;
    for (int i = 0; i < iters; ++i) {
      if (form->coefficients[i] != 0) axis.terms.push_back({position[i], form->coefficients[i]});
    }
  }
  if (step.axes.size() != shape.size()) return WholeStep(shape);
  return step;
}

class Extraction {
 public:
  Extraction(const graph::Graph& graph, const std::map<int, int>& last_allowed)
      : graph_(graph), last_allowed_(last_allowed), of_value_(graph.values.size()) {}

  mapspace::FusedNetwork Run() {
    network_.name = graph_.name;
    for (const graph::ValueId input : graph_.inputs) {
      of_value_[input] = Traced{{Path{.tensor = NewTensor(input, -1), .steps = {}}}};
    }
    for (size_t n = 0; n < graph_.nodes.size(); ++n) Visit(static_cast<int>(n));
    for (const graph::GraphOutput& output : graph_.outputs) {
      for (const Path& path : of_value_[output.value].paths) {
        ReadFromOutside(path.tensor, -1);
        network_.tensors[path.tensor].is_output = true;
      }
    }
    return Finish();
  }

  /// Of a cluster that had to end earlier, its first node and the one that has to be its last.
  const std::map<int, int>& violations() const { return violations_; }

 private:
  /// How a value's elements come from a tensor's: through what is part of reading.
  struct Path {
    int tensor = 0;  ///< of `network_`
    std::vector<AccessStep> steps;
    bool operator==(const Path&) const = default;
  };
  struct Traced {
    std::vector<Path> paths;  ///< empty: constant
  };
  /// An operator that is being put together.
  struct Cluster {
    bool grows = false;
    int first_node = -1, last_node = -1;
    std::vector<int> inner = {};   ///< tensors of its nodes; the last one is its output
    std::vector<int> inputs = {};  ///< tensors from outside that its nodes read
    std::vector<Path> reads = {};  ///< how its last node comes to depend on them
    double operations = 0;
    std::optional<NodeProblem> product = {};
    int weights_operand = -1;
  };

  int NewTensor(graph::ValueId value, int cluster) {
    network_.tensors.push_back(
        {.name = graph_.values[value].name, .shape = graph_.values[value].shape});
    cluster_of_.push_back(cluster);
    return static_cast<int>(network_.tensors.size()) - 1;
  }

  /// All that a node reads, in terms of tensors; each path once.
  std::vector<Path> ReadsOf(const graph::Node& node, int only_value = -1) const {
    std::vector<Path> reads;
    const auto add = [&](graph::ValueId value, const AccessStep& step) {
      if (only_value >= 0 && value != only_value) return;
      for (const Path& path : of_value_[value].paths) {
        Path read{.tensor = path.tensor, .steps = {}};
        if (!IsIdentity(step, graph_.values[node.output()].shape)) read.steps.push_back(step);
        read.steps.insert(read.steps.end(), path.steps.begin(), path.steps.end());
        if (std::ranges::find(reads, read) == reads.end()) reads.push_back(std::move(read));
      }
    };
    if (node.kind == graph::NodeKind::kView) {
      add(node.source, {.shape = graph_.values[node.source].shape,
                        .inner = {},
                        .axes = {},
                        .from = graph_.values[node.output()].shape});
      return reads;
    }
    if (node.kind == graph::NodeKind::kCall) {
      for (const graph::ValueId value : graph::OperandsOf(node)) {
        add(value, WholeStep(graph_.values[value].shape));
      }
      return reads;
    }
    tensor::Visit(node.stage.value, [&](const tensor::Expr& e) {
      if (e->op != tensor::ExprOp::kLoad) return;
      add(e->index, StepOf(*e, node.stage, graph_.values[e->index].shape));
    });
    return reads;
  }

  bool IsPartOfReading(const graph::Node& node, const std::vector<Path>& reads) const {
    if (node.IsAlias()) return true;
    if (node.kind != graph::NodeKind::kMap) return false;
    if (reads.size() <= 1) return true;
    int changing = 0;
    for (const graph::ValueId value : graph::OperandsOf(node)) {
      changing += of_value_[value].paths.empty() ? 0 : 1;
    }
    return changing == 1 || graph::AsConcatenation(graph_, node).has_value();
  }

  double PointsOf(const graph::Node& node) const {
    if (node.kind == graph::NodeKind::kCall) {
      return static_cast<double>(graph_.values[node.output()].ElementCount());
    }
    double points = 1;
    for (const tensor::Iter& iter : node.stage.iters) points *= static_cast<double>(iter.extent);
    return points;
  }

  void Visit(int index) {
    const graph::Node& node = graph_.nodes[index];
    const std::vector<Path> reads = ReadsOf(node);
    if (reads.empty()) return;  // constant
    std::optional<NodeProblem> product = ProblemOf(graph_, node);
    if (!product && IsPartOfReading(node, reads)) {
      of_value_[node.output()] = Traced{reads};
      return;
    }
    const bool grows =
        !product && (node.kind == graph::NodeKind::kMap || node.kind == graph::NodeKind::kReduce);
    int joined = grows ? ClusterToJoin(index, reads) : -1;
    if (joined < 0) {
      joined = static_cast<int>(clusters_.size());
      clusters_.push_back({.grows = grows, .first_node = index});
    }
    Cluster& cluster = clusters_[joined];
    cluster.last_node = index;
    cluster.operations += PointsOf(node);
    cluster.reads = Resolve(reads, joined);
    for (const Path& read : cluster.reads) cluster.inputs.push_back(read.tensor);
    const int tensor = NewTensor(node.output(), joined);
    reads_of_[tensor] = cluster.reads;
    node_of_[tensor] = index;
    cluster.inner.push_back(tensor);
    if (product) AddProduct(node, *std::move(product), cluster);
    of_value_[node.output()] = Traced{{Path{.tensor = tensor, .steps = {}}}};
  }

  /// The cluster whose tensors, and inputs, are all that is read; -1: there is none.
  int ClusterToJoin(int index, const std::vector<Path>& reads) const {
    int joined = -1;
    for (const Path& read : reads) joined = std::max(joined, cluster_of_[read.tensor]);
    if (joined < 0 || !clusters_[joined].grows) return -1;
    const Cluster& cluster = clusters_[joined];
    const auto last = last_allowed_.find(cluster.first_node);
    if (last != last_allowed_.end() && index > last->second) return -1;
    for (const Path& read : reads) {
      const bool is_input = std::ranges::find(cluster.inputs, read.tensor) != cluster.inputs.end();
      if (cluster_of_[read.tensor] != joined && !is_input) return -1;
    }
    return joined;
  }

  /// What a node of a cluster reads in terms of tensors from outside of the cluster.
  std::vector<Path> Resolve(const std::vector<Path>& reads, int cluster) {
    std::vector<Path> resolved;
    const auto add = [&](Path read) {
      if (std::ranges::find(resolved, read) == resolved.end()) resolved.push_back(std::move(read));
    };
    for (const Path& read : reads) {
      if (cluster_of_[read.tensor] != cluster) {
        ReadFromOutside(read.tensor, cluster);
        add(read);
        continue;
      }
      for (const Path& inner : reads_of_.at(read.tensor)) {
        Path through{.tensor = inner.tensor, .steps = read.steps};
        through.steps.insert(through.steps.end(), inner.steps.begin(), inner.steps.end());
        add(std::move(through));
      }
    }
    return resolved;
  }

  void ReadFromOutside(int tensor, int reader) {
    const int cluster = cluster_of_[tensor];
    if (cluster >= 0 && cluster != reader) outside_reads_.emplace_back(cluster, tensor);
  }

  void AddProduct(const graph::Node& node, NodeProblem product, Cluster& cluster) {
    // The first operand first, so that the second one's place is known.
    cluster.reads = ReadsOf(node, product.inputs);
    const std::vector<Path> weights = ReadsOf(node, product.weights);
    if (!weights.empty()) cluster.weights_operand = static_cast<int>(cluster.reads.size());
    cluster.reads.insert(cluster.reads.end(), weights.begin(), weights.end());
    cluster.product = std::move(product);
  }

  FusedOperator OperatorOf(const Cluster& cluster) {
    const graph::Node& node = graph_.nodes[cluster.last_node];
    FusedOperator op;
    op.name = node.stage.name;
    op.output = cluster.inner.back();
    const std::vector<int64_t>& shape = network_.tensors[op.output].shape;
    for (const Path& read : cluster.reads) {
      FusedOperand operand{.tensor = read.tensor, .steps = read.steps};
      if (operand.steps.empty()) {
        AccessStep same{.shape = shape, .inner = {}, .axes = {}, .from = {}};
        for (size_t a = 0; a < shape.size(); ++a) {
          same.axes.push_back({.constant = 0, .terms = {{static_cast<int>(a), 1}}});
        }
        operand.steps.push_back(std::move(same));
      }
      op.operands.push_back(std::move(operand));
    }
    op.operations_per_word =
        cluster.operations / static_cast<double>(network_.tensors[op.output].Words());
    if (cluster.product) {
      mapspace::FusedProduct& product = op.product.emplace();
      product.problem = cluster.product->problem;
      product.weights_operand = cluster.weights_operand;
      product.output_axis.assign(product.problem.dimensions.size(), -1);
      int axis = 0;
      for (size_t i = 0; i < node.stage.iters.size(); ++i) {
        if (node.stage.iters[i].kind != tensor::IterKind::kSpatial) continue;
        const int dimension = cluster.product->dimension[i];
        if (dimension >= 0) product.output_axis[dimension] = axis;
        ++axis;
      }
    }
    return op;
  }

  mapspace::FusedNetwork Finish() {
    for (const auto& [cluster, tensor] : outside_reads_) {
      if (clusters_[cluster].inner.back() == tensor) continue;
      const int node = node_of_.at(tensor);
      const auto known = violations_.try_emplace(clusters_[cluster].first_node, node).first;
      known->second = std::min(known->second, node);
    }
    for (const Cluster& cluster : clusters_) network_.operators.push_back(OperatorOf(cluster));
    return std::move(network_);
  }

  const graph::Graph& graph_;
  const std::map<int, int>& last_allowed_;
  mapspace::FusedNetwork network_;
  std::vector<Traced> of_value_;
  std::vector<int> cluster_of_;  ///< of every tensor; -1: an input
  std::vector<Cluster> clusters_;
  std::map<int, int> node_of_;                      ///< that writes a tensor
  std::map<int, std::vector<Path>> reads_of_;       ///< of that node
  std::vector<std::pair<int, int>> outside_reads_;  ///< cluster, tensor
  std::map<int, int> violations_;
};

/// Tensors that nothing reads or writes are left out.
void Compact(mapspace::FusedNetwork& network) {
  std::vector<int> number(network.tensors.size(), -1);
  std::vector<mapspace::FusedTensor> kept;
  const auto keep = [&](int& tensor) {
    if (number[tensor] < 0) {
      number[tensor] = static_cast<int>(kept.size());
      kept.push_back(std::move(network.tensors[tensor]));
    }
    tensor = number[tensor];
  };
  for (FusedOperator& op : network.operators) {
    for (FusedOperand& operand : op.operands) keep(operand.tensor);
    keep(op.output);
  }
  network.tensors = std::move(kept);
}

}  // namespace

mapspace::FusedNetwork FusedLayersOf(const graph::Graph& graph) {
  // A cluster whose inner result is read by others ends with that.
  std::map<int, int> last_allowed;
  while (true) {
    Extraction extraction(graph, last_allowed);
    mapspace::FusedNetwork network = extraction.Run();
    if (extraction.violations().empty()) {
      Compact(network);
      network.Connect();
      return network;
    }
    for (const auto& [first, last] : extraction.violations()) last_allowed[first] = last;
  }
}

}  // namespace bayloom::accelerator
