// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/open/generalize.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <unordered_map>
#include <utility>

#include "bayloom/base/result.h"
#include "bayloom/graph/open/open_call.h"
#include "bayloom/graph/open/open_number.h"
#include "bayloom/graph/open/open_view.h"
#include "bayloom/graph/open/size_table.h"
#include "bayloom/tensor/open_axis.h"

namespace bayloom::graph {
namespace {

/// What is made of a constant for all lengths.
enum class ConstantForm : uint8_t {
  kData,   ///< its data, of which a run reads the beginning
  kSizes,  ///< numbers that are computed from sizes
  kNode,   ///< the node that computes it
};

class Generalizer {
 public:
  using Samples = std::vector<std::vector<Counterpart>>;

  Generalizer(Graph graph, std::vector<Symbol> symbols, LengthFit& fit, const Samples& samples)
      : graph_(std::move(graph)), samples_(samples), fit_(fit) {
    graph_.symbols = std::move(symbols);
    graph_.points = TypicalLengths(graph_.symbols);
    producers_ = graph_.Producers();
  }

  Graph Run() {
    if (fit_.is_general()) FindExtents();
    try {
      return Generalized();
    } catch (const InputError& error) {
      if (unfit_.empty()) throw;
      throw UnfitExtents(error.what(), unfit_);
    }
  }

 private:
  Graph Generalized() {
    const std::vector<bool> is_needed = NeededValues();
    const size_t values = graph_.values.size();  // before there are sizes
    for (ValueId input : graph_.inputs) Bound(input);
    std::vector<Node> nodes;
    for (size_t v = 0; v < values; ++v) {
      const auto id = static_cast<ValueId>(v);
      if (is_needed[v] && producers_[v] < 0 && graph_.values[v].constant) OpenConstant(id, nodes);
    }
    for (Node& node : graph_.nodes) {
      if (!is_needed[node.output()]) continue;
      if (graph_.values[node.output()].constant) {
        if (OpenConstant(node.output(), nodes)) continue;
        graph_.values[node.output()].constant = nullptr;
      }
      if (node.kind == NodeKind::kCall) {
        OpenCallNode(node, nodes);
      } else {
        OpenNode(node);
      }
      nodes.push_back(std::move(node));
    }
    graph_.nodes = std::move(nodes);
    RemoveDeadNodes(graph_);
    return std::move(graph_);
  }

  /// Constants that are computed from extents follow from these, which are looked for first.
  void FindExtents() {
    for (ValueId input : graph_.inputs) FindShape(input);
    for (const Node& node : graph_.nodes) {
      if (FindShape(node.output())) continue;
      FindNumbers(node);
      if (FindShape(node.output())) continue;
      const std::string& name = node.stage.name;  // <scope>.<op>
      unfit_.push_back(name.substr(0, name.size() - std::min(name.size(), node.op.size() + 1)));
    }
  }

  /// Whether all extents of the value, which samples have, are found.
  bool FindShape(ValueId id) {
    const std::vector<int64_t>& shape = graph_.values[id].shape;
    const bool is_compared = std::ranges::all_of(
        samples_, [&](const auto& sample) { return sample[id].shape.size() == shape.size(); });
    bool are_found = true;
    for (size_t d = 0; is_compared && d < shape.size(); ++d) {
      std::vector<int64_t> values = {shape[d]};
      for (const auto& sample : samples_) values.push_back(sample[id].shape[d]);
      are_found &= fit_.Find(values).has_value();
    }
    return are_found;
  }

