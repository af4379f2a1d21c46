// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>
#include <utility>

#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/passes/rewriting.h"
#include "bayloom/target/alignment.h"

namespace bayloom::graph {
namespace {

using tensor::DType;
using tensor::Expr;
using tensor::ExprOp;
using tensor::IterVar;

/// Levels are from -127 to 127.
constexpr double kLargestLevel = 127;

/// Rows of scales are aligned, too.
constexpr int64_t kScalesTogether = target::kBufferAlignment / int64_t{sizeof(float)};

const Expr& Unconverted(const Expr& e) { return e->op == ExprOp::kCast ? e->operands[0] : e; }

/// Whether it is a factor where a sum of unknown length has a term, and 0 behind the last one.
bool IsGuarded(const Expr& e) {
  return e->op == ExprOp::kSelect && e->operands[2]->op == ExprOp::kFloat &&
         e->operands[2]->float_value == 0;
}
const Expr& Unguarded(const Expr& e) { return IsGuarded(e) ? e->operands[1] : e; }
Expr GuardedLike(const Expr& e, const Expr& factor) {
  return IsGuarded(e) ? tensor::Select(e->operands[0], factor, e->operands[2]) : factor;
}

std::vector<Expr> PlacesOf(const std::vector<int64_t>& shape) {
  std::vector<Expr> places;
  for (size_t d = 0; d < shape.size(); ++d) places.push_back(IterVar(static_cast<int>(d)));
  return places;
}

/// A state of floats as levels and scales: row r of [outer..., rows, columns] is
/// scales[r, outer] * levels[outer..., r, :].
class StateQuantizer {
 public:
  explicit StateQuantizer(Graph& graph) : graph_(graph), producers_(graph.Producers()) {}

  void Run() {
    const size_t count = graph_.states.size();
    for (size_t s = 0; s < count; ++s) {
      if (!Fits(graph_.states[s])) continue;
      behind_.resize(graph_.nodes.size());
      before_.resize(graph_.nodes.size());
      Quantize(s);
    }
    std::vector<Node> nodes;
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (n < before_.size()) std::ranges::move(before_[n], std::back_inserter(nodes));
      nodes.push_back(std::move(graph_.nodes[n]));
      if (n < behind_.size()) std::ranges::move(behind_[n], std::back_inserter(nodes));
    }
    graph_.nodes = std::move(nodes);
  }

 private:
  Value& ValueAt(ValueId id) { return graph_.values[id]; }

  /// Rows of levels have to begin where kernels expect what they write.
  bool Fits(const State& state) const {
    const Value& memory = graph_.values[state.memory];
    const auto rank = static_cast<int>(memory.shape.size());
    return tensor::IsFloat(memory.dtype) && rank >= 2 && state.axis == rank - 2 &&
           memory.shape.back() % target::kBufferAlignment == 0;
  }

  ValueId AddValue(Value value) {
    graph_.values.push_back(std::move(value));
    return static_cast<ValueId>(graph_.values.size()) - 1;
  }

  void Quantize(size_t s) {
    const State state = graph_.states[s];
    const int joins = producers_[state.present];
    const ValueId added = AddedTo(graph_.nodes[joins], state);
    const int adds = producers_[added];
    Widen(graph_.nodes[adds]);
    const ValueId extremes = AddExtremes(adds, added);
    const ValueId levels = AddLevels(adds, added, extremes);
    const State scales = AddScales(state, joins, AddScaleRows(adds, added, extremes));
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (static_cast<int>(n) == joins || graph_.nodes[n].IsAlias()) continue;
      for (const auto& [value, of] :
           {std::pair(state.past, scales.past), std::pair(state.present, scales.present)}) {
        if (!LoadsOf(graph_.nodes[n].stage.value, value).empty()) ReadLevels(n, value, of);
      }
    }
    for (const ValueId value : {state.past, state.present, state.memory}) {
      ValueAt(value).dtype = DType::kInt8;
    }
    const Expr chosen = graph_.nodes[joins].stage.value;
    graph_.nodes[joins].stage.value = tensor::Select(
        chosen->operands[0], tensor::Load(state.past, DType::kInt8, chosen->operands[1]->operands),
        tensor::Load(levels, DType::kInt8, chosen->operands[2]->operands));
  }

  /// What is added is computed in float32.
  void Widen(Node& node) {
    const Expr value = node.stage.value;
    const Expr& inner = Unconverted(value);
    node.stage.value =
        inner->dtype == DType::kFloat32 ? inner : tensor::Cast(DType::kFloat32, value);
    ValueAt(node.output()).dtype = DType::kFloat32;
  }

  /// Of each row the largest absolute value.
  ValueId AddExtremes(int adds, ValueId added) {
    std::vector<int64_t> shape = graph_.values[added].shape;
    const int64_t columns = shape.back();
    const Expr element = tensor::Load(added, DType::kFloat32, PlacesOf(shape));
    shape.pop_back();
    Node node = MakeMap(graph_, graph_.values[added].name + ".extremes", "extremes", shape,
                        tensor::Unary(ExprOp::kAbs, element));
    node.kind = NodeKind::kReduce;
    node.stage.reduction = tensor::Reduction::kMax;
    node.stage.iters.push_back({"column", columns, tensor::IterKind::kReduction});
    const ValueId output = node.output();
    behind_[adds].push_back(std::move(node));
    return output;
  }

