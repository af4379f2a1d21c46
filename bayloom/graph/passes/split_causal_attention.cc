// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "bayloom/graph/passes/hidden_keys.h"
#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/passes/rewriting.h"

namespace bayloom::graph {
namespace {

/// Every block copies the keys and values it reads, which fewer queries do not pay for.
constexpr int64_t kMinBlockQueries = 256;
/// Every block is a task, and the last blocks save least.
constexpr int64_t kMaxBlocks = 8;
/// Bounds of blocks, of queries and of keys: vector registers of all kinds divide them.
constexpr int64_t kBlockStep = 16;
/// Of all scores, those that have to be left out to be worth several tasks.
constexpr double kMinSaving = 0.15;

/// Queries [begin, end) and the keys that one of them sees.
struct QueryBlock {
  int64_t begin, end;
  KeyRange keys;

  int64_t queries() const { return end - begin; }
  int64_t scores() const { return queries() * (keys.last - keys.first); }
};

/// Blocks of about equal numbers of queries; none if that does not pay.
std::vector<QueryBlock> Blocks(const std::vector<KeyRange>& visible, int64_t keys) {
  const int64_t queries = std::ssize(visible);
  const int64_t count = std::min(kMaxBlocks, queries / kMinBlockQueries);
  std::vector<QueryBlock> blocks;
  int64_t scores = 0;
  for (int64_t b = 0; b < count; ++b) {
    const int64_t begin = blocks.empty() ? 0 : blocks.back().end;
    const int64_t end =
        b + 1 == count ? queries : (b + 1) * queries / count / kBlockStep * kBlockStep;
    QueryBlock block{begin, end, {keys, 0}};
    for (int64_t q = begin; q < end; ++q) {
      if (visible[q].first >= visible[q].last) continue;
      block.keys.first = std::min(block.keys.first, visible[q].first);
      block.keys.last = std::max(block.keys.last, visible[q].last);
    }
    if (block.keys.first >= block.keys.last) return {};
    block.keys.first -= block.keys.first % kBlockStep;
    block.keys.last = std::min(keys, (block.keys.last + kBlockStep - 1) / kBlockStep * kBlockStep);
    scores += block.scores();
    blocks.push_back(block);
  }
  const auto all = static_cast<double>(queries * keys);
  return static_cast<double>(scores) <= (1 - kMinSaving) * all ? blocks : std::vector<QueryBlock>();
}

/// Writes an attention's nodes again for each block.
class BlockWriter {
 public:
  BlockWriter(Graph& graph, const AttentionPattern& pattern)
      : graph_(graph), pattern_(pattern), rows_(pattern.rows()) {
    members_ = pattern.between;
    members_.insert(members_.begin(), pattern.scores);
    members_.push_back(pattern.product);
  }

  /// The nodes of all blocks, and the second product as their concatenation.
  std::vector<Node> Write(const std::vector<QueryBlock>& blocks) {
    std::vector<ValueId> parts;
    for (size_t b = 0; b < blocks.size(); ++b) {
      values_.clear();
      for (int n : members_) WriteMember(n, blocks[b], b);
      parts.push_back(nodes_.back().output());
    }
    Node whole = graph_.nodes[pattern_.product];
    whole.op = "concat";
    whole.kind = NodeKind::kMap;
    whole.stage.iters.pop_back();
    whole.stage.reduction = tensor::Reduction::kNone;
    SetParts(graph_, whole, QueryIter(pattern_.product), parts);
    nodes_.push_back(std::move(whole));
    return std::move(nodes_);
  }

 private:
  int QueryIter(int n) const {
    return n == pattern_.product ? pattern_.row_iters[rows_ - 1] : rows_ - 1;
  }
  /// -1 for what there is once a row.
  int KeyIter(int n) const {
    if (n == pattern_.product) return pattern_.channel_iter + 1;
    return std::ssize(graph_.nodes[n].stage.iters) > rows_ ? rows_ : -1;
  }

