// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Slice and Split, also by bounds that are known when the network runs.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "bayloom/graph/operators/helpers.h"

namespace bayloom::graph {
namespace {

/// One axis of a slice: element i is taken from start + i * step.
struct Cut {
  int64_t start = 0, step = 1, count = 0;
};

Cut MakeCut(OperatorContext& context, int64_t start, int64_t end, int64_t step, int64_t extent) {
  if (step == 0) context.Refuse("a step of 0");
  step = std::max(step, -std::numeric_limits<int64_t>::max());  // so that -step is a number
  const bool forward = step > 0;
  // Backwards, an end may be before the first element, a start may not.
  const auto clamp = [&](int64_t at, int64_t least) {
    if (at < 0) at += extent;
    return forward ? std::clamp<int64_t>(at, 0, extent) : std::max(least, std::min(at, extent - 1));
  };
  Cut cut{clamp(start, 0), step, 0};
  const int64_t last = clamp(end, -1), reach = forward ? last - cut.start : cut.start - last;
  const int64_t stride = forward ? step : -step;
  cut.count = reach <= 0 ? 0 : (reach - 1) / stride + 1;
  return cut;
}

/// Of a slice whose bounds are known when the network runs: where an axis starts, the step, and how
/// many elements there are.
struct FoundCut {
  tensor::Expr start = 0, step = 1, count;
};

/// As MakeCut. Steps of 0 select nothing.
FoundCut MakeFoundCut(const tensor::Expr& start, const tensor::Expr& end, const tensor::Expr& step,
                      int64_t extent) {
  const tensor::Expr zero = 0, one = 1, length = extent;
  const tensor::Expr is_forward = zero < step;
  const auto clamp = [&](const tensor::Expr& given, int64_t least) {
    const tensor::Expr at = tensor::Select(given < zero, given + length, given);
    const tensor::Expr forward = tensor::Max(tensor::Min(at, length), zero);
    const tensor::Expr backward = tensor::Max(tensor::Min(at, length - one), tensor::Expr(least));
    return tensor::Select(is_forward, forward, backward);
  };
  FoundCut cut{clamp(start, 0), step, {}};
  const tensor::Expr last = clamp(end, -1);
  const tensor::Expr reach = tensor::Select(is_forward, last - cut.start, cut.start - last);
  const tensor::Expr stride = tensor::Max(tensor::Select(is_forward, step, zero - step), one);
  cut.count = tensor::Select(reach <= zero, zero,
                             tensor::FloorDiv(tensor::Max(reach, one) - one, stride) + one);
  cut.count = tensor::Select(tensor::Equal(step, zero), zero, cut.count);
  return cut;
}

void FoundSlice(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const Exprs starts = ElementsOf(context, 1), ends = ElementsOf(context, 2);
  Exprs axes, steps(starts.size(), tensor::Expr(1));
  for (size_t k = 0; k < starts.size(); ++k) axes.emplace_back(static_cast<int64_t>(k));
  if (context.HasInput(3)) axes = ElementsOf(context, 3);
  if (context.HasInput(4)) steps = ElementsOf(context, 4);
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size()) {
    context.Refuse("starts, ends, axes and steps are of different lengths");
  }
  std::vector<int64_t> shape = x.shape();
  std::vector<FoundCut> cuts(shape.size());
  for (int d = 0; d < Rank(x); ++d) {
    const int64_t extent = x.shape()[static_cast<size_t>(d)];
    tensor::Expr start = 0, end = extent, step = 1;
    bool is_cut = false;
    for (size_t k = 0; k < axes.size(); ++k) {
      tensor::Expr is_own = tensor::Equal(axes[k], tensor::Expr(d)) ||
                            tensor::Equal(axes[k], tensor::Expr(d - Rank(x)));
      if (axes[k]->op == tensor::ExprOp::kInt) {
        if (context.CheckAxis(axes[k]->int_value, Rank(x)) != d) continue;
        is_own = tensor::BoolLiteral(true);
      }
      is_cut = true;
      const auto choose = [&](const tensor::Expr& own, const tensor::Expr& other) {
        return axes[k]->op == tensor::ExprOp::kInt ? own : tensor::Select(is_own, own, other);
      };
      start = choose(starts[k], start);
      end = choose(ends[k], end);
      step = choose(steps[k], step);
    }
    if (!is_cut) continue;
    cuts[d] = MakeFoundCut(start, end, step, extent);
    const tensor::Tensor count =
        context.builder().Map("length", {}, [&](const Exprs&) { return cuts[d].count; });
    shape[d] = context.FindLength(count, 0, d, extent);
  }
  context.SetOutput(0, context.builder().Map("slice", shape, [&](const Exprs& place) {
    Exprs index = place;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (!cuts[d].count.defined()) continue;
      index[d] = ClampedIndex(place[d] * cuts[d].step + cuts[d].start, x.shape()[d]);
    }
    return x.At(index);
  }));
}