  /// Looks for the integers in a node's expression, the smaller ones first: where many tensors are
  /// joined, the places at which they begin, each of which follows from the one before.
  void FindNumbers(const Node& node) {
    const bool is_compared = std::ranges::all_of(
        samples_, [&](const auto& sample) { return sample[node.output()].difference.empty(); });
    if (node.kind == NodeKind::kView || !is_compared) return;
    const std::vector<const tensor::ExprNode*> literals = LiteralsOf(node.stage.value);
    std::vector<std::vector<int64_t>> numbers;
    for (size_t i = 0; i < literals.size(); ++i) {
      if (literals[i]->op != tensor::ExprOp::kInt) continue;
      std::vector<int64_t>& values = numbers.emplace_back();
      values.push_back(literals[i]->int_value);
      for (const auto& sample : samples_) {
        if (i >= sample[node.output()].literals.size()) return;
        values.push_back(sample[node.output()].literals[i]->int_value);
      }
    }
    std::ranges::sort(numbers, {}, [](const auto& values) { return std::abs(values[0]); });
    for (const std::vector<int64_t>& values : numbers) fit_.Find(values);
  }

  [[noreturn]] void Refuse(ValueId value, const std::string& reason) const {
    throw InputError(fmt::format("{}: {}", Described(graph_, value), reason));
  }

  /// "sequence=511", what a sample has other than the largest lengths
  std::string PointText(size_t sample) const {
    std::string text;
    for (size_t s = 0; s < graph_.symbols.size(); ++s) {
      const Symbol& symbol = graph_.symbols[s];
      const int64_t length = fit_.points()[sample + 1][s];
      if (length == symbol.largest) continue;
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", symbol.name, length);
    }
    return text;
  }

  /// Values that the outputs depend on, where constants that have data or sizes need no others.
  std::vector<bool> NeededValues() {
    std::vector<bool> is_needed = graph_.IsOutput();
    for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend(); ++node) {
      const ValueId output = node->output();
      if (!is_needed[output]) continue;
      if (graph_.values[output].constant && FormOf(output) != ConstantForm::kNode) continue;
      CheckSame(output);
      for (ValueId operand : OperandsOf(*node)) is_needed[operand] = true;
    }
    return is_needed;
  }

  void CheckSame(ValueId value) const {
    for (size_t s = 0; s < samples_.size(); ++s) {
      const std::string& difference = samples_[s][value].difference;
      if (difference.empty()) continue;
      Refuse(value, fmt::format("with {} it {}; what is computed may not depend on a length",
                                PointText(s), difference));
    }
  }

  ConstantForm FormOf(ValueId value) {
    const auto all = [&](const auto& holds) {
      return std::ranges::all_of(samples_, [&](const auto& s) { return holds(s[value]); });
    };
    if (all([](const Counterpart& c) { return c.is_corner; })) return ConstantForm::kData;
    const bool has_few = HasFewElements(graph_.values[value]) && all([&](const Counterpart& c) {
                           return c.few && c.shape == graph_.values[value].shape;
                         });
    return has_few && Numbers(value) ? ConstantForm::kSizes : ConstantForm::kNode;
  }

  /// The elements of a constant as numbers that follow sizes.
  std::optional<std::vector<OpenNumber>> Numbers(ValueId value) {
    const tensor::HostTensor& data = *graph_.values[value].constant;
    std::vector<OpenNumber> numbers;
    for (int64_t i = 0; i < data.ElementCount(); ++i) {
      std::vector<tensor::Expr> elements = {ElementOf(data, i)};
      for (const auto& sample : samples_) elements.push_back(ElementOf(*sample[value].few, i));
      const std::optional<OpenNumber> number = FitNumber(fit_, elements);
      if (!number) return std::nullopt;
      numbers.push_back(*number);
    }
    return numbers;
  }

  static tensor::Expr ElementOf(const tensor::HostTensor& data, int64_t element) {
    return tensor::IsFloat(data.dtype) ? tensor::FloatLiteral(data.Get(element), data.dtype)
                                       : tensor::IntLiteral(data.GetInt(element), data.dtype);
  }

  /// Gives a constant bounds, or a node that computes it from sizes; false: its own node has to.
  bool OpenConstant(ValueId id, std::vector<Node>& nodes) {
    const ConstantForm form = FormOf(id);
    if (form == ConstantForm::kData) {
      Bound(id);
    } else if (form == ConstantForm::kSizes) {
      nodes.push_back(NodeOfSizes(id));
      graph_.values[id].constant = nullptr;
    } else if (producers_[id] < 0) {
      Refuse(id, fmt::format("its data follow {}", SymbolNames()));
    }
    return form != ConstantForm::kNode;
  }

