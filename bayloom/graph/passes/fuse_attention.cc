// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>

#include "bayloom/graph/passes/attention_pattern.h"
#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/passes/rewriting.h"
#include "bayloom/tensor/open_axis.h"

namespace bayloom::graph {
namespace {

using tensor::Expr;
using tensor::Iter;
using tensor::IterKind;
using tensor::IterVar;
using Exprs = std::vector<Expr>;

/// Keys are numbered by group and lane: vector registers of all kinds divide a group.
constexpr int64_t kKeyLanes = 16;
/// With fewer queries the keys' copy costs as much as it saves; with fewer keys there is little to
/// keep out of memory.
constexpr int64_t kMinQueries = 16, kMinKeys = 16;
/// Scores and weights of four rows fit into a second-level cache of half a megabyte.
constexpr int64_t kMaxKeys = 16384;

/// Writes the nodes of one attention as a group in the order of tiles. With the keys as [group,
/// lane], zeros where the last group has too few:
///
///     keys[.., group, d, lane], values[.., group, lane, c]        copies
///     scores[r, group, lane] = sum over d of query * keys
///     ...                                                         as before
///     partial[r, lane] = reduction over the groups, then over the lanes
///     product[r, c] = sum over group, lane of weights * values
///     y[r, c] = product[r, c] * (1 / sum[r])
///
/// Where the number of keys is known when the network runs, groups end at the last key's.
///
/// What the softmax multiplies a row by goes behind the product, which is linear: rows x channels
/// multiplications in place of rows x keys.
class AttentionWriter {
 public:
  AttentionWriter(Graph& graph, const AttentionPattern& pattern, int group)
      : graph_(graph), pattern_(pattern), group_(group), rows_(pattern.rows()) {
    const Node& scores = graph.nodes[pattern.scores];
    row_iters_.assign(scores.stage.iters.begin(), scores.stage.iters.begin() + rows_);
    keys_ = scores.stage.iters[rows_].extent;
    groups_ = (keys_ + kKeyLanes - 1) / kKeyLanes;
    const Node& product = graph.nodes[pattern.product];
    key_bound_ = product.stage.iters[pattern.channel_iter + 1].bound;
    channels_ = product.stage.iters[pattern.channel_iter].extent;
  }

  std::vector<Node> Write() {
    const ValueId scores = WriteScores();
    values_[graph_.nodes[pattern_.scores].output()] = scores;
    SplitWeights();
    for (int n : pattern_.between) WriteBetween(n);
    WriteOutput(WriteProduct());
    return std::move(nodes_);
  }

 private:
  static Iter Spatial(const char* name, int64_t extent) {
    return {name, extent, IterKind::kSpatial};
  }
  static Iter Reduced(const char* name, int64_t extent) {
    return {name, extent, IterKind::kReduction};
  }
  bool has_padding() const { return keys_ % kKeyLanes != 0 || key_bound_.is_open(); }
  /// How many keys there are.
  Expr KeyCount() const {
    return key_bound_.is_open() ? tensor::SizeOf(key_bound_.size) : Expr(keys_);
  }
  Iter Groups(IterKind kind) const {
    Iter iter{"group", groups_, kind};
    if (key_bound_.is_open()) iter.bound = {key_bound_.size, kKeyLanes};
    return iter;
  }

  /// A new value computed by a node of the group.
  ValueId Add(NodeKind kind, const std::string& op, std::vector<Iter> iters, Expr value,
              tensor::Reduction reduction = tensor::Reduction::kNone) {
    Node node;
    node.op = op;
    node.kind = kind;
    node.group = group_;
    node.stage.name = graph_.values[graph_.nodes[pattern_.product].output()].name + "." + op;
    node.stage.iters = std::move(iters);
    node.stage.reduction = reduction;
    node.stage.output = static_cast<ValueId>(graph_.values.size());
    graph_.values.push_back({node.stage.name, value->dtype, ShapeOf(node), nullptr});
    node.stage.value = std::move(value);
    nodes_.push_back(std::move(node));
    return nodes_.back().output();
  }

