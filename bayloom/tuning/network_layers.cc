// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/network_layers.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "bayloom/base/result.h"
#include "bayloom/graph/graph.h"

namespace bayloom::tuning {
namespace {

/// An element of a tensor as a stage reads it: a linear form an axis.
using Access = std::vector<tensor::LinearForm>;

/// The only load of a tensor in a factor of a product; nullopt if there is another or its indices
/// are not affine.
std::optional<std::pair<tensor::BufferId, Access>> OnlyAccess(const tensor::Expr& factor,
                                                              int iters) {
  std::vector<const tensor::ExprNode*> loads;
  tensor::Visit(factor, [&](const tensor::Expr& e) {
    // Scalars are zero points and similar values.
    if (e->op == tensor::ExprOp::kLoad && !e->operands.empty()) loads.push_back(e.get());
  });
  if (loads.size() != 1) return std::nullopt;
  Access access;
  for (const tensor::Expr& index : loads[0]->operands) {
    std::optional<tensor::LinearForm> form = tensor::ToLinear(index, iters);
    if (!form) return std::nullopt;
    access.push_back(*std::move(form));
  }
  return std::pair(loads[0]->index, std::move(access));
}

/// A sum of products of two tensors' elements, and what its iterators mean.
class Contraction {
 public:
  /// Nullopt for a node that is none.
  static std::optional<Contraction> Of(const graph::Graph& graph, const graph::Node& node) {
    const bool multiplies =
        node.kind == graph::NodeKind::kWindow || node.kind == graph::NodeKind::kMatmul;
    if (!multiplies || node.stage.reduction != tensor::Reduction::kSum ||
        node.stage.value->op != tensor::ExprOp::kMul) {
      return std::nullopt;
    }
    const int iters = static_cast<int>(node.stage.iters.size());
    auto left = OnlyAccess(node.stage.value->operands[0], iters);
    auto right = OnlyAccess(node.stage.value->operands[1], iters);
    if (!left || !right) return std::nullopt;
    const bool swapped =
        graph.values[left->first].constant != nullptr && !graph.values[right->first].constant;
    if (swapped) std::swap(left, right);
    return Contraction(node, *std::move(left), *std::move(right));
  }

  /// Nullopt where there are more dimensions than a mapping can have.
  std::optional<NodeProblem> AsProblem() {
    NameIterators();
    mapspace::Problem problem;
    problem.name = Name();
    // Kannan's order of dimensions, others before them.
    std::vector<int> order;
    for (int i = 0; i < Iters(); ++i) {
      if (names_[i] != '\0') order.push_back(i);
    }
    constexpr std::string_view kOrder = "EDABGRSTPQOICMNJK";
    std::ranges::stable_sort(order, {}, [&](int i) { return kOrder.find(names_[i]); });
    dimension_of_.assign(static_cast<size_t>(Iters()), -1);
    for (int i : order) {
      dimension_of_[i] = problem.DimensionCount();
      problem.dimensions.emplace_back(1, names_[i]);
      problem.bounds.push_back(node_.stage.iters[i].extent);
    }
    problem.tensors = {{.name = "Weights", .axes = Axes(weights_)},
                       {.name = "Inputs", .axes = Axes(inputs_)},
                       {.name = "Outputs", .axes = OutputAxes(), .read_write = true}};
    try {
      mapspace::CheckProblem(problem);
    } catch (const InputError&) {
      return std::nullopt;
    }
    return NodeProblem{.problem = std::move(problem),
                       .dimension = dimension_of_,
                       .inputs = inputs_value_,
                       .weights = weights_value_};
  }

 private:
  using Operand = std::pair<tensor::BufferId, Access>;

  Contraction(const graph::Node& node, Operand inputs, Operand weights)
      : node_(node),
        inputs_value_(inputs.first),
        weights_value_(weights.first),
        inputs_(std::move(inputs.second)),
        weights_(std::move(weights.second)) {}

  std::string Name() const {
    if (!window_) return Has('B') ? "batch-matmul" : "matmul";
    if (!Has('M') && Has('C')) return "depthwise";
    return Has('S') && !Has('T') ? "conv2d" : "conv";
  }

  int Iters() const { return static_cast<int>(node_.stage.iters.size()); }
  bool IsSpatial(int i) const { return node_.stage.iters[i].kind == tensor::IterKind::kSpatial; }
  bool Has(char name) const { return std::ranges::find(names_, name) != names_.end(); }

  static bool Indexes(const Access& access, int iter) {
    return std::ranges::any_of(
        access, [&](const tensor::LinearForm& form) { return form.coefficients[iter] != 0; });
  }

  /// The first of these letters that is not taken.
  char Free(std::string_view letters) const {
    for (char letter : letters) {
      if (!Has(letter)) return letter;
    }
    return letters.back();
  }

