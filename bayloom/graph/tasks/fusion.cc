// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/tasks/fusion.h"

#include <algorithm>
#include <map>
#include <queue>
#include <set>

#include "bayloom/graph/passes/rewriting.h"
#include "bayloom/graph/passes/sampled_channels.h"
#include "bayloom/sketch/analysis.h"

namespace bayloom::graph {
namespace {

class Fuser {
 public:
  explicit Fuser(const Graph& graph)
      : graph_(graph),
        producers_(graph.Producers()),
        consumers_(graph.Consumers()),
        is_output_(graph.IsOutput()),
        group_of_(graph.nodes.size(), -1) {
    for (const Node& node : graph.nodes) operands_.push_back(OperandsOf(node));
  }

  std::vector<FusionGroup> Run() {
    FuseMarked();
    // Where two anchors meet, what follows goes to the one with more work.
    std::vector<int> anchors;
    for (int n = 0; n < static_cast<int>(graph_.nodes.size()); ++n) {
      if (IsAnchor(graph_.nodes[n])) anchors.push_back(n);
    }
    std::stable_sort(anchors.begin(), anchors.end(), [&](int a, int b) {
      return PointsOf(graph_.nodes[a]) > PointsOf(graph_.nodes[b]);
    });
    for (int anchor : anchors) {
      if (group_of_[anchor] < 0) FuseAnchor(anchor);
    }
    ForEachUngrouped([&](int n) {
      if (graph_.nodes[n].kind == NodeKind::kCall) Add(n, static_cast<int>(groups_.size()));
    });
    ForEachUngrouped([&](int n) {
      if (graph_.nodes[n].kind == NodeKind::kReduce) FuseRows(n);
    });
    ForEachUngrouped([&](int n) {
      if (graph_.nodes[n].kind == NodeKind::kMap) FuseChain(n);
    });
    return InOrder();
  }

 private:
  template <typename Action>
  void ForEachUngrouped(const Action& action) {
    for (int n = 0; n < static_cast<int>(graph_.nodes.size()); ++n) {
      if (group_of_[n] < 0) action(n);
    }
  }

  const Node& NodeAt(int n) const { return graph_.nodes[n]; }

  void Add(int node, int group) {
    group_of_[node] = group;
    if (group == static_cast<int>(groups_.size())) groups_.emplace_back();
    groups_[group].nodes.push_back(node);
  }

  /// The one node that reads the node's value, if it has no other reader and is in no group yet.
  int OnlyReader(int n) const {
    const ValueId value = NodeAt(n).output();
    if (is_output_[value] || consumers_[value].size() != 1) return -1;
    const int reader = consumers_[value][0];
    return group_of_[reader] < 0 ? reader : -1;
  }

  /// What passes have put together.
  void FuseMarked() {
    std::map<int, int> groups;
    for (int n = 0; n < static_cast<int>(graph_.nodes.size()); ++n) {
      if (NodeAt(n).group < 0) continue;
      Add(n, groups.try_emplace(NodeAt(n).group, static_cast<int>(groups_.size())).first->second);
    }
  }

  void FuseAnchor(int anchor) {
    const int group = static_cast<int>(groups_.size());
    Add(anchor, group);
    for (ValueId operand : operands_[anchor]) {
      const int producer = producers_[operand];
      if (producer < 0 || !OnlyReaderIs(producer, anchor)) continue;
      if (IsPadding(producer) || IsLateQuantization(producer)) Add(producer, group);
    }
    for (int last = anchor, next; (next = OnlyReader(last)) >= 0; last = next) {
      const Node& reader = NodeAt(next);
      if (reader.kind != NodeKind::kMap || !ReadsElementwise(graph_, reader, NodeAt(last).output()))
        break;
      Add(next, group);
    }
  }

  bool OnlyReaderIs(int n, int reader) const {
    const ValueId value = NodeAt(n).output();
    return group_of_[n] < 0 && !is_output_[value] && consumers_[value] == std::vector<int>{reader};
  }

  /// Guarded copies: padding, and zeros between elements.
  bool IsPadding(int n) const {
    const Node& node = NodeAt(n);
    return node.kind == NodeKind::kMap && sketch::ContainsSelect(node.stage.value) &&
           !sketch::IsExpensive(node.stage.value) && LoadsOf(node.stage.value).size() == 1;
  }