  Node NodeOfSizes(ValueId id) {
    const std::vector<OpenNumber> numbers = *Numbers(id);
    const Value& value = graph_.values[id];
    Node node{.op = "size", .kind = NodeKind::kMap};
    node.stage = {
        .name = value.name, .output = id, .iters = SpatialIters(value.shape), .value = {}};
    node.stage.value = ToExpr(numbers.back(), sizes_);
    for (size_t i = numbers.size() - 1; i-- > 0;) {
      node.stage.value = tensor::Select(tensor::Equal(tensor::IterVar(0), static_cast<int64_t>(i)),
                                        ToExpr(numbers[i], sizes_), node.stage.value);
    }
    return node;
  }

  void OpenNode(Node& node) {
    const ValueId output = node.output();
    const std::vector<Length> shape = Bound(output);
    if (node.kind == NodeKind::kView) return OpenView(node, ShapeOf(node.source), shape);
    tensor::Stage& stage = node.stage;
    std::vector<ValueId> bounds;
    for (size_t i = 0; i < stage.iters.size(); ++i) {
      const int64_t extent = stage.iters[i].extent;
      const Length length =
          Fit(output, extent, [&](size_t s) { return samples_[s][output].extents[i]; });
      bounds.push_back(BoundOf(length, extent, output));
    }
    const tensor::Expr opened = OpenExpression(node);
    const bool is_open = opened.get() != stage.value.get();
    if (is_open && node.kind == NodeKind::kSlice) node.kind = NodeKind::kMap;
    stage.value = opened;
    for (size_t i = 0; i < bounds.size(); ++i) {
      stage.iters[i].bound.size = bounds[i];
      if (bounds[i] < 0 || stage.iters[i].kind == tensor::IterKind::kSpatial) continue;
      stage.value = tensor::ReduceWithin(stage.reduction, stage.value, static_cast<int>(i),
                                         tensor::SizeOf(bounds[i]));
    }
  }

  /// A kernel of the library runs over the largest lengths.
  void OpenCallNode(Node& node, std::vector<Node>& before) {
    Bound(node.output());
    for (size_t d = 0; d < node.stage.iters.size(); ++d) {
      node.stage.iters[d].bound.size = graph_.values[node.output()].BoundOf(d);
    }
    const std::string reason = OpenCall(graph_, node, before);
    if (!reason.empty()) Refuse(node.output(), fmt::format("{}, {}", reason, SymbolNames()));
  }

  tensor::Expr OpenExpression(const Node& node) {
    std::unordered_map<const tensor::ExprNode*, tensor::Expr> opened;
    const std::vector<const tensor::ExprNode*> literals = LiteralsOf(node.stage.value);
    for (size_t i = 0; i < literals.size(); ++i) {
      std::vector<tensor::Expr> values = {Copy(*literals[i])};
      bool is_fixed = true;
      for (const auto& sample : samples_) {
        values.push_back(sample[node.output()].literals[i]);
        is_fixed &= tensor::StructurallyEqual(values.front(), values.back());
      }
      if (is_fixed) continue;
      const std::optional<OpenNumber> number = FitNumber(fit_, values);
      if (!number) {
        Refuse(node.output(),
               fmt::format("a number in it follows {}, but not as a polynomial of small degree",
                           SymbolNames()));
      }
      opened.emplace(literals[i], ToExpr(*number, sizes_));
    }
    return ReplaceLiterals(node.stage.value, opened);
  }

  static tensor::Expr Copy(const tensor::ExprNode& node) {
    return tensor::Expr(std::make_shared<const tensor::ExprNode>(node));
  }

