// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>

#include "bayloom/codegen/abi.h"
#include "bayloom/graph/import/wide_floats.h"
#include "bayloom/graph/passes/float_product.h"
#include "bayloom/graph/passes/rewriting.h"
#include "bayloom/graph/precision.h"

namespace bayloom::graph {
namespace {

constexpr tensor::DType kWide = tensor::DType::kFloat32;

/// Whether no element of the tensor changes when it is stored in the type.
bool IsExactIn(const tensor::HostTensor& wide, tensor::DType dtype) {
  const tensor::HostTensor again = WidenFloats(NarrowFloats(wide, dtype));
  return again.data == wide.data;
}

/// A node's value in the narrow type where that takes no rounding: elements that are stored in it,
/// literals, choices between such. Undefined else.
tensor::Expr WithoutRounding(const tensor::Expr& e, tensor::DType dtype) {
  if (e->op == tensor::ExprOp::kCast && e->operands[0]->dtype == dtype) return e->operands[0];
  if (e->op == tensor::ExprOp::kFloat) return tensor::Cast(dtype, e);
  if (e->op != tensor::ExprOp::kSelect) return {};
  const tensor::Expr then = WithoutRounding(e->operands[1], dtype);
  const tensor::Expr otherwise = WithoutRounding(e->operands[2], dtype);
  if (!then.defined() || !otherwise.defined()) return {};
  return tensor::Select(e->operands[0], then, otherwise);
}

tensor::Expr Narrowed(const tensor::Expr& e, tensor::DType dtype) {
  const tensor::Expr exact = WithoutRounding(e, dtype);
  return exact.defined() ? exact : tensor::Cast(dtype, e);
}

/// Stores what products read in a narrow type.
class PrecisionLowerer {
 public:
  PrecisionLowerer(Graph& graph, const Precision& precision)
      : graph_(graph),
        dtype_(precision.dtype),
        producers_(graph.Producers()),
        consumers_(graph.Consumers()),
        is_output_(graph.IsOutput()),
        is_lowered_(graph.nodes.size(), false),
        is_narrow_(graph.values.size(), false) {
    const std::vector<std::string> names = ProductNames(graph);
    for (size_t n = 0; n < names.size(); ++n) {
      is_lowered_[n] = !names[n].empty() && !precision.kept.contains(names[n]);
    }
  }

  void Run() {
    FindMemory();
    for (size_t n = graph_.nodes.size(); n-- > 0;) Decide(graph_.nodes[n]);
    for (size_t v = 0; v < is_narrow_.size(); ++v) {
      if (is_narrow_[v]) graph_.values[v].dtype = dtype_;
    }
    std::vector<Node> nodes = std::move(graph_.nodes);
    graph_.nodes = {};
    for (size_t n = 0; n < nodes.size(); ++n) Write(std::move(nodes[n]), is_lowered_[n]);
  }

 private:
  /// The values in the memory of each, itself among them: views and slices.
  void FindMemory() {
    std::vector<ValueId> root(graph_.values.size());
    names_.resize(graph_.values.size());
    for (size_t v = 0; v < root.size(); ++v) root[v] = static_cast<ValueId>(v);
    for (const Node& node : graph_.nodes) {
      if (node.IsAlias()) root[node.output()] = root[OperandsOf(node).front()];
    }
    for (size_t v = 0; v < root.size(); ++v) names_[root[v]].push_back(static_cast<ValueId>(v));
  }

  /// Nodes are looked at from the last to the first: what reads a value is known.
  void Decide(const Node& node) {
    if (node.IsAlias() || !MayBeNarrow(node)) return;
    bool is_factor = false, passes = node.kind == NodeKind::kMap, is_stored = false;
    int readers = 0;
    for (ValueId name : names_[node.output()]) {
      for (int reader : consumers_[name]) {
        const Node& by = graph_.nodes[reader];
        if (by.IsAlias()) continue;
        if (MustReadWide(by, reader)) return;
        ++readers;
        is_factor = is_factor || is_lowered_[reader];
        passes = passes && (is_lowered_[reader] || Passes(by));
        is_stored = is_stored || name != node.output() || by.kind != NodeKind::kMap ||
                    !ReadsElementwise(graph_, by, name);
      }
    }
    // A value that one elementwise reader takes over is not stored: rounding it would be a loss.
    if (!is_factor && !(passes && readers > 0 && (is_stored || readers > 1))) return;
    for (ValueId name : names_[node.output()]) is_narrow_[name] = true;
  }

  bool MayBeNarrow(const Node& node) const {
    if (node.kind == NodeKind::kCall || graph_.values[node.output()].dtype != kWide) return false;
    return std::ranges::all_of(names_[node.output()], [&](ValueId name) {
      return !is_output_[name] && SlicesStayAligned(name);
    });
  }

  bool SlicesStayAligned(ValueId name) const {
    const int producer = producers_[name];
    if (producer < 0 || graph_.nodes[producer].kind != NodeKind::kSlice) return true;
    const int64_t start = SliceStart(graph_, graph_.nodes[producer]);
    return start * tensor::ByteSize(dtype_) % target::kBufferAlignment == 0;
  }

  bool MustReadWide(const Node& reader, int position) const {
    if (reader.kind == NodeKind::kCall) return true;
    const bool is_product = IsAnchor(reader) && reader.stage.reduction == tensor::Reduction::kSum;
    return is_product && !is_lowered_[position];
  }

  /// Whether the node hands elements on to where they are stored narrow.
  bool Passes(const Node& node) const {
    const bool hands_on =
        node.kind == NodeKind::kMap || node.stage.reduction == tensor::Reduction::kMax;
    return hands_on && is_narrow_[node.output()];
  }