  Expr LoadOf(ValueId value, Exprs indices) const {
    return tensor::Load(value, graph_.values[value].dtype, std::move(indices));
  }
  static Expr KeyAt(const Expr& group, const Expr& lane) { return group * Expr(kKeyLanes) + lane; }
  /// `value` for keys that there are, else `padding`.
  Expr Guarded(const Expr& group, const Expr& lane, Expr value, Expr padding) const {
    if (!has_padding()) return value;
    return tensor::Select(KeyAt(group, lane) < KeyCount(), std::move(value), std::move(padding));
  }
  static Expr Zero(const Expr& like) { return tensor::Literal(0, like->dtype); }
  Exprs RowVars() const {
    Exprs rows;
    for (int i = 0; i < rows_; ++i) rows.push_back(IterVar(i));
    return rows;
  }
  Exprs RowVarsAnd(std::initializer_list<Expr> more) const {
    Exprs place = RowVars();
    place.insert(place.end(), more);
    return place;
  }

  /// The axes of rows, as iterators `iter_of` of an expression, that this mentions.
  std::vector<int> RowsIn(const Expr& e, const std::vector<int>& iter_of) const {
    std::vector<int> used;
    for (int i = 0; i < rows_; ++i) {
      if (iter_of[i] >= 0 && MentionsIter(e, iter_of[i])) used.push_back(i);
    }
    return used;
  }

  ValueId WriteScores() {
    const Node& node = graph_.nodes[pattern_.scores];
    const Iter depth = node.stage.iters[rows_ + 1];
    const Expr key = ThroughMoves(graph_, pattern_.key, pattern_.scores);
    std::vector<int> iter_of(rows_);
    for (int i = 0; i < rows_; ++i) iter_of[i] = i;
    const std::vector<int> used = RowsIn(key, iter_of);
    const int u = static_cast<int>(used.size());
    std::vector<Iter> iters;
    Exprs to(rows_ + 2, Expr(0)), at;
    for (int j = 0; j < u; ++j) {
      iters.push_back(row_iters_[used[j]]);
      to[used[j]] = IterVar(j);
      at.push_back(IterVar(used[j]));
    }
    iters.insert(iters.end(), {Groups(IterKind::kSpatial), Spatial("d", depth.extent),
                               Spatial("lane", kKeyLanes)});
    to[rows_] = KeyAt(IterVar(u), IterVar(u + 2));
    to[rows_ + 1] = IterVar(u + 1);
    const Expr copied = tensor::SubstituteIters(key, to);
    const ValueId keys = Add(NodeKind::kMap, "attention.keys", iters,
                             Guarded(IterVar(u), IterVar(u + 2), copied, Zero(copied)));

    Exprs place = RowVarsAnd({IterVar(rows_), IterVar(rows_ + 2)});
    place[rows_] = Expr(0);  // the query does not move with the key
    const Expr query = tensor::SubstituteIters(pattern_.query, place);
    at.insert(at.end(), {IterVar(rows_), IterVar(rows_ + 2), IterVar(rows_ + 1)});
    const Expr packed = LoadOf(keys, at);
    std::vector<Iter> all = ElementIters();
    all.push_back(Reduced("d", depth.extent));
    return Add(NodeKind::kMatmul, "attention.scores", all,
               pattern_.key_first ? packed * query : query * packed, tensor::Reduction::kSum);
  }

  std::vector<Iter> ElementIters() const {
    std::vector<Iter> iters = row_iters_;
    iters.insert(iters.end(), {Groups(IterKind::kSpatial), Spatial("lane", kKeyLanes)});
    return iters;
  }

  /// Takes a division by something per row, or a product with it, out of the weights.
  void SplitWeights() {
    weights_ = graph_.nodes[pattern_.weights].stage.value;
    const auto is_zero = [](const Expr& e) {
      return e->op == tensor::ExprOp::kFloat && e->float_value == 0;
    };
    const auto scales = [&](const Expr& e) {
      const bool by = e->op == tensor::ExprOp::kDiv || e->op == tensor::ExprOp::kMul;
      return by && !MentionsIter(e->operands[1], rows_);
    };
    if (scales(weights_)) {
      scaling_ = weights_;
      weights_ = weights_->operands[0];
    } else if (weights_->op == tensor::ExprOp::kSelect && is_zero(weights_->operands[1]) &&
               scales(weights_->operands[2])) {
      scaling_ = weights_->operands[2];
      weights_ =
          tensor::Select(weights_->operands[0], weights_->operands[1], scaling_->operands[0]);
    }
  }

