// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "bayloom/graph/open/size_table.h"
#include "bayloom/graph/passes/hidden_keys.h"
#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/passes/rewriting.h"
#include "bayloom/tensor/open_axis.h"

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
  int64_t key_count() const { return keys.last - keys.first; }
  int64_t scores() const { return queries() * key_count(); }
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

/// Whether parts of an axis with the bound have bounds.
bool CanHaveParts(const tensor::Bound& bound) { return bound.step == 1 && bound.beyond == 0; }

/// Writes an attention's nodes again for each block. Of open queries and keys, a block has those
/// that there are: none where all queries are before it.
class BlockWriter {
 public:
  BlockWriter(Graph& graph, SizeTable& sizes, const AttentionPattern& pattern)
      : graph_(graph),
        sizes_(sizes),
        pattern_(pattern),
        rows_(pattern.rows()),
        scores_(graph.nodes[pattern.scores].stage) {
    members_ = pattern.between;
    members_.insert(members_.begin(), pattern.scores);
    members_.push_back(pattern.product);
  }

  /// The nodes of all blocks, and the second product as their concatenation.
  std::vector<Node> Write(const std::vector<QueryBlock>& blocks) {
    std::vector<ValueId> parts;
    for (size_t b = 0; b < blocks.size(); ++b) {
      values_.clear();
      query_bound_ = PartOf(rows_ - 1, blocks[b].begin, blocks[b].queries());
      key_bound_ = PartOf(rows_, blocks[b].keys.first, blocks[b].key_count());
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
  /// The bound of what lies at `begin` along an axis of the scores.
  tensor::Bound PartOf(int axis, int64_t begin, int64_t extent) {
    const tensor::Bound& bound = scores_.iters[axis].bound;
    if (!bound.is_open() || extent == scores_.iters[axis].extent) return bound;
    return {sizes_.Of(Length::Part(*graph_.values[bound.size].size - begin, extent))};
  }

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
    const std::vector<tensor::Iter>& iters = graph_.nodes[n].stage.iters;
    const tensor::Expr value = tensor::WithoutMasks(graph_.nodes[n].stage.value, iters);
    if (n != pattern_.scores && n != pattern_.product) return value;
    const tensor::Expr& moved = n == pattern_.scores ? pattern_.key : pattern_.value;
    const tensor::Expr& first = tensor::WithoutMasks(value->operands[0], iters);
    const tensor::Expr direct = ThroughMoves(graph_, moved, n);
    return first.get() == moved.get() ? direct * tensor::WithoutMasks(value->operands[1], iters)
                                      : first * direct;
  }

  void WriteMember(int n, const QueryBlock& block, size_t number) {
    Node node = graph_.nodes[n];
    const int query = QueryIter(n), key = KeyIter(n);
    std::vector<tensor::Expr> place;
    for (size_t i = 0; i < node.stage.iters.size(); ++i) {
      place.push_back(tensor::IterVar(static_cast<int>(i)));
    }
    const std::vector<tensor::Expr> own = place;
    SetPart(node.stage.iters[query], block.queries(), query_bound_);
    place[query] = own[query] + tensor::Expr(block.begin);
    if (key >= 0) {
      SetPart(node.stage.iters[key], block.key_count(), key_bound_);
      place[key] = own[key] + tensor::Expr(block.keys.first);
    }
    const tensor::Expr moved = tensor::SubstituteIters(ValueOf(n), place);
    node.stage.value = RewriteLoads(moved, [&](const tensor::Expr& load) {
      return OfBlock(load, own[query], key >= 0 ? own[key] : tensor::Expr());
    });
    if (key >= 0 && key_bound_.is_open() &&
        node.stage.iters[key].kind == tensor::IterKind::kReduction) {
      node.stage.value = tensor::ReduceWithin(node.stage.reduction, node.stage.value, key,
                                              tensor::SizeOf(key_bound_.size));
    }
    node.stage.name += fmt::format(".block{}", number);
    node.stage.output = static_cast<ValueId>(graph_.values.size());
    graph_.values.push_back(
        {node.stage.name, graph_.values[graph_.nodes[n].output()].dtype, ShapeOf(node), nullptr});
    values_[graph_.nodes[n].output()] = node.output();
    nodes_.push_back(std::move(node));
  }

  static void SetPart(tensor::Iter& iter, int64_t extent, const tensor::Bound& bound) {
    iter.extent = extent;
    iter.bound = bound;
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
  SizeTable& sizes_;
  const AttentionPattern& pattern_;
  const int rows_;
  const tensor::Stage scores_;
  tensor::Bound query_bound_, key_bound_;  // of the block
  std::vector<int> members_;               // nodes, ascending
  std::map<ValueId, ValueId> values_;      // the earlier ones, as the block has them
  std::vector<Node> nodes_;
};

}  // namespace

void SplitCausalAttention(Graph& graph) {
  SizeTable sizes(graph);
  std::vector<int> producers = graph.Producers();
  for (int n = 0; n < static_cast<int>(graph.nodes.size()); ++n) {
    const Node& product = graph.nodes[n];
    if (product.kind != NodeKind::kMatmul) continue;
    const auto pattern = FindAttention(graph, producers, n);
    if (!pattern) continue;
    const std::vector<int64_t> shape = ShapeOf(graph.nodes[pattern->scores]);
    if (shape[shape.size() - 2] < 2 * kMinBlockQueries) continue;
    const std::vector<tensor::Iter>& iters = graph.nodes[pattern->scores].stage.iters;
    if (!CanHaveParts(iters[shape.size() - 2].bound) ||
        !CanHaveParts(iters[shape.size() - 1].bound))
      continue;
    const auto visible = FindVisibleKeys(graph, *pattern);
    const auto blocks = visible ? Blocks(*visible, shape.back()) : std::vector<QueryBlock>();
    if (blocks.empty()) continue;
    const std::vector<Node> written = BlockWriter(graph, sizes, *pattern).Write(blocks);
    graph.nodes.erase(graph.nodes.begin() + n);
    graph.nodes.insert(graph.nodes.begin() + n, written.begin(), written.end());
    n += static_cast<int>(written.size()) - 1;
    producers = graph.Producers();
  }
  RemoveDeadNodes(graph);
}

}  // namespace bayloom::graph