/// Bounds are attributes before operator set 10 and inputs from then on.
void Slice(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const bool inputs = context.opset() >= 10;
  for (int input = 1; inputs && input <= 4; ++input) {
    if (context.HasInput(input) && !context.ConstantInput(input)) return FoundSlice(context);
  }
  const auto list = [&](const char* name, int input) {
    if (!inputs) return context.Ints(name);
    return context.HasInput(input) ? context.IntsInput(input) : std::vector<int64_t>{};
  };
  const std::vector<int64_t> starts = list("starts", 1), ends = list("ends", 2);
  std::vector<int64_t> axes = list("axes", 3);
  std::vector<int64_t> steps = inputs ? list("steps", 4) : std::vector<int64_t>{};
  if (axes.empty()) {
    axes.resize(starts.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (steps.empty()) steps.assign(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size()) {
    context.Refuse("starts, ends, axes and steps are of different lengths");
  }
  context.CheckAxes(axes, Rank(x));
  std::vector<int64_t> shape = x.shape();
  std::vector<Cut> cuts(Rank(x));
  for (size_t k = 0; k < axes.size(); ++k) {
    const int axis = context.CheckAxis(axes[k], Rank(x));
    cuts[axis] = MakeCut(context, starts[k], ends[k], steps[k], x.shape()[axis]);
    shape[axis] = cuts[axis].count;
  }
  const bool takes_all = shape == x.shape() &&
                         std::all_of(steps.begin(), steps.end(), [](int64_t s) { return s > 0; });
  const bool is_optional = context.builder().IsOptional(0, !takes_all);
  if (takes_all && !is_optional) return context.SetOutput(0, x);
  context.SetOutput(0, context.builder().Map("slice", shape, [&](const Exprs& place) {
    Exprs index;
    for (int d = 0; d < Rank(x); ++d) {
      index.push_back(place[d] * tensor::Expr(cuts[d].step) + tensor::Expr(cuts[d].start));
    }
    return x.At(index);
  }));
}

/// The lengths of the parts: an input (from operator set 13), an attribute, or all equal.
std::vector<int64_t> SplitLengths(OperatorContext& context, int64_t extent) {
  std::vector<int64_t> lengths = context.HasInput(1) ? context.IntsInput(1) : context.Ints("split");
  const int64_t parts = context.output_count();
  if (const int64_t wanted = context.Int("num_outputs", parts); wanted != parts) {
    context.RefuseAttribute("num_outputs", fmt::format("{}", wanted),
                            fmt::format("the node has {} outputs", parts));
  }
  if (lengths.empty() && parts > 0) {
    const int64_t each = (extent + parts - 1) / parts;
    for (int64_t p = 0; p < parts; ++p) {
      lengths.push_back(std::clamp<int64_t>(extent - p * each, 0, each));
    }
  }
  int64_t sum = 0;
  for (int64_t length : lengths) sum += std::clamp<int64_t>(length, 0, extent + 1);
  const bool negative =
      std::any_of(lengths.begin(), lengths.end(), [](int64_t l) { return l < 0; });
  if (static_cast<int64_t>(lengths.size()) != parts || sum != extent || negative) {
    context.Refuse(fmt::format("the parts do not add up to the extent of {}", extent));
  }
  return lengths;
}

/// Into parts whose lengths are known when the network runs.
void FoundSplit(OperatorContext& context, const tensor::Tensor& x, int axis) {
  const Exprs lengths = ElementsOf(context, 1);
  if (std::ssize(lengths) != context.output_count()) {
    context.Refuse(fmt::format("there are {} lengths of parts", lengths.size()));
  }
  const int64_t extent = x.shape()[axis];
  tensor::Expr start = 0;
  for (int part = 0; part < context.output_count(); ++part) {
    const tensor::Tensor count =
        context.builder().Map("length", {}, [&](const Exprs&) { return lengths[part]; });
    std::vector<int64_t> shape = x.shape();
    shape[axis] = context.FindLength(count, part, axis, extent);
    context.SetOutput(part, context.builder().Map("split", shape, [&](const Exprs& place) {
      Exprs index = place;
      index[axis] = ClampedIndex(index[axis] + start, extent);
      return x.At(index);
    }));
    start = start + lengths[part];
  }
}

void Split(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const int axis = context.Axis("axis", 0, Rank(x));
  if (context.HasInput(1) && !context.ConstantInput(1)) return FoundSplit(context, x, axis);
  int64_t start = 0, part = 0;
  for (int64_t length : SplitLengths(context, x.shape()[axis])) {
    std::vector<int64_t> shape = x.shape();
    shape[axis] = length;
    const tensor::Tensor result = context.builder().Map("split", shape, [&](const Exprs& place) {
      Exprs index = place;
      index[axis] = index[axis] + tensor::Expr(start);
      return x.At(index);
    });
    context.SetOutput(static_cast<int>(part++), result);
    start += length;
  }
}

}  // namespace

std::span<const Operator> SlicingOperators() {
  static const Operator operators[] = {
      {"Slice", Slice},
      {"Split", Split},
  };
  return operators;
}

}  // namespace bayloom::graph