  /// A view stays one where memory of the largest lengths allows it; else it becomes a copy.
  void OpenView(Node& node, const std::vector<Length>& from, const std::vector<Length>& to) {
    if (IsViewForAllLengths(from, to)) return;
    const Value& value = graph_.values[node.output()];
    const Value& source = graph_.values[node.source];
    node.kind = NodeKind::kMap;
    node.op = "reshape";
    node.stage.iters = SpatialIters(value.shape);
    std::vector<tensor::Expr> place;
    for (size_t d = 0; d < value.shape.size(); ++d) {
      place.push_back(tensor::IterVar(static_cast<int>(d)));
      node.stage.iters[d].bound.size = value.BoundOf(d);
    }
    node.stage.value =
        tensor::Load(node.source, source.dtype, IndicesBehindView(from, to, place, sizes_));
    node.source = -1;
  }

  std::string SymbolNames() const {
    std::string names;
    for (const Symbol& symbol : graph_.symbols) {
      names += (names.empty() ? "" : " and ") + symbol.name;
    }
    return names;
  }

  /// What an extent of the value, or of its stage, follows from; `at` tells those in the samples.
  template <typename ValueAt>
  Length Fit(ValueId value, int64_t largest, const ValueAt& at) {
    std::vector<int64_t> values = {largest};
    for (size_t s = 0; s < samples_.size(); ++s) values.push_back(at(s));
    if (const std::optional<Length> length = fit_.Find(values)) return *length;
    RefuseExtent(value, largest);
  }

  [[noreturn]] void RefuseExtent(ValueId value, int64_t extent) const {
    Refuse(value, fmt::format("its extent, {} here, does not rise with {} linearly or as a product "
                              "of two of them",
                              extent, SymbolNames()));
  }

  /// The size that bounds what is `extent` long at most, or -1.
  ValueId BoundOf(const Length& length, int64_t extent, ValueId value) {
    if (length.AsConstant()) return -1;
    if (length.Range(graph_.symbols).largest != extent) RefuseExtent(value, extent);
    return sizes_.Of(length);
  }

  std::vector<Length> ShapeOf(ValueId id) {
    std::vector<Length> shape;
    const Value& value = graph_.values[id];
    for (size_t d = 0; d < value.shape.size(); ++d) {
      shape.push_back(
          Fit(id, value.shape[d], [&](size_t s) { return samples_[s][id].shape.at(d); }));
    }
    return shape;
  }

  std::vector<Length> Bound(ValueId id) {
    CheckInput(id);
    std::vector<Length> shape = ShapeOf(id);
    std::vector<ValueId> bounds;
    bool is_open = false;
    for (size_t d = 0; d < shape.size(); ++d) {
      bounds.push_back(BoundOf(shape[d], graph_.values[id].shape[d], id));
      is_open |= bounds.back() >= 0;
    }
    if (is_open) graph_.values[id].bounds = std::move(bounds);
    return shape;
  }

  void CheckInput(ValueId id) const {
    if (producers_[id] < 0) CheckSame(id);
  }

  Graph graph_;
  const Samples& samples_;
  std::vector<int> producers_;
  LengthFit& fit_;
  std::vector<std::string> unfit_;  // scopes of nodes whose extents were not found
  SizeTable sizes_{graph_};
};

}  // namespace

Graph Generalize(Graph graph, std::vector<Symbol> symbols, LengthFit& fit,
                 const std::vector<std::vector<Counterpart>>& samples) {
  return Generalizer(std::move(graph), std::move(symbols), fit, samples).Run();
}

void ForgetInnerBounds(Graph& graph) {
  std::vector<bool> is_outer = graph.IsOutput();
  for (ValueId input : graph.inputs) is_outer[input] = true;
  for (size_t v = 0; v < graph.values.size(); ++v) {
    if (!is_outer[v] && !graph.values[v].constant) graph.values[v].bounds.clear();
  }
  for (Node& node : graph.nodes) {
    for (tensor::Iter& iter : node.stage.iters) {
      if (iter.kind == tensor::IterKind::kReduction) iter.bound = {};
    }
  }
  RemoveDeadNodes(graph);
}

}  // namespace bayloom::graph
