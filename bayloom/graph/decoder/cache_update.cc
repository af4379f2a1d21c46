// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/decoder/cache_update.h"

#include <algorithm>

#include "bayloom/graph/passes/rewriting.h"
#include "bayloom/tensor/library_call.h"

namespace bayloom::graph {
namespace {

using tensor::Expr;
using tensor::ExprOp;

/// An element of a value.
struct Element {
  ValueId value = -1;
  std::vector<int64_t> index;
  bool operator==(const Element&) const = default;
};

/// The element of another value that an element is a copy of, in one step.
class Origins {
 public:
  Origins(const Graph& graph, StepEvaluator& evaluator) : graph_(graph), evaluator_(evaluator) {}

  std::optional<Element> Of(const Element& element) {
    const int n = evaluator_.producers()[element.value];
    if (n < 0) return std::nullopt;
    const Node& node = graph_.nodes[n];
    const int64_t flat = FlatIndex(graph_.values[element.value].shape, element.index);
    if (node.kind == NodeKind::kView) return At(node.source, flat);
    if (node.kind == NodeKind::kCall) return OfScattered(node, element);
    const bool is_map = std::ranges::all_of(node.stage.iters, [](const tensor::Iter& iter) {
      return iter.kind == tensor::IterKind::kSpatial;
    });
    return is_map ? OfExpression(node.stage.value, element.index) : std::nullopt;
  }

 private:
  Element At(ValueId value, int64_t flat) const {
    return {value, IndexAt(graph_.values[value].shape, flat)};
  }

  std::optional<Element> OfExpression(const Expr& e, const std::vector<int64_t>& iters) {
    if (e->op == ExprOp::kSelect) {
      const Known condition = evaluator_.Of(e->operands[0], iters);
      if (condition.kind != Known::Kind::kNumber) return std::nullopt;
      return OfExpression(e->operands[condition.integer != 0 ? 1 : 2], iters);
    }
    if (e->op != ExprOp::kLoad) return std::nullopt;
    auto index = evaluator_.IndicesOf(e, iters);
    if (!index) return std::nullopt;
    return Element{e->index, *std::move(index)};
  }

  std::optional<int64_t> Place(ValueId places, int64_t flat, int64_t extent) {
    const Known known = evaluator_.At(places, IndexAt(graph_.values[places].shape, flat));
    if (known.kind != Known::Kind::kNumber) return std::nullopt;
    return known.integer < 0 ? known.integer + extent : known.integer;
  }

  std::optional<Element> OfScattered(const Node& node, const Element& element) {
    const std::optional<tensor::LibraryCall> call = tensor::AsCall(node.stage.value);
    const bool is_of_rows = call && call->kernel == tensor::LibraryKernel::kScatterRows;
    const bool scatters =
        is_of_rows || (call && call->kernel == tensor::LibraryKernel::kScatterElements);
    const bool replaces =
        scatters && call->numbers[0] == static_cast<int64_t>(tensor::Reduction::kNone);
    if (!replaces) return std::nullopt;
    const int64_t flat = FlatIndex(graph_.values[element.value].shape, element.index);
    return is_of_rows ? OfRows(*call, flat) : OfElements(*call, flat);
  }

  // The first update of a place stands for all: tokens have places of their own, and what is beyond
  // an open dimension is the last update again.
  std::optional<Element> OfRows(const tensor::LibraryCall& call, int64_t flat) {
    const int64_t tuples = call.numbers[1], depth = call.numbers[2], row = call.numbers[3];
    for (int64_t tuple = 0; tuple < tuples; ++tuple) {
      int64_t place = 0;
      for (int64_t d = 0; d < depth; ++d) {
        const int64_t extent = call.numbers[4 + d];
        const auto at = Place(call.operands[1], tuple * depth + d, extent);
        if (!at) return std::nullopt;
        place = place * extent + *at;
      }
      if (place == flat / row) return At(call.operands[2], tuple * row + flat % row);
    }
    return At(call.operands[0], flat);
  }

  std::optional<Element> OfElements(const tensor::LibraryCall& call, int64_t flat) {
    const int64_t axis = call.numbers[1], rank = call.numbers[2];
    const auto dims = call.numbers.begin() + 3;
    const std::vector<int64_t> shape(dims, dims + rank), updates(dims + rank, dims + 2 * rank);
    std::vector<int64_t> index = IndexAt(shape, flat);
    const int64_t wanted = index[axis];
    for (int64_t u = 0; u < updates[axis]; ++u) {
      index[axis] = u;
      bool is_inside = true;
      for (int64_t d = 0; d < rank; ++d) is_inside = is_inside && index[d] < updates[d];
      if (!is_inside) break;
      const int64_t place = FlatIndex(updates, index);
      const auto at = Place(call.operands[1], place, shape[axis]);
      if (!at) return std::nullopt;
      if (*at == wanted) return At(call.operands[2], place);
    }
    return At(call.operands[0], flat);
  }

