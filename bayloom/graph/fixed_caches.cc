// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/fixed_caches.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "bayloom/graph/decoder/cache_update.h"
#include "bayloom/graph/decoder/sliding_window.h"
#include "bayloom/graph/decoder/tensor_lengths.h"
#include "bayloom/graph/open/size_table.h"
#include "bayloom/graph/passes/rewriting.h"
#include "bayloom/tensor/open_axis.h"

namespace bayloom::graph {
namespace {

using tensor::Expr;
using tensor::ExprOp;

/// Why caches cannot grow; empty: there are none.
struct Refusal {
  std::string reason;
};

class CacheGrower {
 public:
  explicit CacheGrower(const Graph& graph) : before_(graph), graph_(graph) {}

  Graph Run() {
    Result<StepInputs> inputs = FindStepInputs(before_, std::nullopt, std::nullopt);
    if (!inputs) throw Refusal{};
    inputs_ = *std::move(inputs);
    FindUpdates();
    Open();
    for (const CacheUpdate& update : updates_) Replace(update);
    FindUsed();
    for (Node& node : graph_.nodes) {
      if (used_[node.output()]) BoundRows(node);
    }
    for (const GraphOutput& output : graph_.outputs) {
      if (rows_[output.value] >= 0 && !IsPresent(output.value)) {
        throw Refusal{fmt::format("output {} has something for each row of a cache",
                                  Quoted(before_, output.value))};
      }
    }
    graph_.points = TypicalLengths(graph_.symbols);
    graph_.fixed_caches.clear();
    RemoveDeadNodes(graph_);
    graph_.window = FindWindow(graph_);
    return std::move(graph_);
  }

 private:
  tensor::SizeRange Counts() const { return inputs_.taken.Range(before_.symbols); }

  bool IsPresent(ValueId value) const {
    return std::ranges::count(updates_, value, &CacheUpdate::present) > 0;
  }

  /// Steps by which caches of so many rows are examined.
  std::vector<SampleStep> StepsFor(int64_t rows) const {
    const auto [fewest, most] = Counts();
    std::set<std::pair<int64_t, int64_t>> steps;
    for (const int64_t count : {fewest, most}) {
      for (const int64_t past : {int64_t{0}, int64_t{1}, (rows - most) / 2, rows - most - 1}) {
        if (past >= 0 && past + count < rows) steps.emplace(past, count);
      }
    }
    std::vector<SampleStep> samples;
    for (const auto& [past, count] : steps) {
      samples.push_back({past, count, StepEvaluator(before_, inputs_, past, count, past)});
    }
    return samples;
  }

  void FindUpdates() {
    for (const GraphOutput& output : before_.outputs) {
      const Value& value = before_.values[output.value];
      for (int axis = 1; axis + 1 < std::ssize(value.shape) && !IsOpen(value); ++axis) {
        const int64_t rows = value.shape[static_cast<size_t>(axis)];
        if (rows <= Counts().largest || !tensor::IsFloat(value.dtype)) continue;
        std::vector<SampleStep> steps = StepsFor(rows);
        auto update = FindCacheUpdate(before_, output.value, axis, steps);
        if (!update) continue;
        if (!updates_.empty() && rows != capacity_) {
          throw Refusal{fmt::format("{} has another number of rows than {}",
                                    Quoted(before_, output.value),
                                    Quoted(before_, updates_[0].present))};
        }
        capacity_ = rows;
        updates_.push_back(*std::move(update));
        break;
      }
    }
    if (updates_.empty()) throw Refusal{};
    samples_ = StepsFor(capacity_);
  }

  /// Makes the length of the past an open dimension.
  void Open() {
    std::string name = "past";
    while (std::ranges::count(graph_.symbols, name, &Symbol::name) > 0) name += "_";
    graph_.symbols.push_back({name, 0, capacity_ - Counts().largest});
    const Length past = Length::Of(static_cast<int>(graph_.symbols.size()) - 1);
    past_ = sizes_.Of(past);
    all_ = sizes_.Of(past + inputs_.taken);
    rows_.assign(graph_.values.size(), -1);
  }

  void SetRows(ValueId id, int axis, ValueId size) {
    Value& value = graph_.values[id];
    value.bounds.assign(value.shape.size(), -1);
    value.bounds[static_cast<size_t>(axis)] = size;
    rows_[id] = axis;
  }

  void Replace(const CacheUpdate& update) {
    SetRows(update.past, update.axis, past_);
    SetRows(update.present, update.axis, all_);
    const Value& value = graph_.values[update.present];
    const auto produces = [&](const Node& node) { return node.output() == update.present; };
    Node& node = *std::ranges::find_if(graph_.nodes, produces);
    std::vector<Expr> place;
    for (int d = 0; d < std::ssize(value.shape); ++d) place.push_back(tensor::IterVar(d));
    const Expr past = tensor::Load(update.past, value.dtype, place);
    const Expr row = place[static_cast<size_t>(update.axis)], length = tensor::SizeOf(past_);
    place[static_cast<size_t>(update.axis)] = row - length;
    std::vector<Expr> index;
    for (const Expr& e : update.added_index) index.push_back(tensor::SubstituteIters(e, place));
    const Expr added = tensor::Load(update.added, value.dtype, std::move(index));
    node.op = "cache";
    node.kind = NodeKind::kMap;
    node.source = -1;
    node.stage.iters = SpatialIters(value.shape);
    node.stage.iters[static_cast<size_t>(update.axis)].bound = {all_};
    node.stage.reduction = tensor::Reduction::kNone;
    node.stage.value = tensor::Select(row < length, past, added);
  }