  void WriteBetween(int n) {
    const Node& node = graph_.nodes[n];
    if (n == pattern_.weights) {
      if (IsElementOfGroup(weights_)) {
        values_[node.output()] = values_.at(weights_->index);
      } else {
        values_[node.output()] = WriteElements(node, weights_);
      }
    } else if (node.kind == NodeKind::kReduce) {
      values_[node.output()] = WriteReduction(node);
    } else if (ShapeOf(node).size() == static_cast<size_t>(rows_)) {
      values_[node.output()] =
          Add(NodeKind::kMap, OpOf(node), row_iters_, OfGroup(node.stage.value, RowVars(), {}));
    } else {
      values_[node.output()] = WriteElements(node, node.stage.value);
    }
  }

  /// A value of the group, element by element.
  bool IsElementOfGroup(const Expr& e) const {
    return e->op == tensor::ExprOp::kLoad && values_.contains(e->index) &&
           e->operands.size() == static_cast<size_t>(rows_) + 1;
  }

  static std::string OpOf(const Node& node) {
    return "attention." + node.op.substr(node.op.find_last_of(".+") + 1);
  }

  /// An expression of rows and keys in the group's iterators: at `place`, with the group's values
  /// in place of those before. `element` is where the elements at that place are.
  Expr OfGroup(const Expr& e, const Exprs& place, const Exprs& element) const {
    return RewriteLoads(tensor::SubstituteIters(e, place),
                        [&](const Expr& load) -> std::optional<Expr> {
                          const auto known = values_.find(load->index);
                          if (known == values_.end()) return std::nullopt;
                          const bool row = load->operands.size() == static_cast<size_t>(rows_);
                          return LoadOf(known->second, row ? RowVars() : element);
                        });
  }

  ValueId WriteElements(const Node& node, const Expr& value) {
    const Expr group = IterVar(rows_), lane = IterVar(rows_ + 1);
    const Expr element =
        OfGroup(value, RowVarsAnd({KeyAt(group, lane)}), RowVarsAnd({group, lane}));
    return Add(NodeKind::kMap, OpOf(node), ElementIters(),
               Guarded(group, lane, element, Zero(element)));
  }

  ValueId WriteReduction(const Node& node) {
    const Expr lane = IterVar(rows_), group = IterVar(rows_ + 1);
    const Expr& value = tensor::WithoutMasks(node.stage.value, node.stage.iters);
    const Expr term = OfGroup(value, RowVarsAnd({KeyAt(group, lane)}), RowVarsAnd({group, lane}));
    const tensor::Reduction reduction = node.stage.reduction;
    std::vector<Iter> iters = row_iters_;
    iters.insert(iters.end(), {Spatial("lane", kKeyLanes), Groups(IterKind::kReduction)});
    const ValueId partial =
        Add(NodeKind::kReduce, OpOf(node), iters,
            Guarded(group, lane, term, tensor::NeutralElement(reduction, term->dtype)), reduction);
    iters = row_iters_;
    iters.push_back(Reduced("lane", kKeyLanes));
    return Add(NodeKind::kReduce, OpOf(node), iters, LoadOf(partial, RowVarsAnd({lane})),
               reduction);
  }

