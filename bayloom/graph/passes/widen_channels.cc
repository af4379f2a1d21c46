// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>
#include <optional>

#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/passes/rewriting.h"

namespace bayloom::graph {
namespace {

/// Vector registers hold 16 floats at most.
constexpr int64_t kChannelLanes = 16;
/// Part of the work that may be added for the sake of whole vectors.
constexpr double kMaxGrowth = 1.0 / 16;

/// The extent that the channels should have; nullopt if theirs is as good as another.
std::optional<int64_t> WiderExtent(int64_t channels) {
  const int64_t wider = (channels + kChannelLanes - 1) / kChannelLanes * kChannelLanes;
  const bool pays = wider > channels && static_cast<double>(wider - channels) <=
                                            kMaxGrowth * static_cast<double>(channels);
  return pays ? std::optional(wider) : std::nullopt;
}

int ChannelIter(const Node& node) { return static_cast<int>(ShapeOf(node).size()) - 1; }

class ChannelWidener {
 public:
  explicit ChannelWidener(Graph& graph)
      : graph_(graph), consumers_(graph.Consumers()), is_output_(graph.IsOutput()) {}

  void Run() {
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (!IsAnchor(graph_.nodes[n])) continue;
      const std::vector<int64_t> shape = ShapeOf(graph_.nodes[n]);
      const auto wider = shape.empty() ? std::nullopt : WiderExtent(shape.back());
      if (!wider) continue;
      for (int member : ChainFrom(static_cast<int>(n))) Widen(graph_.nodes[member], *wider);
    }
  }

 private:
  /// The anchor and the elementwise nodes that will be fused with it; nothing if they cannot all
  /// be widened, or if their result is seen as a whole: as an output, under another shape, or as
  /// part of a concatenation.
  std::vector<int> ChainFrom(int anchor) const {
    std::vector<int> chain = {anchor};
    if (!MayWiden(graph_.nodes[anchor], -1)) return {};
    for (;;) {
      const ValueId value = graph_.nodes[chain.back()].output();
      const std::vector<int>& readers = consumers_[value];
      const auto views = [&](int reader) {
        return graph_.nodes[reader].IsAlias() || graph_.nodes[reader].kind == NodeKind::kCall;
      };
      if (is_output_[value] || std::any_of(readers.begin(), readers.end(), views)) return {};
      const Node* reader = readers.size() == 1 ? &graph_.nodes[readers[0]] : nullptr;
      if (!reader || reader->kind != NodeKind::kMap || !ReadsInPlace(graph_, *reader, value)) {
        return chain;
      }
      if (!MayWiden(*reader, value)) return {};
      chain.push_back(readers[0]);
    }
  }

  /// Whether the channel only chooses elements of constants and of the value `before`.
  bool MayWiden(const Node& node, ValueId before) const {
    const int channel = ChannelIter(node);
    const tensor::Expr rest = RewriteLoads(
        node.stage.value, [&](const tensor::Expr& load) -> std::optional<tensor::Expr> {
          const bool known =
              load->index == before || graph_.values[load->index].constant != nullptr;
          const bool bare = std::all_of(
              load->operands.begin(), load->operands.end(), [&](const tensor::Expr& index) {
                return IsIter(index, channel) || !MentionsIter(index, channel);
              });
          return known && bare ? std::optional(tensor::Literal(1, load->dtype)) : std::nullopt;
        });
    return !MentionsIter(rest, channel);
  }

  void Widen(Node& node, int64_t wider) {
    const int channel = ChannelIter(node);
    node.stage.value = RewriteLoads(node.stage.value, [&](const tensor::Expr& load) {
      const ValueId padded = Padded(*load, channel, wider);
      return std::optional(tensor::Load(padded, load->dtype, load->operands));
    });
    node.stage.iters[channel].extent = wider;
    graph_.values[node.output()].shape.back() = wider;
  }

  /// A constant with room for more channels; other values get it where they are computed.
  ValueId Padded(const tensor::ExprNode& load, int channel, int64_t wider) {
    const Value& value = graph_.values[load.index];
    std::vector<int64_t> shape = value.shape;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (IsIter(load.operands[d], channel)) shape[d] = wider;
    }
    if (!value.constant || shape == value.shape) return load.index;
    const auto [known, is_new] = padded_.try_emplace(std::make_pair(load.index, shape),
                                                     static_cast<ValueId>(graph_.values.size()));
    if (is_new) {
      auto data = std::make_shared<const tensor::HostTensor>(PadWithZeros(*value.constant, shape));
      graph_.values.push_back({value.name, value.dtype, shape, std::move(data)});
    }
    return known->second;
  }

  Graph& graph_;
  const std::vector<std::vector<int>> consumers_;
  const std::vector<bool> is_output_;
  std::map<std::pair<ValueId, std::vector<int64_t>>, ValueId> padded_;
};

}  // namespace

void WidenChannels(Graph& graph) {
  ChannelWidener(graph).Run();
  RemoveDeadNodes(graph);
}

}  // namespace bayloom::graph
