// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Operators that move elements about: slices, concatenations, permutations, padding.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>

#include "bayloom/graph/operators/helpers.h"
#include "bayloom/graph/operators/repeated.h"

namespace bayloom::graph {
namespace {

void Transpose(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  std::vector<int64_t> reversed(Rank(x));
  for (int d = 0; d < Rank(x); ++d) reversed[d] = Rank(x) - 1 - d;
  const std::vector<int64_t> permutation = context.Ints("perm", reversed);
  std::vector<int> axes(permutation.begin(), permutation.end());
  std::vector<int> sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  if (sorted != AllAxes(Rank(x))) {
    context.Refuse("attribute perm is not a permutation of the input's axes");
  }
  const tensor::Tensor permuted = Permute(context, x, axes);
  NotePermuted(context, x, axes, permuted);
  context.SetOutput(0, permuted);
}

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

/// The integers of a list, element by element.
Exprs ElementsOf(OperatorContext& context, int input) {
  const tensor::Tensor list = context.Input(input);
  if (Rank(list) != 1 || !tensor::IsInteger(list.dtype())) {
    context.Refuse(fmt::format("input {} has to be a list of integers", input));
  }
  Exprs elements;
  for (int64_t i = 0; i < list.shape()[0]; ++i) {
    elements.push_back(tensor::Cast(tensor::DType::kInt64, context.builder().ElementOf(list, {i})));
  }
  return elements;
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

void Concat(OperatorContext& context) {
  std::vector<tensor::Tensor> parts = context.Inputs();
  const tensor::Tensor first = context.Input(0);
  const int axis = context.Axis("axis", std::nullopt, Rank(first));
  std::vector<int64_t> shape = first.shape();
  shape[axis] = 0;
  for (const tensor::Tensor& part : parts) {
    std::vector<int64_t> expected = shape;
    if (Rank(part) == Rank(first)) expected[axis] = part.shape()[axis];
    if (part.shape() != expected || part.dtype() != first.dtype()) {
      context.Refuse(fmt::format("{} cannot be joined to {} along axis {}",
                                 ToString(part.dtype(), part.shape()),
                                 ToString(first.dtype(), first.shape()), axis));
    }
    shape[axis] += part.shape()[axis];
  }
  std::erase_if(parts, [&](const tensor::Tensor& part) { return part.shape()[axis] == 0; });
  if (parts.empty()) return context.SetOutput(0, first);
  context.SetOutput(0, Concatenate(context, parts, axis));
}

/// Where a reflected or clamped coordinate falls in [0, extent).
tensor::Expr MirroredIndex(const tensor::Expr& at, int64_t extent) {
  const tensor::Expr below = tensor::Select(at < tensor::Expr(0), -at, at);
  return tensor::Select(below < tensor::Expr(extent), below,
                        tensor::Expr(2 * (extent - 1)) - below);
}

tensor::Expr PadFill(OperatorContext& context, const tensor::Tensor& x) {
  if (context.opset() < 11) return tensor::Literal(context.Float("value", 0.0f), x.dtype());
  if (!context.HasInput(2)) return tensor::Literal(0, x.dtype());
  const tensor::Tensor fill = context.Input(2);
  if (CheckedElementCount(fill.shape()) != 1) context.Refuse("the fill value is not a scalar");
  if (const tensor::HostTensor* data = context.ConstantInput(2))
    return tensor::Literal(data->Get(0), x.dtype());
  return context.builder().View(fill, {}).At({});
}

/// The axes that `pads`, numbers before and after each, are for: all, or, from operator set 18 on,
/// those that an input lists.
std::vector<int64_t> PaddedAxes(OperatorContext& context, int rank, size_t pads) {
  std::vector<int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  if (context.HasInput(3)) axes = context.IntsInput(3);
  if (pads != 2 * axes.size()) context.Refuse("pads needs two numbers per axis");
  context.CheckAxes(axes, rank);
  return axes;
}

/// The numbers of elements before and after each axis.
std::pair<std::vector<int64_t>, std::vector<int64_t>> ReadPadding(OperatorContext& context,
                                                                  int rank) {
  const std::vector<int64_t> pads =
      context.opset() < 11 ? context.Ints("pads") : context.IntsInput(1);
  const std::vector<int64_t> axes = PaddedAxes(context, rank, pads.size());
  std::vector<int64_t> low(rank, 0), high(rank, 0);
  for (size_t k = 0; k < axes.size(); ++k) {
    const int axis = context.CheckAxis(axes[k], rank);
    low[axis] = pads[k];
    high[axis] = pads[k + axes.size()];
  }
  return {low, high};
}

/// Where an element outside [0, extent) is taken from.
tensor::Expr PaddedIndex(const std::string& mode, const tensor::Expr& at, int64_t extent) {
  if (mode == "reflect") return MirroredIndex(at, extent);
  return mode == "edge" ? ClampedIndex(at, extent) : tensor::FloorMod(at, tensor::Expr(extent));
}

/// Numbers of elements that are added; those below 0 are cropped, and take no part in the padding.
struct Borders {
  int64_t low, high;
};

/// Of an element of what is padded, its place in the dimension of this extent.
tensor::Expr PaddedPlace(const std::string& mode, const tensor::Expr& place, int64_t extent,
                         Borders borders) {
  const int64_t cropped = std::max<int64_t>(-borders.low, 0);
  const int64_t kept = extent - cropped + std::min<int64_t>(borders.high, 0);
  const tensor::Expr at = place - tensor::Expr(std::max<int64_t>(borders.low, 0));
  const bool inside = borders.low <= 0 && borders.high <= 0;
  return (inside ? at : PaddedIndex(mode, at, kept)) + tensor::Expr(cropped);
}

/// The same of a number.
int64_t PaddedColumn(const std::string& mode, int64_t at, int64_t extent) {
  if (mode == "edge") return std::clamp<int64_t>(at, 0, extent - 1);
  if (mode == "wrap") return (at % extent + extent) % extent;
  const int64_t below = std::abs(at);
  return below < extent ? below : 2 * (extent - 1) - below;
}

/// Pads the last dimension alone: what is kept, between its borders. Columns of narrow borders are
/// named one by one, so that a row is made of copies.
tensor::Tensor PadLast(OperatorContext& context, const std::string& mode, const tensor::Tensor& x,
                       Borders borders) {
  constexpr int64_t kNarrow = 4;
  if (borders.low == 0 && borders.high == 0) return x;
  const int64_t cropped = std::max<int64_t>(-borders.low, 0);
  const int64_t kept = x.shape().back() - cropped + std::min<int64_t>(borders.high, 0);
  std::vector<tensor::Tensor> parts;
  const auto add = [&](const char* name, int64_t columns,
                       const std::function<tensor::Expr(const tensor::Expr&)>& index) {
    std::vector<int64_t> shape = x.shape();
    shape.back() = columns;
    parts.push_back(context.builder().Map(name, shape, [&](Exprs place) {
      place.back() = index(place.back()) + tensor::Expr(cropped);
      return x.At(place);
    }));
  };
  const auto add_border = [&](const char* name, int64_t from, int64_t to) {
    const auto column = [&](int64_t at) {
      return [&, at](const tensor::Expr&) { return tensor::Expr(PaddedColumn(mode, at, kept)); };
    };
    if (from >= to) return;
    if (mode == "edge") return add(name, to - from, column(from));
    if (to - from > kNarrow) {
      return add(name, to - from, [&](const tensor::Expr& place) {
        return PaddedIndex(mode, place + tensor::Expr(from), kept);
      });
    }
    for (int64_t at = from; at < to; ++at) add(name, 1, column(at));
  };
  add_border("pad.low", -borders.low, 0);
  if (kept > 0) add("pad.kept", kept, [](const tensor::Expr& place) { return place; });
  add_border("pad.high", kept, kept + borders.high);
  return Concatenate(context, parts, Rank(x) - 1);
}

/// How an axis is padded by what is no number here.
struct OpenBorders {
  tensor::Expr low = 0;                  ///< elements before it
  bool has_low = true, has_high = true;  ///< whether there may be any before, and behind
};

tensor::Tensor PadBy(OperatorContext& context, const tensor::Tensor& x, const std::string& mode,
                     const std::vector<OpenBorders>& borders, const std::vector<int64_t>& shape) {
  const tensor::Expr fill = PadFill(context, x);
  return context.builder().Map("pad", shape, [&](const Exprs& place) {
    Exprs index;
    tensor::Expr inside = tensor::BoolLiteral(true);
    for (size_t d = 0; d < shape.size(); ++d) {
      const int64_t extent = x.shape()[d];
      const tensor::Expr at = place[d] - borders[d].low;
      if (!borders[d].has_low && !borders[d].has_high) {
        index.push_back(at);
      } else if (mode == "constant") {
        if (borders[d].has_low) inside = inside && tensor::Expr(0) <= at;
        if (borders[d].has_high) inside = inside && at < tensor::Expr(extent);
        index.push_back(ClampedIndex(at, extent));
      } else {
        index.push_back(ClampedIndex(PaddedIndex(mode, at, extent), extent));
      }
    }
    return mode == "constant" ? tensor::Select(inside, x.At(index), fill) : x.At(index);
  });
}

/// By numbers of elements that are known when the network runs.
void FoundPad(OperatorContext& context, const tensor::Tensor& x, const std::string& mode) {
  const Exprs pads = ElementsOf(context, 1);
  const std::vector<int64_t> axes = PaddedAxes(context, Rank(x), pads.size());
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap") {
    context.RefuseAttribute("mode", mode, "has to be constant, reflect, edge or wrap");
  }
  std::vector<int64_t> shape = x.shape();
  std::vector<OpenBorders> borders(shape.size());
  for (size_t k = 0; k < axes.size(); ++k) {
    const int d = context.CheckAxis(axes[k], Rank(x));
    borders[d].low = pads[k];
    const tensor::Tensor count = context.builder().Map("length", {}, [&](const Exprs&) {
      return tensor::Expr(x.shape()[d]) + pads[k] + pads[k + axes.size()];
    });
    shape[d] = context.FindLength(count, 0, d);
  }
  if (CheckedElementCount(x.shape()) == 0) context.Refuse("padding of no elements");
  context.SetOutput(0, PadBy(context, x, mode, borders, shape));
}

/// Where there are borders for some lengths, and none for others, all that are of these axes are
/// read from where they are computed; false if there are no such ones.
bool PadByOptional(OperatorContext& context, const tensor::Tensor& x, const std::string& mode,
                   const std::vector<int64_t>& shape) {
  if (context.opset() < 11 || !context.builder().compares_lengths()) return false;
  const tensor::Tensor pads = context.Input(1);
  const std::vector<int64_t> numbers = context.IntsInput(1);
  const std::vector<int64_t> axes = PaddedAxes(context, Rank(x), numbers.size());
  std::vector<OpenBorders> borders(shape.size(), {0, false, false});
  bool is_open = false;
  for (size_t k = 0; k < axes.size(); ++k) {
    const size_t behind = k + axes.size();
    OpenBorders& border = borders[context.CheckAxis(axes[k], Rank(x))];
    const auto is_optional = [&](size_t side) {
      return context.builder().IsOptional(static_cast<int>(side), numbers[side] != 0);
    };
    const bool low = is_optional(k), high = is_optional(behind);
    border = {low ? pads.At({tensor::Expr(static_cast<int64_t>(k))}) : tensor::Expr(numbers[k]),
              low || numbers[k] != 0, high || numbers[behind] != 0};
    is_open |= low || high;
  }
  if (!is_open || CheckedElementCount(x.shape()) == 0) return false;
  context.SetOutput(0, PadBy(context, x, mode, borders, shape));
  return true;
}

void Pad(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const std::string mode = context.String("mode", "constant");
  const size_t rank = x.shape().size();
  if (context.opset() >= 11 && !context.ConstantInput(1)) return FoundPad(context, x, mode);
  const auto [low, high] = ReadPadding(context, Rank(x));
  std::vector<int64_t> shape = x.shape();
  constexpr int64_t kMaxPadding = int64_t{1} << 40;
  for (size_t d = 0; d < rank; ++d) {
    const int64_t kept =
        x.shape()[d] + std::min<int64_t>(low[d], 0) + std::min<int64_t>(high[d], 0);
    const int64_t reach = mode == "reflect"                ? kept - 1
                          : mode == "constant" || kept > 0 ? kMaxPadding
                                                           : 0;
    if (std::min(low[d], high[d]) < -kMaxPadding || std::max(low[d], high[d]) > reach ||
        x.shape()[d] + low[d] + high[d] < 0) {
      context.Refuse(
          fmt::format("padding by {} and {} of an extent of {}", low[d], high[d], x.shape()[d]));
    }
    shape[d] += low[d] + high[d];
  }
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap") {
    context.RefuseAttribute("mode", mode, "has to be constant, reflect, edge or wrap");
  }
  if (PadByOptional(context, x, mode, shape)) return;
  if (mode == "constant") {
    return context.SetOutput(0, PadWith(context, x, low, high, PadFill(context, x)));
  }
  if (rank == 0) return context.SetOutput(0, x);
  // Rows of the last dimension are copied as they are between their borders, and then as a whole.
  const bool is_empty = shape[rank - 1] == 0;
  const tensor::Tensor rows =
      is_empty ? x : PadLast(context, mode, x, {low[rank - 1], high[rank - 1]});
  if (rows.shape() == shape) return context.SetOutput(0, rows);
  context.SetOutput(
      0, context.builder().Map("pad", shape, [&, &low = low, &high = high](const Exprs& place) {
        Exprs index;
        for (size_t d = 0; d + 1 < rank; ++d) {
          index.push_back(PaddedPlace(mode, place[d], x.shape()[d], {low[d], high[d]}));
        }
        index.push_back(place[rank - 1]);
        return rows.At(index);
      }));
}

/// Of the lengths that are known when the network runs only, those are needed along which the data
/// have one element.
std::vector<int64_t> ExpandedShape(OperatorContext& context, const tensor::Tensor& x) {
  if (context.ConstantInput(1)) return BroadcastShape(context, {x.shape(), context.IntsInput(1)});
  const tensor::Tensor wanted = context.Input(1);
  if (Rank(wanted) != 1 || !tensor::IsInteger(wanted.dtype())) {
    context.Refuse("the shape is no list of integers");
  }
  const int64_t rank = std::max<int64_t>(wanted.shape()[0], Rank(x));
  const int64_t first = rank - wanted.shape()[0], first_of_x = rank - Rank(x);
  CheckedElementCount(std::vector<int64_t>(static_cast<size_t>(rank), 1));
  std::vector<int64_t> shape;
  for (int64_t d = 0; d < rank; ++d) {
    const int64_t own = d < first_of_x ? 1 : x.shape()[static_cast<size_t>(d - first_of_x)];
    if (d < first) {
      shape.push_back(own);
      continue;
    }
    const tensor::Expr length = context.builder().ElementOf(wanted, {d - first});
    if (length->op == tensor::ExprOp::kInt) {
      shape.push_back(BroadcastShape(context, {{own}, {length->int_value}})[0]);
    } else if (own != 1) {
      shape.push_back(own);
    } else {
      const tensor::Tensor count =
          context.builder().Map("length", {}, [&](const Exprs&) { return length; });
      shape.push_back(context.FindLength(count, 0, static_cast<int>(d)));
    }
  }
  return shape;
}

void Expand(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const std::vector<int64_t> shape = ExpandedShape(context, x);
  if (shape == x.shape()) return context.SetOutput(0, x);
  const tensor::Tensor expanded = context.builder().Map(
      "expand", shape, [&](const Exprs& place) { return BroadcastAt(x, place); });
  NoteExpanded(context, x, expanded);
  context.SetOutput(0, expanded);
}

void Tile(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const tensor::Tensor given = context.Input(1);
  if (given.shape() != std::vector<int64_t>{Rank(x)} || !tensor::IsInteger(given.dtype())) {
    context.Refuse("repeats needs one integer per axis");
  }
  std::vector<int64_t> shape = x.shape(), repeats(shape.size(), -1);  // -1: not known
  for (size_t d = 0; d < shape.size(); ++d) {
    const tensor::Expr times = context.builder().ElementOf(given, {static_cast<int64_t>(d)});
    if (times->op == tensor::ExprOp::kInt) {
      repeats[d] = times->int_value;
      shape[d] = CheckedElementCount({shape[d], repeats[d]});
    } else if (shape[d] > 0) {
      const tensor::Tensor count = context.builder().Map("length", {}, [&](const Exprs&) {
        return tensor::Cast(tensor::DType::kInt64, times) * tensor::Expr(x.shape()[d]);
      });
      shape[d] = context.FindLength(count, 0, static_cast<int>(d));
    }
  }
  context.SetOutput(0, context.builder().Map("tile", shape, [&](const Exprs& place) {
    Exprs index;
    for (size_t d = 0; d < shape.size(); ++d) {
      const int64_t extent = x.shape()[d];
      index.push_back(extent == 1       ? tensor::Expr(0)
                      : repeats[d] == 1 ? place[d]
                                        : tensor::FloorMod(place[d], tensor::Expr(extent)));
    }
    return x.At(index);
  }));
}

int64_t BlockSize(OperatorContext& context, const tensor::Tensor& x) {
  const int64_t block = context.Int("blocksize");
  if (Rank(x) != 4) context.Refuse("the input needs 4 dimensions");
  if (block < 1 || block > (1 << 20)) {
    context.RefuseAttribute("blocksize", fmt::format("{}", block), "has to be positive");
  }
  return block;
}

/// How the elements of a block lie in the channels: all channels of one place in the block
/// together (DCR), or all places of one channel (CRD).
std::string BlockMode(OperatorContext& context) {
  const std::string mode = context.String("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") {
    context.RefuseAttribute("mode", mode, "has to be DCR or CRD");
  }
  return mode;
}

void DepthToSpace(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const int64_t block = BlockSize(context, x);
  const int64_t n = x.shape()[0], c = x.shape()[1], h = x.shape()[2], w = x.shape()[3];
  if (c % (block * block) != 0) context.Refuse("channels do not divide into blocks");
  const int64_t depth = c / (block * block);
  const bool depth_first = BlockMode(context) == "DCR";
  const tensor::Tensor split =
      context.builder().View(x, depth_first ? std::vector<int64_t>{n, block, block, depth, h, w}
                                            : std::vector<int64_t>{n, depth, block, block, h, w});
  const tensor::Tensor moved = Permute(
      context, split,
      depth_first ? std::vector<int>{0, 3, 4, 1, 5, 2} : std::vector<int>{0, 1, 4, 2, 5, 3});
  context.SetOutput(0, context.builder().View(moved, {n, depth, h * block, w * block}));
}

void SpaceToDepth(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const int64_t block = BlockSize(context, x);
  const int64_t n = x.shape()[0], c = x.shape()[1], h = x.shape()[2], w = x.shape()[3];
  if (h % block != 0 || w % block != 0) context.Refuse("the image does not divide into blocks");
  const bool depth_last = BlockMode(context) == "DCR";
  const tensor::Tensor split =
      context.builder().View(x, {n, c, h / block, block, w / block, block});
  const tensor::Tensor moved =
      Permute(context, split,
              depth_last ? std::vector<int>{0, 3, 5, 1, 2, 4} : std::vector<int>{0, 1, 3, 5, 2, 4});
  context.SetOutput(0, context.builder().View(moved, {n, c * block * block, h / block, w / block}));
}

/// Keeps the part above (or below) the k-th diagonal.
void Trilu(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const int rank = Rank(x);
  if (rank < 2) context.Refuse("the input needs two dimensions at least");
  const bool upper = context.Int("upper", 1) != 0;
  constexpr int64_t kOutOfRange = int64_t{1} << 41;  // beyond any matrix
  tensor::Expr k = 0;
  if (context.HasInput(1)) {
    const tensor::Tensor given = context.Input(1);
    if (CheckedElementCount(given.shape()) != 1 || given.dtype() != tensor::DType::kInt64) {
      context.Refuse("input 1 has to be one 64-bit integer");
    }
    k = context.builder().ElementOf(given, std::vector<int64_t>(given.shape().size(), 0));
    k = k->op == tensor::ExprOp::kInt
            ? tensor::Expr(std::clamp(k->int_value, -kOutOfRange, kOutOfRange))
            : tensor::Max(tensor::Min(k, tensor::Expr(kOutOfRange)), tensor::Expr(-kOutOfRange));
  }
  context.SetOutput(0, context.builder().Map("trilu", x.shape(), [&](const Exprs& place) {
    const tensor::Expr diagonal = place[rank - 2] + k;
    const tensor::Expr column = place[rank - 1];
    return tensor::Select(upper ? diagonal <= column : column <= diagonal, x.At(place),
                          tensor::Literal(0, x.dtype()));
  }));
}

/// Reverses the first sequence_lens[b] steps of every sequence of a batch.
void ReverseSequence(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0), lengths = context.Input(1);
  const int batch_axis = context.Axis("batch_axis", 1, Rank(x));
  const int time_axis = context.Axis("time_axis", 0, Rank(x));
  if (lengths.shape() != std::vector<int64_t>{x.shape()[batch_axis]} || batch_axis == time_axis) {
    context.Refuse("needs one length per sequence of the batch");
  }
  context.SetOutput(0, context.builder().Map("reversesequence", x.shape(), [&](const Exprs& place) {
    const tensor::Expr length = tensor::Cast(tensor::DType::kInt64, lengths(place[batch_axis]));
    Exprs index = place;
    const tensor::Expr mirrored = length - place[time_axis] - tensor::Expr(1);
    const tensor::Expr at = tensor::Select(place[time_axis] < length, mirrored, place[time_axis]);
    index[time_axis] = ClampedIndex(at, x.shape()[time_axis]);
    return x.At(index);
  }));
}

}  // namespace

std::span<const Operator> IndexingOperators() {
  static const Operator operators[] = {
      {"Concat", Concat},
      {"DepthToSpace", DepthToSpace},
      {"Expand", Expand},
      {"Pad", Pad},
      {"ReverseSequence", ReverseSequence},
      {"Slice", Slice},
      {"SpaceToDepth", SpaceToDepth},
      {"Split", Split},
      {"Tile", Tile},
      {"Transpose", Transpose},
      {"Trilu", Trilu},
  };
  return operators;
}

}  // namespace bayloom::graph