  ValueId WriteProduct() {
    const Expr value = ThroughMoves(graph_, pattern_.value, pattern_.product);
    const Node& node = graph_.nodes[pattern_.product];
    const std::vector<int> used = RowsIn(value, pattern_.row_iters);
    const int u = static_cast<int>(used.size());
    std::vector<Iter> iters;
    Exprs to(node.stage.iters.size(), Expr(0)), at;
    for (int j = 0; j < u; ++j) {
      iters.push_back(row_iters_[used[j]]);
      to[pattern_.row_iters[used[j]]] = IterVar(j);
      at.push_back(IterVar(used[j]));
    }
    iters.insert(iters.end(),
                 {Groups(IterKind::kSpatial), Spatial("lane", kKeyLanes), Spatial("c", channels_)});
    to[pattern_.channel_iter] = IterVar(u + 2);
    to[pattern_.channel_iter + 1] = KeyAt(IterVar(u), IterVar(u + 1));
    const Expr copied = tensor::SubstituteIters(value, to);
    const ValueId values = Add(NodeKind::kMap, "attention.values", iters,
                               Guarded(IterVar(u), IterVar(u + 1), copied, Zero(copied)));

    const Expr channel = IterVar(rows_), group = IterVar(rows_ + 1), lane = IterVar(rows_ + 2);
    at.insert(at.end(), {group, lane, channel});
    const ValueId weights = values_.at(graph_.nodes[pattern_.weights].output());
    std::vector<Iter> all = row_iters_;
    all.insert(all.end(),
               {Spatial("c", channels_), Groups(IterKind::kReduction), Reduced("lane", kKeyLanes)});
    Expr term = LoadOf(weights, RowVarsAnd({group, lane})) * LoadOf(values, at);
    if (key_bound_.is_open()) {
      term = tensor::ReduceWithin(tensor::Reduction::kSum, term, rows_ + 1, KeyCount(), kKeyLanes);
    }
    return Add(NodeKind::kMatmul, "attention.product", all, term, tensor::Reduction::kSum);
  }

  /// The result keeps its value and the order of its axes.
  void WriteOutput(ValueId product) {
    Node node = graph_.nodes[pattern_.product];
    Exprs place(rows_ + 1, Expr(0));
    for (int i = 0; i < rows_; ++i) {
      if (pattern_.row_iters[i] >= 0) place[i] = IterVar(pattern_.row_iters[i]);
    }
    place[rows_] = IterVar(pattern_.channel_iter);
    Expr value = LoadOf(product, place);
    if (scaling_.defined()) {
      const Expr per_row = OfGroup(scaling_->operands[1], RowVars(), {});
      value = tensor::Binary(scaling_->op, value, tensor::SubstituteIters(per_row, place));
    }
    node.op = "attention";
    node.kind = NodeKind::kMap;
    node.group = group_;
    node.stage.iters.pop_back();
    node.stage.reduction = tensor::Reduction::kNone;
    node.stage.value = std::move(value);
    nodes_.push_back(std::move(node));
  }

  Graph& graph_;
  const AttentionPattern& pattern_;
  const int group_, rows_;
  std::vector<Iter> row_iters_;
  int64_t keys_ = 0, groups_ = 0, channels_ = 0;
  tensor::Bound key_bound_;
  Expr weights_, scaling_;  // weights = scaling_'s operation on weights_ and something per row
  std::map<ValueId, ValueId> values_;  // the earlier ones, as the group has them
  std::vector<Node> nodes_;
};

/// Whether one task is no slower than one for each product and the softmax.
bool PaysAsOneTask(const Graph& graph, const AttentionPattern& pattern) {
  const std::vector<int64_t> shape = ShapeOf(graph.nodes[pattern.scores]);
  const int64_t queries = shape[shape.size() - 2], keys = shape.back();
  return queries >= kMinQueries && keys >= kMinKeys && keys <= kMaxKeys;
}

}  // namespace

void FuseAttention(Graph& graph) {
  std::vector<int> producers = graph.Producers();
  int group = 0;
  for (int n = 0; n < static_cast<int>(graph.nodes.size()); ++n) {
    if (graph.nodes[n].kind != NodeKind::kMatmul) continue;
    const auto pattern = FindAttention(graph, producers, n);
    if (!pattern || !PaysAsOneTask(graph, *pattern)) continue;
    const std::vector<Node> fused = AttentionWriter(graph, *pattern, group++).Write();
    graph.nodes.erase(graph.nodes.begin() + n);
    graph.nodes.insert(graph.nodes.begin() + n, fused.begin(), fused.end());
    n += static_cast<int>(fused.size()) - 1;
    producers = graph.Producers();
  }
  RemoveDeadNodes(graph);
}

}  // namespace bayloom::graph