  ValueId BehindViews(ValueId value) const {
    while (producers_[value] >= 0 && NodeAt(producers_[value]).kind == NodeKind::kView) {
      value = NodeAt(producers_[value]).source;
    }
    return value;
  }

  /// Floats to bytes, where what computes the floats cannot do it: others read them, too, such as
  /// those that find the scale. Then the product can, tile by tile.
  bool IsLateQuantization(int n) const {
    const Node& node = NodeAt(n);
    const tensor::DType dtype = graph_.values[node.output()].dtype;
    if (node.kind != NodeKind::kMap || !tensor::IsInteger(dtype) || tensor::ByteSize(dtype) != 1) {
      return false;
    }
    return std::ranges::all_of(operands_[n], [&](ValueId operand) {
      const Value& value = graph_.values[operand];
      if (value.constant || value.ElementCount() == 1) return true;
      const ValueId shown = BehindViews(operand);
      return tensor::IsFloat(value.dtype) &&
             (producers_[shown] < 0 || consumers_[shown].size() > 1);
    });
  }

  static int64_t Rows(const Node& node) {
    int64_t rows = 1;
    for (int64_t extent : ShapeOf(node)) rows *= extent;
    return rows;
  }

  /// Rows of a tensor and the number of their elements in all. Of what a reduction leaves out
  /// (SplitReductions) the number is not known: it is less than `slack`.
  struct RowsOf {
    int64_t rows, elements, slack;
  };

  /// The one reader of a reduction, if that combines its results along a further axis; -1 else.
  int CombinerOf(int n) const {
    const std::vector<int>& readers = consumers_[NodeAt(n).output()];
    if (NodeAt(n).kind != NodeKind::kReduce || readers.size() != 1) return -1;
    const Node& reader = NodeAt(readers[0]);
    const bool combines = reader.kind == NodeKind::kReduce && PointsOf(reader) == Rows(NodeAt(n)) &&
                          Rows(reader) < PointsOf(reader);
    return combines ? readers[0] : -1;
  }

  RowsOf RowsFrom(int first) const {
    const Node& node = NodeAt(first);
    const int combiner = CombinerOf(first);
    if (combiner < 0) return {Rows(node), PointsOf(node), 1};
    return {Rows(NodeAt(combiner)), PointsOf(node), Rows(node)};
  }

  /// A reduction and what follows in the same rows, kMaxReductions together. Of the nodes that
  /// could be taken, as many are taken as leave a single result.
  void FuseRows(int first) {
    // Softmax and normalization have two or three; each more doubles the ways to schedule them.
    constexpr int kMaxReductions = 6;
    int reductions = CombinerOf(first) < 0 ? 1 : 0;
    const RowsOf rows = RowsFrom(first);
    std::vector<int> taken = {first};
    std::set<int> inside = {first};
    std::vector<bool> depends(graph_.nodes.size(), false);  // on what is inside
    depends[first] = true;
    const int count = static_cast<int>(graph_.nodes.size());
    for (int n = first + 1; n < count; ++n) {
      bool reads_inside = false, reads_outside = false;
      for (ValueId operand : operands_[n]) {
        const int producer = producers_[operand];
        if (producer < 0 || !depends[producer]) continue;
        depends[n] = true;
        const bool fits =
            inside.contains(producer) && KeepsChannelsLast(NodeAt(producer), NodeAt(n));
        (fits ? reads_inside : reads_outside) = true;
      }
      if (!reads_inside || reads_outside || group_of_[n] >= 0) continue;
      if (!FitsRows(n, rows, inside)) continue;
      const bool whole = NodeAt(n).kind == NodeKind::kReduce && CombinerOf(n) < 0;
      if (whole && ++reductions > kMaxReductions) break;
      taken.push_back(n);
      inside.insert(n);
    }
    while (taken.size() > 1 && !HasOneResult(taken)) taken.pop_back();
    const int group = static_cast<int>(groups_.size());
    for (int n : taken) Add(n, group);
  }