  ValueId AddLevels(int adds, ValueId added, ValueId extremes) {
    const std::vector<int64_t> shape = graph_.values[added].shape;
    std::vector<Expr> place = PlacesOf(shape);
    const Expr element = tensor::Load(added, DType::kFloat32, place);
    place.pop_back();
    const Expr extreme = tensor::Load(extremes, DType::kFloat32, place);
    const Expr none = tensor::FloatLiteral(0), limit = tensor::FloatLiteral(kLargestLevel);
    const Expr factor = tensor::Select(none < extreme, limit / extreme, none);
    const Expr level = tensor::Unary(ExprOp::kRound, element * factor);
    Node node = MakeMap(graph_, graph_.values[added].name + ".levels", "quantize", shape,
                        tensor::Cast(DType::kInt8, tensor::Max(tensor::Min(level, limit), -limit)));
    const ValueId output = node.output();
    behind_[adds].push_back(std::move(node));
    return output;
  }

  /// Of what is added, a row of scales for each row.
  ValueId AddScaleRows(int adds, ValueId added, ValueId extremes) {
    std::vector<int64_t> outer = graph_.values[added].shape;
    outer.pop_back();
    const int64_t rows = outer.back();
    outer.pop_back();
    int64_t count = 1;
    for (const int64_t extent : outer) count *= extent;
    std::vector<Expr> place(outer.size() + 1);
    place.back() = IterVar(0);
    Expr rest = tensor::Min(IterVar(1), Expr(count - 1));
    for (size_t d = outer.size(); d-- > 0;) {
      place[d] = outer[d] == 1 ? Expr(0) : tensor::FloorMod(rest, Expr(outer[d]));
      rest = tensor::FloorDiv(rest, Expr(outer[d]));
    }
    const Expr extreme = tensor::Load(extremes, DType::kFloat32, place);
    Node node = MakeMap(graph_, graph_.values[added].name + ".scales", "scales",
                        {rows, (count + kScalesTogether - 1) / kScalesTogether * kScalesTogether},
                        extreme * tensor::FloatLiteral(1 / kLargestLevel));
    const ValueId output = node.output();
    behind_[adds].push_back(std::move(node));
    return output;
  }

  /// The state that the scales are.
  State AddScales(const State& state, int joins, ValueId added) {
    const int64_t columns = graph_.values[added].shape[1];
    const auto like = [&](ValueId levels, const std::string& name) {
      const Value of = graph_.values[levels];
      const auto axis = static_cast<size_t>(state.axis);
      Value value{name, DType::kFloat32, {of.shape[axis], columns}, nullptr};
      if (!of.bounds.empty()) value.bounds = {of.bounds[axis], -1};
      return AddValue(std::move(value));
    };
    const std::string name = graph_.values[state.present].name + ".scale";
    State scales{like(state.past, graph_.values[state.past].name + ".scale"),
                 like(state.present, name), like(state.memory, name + ".state"), 0, state.start};
    const Expr& start = graph_.nodes[joins].stage.value->operands[0]->operands[1];
    const Expr row = IterVar(0), column = IterVar(1);
    Node node;
    node.op = "append";
    node.kind = NodeKind::kJoin;
    node.stage.name = name;
    node.stage.output = scales.present;
    node.stage.iters = SpatialIters(graph_.values[scales.present].shape);
    node.stage.value =
        tensor::Select(row < start, tensor::Load(scales.past, DType::kFloat32, {row, column}),
                       tensor::Load(added, DType::kFloat32, {row - start, column}));
    behind_[joins].push_back(std::move(node));
    graph_.inputs.push_back(scales.past);
    graph_.outputs.push_back({name, scales.present});
    graph_.states.push_back(scales);
    return scales;
  }

  /// The scale of the row that a load of levels takes an element of.
  Expr ScaleOf(const Expr& load, ValueId scales) const {
    const std::vector<int64_t>& shape = graph_.values[load->index].shape;
    const size_t axis = shape.size() - 2;
    Expr column(0);
    for (size_t d = 0; d < axis; ++d) {
      if (shape[d] > 1) column = column * Expr(shape[d]) + load->operands[d];
    }
    return tensor::Load(scales, DType::kFloat32, {load->operands[axis], column});
  }

  static Expr LevelOf(const Expr& load) {
    return tensor::Cast(DType::kFloat32, tensor::Load(load->index, DType::kInt8, load->operands));
  }