  void Write(Node node, bool is_lowered) {
    if (is_lowered) {
      const auto factors = *AsFloatProduct(node);
      std::array<tensor::Expr, 2> read;
      for (size_t i = 0; i < factors.size(); ++i) {
        read[i] = factors[i].Reading(Narrow(factors[i].load->index), dtype_);
      }
      node.stage.value = read[0] * read[1];
    } else if (node.kind != NodeKind::kView && node.kind != NodeKind::kCall) {
      node.stage.value = RewriteLoads(
          node.stage.value, [&](const tensor::Expr& load) -> std::optional<tensor::Expr> {
            if (!is_narrow_[load->index]) return std::nullopt;
            const tensor::Expr element = tensor::Load(load->index, dtype_, load->operands);
            return node.IsAlias() ? element : tensor::Cast(kWide, element);
          });
    }
    const ValueId output = node.output();
    if (node.IsAlias() || !is_narrow_[output]) {
      graph_.nodes.push_back(std::move(node));
    } else if (node.kind == NodeKind::kMap) {
      node.stage.value = Narrowed(node.stage.value, dtype_);
      graph_.nodes.push_back(std::move(node));
    } else {  // sums stay wide
      const Value value = graph_.values[output];
      node.stage.output = AddValue({value.name + ".sum", kWide, value.shape, nullptr});
      const ValueId sum = node.output();
      graph_.nodes.push_back(std::move(node));
      AddRounding(sum, output);
    }
  }

  /// The value that has this one's elements in the narrow type.
  ValueId Narrow(ValueId value) {
    if (is_narrow_[value]) return value;
    if (const auto known = copies_.find(value); known != copies_.end()) return known->second;
    const Value wide = graph_.values[value];
    Value narrow{wide.name, dtype_, wide.shape, nullptr};
    if (wide.constant) {
      narrow.constant =
          std::make_shared<const tensor::HostTensor>(NarrowFloats(*wide.constant, dtype_));
    } else {
      narrow.name += "." + tensor::ToString(dtype_);
    }
    const ValueId copy = AddValue(std::move(narrow));
    if (!wide.constant) AddRounding(value, copy);
    copies_.emplace(value, copy);
    return copy;
  }

  ValueId AddValue(Value value) {
    graph_.values.push_back(std::move(value));
    is_narrow_.push_back(false);
    return static_cast<ValueId>(graph_.values.size()) - 1;
  }

  /// A node that writes a value's elements, rounded, to another one.
  void AddRounding(ValueId from, ValueId to) {
    const Value& target = graph_.values[to];
    std::vector<tensor::Expr> place;
    for (size_t d = 0; d < target.shape.size(); ++d) {
      place.push_back(tensor::IterVar(static_cast<int>(d)));
    }
    Node node;
    node.op = "cast";
    node.stage.name = target.name;
    node.stage.output = to;
    node.stage.iters = SpatialIters(target.shape);
    node.stage.value = tensor::Cast(dtype_, tensor::Load(from, kWide, std::move(place)));
    graph_.nodes.push_back(std::move(node));
  }

  Graph& graph_;
  const tensor::DType dtype_;
  const std::vector<int> producers_;
  const std::vector<std::vector<int>> consumers_;
  const std::vector<bool> is_output_;
  std::vector<bool> is_lowered_;             // per node
  std::vector<bool> is_narrow_;              // per value
  std::vector<std::vector<ValueId>> names_;  // per value that is no other's alias
  std::map<ValueId, ValueId> copies_;
};

/// Constants that products read are stored in the type that the model has them in.
void StoreConstantsAsModel(Graph& graph) {
  const tensor::DType dtype = *graph.narrow_constants;
  std::map<ValueId, ValueId> narrow;  // -1: not every element can be
  const auto stored = [&](ValueId value) {
    const auto [known, is_new] = narrow.emplace(value, -1);
    const Value wide = graph.values[value];
    if (is_new && wide.constant && IsExactIn(*wide.constant, dtype)) {
      known->second = static_cast<ValueId>(graph.values.size());
      auto data = std::make_shared<const tensor::HostTensor>(NarrowFloats(*wide.constant, dtype));
      graph.values.push_back({wide.name, dtype, wide.shape, std::move(data)});
    }
    return known->second;
  };
  for (Node& node : graph.nodes) {
    const auto factors = AsFloatProduct(node);
    if (!factors) continue;
    std::array<tensor::Expr, 2> read = {node.stage.value->operands[0],
                                        node.stage.value->operands[1]};
    for (size_t i = 0; i < read.size(); ++i) {
      const ValueId value = stored((*factors)[i].load->index);
      if (value >= 0) read[i] = (*factors)[i].Reading(value, dtype);
    }
    node.stage.value = read[0] * read[1];
  }
}

}  // namespace

std::vector<std::string> ProductNames(const Graph& graph) {
  std::vector<std::string> names;
  std::map<std::string, int> uses;
  for (const Node& node : graph.nodes) {
    if (!AsFloatProduct(node)) {
      names.emplace_back();
      continue;
    }
    const int use = ++uses[node.stage.name];
    names.push_back(use == 1 ? node.stage.name : fmt::format("{} #{}", node.stage.name, use));
  }
  return names;
}

void LowerPrecision(Graph& graph, const Precision& precision) {
  if (precision.dtype != kWide) {
    PrecisionLowerer(graph, precision).Run();
  } else if (graph.narrow_constants) {
    StoreConstantsAsModel(graph);
  } else {
    return;
  }
  RemoveDeadNodes(graph);
}

}  // namespace bayloom::graph