  bool FitsRows(int n, const RowsOf& all, const std::set<int>& inside) const {
    const Node& node = NodeAt(n);
    const auto is_all = [&](int64_t elements) {
      return all.elements <= elements && elements < all.elements + all.slack;
    };
    if (node.kind == NodeKind::kMap) return Rows(node) == all.rows || is_all(Rows(node));
    if (node.kind != NodeKind::kReduce) return false;
    if (const int combiner = CombinerOf(n); combiner >= 0) {
      return Rows(NodeAt(combiner)) == all.rows && is_all(PointsOf(node));
    }
    const bool combines = std::any_of(operands_[n].begin(), operands_[n].end(), [&](ValueId v) {
      return inside.contains(producers_[v]) && CombinerOf(producers_[v]) == n;
    });
    return Rows(node) == all.rows && (combines || is_all(PointsOf(node)));
  }

  bool HasOneResult(const std::vector<int>& nodes) const {
    for (int n : nodes) {
      if (n == nodes.back()) continue;
      const ValueId value = NodeAt(n).output();
      if (is_output_[value]) return false;
      for (int reader : consumers_[value]) {
        if (std::find(nodes.begin(), nodes.end(), reader) == nodes.end()) return false;
      }
    }
    return true;
  }

  void FuseChain(int first) {
    const int group = static_cast<int>(groups_.size());
    Add(first, group);
    // Unrolled loops are as long as their data; parts of them are equal tasks.
    constexpr size_t kMaxChain = 16;
    for (int last = first, next; (next = OnlyReader(last)) >= 0; last = next) {
      if (NodeAt(next).kind != NodeKind::kMap || IsCostlyInJoin(NodeAt(last), NodeAt(next)) ||
          IsJoinReadAtComputedPlaces(NodeAt(last), NodeAt(next)) ||
          !KeepsChannelsLast(NodeAt(last), NodeAt(next)) ||
          groups_[group].nodes.size() == kMaxChain) {
        break;
      }
      Add(next, group);
    }
  }

  /// Groups in an order in which every group runs after those it reads from.
  std::vector<FusionGroup> InOrder() {
    const int count = static_cast<int>(groups_.size());
    std::vector<std::set<int>> readers(count);
    std::vector<int> missing(count, 0);
    for (int g = 0; g < count; ++g) {
      std::sort(groups_[g].nodes.begin(), groups_[g].nodes.end());
      const auto comes_after = [&](ValueId value) {
        for (int source : SourceGroups(value)) {
          if (source != g && readers[source].insert(g).second) ++missing[g];
        }
      };
      for (int n : groups_[g].nodes) {
        std::ranges::for_each(operands_[n], comes_after);
        std::ranges::for_each(CountsBefore(graph_, NodeAt(n)), comes_after);
      }
    }
    // Of those that can run, the one whose first node comes first in the graph.
    using Entry = std::pair<int, int>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
    for (int g = 0; g < count; ++g) {
      if (missing[g] == 0) ready.emplace(groups_[g].nodes[0], g);
    }
    std::vector<FusionGroup> ordered;
    while (!ready.empty()) {
      const int g = ready.top().second;
      ready.pop();
      for (int reader : readers[g]) {
        if (--missing[reader] == 0) ready.emplace(groups_[reader].nodes[0], reader);
      }
      ordered.push_back(groups_[g]);
    }
    return ordered;
  }

  /// The groups that compute a value, seen through views and joins; none for inputs and constants.
  std::set<int> SourceGroups(ValueId value) const {
    const int producer = producers_[value];
    if (producer < 0) return {};
    if (!NodeAt(producer).IsAlias()) return {group_of_[producer]};
    std::set<int> groups;
    for (ValueId operand : operands_[producer]) groups.merge(SourceGroups(operand));
    return groups;
  }

  const Graph& graph_;
  const std::vector<int> producers_;
  const std::vector<std::vector<int>> consumers_;
  const std::vector<bool> is_output_;
  std::vector<std::vector<ValueId>> operands_;  // per node
  std::vector<int> group_of_;
  std::vector<FusionGroup> groups_;
};

}  // namespace

std::vector<FusionGroup> Fuse(const Graph& graph) { return Fuser(graph).Run(); }

}  // namespace bayloom::graph