  /// Windows first: an axis of the inputs that an output position and a place of the kernel share.
  void NameIterators() {
    names_.assign(static_cast<size_t>(Iters()), '\0');
    window_ = node_.kind == graph::NodeKind::kWindow;
    for (const tensor::LinearForm& axis : inputs_) NameWindow(axis);
    for (int i = 0; i < Iters(); ++i) {
      if (names_[i] != '\0') continue;
      const bool in = Indexes(inputs_, i), weighs = Indexes(weights_, i);
      const bool counts = node_.stage.iters[i].extent > 1;
      if (!IsSpatial(i)) {
        names_[i] = window_ ? Free("CRSTO") : Free("KLHF");
      } else if (in && weighs) {
        if (counts) names_[i] = window_ ? (is_grouped() ? 'G' : 'C') : Free("BADE");
      } else if (weighs) {
        names_[i] = window_ ? 'M' : Free("JUVW");
      } else if (in) {
        names_[i] = window_ ? Free("NPQO") : Free("IXYZ");
      }
    }
  }

  void NameWindow(const tensor::LinearForm& axis) {
    if (!window_) return;
    for (int r = 0; r < Iters(); ++r) {
      if (IsSpatial(r) || axis.coefficients[r] == 0 || !Indexes(weights_, r)) continue;
      for (int p = 0; p < Iters(); ++p) {
        const bool slides = IsSpatial(p) && axis.coefficients[p] != 0 && !Indexes(weights_, p);
        if (!slides) continue;
        names_[r] = Free("RST");
        names_[p] = Free("PQO");
        return;
      }
    }
  }

  /// Whether channels of a group are summed up, so that the groups are no channels themselves.
  bool is_grouped() const {
    for (int i = 0; i < Iters(); ++i) {
      const bool window = names_[i] == 'R' || names_[i] == 'S' || names_[i] == 'T';
      if (!IsSpatial(i) && !window) return true;
    }
    return false;
  }

  std::vector<std::vector<mapspace::AxisTerm>> Axes(const Access& access) const {
    std::vector<std::vector<mapspace::AxisTerm>> axes;
    for (const tensor::LinearForm& form : access) {
      std::vector<mapspace::AxisTerm> terms;
      for (int i = 0; i < Iters(); ++i) {
        if (form.coefficients[i] != 0 && dimension_of_[i] >= 0) {
          // Backwards is as good as forwards.
          terms.push_back({dimension_of_[i], std::abs(form.coefficients[i])});
        }
      }
      if (!terms.empty()) axes.push_back(std::move(terms));
    }
    return axes;
  }

  std::vector<std::vector<mapspace::AxisTerm>> OutputAxes() const {
    std::vector<std::vector<mapspace::AxisTerm>> axes;
    for (int i = 0; i < Iters(); ++i) {
      if (IsSpatial(i) && dimension_of_[i] >= 0) axes.push_back({{dimension_of_[i]}});
    }
    return axes;
  }

  const graph::Node& node_;
  tensor::BufferId inputs_value_, weights_value_;
  Access inputs_, weights_;
  std::string names_;  ///< a letter an iterator; 0 where a batch of one is left out
  bool window_ = false;
  std::vector<int> dimension_of_;
};

}  // namespace

std::optional<NodeProblem> ProblemOf(const graph::Graph& graph, const graph::Node& node) {
  std::optional<Contraction> contraction = Contraction::Of(graph, node);
  return contraction ? contraction->AsProblem() : std::nullopt;
}

namespace {

/// Counts a layer, which is added if no layer is the same problem.
void AddLayer(std::string name, mapspace::Problem problem, std::vector<NetworkLayer>& layers) {
  const auto known = std::ranges::find(layers, problem, &NetworkLayer::problem);
  if (known != layers.end()) {
    ++known->count;
  } else {
    layers.push_back({std::move(name), std::move(problem), 1});
  }
}

}  // namespace

std::vector<NetworkLayer> LayersOf(const graph::Graph& graph) {
  std::vector<NetworkLayer> layers;
  for (const graph::Node& node : graph.nodes) {
    std::optional<NodeProblem> found = ProblemOf(graph, node);
    if (found) AddLayer(node.stage.name, std::move(found->problem), layers);
  }
  return layers;
}

std::vector<NetworkLayer> LayersOf(std::vector<mapspace::NamedProblem> layers) {
  std::vector<NetworkLayer> distinct;
  for (mapspace::NamedProblem& layer : layers) {
    AddLayer(std::move(layer.name), std::move(layer.problem), distinct);
  }
  return distinct;
}

std::vector<NetworkLayer> LayersOf(const mapspace::FusedNetwork& network) {
  std::vector<NetworkLayer> distinct;
  for (const mapspace::FusedOperator& op : network.operators) {
    if (op.product) AddLayer(op.name, op.product->problem, distinct);
  }
  return distinct;
}

}  // namespace bayloom::tuning
