// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/operators/windows.h"

#include <fmt/format.h>

#include <algorithm>

namespace bayloom::graph {
namespace {

constexpr int64_t kMaxExtent = int64_t{1} << 31;

std::vector<int64_t> SpatialAttribute(OperatorContext& context, const char* name, int rank,
                                      int64_t otherwise, int64_t least) {
  std::vector<int64_t> values = context.Ints(name, std::vector<int64_t>(rank, otherwise));
  if (static_cast<int>(values.size()) != rank) {
    context.Refuse(
        fmt::format("attribute {} has {} numbers for {} spatial axes", name, values.size(), rank));
  }
  for (int64_t value : values) {
    if (value < least || value > kMaxExtent) {
      context.RefuseAttribute(name, fmt::format("{}", value),
                              fmt::format("has to be at least {}", least));
    }
  }
  return values;
}

/// SAME_UPPER, SAME_LOWER: as many windows as input / stride, the odd pad after or before.
void PadSame(Windows& w, const std::vector<int64_t>& input_shape, bool odd_before) {
  for (int d = 0; d < w.rank(); ++d) {
    const int64_t extent = input_shape[d + 2];
    const int64_t count = (extent + w.strides[d] - 1) / w.strides[d];
    const int64_t total = std::max<int64_t>(0, (count - 1) * w.strides[d] + w.Reach(d) - extent);
    w.pads_low[d] = odd_before ? (total + 1) / 2 : total / 2;
    w.pads_high[d] = total - w.pads_low[d];
  }
}

void ReadPads(OperatorContext& context, Windows& w, const std::vector<int64_t>& input_shape) {
  const int rank = w.rank();
  const std::string mode = context.String("auto_pad", "NOTSET");
  if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    return PadSame(w, input_shape, mode == "SAME_LOWER");
  }
  if (mode != "NOTSET" && mode != "VALID") {
    context.RefuseAttribute("auto_pad", mode, "has to be NOTSET, VALID, SAME_UPPER or SAME_LOWER");
  }
  std::vector<int64_t> pads = context.Ints("pads", std::vector<int64_t>(2 * rank, 0));
  if (mode == "VALID") pads.assign(2 * rank, 0);
  if (static_cast<int>(pads.size()) != 2 * rank) {
    context.Refuse(
        fmt::format("attribute pads has {} numbers for {} spatial axes", pads.size(), rank));
  }
  for (int d = 0; d < rank; ++d) {
    w.pads_low[d] = pads[d];
    w.pads_high[d] = pads[d + rank];
    if (std::min(pads[d], pads[d + rank]) < 0 || std::max(pads[d], pads[d + rank]) > kMaxExtent) {
      context.Refuse(fmt::format("attribute pads holds {} and {}", pads[d], pads[d + rank]));
    }
  }
}

}  // namespace

Windows ReadWindows(OperatorContext& context, const std::vector<int64_t>& input_shape,
                    std::vector<int64_t> kernel) {
  const int rank = static_cast<int>(kernel.size());
  if (rank < 1 || static_cast<int>(input_shape.size()) != rank + 2) {
    context.Refuse(
        fmt::format("the input has {} dimensions, the kernel {}", input_shape.size(), rank));
  }
  for (int64_t extent : kernel) {
    if (extent < 1 || extent > kMaxExtent)
      context.Refuse(fmt::format("a kernel extent of {}", extent));
  }
  Windows w;
  w.kernel = std::move(kernel);
  w.strides = SpatialAttribute(context, "strides", rank, 1, 1);
  w.dilations = SpatialAttribute(context, "dilations", rank, 1, 1);
  w.pads_low.resize(rank);
  w.pads_high.resize(rank);
  ReadPads(context, w, input_shape);
  const bool ceil_mode = context.Int("ceil_mode", 0) != 0;
  for (int d = 0; d < rank; ++d) {
    const int64_t extent = input_shape[d + 2];
    const int64_t room = extent + w.pads_low[d] + w.pads_high[d] - w.Reach(d);
    if (room < 0) {
      context.Refuse(fmt::format("a window of {} does not fit the padded extent of {}", w.Reach(d),
                                 room + w.Reach(d)));
    }
    int64_t count = room / w.strides[d] + 1;
    // With ceil_mode a last window may hang over, but it has to start inside the image.
    const bool partial =
        ceil_mode && room % w.strides[d] != 0 && count * w.strides[d] < extent + w.pads_low[d];
    if (partial) ++count;
    w.counts.push_back(count);
  }
  return w;
}

tensor::Tensor PadForWindows(OperatorContext& context, const tensor::Tensor& x,
                             const Windows& windows, const tensor::Expr& fill) {
  std::vector<int64_t> low(windows.rank() + 2, 0), high(windows.rank() + 2, 0);
  for (int d = 0; d < windows.rank(); ++d) {
    const int64_t end = (windows.counts[d] - 1) * windows.strides[d] + windows.Reach(d);
    low[d + 2] = windows.pads_low[d];
    high[d + 2] = std::max(windows.pads_high[d], end - x.shape()[d + 2] - windows.pads_low[d]);
  }
  return PadWith(context, x, low, high, fill);
}

Exprs WindowPositions(const Windows& windows, const Exprs& place, const Exprs& over) {
  Exprs positions;
  for (int d = 0; d < windows.rank(); ++d) {
    positions.push_back(place[d] * tensor::Expr(windows.strides[d]) +
                        over[d] * tensor::Expr(windows.dilations[d]));
  }
  return positions;
}

std::vector<GraphBuilder::Axis> WindowAxes(const Windows& windows) {
  std::vector<GraphBuilder::Axis> axes;
  if (windows.rank() == 2) return {{"kh", windows.kernel[0]}, {"kw", windows.kernel[1]}};
  for (int d = 0; d < windows.rank(); ++d)
    axes.push_back({fmt::format("k{}", d), windows.kernel[d]});
  return axes;
}

}  // namespace bayloom::graph
