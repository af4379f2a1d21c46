// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Operators whose results have as many elements as their data decide. Sizes are known when a
/// network is compiled, so what decides has to be known, too.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "bayloom/graph/operators/helpers.h"

namespace bayloom::graph {
namespace {

/// Keeps the slices whose condition holds, which has to be known.
void Compress(OperatorContext& context) {
  tensor::Tensor x = context.Input(0);
  if (!context.HasAttribute("axis")) {
    x = context.builder().View(x, {CheckedElementCount(x.shape())});
  }
  const int axis = context.Axis("axis", 0, Rank(x));
  const std::vector<double> condition = context.NumbersInput(1);
  std::vector<int64_t> kept;
  for (size_t i = 0; i < condition.size(); ++i) {
    if (condition[i] != 0) kept.push_back(static_cast<int64_t>(i));
  }
  if (!kept.empty() && kept.back() >= x.shape()[axis]) {
    context.Refuse("the condition is longer than the axis");
  }
  const int64_t count = static_cast<int64_t>(kept.size());
  const tensor::Tensor places = IntConstant(context, kept, {count});
  std::vector<int64_t> shape = x.shape();
  shape[axis] = count;
  context.SetOutput(0, context.builder().Map("compress", shape, [&](const Exprs& place) {
    Exprs index = place;
    index[axis] = places(place[axis]);
    return x.At(index);
  }));
}

/// The indices of all elements but zeros, an axis in each row.
void NonZero(OperatorContext& context) {
  const tensor::HostTensor& x = context.KnownInput(0);
  std::vector<int64_t> places;
  for (int64_t i = 0; i < x.ElementCount(); ++i) {
    if (tensor::IsFloat(x.dtype) ? x.Get(i) != 0 : x.GetInt(i) != 0) places.push_back(i);
  }
  const auto rank = static_cast<int64_t>(x.shape.size()), count = std::ssize(places);
  std::vector<int64_t> indices(rank * count);
  for (int64_t k = 0; k < count; ++k) {
    int64_t rest = places[k];
    for (int64_t d = rank; d-- > 0; rest /= x.shape[d]) indices[d * count + k] = rest % x.shape[d];
  }
  context.SetOutput(0, IntConstant(context, indices, {rank, count}));
}

/// The slices of a known tensor along an axis, in lexicographic order.
struct KnownSlices {
  const tensor::HostTensor& x;
  int64_t outer, n, inner;

  double At(int64_t slice, int64_t element) const {
    return x.Get((element / inner * n + slice) * inner + element % inner);
  }
  /// Less than, equal to or greater than 0 as a comes before b.
  int Compare(int64_t a, int64_t b) const {
    for (int64_t e = 0; e < outer * inner; ++e) {
      if (At(a, e) != At(b, e)) return At(a, e) < At(b, e) ? -1 : 1;
    }
    return 0;
  }
};

void Unique(OperatorContext& context) {
  tensor::HostTensor x = context.KnownInput(0);
  if (!context.HasAttribute("axis")) x.shape = {x.ElementCount()};
  const int axis = context.Axis("axis", 0, static_cast<int>(x.shape.size()));
  const std::vector<int64_t> lines = LinesAlong(x.shape, axis);
  const KnownSlices slices{x, lines[0], lines[1], lines[2]};
  std::vector<int64_t> order(slices.n), first, inverse(slices.n), counts;
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return slices.Compare(a, b) < 0; });
  for (int64_t slice : order) {
    if (first.empty() || slices.Compare(first.back(), slice) != 0) first.push_back(slice);
  }
  if (context.Int("sorted", 1) == 0) std::sort(first.begin(), first.end());
  counts.assign(first.size(), 0);
  for (int64_t slice = 0; slice < slices.n; ++slice) {
    for (size_t u = 0; u < first.size(); ++u) {
      if (slices.Compare(first[u], slice) != 0) continue;
      inverse[slice] = static_cast<int64_t>(u);
      ++counts[u];
      break;
    }
  }
  const int64_t count = std::ssize(first);
  std::vector<int64_t> shape = x.shape;
  shape[axis] = count;
  const tensor::Tensor places = IntConstant(context, first, {count});
  const tensor::Tensor all = context.builder().View(context.Input(0), x.shape);
  context.SetOutput(0, context.builder().Map("unique", shape, [&](const Exprs& place) {
    Exprs index = place;
    index[axis] = places(place[axis]);
    return all.At(index);
  }));
  if (context.WantsOutput(1)) context.SetOutput(1, places);
  if (context.WantsOutput(2)) context.SetOutput(2, IntConstant(context, inverse, {slices.n}));
  if (context.WantsOutput(3)) context.SetOutput(3, IntConstant(context, counts, {count}));
}