  const Graph& graph_;
  StepEvaluator& evaluator_;
};

std::vector<bool> DependsOn(const Graph& graph, ValueId source) {
  std::vector<bool> depends(graph.values.size());
  depends[source] = true;
  for (const Node& node : graph.nodes) {
    for (const ValueId operand : OperandsOf(node)) {
      if (depends[operand]) depends[node.output()] = true;
    }
  }
  return depends;
}

class UpdateFinder {
 public:
  UpdateFinder(const Graph& graph, ValueId present, int axis, std::vector<SampleStep>& steps)
      : graph_(graph), shape_(graph.values[present].shape), steps_(steps) {
    update_.present = present;
    update_.axis = axis;
  }

  std::optional<CacheUpdate> Find() {
    if (!FindPast()) return std::nullopt;
    depends_ = DependsOn(graph_, update_.past);
    // Rows lie apart by what the step with most tokens says.
    SampleStep& longest = *std::ranges::max_element(steps_, {}, &SampleStep::count);
    if (!FindAdded(longest)) return std::nullopt;
    for (SampleStep& step : steps_) {
      if (!Holds(step)) return std::nullopt;
    }
    return std::move(update_);
  }

 private:
  Element Follow(SampleStep& step, const std::vector<int64_t>& index, bool until_added) {
    Origins origins(graph_, step.evaluator);
    Element element{update_.present, index};
    while (!until_added || depends_[element.value]) {
      const std::optional<Element> origin = origins.Of(element);
      if (!origin) break;
      element = *origin;
    }
    return element;
  }

  std::vector<int64_t> Coordinates(int64_t row, bool last) const {
    std::vector<int64_t> index(shape_.size());
    for (size_t d = 0; d < index.size() && last; ++d) index[d] = shape_[d] - 1;
    index[static_cast<size_t>(update_.axis)] = row;
    return index;
  }

  bool FindPast() {
    SampleStep& step = steps_.front();
    const std::vector<int64_t> index = Coordinates(step.past + step.count, false);
    const Element element = Follow(step, index, false);
    update_.past = element.value;
    const Value &past = graph_.values[update_.past], &present = graph_.values[update_.present];
    return std::ranges::count(graph_.inputs, update_.past) > 0 && past.shape == shape_ &&
           past.dtype == present.dtype && element.index == index && !IsOpen(past);
  }

  bool FindAdded(SampleStep& step) {
    const Element first = Follow(step, Coordinates(step.past, false), true);
    update_.added = first.value;
    if (depends_[first.value]) return false;
    for (const int64_t at : first.index) update_.added_index.emplace_back(at);
    for (size_t d = 0; d < shape_.size(); ++d) {
      const bool is_axis = static_cast<int>(d) == update_.axis;
      if ((is_axis ? step.count : shape_[d]) == 1) continue;
      std::vector<int64_t> next = Coordinates(step.past, false);
      ++next[d];
      const Element element = Follow(step, next, true);
      if (element.value != first.value) return false;
      for (size_t u = 0; u < first.index.size(); ++u) {
        update_.added_index[u] =
            update_.added_index[u] +
            tensor::IterVar(static_cast<int>(d)) * Expr(element.index[u] - first.index[u]);
      }
    }
    return true;
  }

  bool Holds(SampleStep& step) {
    const int64_t end = step.past + step.count, rows = shape_[static_cast<size_t>(update_.axis)];
    for (const bool last : {false, true}) {
      for (const int64_t row : {step.past, step.past + step.count / 2, end - 1}) {
        if (Follow(step, Coordinates(row, last), true) != AddedAt(step, row, last)) return false;
      }
      for (const int64_t row : {int64_t{0}, step.past - 1, end, rows - 1}) {
        const bool is_kept = row >= 0 && row < rows && (row < step.past || row >= end);
        const std::vector<int64_t> index = Coordinates(row, last);
        if (is_kept && Follow(step, index, false) != Element{update_.past, index}) return false;
      }
    }
    return true;
  }

  Element AddedAt(SampleStep& step, int64_t row, bool last) {
    Element element{update_.added, {}};
    for (const Expr& index : update_.added_index) {
      element.index.push_back(step.evaluator.Of(index, Coordinates(row - step.past, last)).integer);
    }
    return element;
  }

  const Graph& graph_;
  const std::vector<int64_t> shape_;
  std::vector<SampleStep>& steps_;
  CacheUpdate update_ = {-1, -1, 0, -1, {}};
  std::vector<bool> depends_;  // by value: on the past
};

}  // namespace

std::optional<CacheUpdate> FindCacheUpdate(const Graph& graph, ValueId present, int axis,
                                           std::vector<SampleStep>& steps) {
  return UpdateFinder(graph, present, axis, steps).Find();
}

}  // namespace bayloom::graph
