// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/passes/attention_pattern.h"

#include <algorithm>

#include "bayloom/graph/passes/rewriting.h"
#include "bayloom/tensor/open_axis.h"

namespace bayloom::graph {
namespace {

/// A sum of products of float32 over one axis.
bool IsProduct(const Graph& graph, const Node& node) {
  const auto reductions = std::count_if(
      node.stage.iters.begin(), node.stage.iters.end(),
      [](const tensor::Iter& iter) { return iter.kind == tensor::IterKind::kReduction; });
  return node.kind == NodeKind::kMatmul && node.stage.reduction == tensor::Reduction::kSum &&
         reductions == 1 && node.stage.value->op == tensor::ExprOp::kMul &&
         graph.values[node.output()].dtype == tensor::DType::kFloat32;
}

class AttentionFinder {
 public:
  AttentionFinder(const Graph& graph, const std::vector<int>& producers, int product)
      : graph_(graph), producers_(producers) {
    found_.product = product;
  }

  std::optional<AttentionPattern> Find() {
    if (!IsProduct(graph_, NodeAt(found_.product)) || !FindWeights()) return std::nullopt;
    found_.scores = FindScores(found_.weights);
    if (found_.scores < 0 || !SplitScores() || IsOfWeights()) return std::nullopt;
    if (!CollectBetween()) return std::nullopt;
    return found_;
  }

 private:
  const Node& NodeAt(int n) const { return graph_.nodes[n]; }

  static bool MentionsAnyOf(const tensor::Expr& e, const std::vector<int>& iters) {
    return std::any_of(iters.begin(), iters.end(),
                       [&](int iter) { return iter >= 0 && MentionsIter(e, iter); });
  }

  /// One factor of the product is a load of the weights, row by row.
  bool FindWeights() {
    const tensor::Expr& value = NodeAt(found_.product).stage.value;
    return TakeFactors(value->operands[0], value->operands[1]) ||
           TakeFactors(value->operands[1], value->operands[0]);
  }

  bool TakeFactors(const tensor::Expr& weights_factor, const tensor::Expr& value_factor) {
    const std::vector<tensor::Iter>& iters_of_product = NodeAt(found_.product).stage.iters;
    const tensor::Expr& weights = tensor::WithoutMasks(weights_factor, iters_of_product);
    const tensor::Expr& value = tensor::WithoutMasks(value_factor, iters_of_product);
    if (weights->op != tensor::ExprOp::kLoad || weights->operands.size() < 2) return false;
    const int node = producers_[weights->index];
    const auto iters = BareIters(weights);
    if (node < 0 || NodeAt(node).kind != NodeKind::kMap || !iters) return false;
    const Node& product = NodeAt(found_.product);
    const int channel = static_cast<int>(ShapeOf(product).size()) - 1, key = channel + 1;
    if (channel < 1 || iters->back() != key || MentionsIter(weights, channel)) return false;
    if (!MentionsIter(value, key) || !MentionsIter(value, channel)) return false;
    const int queries = (*iters)[iters->size() - 2];
    if (queries < 0 || MentionsIter(value, queries)) return false;
    for (int i = 0; i < channel; ++i) {  // every other axis is one of the weights'
      const bool used = std::find(iters->begin(), iters->end(), i) != iters->end();
      if (!used && product.stage.iters[i].extent > 1) return false;
    }
    const std::vector<int64_t>& shape = graph_.values[weights->index].shape;
    for (size_t d = 0; d < shape.size(); ++d) {
      const int64_t extent = (*iters)[d] < 0 ? 1 : product.stage.iters[(*iters)[d]].extent;
      if (extent != shape[d]) return false;
    }
    found_.weights = node;
    found_.value = value;
    found_.row_iters.assign(iters->begin(), iters->end() - 1);
    found_.channel_iter = channel;
    return true;
  }

  /// The product whose scores become the weights, seen through elementwise nodes.
  int FindScores(int weights) const {
    const std::vector<int64_t> shape = ShapeOf(NodeAt(weights));
    std::vector<int> pending = {weights};
    std::vector<bool> seen(graph_.nodes.size(), false);
    while (!pending.empty()) {
      const int n = pending.back();
      pending.pop_back();
      if (seen[n]) continue;
      seen[n] = true;
      for (ValueId operand : OperandsOf(NodeAt(n))) {
        const int producer = producers_[operand];
        if (producer < 0 || ShapeOf(NodeAt(producer)) != shape) continue;
        if (IsProduct(graph_, NodeAt(producer))) return producer;
        if (NodeAt(producer).kind == NodeKind::kMap) pending.push_back(producer);
      }
    }
    return -1;
  }