  /// The value with keys and values read where they come from: every block reads another part.
  tensor::Expr ValueOf(int n) const {
    tensor::Expr value = graph_.nodes[n].stage.value;
    if (n != pattern_.scores && n != pattern_.product) return value;
    const tensor::Expr& moved = n == pattern_.scores ? pattern_.key : pattern_.value;
    const bool first = value->operands[0].get() == moved.get();
    const tensor::Expr direct = ThroughMoves(graph_, moved, n);
    return first ? direct * value->operands[1] : value->operands[0] * direct;
  }

  void WriteMember(int n, const QueryBlock& block, size_t number) {
    Node node = graph_.nodes[n];
    const int query = QueryIter(n), key = KeyIter(n);
    std::vector<tensor::Expr> place;
    for (size_t i = 0; i < node.stage.iters.size(); ++i) {
      place.push_back(tensor::IterVar(static_cast<int>(i)));
    }
    const std::vector<tensor::Expr> own = place;
    node.stage.iters[query].extent = block.queries();
    place[query] = own[query] + tensor::Expr(block.begin);
    if (key >= 0) {
      node.stage.iters[key].extent = block.keys.last - block.keys.first;
      place[key] = own[key] + tensor::Expr(block.keys.first);
    }
    const tensor::Expr moved = tensor::SubstituteIters(ValueOf(n), place);
    node.stage.value = RewriteLoads(moved, [&](const tensor::Expr& load) {
      return OfBlock(load, own[query], key >= 0 ? own[key] : tensor::Expr());
    });
    node.stage.name += fmt::format(".block{}", number);
    node.stage.output = static_cast<ValueId>(graph_.values.size());
    graph_.values.push_back(
        {node.stage.name, graph_.values[graph_.nodes[n].output()].dtype, ShapeOf(node), nullptr});
    values_[graph_.nodes[n].output()] = node.output();
    nodes_.push_back(std::move(node));
  }

  /// A value of the attention as the block has it, without the offsets of queries and keys.
  std::optional<tensor::Expr> OfBlock(const tensor::Expr& load, const tensor::Expr& query,
                                      const tensor::Expr& key) const {
    const auto known = values_.find(load->index);
    if (known == values_.end()) return std::nullopt;
    std::vector<tensor::Expr> at = load->operands;
    at[rows_ - 1] = query;
    if (std::ssize(at) > rows_) at[rows_] = key;
    return tensor::Load(known->second, load->dtype, std::move(at));
  }

  Graph& graph_;
  const AttentionPattern& pattern_;
  const int rows_;
  std::vector<int> members_;           // nodes, ascending
  std::map<ValueId, ValueId> values_;  // the earlier ones, as the block has them
  std::vector<Node> nodes_;
};

}  // namespace

void SplitCausalAttention(Graph& graph) {
  std::vector<int> producers = graph.Producers();
  for (int n = 0; n < static_cast<int>(graph.nodes.size()); ++n) {
    const Node& product = graph.nodes[n];
    if (product.kind != NodeKind::kMatmul) continue;
    const auto pattern = FindAttention(graph, producers, n);
    if (!pattern) continue;
    const std::vector<int64_t> shape = ShapeOf(graph.nodes[pattern->scores]);
    if (shape[shape.size() - 2] < 2 * kMinBlockQueries) continue;
    const auto visible = FindVisibleKeys(graph, *pattern);
    const auto blocks = visible ? Blocks(*visible, shape.back()) : std::vector<QueryBlock>();
    if (blocks.empty()) continue;
    const std::vector<Node> written = BlockWriter(graph, *pattern).Write(blocks);
    graph.nodes.erase(graph.nodes.begin() + n);
    graph.nodes.insert(graph.nodes.begin() + n, written.begin(), written.end());
    n += static_cast<int>(written.size()) - 1;
    producers = graph.Producers();
  }
  RemoveDeadNodes(graph);
}

}  // namespace bayloom::graph