/// Two corners in any order, or a center and extents.
struct Box {
  double low_y, low_x, high_y, high_x;

  double Area() const { return (high_y - low_y) * (high_x - low_x); }
};

Box BoxAt(const tensor::HostTensor& boxes, int64_t number, bool centered) {
  double v[4];
  for (int k = 0; k < 4; ++k) v[k] = boxes.Get(4 * number + k);
  if (centered) {  // x, y, width, height
    return {v[1] - v[3] / 2, v[0] - v[2] / 2, v[1] + v[3] / 2, v[0] + v[2] / 2};
  }
  return {std::min(v[0], v[2]), std::min(v[1], v[3]), std::max(v[0], v[2]), std::max(v[1], v[3])};
}

/// Whether the boxes' intersection over their union exceeds the threshold.
bool Overlap(const Box& a, const Box& b, double threshold) {
  const double height = std::min(a.high_y, b.high_y) - std::max(a.low_y, b.low_y);
  const double width = std::min(a.high_x, b.high_x) - std::max(a.low_x, b.low_x);
  if (height <= 0 || width <= 0) return false;
  const double shared = height * width, all = a.Area() + b.Area() - shared;
  return all > 0 && shared / all > threshold;
}

/// Of one class in one image: boxes by falling score that overlap none taken before.
std::vector<int64_t> SuppressNonMaxima(const std::vector<Box>& boxes,
                                       const std::vector<double>& scores, int64_t most,
                                       double overlap, double least_score) {
  std::vector<int64_t> order, taken;
  for (int64_t i = 0; i < std::ssize(boxes); ++i) {
    if (scores[i] > least_score) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return scores[a] > scores[b]; });
  for (int64_t box : order) {
    if (std::ssize(taken) >= most) break;
    const bool free = std::none_of(taken.begin(), taken.end(), [&](int64_t other) {
      return Overlap(boxes[box], boxes[other], overlap);
    });
    if (free) taken.push_back(box);
  }
  return taken;
}

void NonMaxSuppression(OperatorContext& context) {
  const tensor::HostTensor &boxes = context.KnownInput(0), &scores = context.KnownInput(1);
  const bool fits = boxes.shape.size() == 3 && scores.shape.size() == 3 && boxes.shape[2] == 4 &&
                    scores.shape[0] == boxes.shape[0] && scores.shape[2] == boxes.shape[1];
  if (!fits) context.Refuse("boxes and scores do not fit together");
  const bool centered = context.Int("center_point_box", 0) != 0;
  const int64_t most = context.HasInput(2) ? context.IntInput(2) : 0;
  const double overlap = context.HasInput(3) ? context.NumberInput(3) : 0;
  const double least = context.HasInput(4) ? context.NumberInput(4) : -INFINITY;
  const int64_t classes = scores.shape[1], count = boxes.shape[1];
  std::vector<int64_t> selected;
  for (int64_t image = 0; image < boxes.shape[0]; ++image) {
    std::vector<Box> own;
    for (int64_t i = 0; i < count; ++i) own.push_back(BoxAt(boxes, image * count + i, centered));
    for (int64_t c = 0; c < classes; ++c) {
      std::vector<double> own_scores;
      for (int64_t i = 0; i < count; ++i) {
        own_scores.push_back(scores.Get((image * classes + c) * count + i));
      }
      for (int64_t box : SuppressNonMaxima(own, own_scores, most, overlap, least)) {
        selected.insert(selected.end(), {image, c, box});
      }
    }
  }
  const int64_t rows = std::ssize(selected) / 3;
  context.SetOutput(0, IntConstant(context, selected, {rows, 3}));
}

}  // namespace

std::span<const Operator> SelectionOperators() {
  static const Operator operators[] = {
      {"Compress", Compress},
      {"NonMaxSuppression", NonMaxSuppression},
      {"NonZero", NonZero},
      {"Unique", Unique},
  };
  return operators;
}

}  // namespace bayloom::graph