  bool SplitScores() {
    const tensor::Expr& value = NodeAt(found_.scores).stage.value;
    const int key = found_.rows(), query = key - 1;
    const auto is_key = [&](const tensor::Expr& e) {
      return MentionsIter(e, key) && !MentionsIter(e, query);
    };
    const auto is_query = [&](const tensor::Expr& e) { return !MentionsIter(e, key); };
    found_.key_first = is_key(value->operands[0]);
    found_.key = value->operands[found_.key_first ? 0 : 1];
    found_.query = value->operands[found_.key_first ? 1 : 0];
    return is_key(found_.key) && is_query(found_.query);
  }

  /// Whether keys and values are known: two layers with a normalization between them, as before a
  /// language model's last one, whose weights would be brought into the form of keys in each run.
  bool IsOfWeights() const {
    const auto is_known = [&](const tensor::Expr& e) {
      return std::ranges::all_of(LoadsOf(e), [&](const tensor::Expr& load) {
        return graph_.values[load->index].constant != nullptr;
      });
    };
    return is_known(found_.key) && is_known(found_.value);
  }

  /// All that depends on the scores, and on which the weights depend.
  bool CollectBetween() {
    const int count = static_cast<int>(graph_.nodes.size());
    std::vector<bool> depends(count, false), needed(count, false);
    depends[found_.scores] = needed[found_.weights] = true;
    for (int n = found_.scores + 1; n <= found_.product; ++n) {
      for (ValueId operand : OperandsOf(NodeAt(n))) {
        const int producer = producers_[operand];
        depends[n] = depends[n] || (producer >= 0 && depends[producer]);
      }
    }
    for (int n = found_.weights; n > found_.scores; --n) {
      if (!needed[n]) continue;
      for (ValueId operand : OperandsOf(NodeAt(n))) {
        if (producers_[operand] >= 0) needed[producers_[operand]] = true;
      }
    }
    inside_.assign(count, false);
    inside_[found_.scores] = true;
    bool reduces = false;
    for (int n = found_.scores + 1; n <= found_.weights; ++n) {
      if (!depends[n] || !needed[n]) continue;
      if (!FitsRows(NodeAt(n))) return false;
      inside_[n] = true;
      reduces = reduces || NodeAt(n).kind == NodeKind::kReduce;
      found_.between.push_back(n);
    }
    for (const tensor::Expr& load : LoadsOf(found_.value)) {
      if (producers_[load->index] >= 0 && depends[producers_[load->index]]) return false;
    }
    return reduces && IsReadInsideOnly();
  }

  bool IsReadInsideOnly() const {
    // Not before now: it takes time with the whole graph, for each of its products.
    const std::vector<std::vector<int>> consumers = graph_.Consumers();
    const std::vector<bool> is_output = graph_.IsOutput();
    std::vector<int> members = found_.between;
    members.push_back(found_.scores);
    return std::all_of(members.begin(), members.end(), [&](int n) {
      const ValueId value = NodeAt(n).output();
      const std::vector<int>& readers = consumers[value];
      return !is_output[value] && std::all_of(readers.begin(), readers.end(), [&](int reader) {
        return inside_[reader] || (reader == found_.product && n == found_.weights);
      });
    });
  }

  /// Elements or rows, computed in place; or a reduction of rows.
  bool FitsRows(const Node& node) const {
    const std::vector<int64_t> all = ShapeOf(NodeAt(found_.scores));
    const std::vector<int64_t> rows(all.begin(), all.end() - 1);
    const std::vector<int64_t> shape = ShapeOf(node);
    const std::vector<tensor::Iter>& iters = node.stage.iters;
    const bool per_element = node.kind == NodeKind::kMap && shape == all;
    const bool per_row = node.kind == NodeKind::kMap && shape == rows;
    const bool reduces = node.kind == NodeKind::kReduce && shape == rows &&
                         iters.size() == all.size() && iters.back().extent == all.back();
    if (!per_element && !per_row && !reduces) return false;
    for (const tensor::Expr& load : LoadsOf(node.stage.value)) {
      const int producer = producers_[load->index];
      if (producer >= 0 && inside_[producer] && !IsInPlace(load)) return false;
    }
    return true;
  }

  bool IsInPlace(const tensor::Expr& load) const {
    const std::vector<int64_t>& shape = graph_.values[load->index].shape;
    for (size_t d = 0; d < load->operands.size(); ++d) {
      const tensor::Expr& index = load->operands[d];
      const bool own = index->op == tensor::ExprOp::kIter && index->index == static_cast<int>(d);
      if (!own && !(shape[d] == 1 && tensor::IsIntLiteral(index, 0))) return false;
    }
    return true;
  }

  const Graph& graph_;
  const std::vector<int>& producers_;
  std::vector<bool> inside_;  // per node: the scores, and what is between
  AttentionPattern found_;
};

}  // namespace

std::optional<AttentionPattern> FindAttention(const Graph& graph, const std::vector<int>& producers,
                                              int product) {
  return AttentionFinder(graph, producers, product).Find();
}

}  // namespace bayloom::graph