  /// What outputs depend on.
  void FindUsed() {
    used_.assign(graph_.values.size(), false);
    for (const GraphOutput& output : graph_.outputs) used_[output.value] = true;
    for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend(); ++node) {
      if (!used_[node->output()]) continue;
      for (const ValueId operand : OperandsOf(*node)) used_[operand] = true;
    }
  }

  /// What runs over the rows of a cache runs over those that there are.
  void BoundRows(Node& node) {
    if (IsPresent(node.output())) return;
    if (node.kind == NodeKind::kView) return BoundView(node);
    std::vector<bool> is_row(node.stage.iters.size());
    if (node.kind == NodeKind::kCall) {
      for (const ValueId operand : OperandsOf(node)) {
        if (rows_[operand] >= 0) RefuseReader(node);
      }
      return;
    }
    for (const Expr& load : LoadsOf(node.stage.value)) {
      if (rows_[load->index] < 0) continue;
      const Expr& index = load->operands[static_cast<size_t>(rows_[load->index])];
      if (index->op != ExprOp::kIter) RefuseReader(node);
      is_row[static_cast<size_t>(index->index)] = true;
    }
    const Expr value = node.stage.value;
    int dimension = 0;
    for (size_t i = 0; i < is_row.size(); ++i) {
      tensor::Iter& iter = node.stage.iters[i];
      const bool is_spatial = iter.kind == tensor::IterKind::kSpatial;
      if (is_row[i]) {
        if (iter.extent != capacity_) RefuseReader(node);
        if (is_spatial) {
          if (rows_[node.output()] >= 0) RefuseReader(node);
          rows_[node.output()] = dimension;
        } else {
          CheckHidden(node, value, i);
          node.stage.value = tensor::ReduceWithin(node.stage.reduction, node.stage.value,
                                                  static_cast<int>(i), tensor::SizeOf(all_));
        }
        iter.bound = {all_};
      }
      dimension += is_spatial ? 1 : 0;
    }
  }

  void BoundView(const Node& node) {
    const int from = rows_[node.source];
    if (from < 0) return;
    const std::vector<int64_t>&source = graph_.values[node.source].shape,
          &shown = graph_.values[node.output()].shape;
    for (const DimGroup& group : MatchShapes(source, shown)) {
      if (from < group.a_begin || from >= group.a_end) continue;
      const auto ones = [](const std::vector<int64_t>& shape, int begin, int end) {
        return std::count(shape.begin() + begin, shape.begin() + end, 1);
      };
      const bool is_alone =
          ones(source, group.a_begin, group.a_end) == group.a_end - group.a_begin - 1;
      const auto to =
          std::find(shown.begin() + group.b_begin, shown.begin() + group.b_end, capacity_);
      if (!is_alone || to == shown.begin() + group.b_end) RefuseReader(node);
      rows_[node.output()] = static_cast<int>(to - shown.begin());
    }
  }

  [[noreturn]] void RefuseReader(const Node& node) const {
    throw Refusal{
        fmt::format("node '{}' reads a cache otherwise than row by row", node.stage.name)};
  }

  /// Refuses a reduction over rows where those behind the last token count.
  void CheckHidden(const Node& node, const Expr& value, size_t row) {
    for (SampleStep& step : samples_) {
      const int64_t end = step.past + step.count;
      for (const bool last : {false, true}) {
        for (const int64_t at : {end, (end + capacity_) / 2, capacity_ - 1}) {
          if (!IsNeutral(node.stage.reduction, ElementAt(step, node, value, row, at, last))) {
            throw Refusal{fmt::format(
                "node '{}' does not hide rows behind the last token, of a step of {} behind {}",
                node.stage.name, step.count, step.past)};
          }
        }
        const Known own = ElementAt(step, node, value, row, last ? end - 1 : step.past, last);
        if (node.stage.reduction == tensor::Reduction::kMax && own.kind == Known::Kind::kLowest) {
          throw Refusal{
              fmt::format("node '{}' hides the row of a token from itself", node.stage.name)};
        }
      }
    }
  }

  Known ElementAt(SampleStep& step, const Node& node, const Expr& value, size_t row, int64_t at,
                  bool last) const {
    std::vector<int64_t> place;
    for (const tensor::Iter& iter : node.stage.iters) {
      const bool is_open = iter.bound.is_open() && iter.bound.size != all_;
      const int64_t extent = is_open ? step.evaluator.ExtentOf(iter) : iter.extent;
      place.push_back(last ? extent - 1 : 0);
    }
    place[row] = at;
    return step.evaluator.Of(value, place);
  }

  static bool IsNeutral(tensor::Reduction reduction, const Known& known) {
    if (reduction == tensor::Reduction::kSum) return known.IsZero();
    return reduction == tensor::Reduction::kMax &&
           (known.kind == Known::Kind::kLowest ||
            (known.kind == Known::Kind::kNumber && known.real < -1e30));
  }

  const Graph& before_;
  Graph graph_;
  SizeTable sizes_{graph_};
  StepInputs inputs_;
  std::vector<CacheUpdate> updates_;
  std::vector<SampleStep> samples_;
  int64_t capacity_ = 0;
  ValueId past_ = -1, all_ = -1;  // sizes
  std::vector<int> rows_;         // by value: the dimension that is that of a cache's rows, or -1
  std::vector<bool> used_;        // by value
};

}  // namespace

Result<Graph> GrowCaches(const Graph& graph) {
  try {
    return CacheGrower(graph).Run();
  } catch (const Refusal& refusal) {
    return Error{refusal.reason};
  }
}

}  // namespace bayloom::graph
