// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Pad in all its modes, also by borders that are known when the network runs.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "bayloom/graph/operators/helpers.h"

namespace bayloom::graph {
namespace {

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

}  // namespace

std::span<const Operator> PaddingOperators() {
  static const Operator operators[] = {{"Pad", Pad}};
  return operators;
}

}  // namespace bayloom::graph