  void ReadLevels(size_t n, ValueId value, ValueId scales) {
    if (ScaleSum(n, value, scales)) return;
    Node& node = graph_.nodes[n];
    const DType wanted = node.stage.value->dtype, dtype = graph_.values[value].dtype;
    size_t converted = 0;
    tensor::Visit(node.stage.value, [&](const Expr& e) {
      const bool is_cast = e->op == ExprOp::kCast && e->dtype == DType::kFloat32;
      if (is_cast && IsLoadOf(e->operands[0], value)) ++converted;
    });
    // Between other operations the type stays.
    const bool stays = !IsLoadOf(node.stage.value, value) && dtype != DType::kFloat32 &&
                       converted < LoadsOf(node.stage.value, value).size();
    const Expr read = RewriteLoads(node.stage.value, [&](const Expr& load) -> std::optional<Expr> {
      if (load->index != value) return std::nullopt;
      const Expr scaled = LevelOf(load) * ScaleOf(load, scales);
      return stays ? tensor::Cast(dtype, scaled) : scaled;
    });
    node.stage.value = read->dtype == wanted ? read : tensor::Cast(wanted, read);
  }

  static bool IsLoadOf(const Expr& e, ValueId value) {
    return e->op == ExprOp::kLoad && e->index == value;
  }

  /// In a sum of products the scale goes where there are fewer of it: behind the sum, if it is the
  /// same for all terms, else to the other factor.
  bool ScaleSum(size_t n, ValueId value, ValueId scales) {
    Node& node = graph_.nodes[n];
    const Expr& product = node.stage.value;
    const bool is_sum = node.group < 0 && node.stage.reduction == tensor::Reduction::kSum &&
                        product->op == ExprOp::kMul && product->dtype == DType::kFloat32 &&
                        LoadsOf(product, value).size() == 1;
    if (!is_sum) return false;
    const bool is_first = IsLoadOf(Unconverted(Unguarded(product->operands[0])), value);
    const Expr other = product->operands[is_first ? 1 : 0];
    const Expr levels = product->operands[is_first ? 0 : 1];
    const Expr load = Unconverted(Unguarded(levels));
    if (!IsLoadOf(load, value)) return false;
    const Expr scale = ScaleOf(load, scales), level = GuardedLike(levels, LevelOf(load));
    return ScaleResult(n, other, level, scale) || ScaleOther(n, other, level, scale);
  }

  bool ScaleResult(size_t n, const Expr& other, const Expr& level, const Expr& scale) {
    Node& node = graph_.nodes[n];
    std::vector<int64_t> shape;
    for (size_t i = 0; i < node.stage.iters.size(); ++i) {
      const tensor::Iter& iter = node.stage.iters[i];
      const bool is_spatial = iter.kind == tensor::IterKind::kSpatial;
      if (!is_spatial && MentionsIter(scale, static_cast<int>(i))) return false;
      if (is_spatial) shape.push_back(iter.extent);
    }
    const Value result = graph_.values[node.output()];
    if (shape != result.shape) return false;
    node.stage.value = other * level;
    const ValueId sum = AddValue({result.name + ".levels", result.dtype, shape, nullptr});
    Node scaled;
    scaled.op = "scale";
    scaled.stage.name = node.stage.name + ".scale";
    scaled.stage.output = node.output();
    scaled.stage.iters = SpatialIters(shape);
    scaled.stage.value = tensor::Load(sum, result.dtype, PlacesOf(shape)) * scale;
    node.stage.output = sum;
    behind_[n].push_back(std::move(scaled));
    return true;
  }

  bool ScaleOther(size_t n, const Expr& other, const Expr& level, const Expr& scale) {
    const Expr weight = Unguarded(other);
    if (weight->op != ExprOp::kLoad || weight->dtype != DType::kFloat32) return false;
    const auto iters = BareIters(weight);
    if (!iters) return false;
    Node& node = graph_.nodes[n];
    std::vector<Expr> place(node.stage.iters.size());
    for (size_t d = 0; d < iters->size(); ++d) {
      if ((*iters)[d] >= 0) place[(*iters)[d]] = IterVar(static_cast<int>(d));
    }
    for (size_t i = 0; i < place.size(); ++i) {
      if (place[i].defined()) continue;
      if (node.stage.iters[i].extent > 1 && MentionsIter(scale, static_cast<int>(i))) return false;
      place[i] = Expr(0);
    }
    const std::vector<int64_t> shape = graph_.values[weight->index].shape;
    Node scaled = MakeMap(graph_, node.stage.name + ".weights", "scale", shape,
                          tensor::Load(weight->index, DType::kFloat32, PlacesOf(shape)) *
                              tensor::SubstituteIters(scale, place));
    const Expr read = tensor::Load(scaled.output(), DType::kFloat32, weight->operands);
    node.stage.value = GuardedLike(other, read) * level;
    before_[n].push_back(std::move(scaled));
    return true;
  }

  Graph& graph_;
  const std::vector<int> producers_;
  std::vector<std::vector<Node>> before_, behind_;  // by node
};

}  // namespace

void QuantizeStates(Graph& graph) {
  if (graph.state_type == DType::kInt8) StateQuantizer(graph).Run();
}

}  // namespace bayloom::graph
