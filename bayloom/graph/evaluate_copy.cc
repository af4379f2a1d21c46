// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/evaluate_copy.h"

#include <algorithm>
#include <cstdlib>

namespace bayloom::graph {
namespace {

struct Axis {
  int64_t extent, from_stride, to_stride;
};

/// A rectangle of elements: all places of `inner` for all places of `outer`.
template <typename T>
void CopyPlane(const T* from, T* to, const Axis& outer, const Axis& inner) {
  constexpr int64_t kTile = 32;
  for (int64_t o = 0; o < outer.extent; o += kTile) {
    const int64_t o_end = std::min(o + kTile, outer.extent);
    for (int64_t i = 0; i < inner.extent; i += kTile) {
      const int64_t i_end = std::min(i + kTile, inner.extent);
      for (int64_t a = o; a < o_end; ++a) {
        const T* source = from + a * outer.from_stride;
        T* target = to + a * outer.to_stride;
        for (int64_t b = i; b < i_end; ++b) {
          target[b * inner.to_stride] = source[b * inner.from_stride];
        }
      }
    }
  }
}

/// Copies over all axes: the last (contiguous in the target) and the one with the shortest way
/// between elements of the source as planes, the rest around them.
template <typename T>
void CopyAxes(const T* from, T* to, std::vector<Axis> axes) {
  const Axis unit{1, 0, 0};
  const Axis inner = axes.empty() ? unit : axes.back();
  if (!axes.empty()) axes.pop_back();
  Axis outer = unit;
  if (!axes.empty()) {
    const auto nearest =
        std::min_element(axes.begin(), axes.end(), [](const Axis& a, const Axis& b) {
          return std::abs(a.from_stride) < std::abs(b.from_stride);
        });
    outer = *nearest;
    axes.erase(nearest);
  }
  std::vector<int64_t> place(axes.size(), 0);
  while (true) {
    CopyPlane(from, to, outer, inner);
    int k = static_cast<int>(axes.size()) - 1;
    for (; k >= 0; --k) {
      from += axes[k].from_stride;
      to += axes[k].to_stride;
      if (++place[k] < axes[k].extent) break;
      from -= axes[k].from_stride * axes[k].extent;
      to -= axes[k].to_stride * axes[k].extent;
      place[k] = 0;
    }
    if (k < 0) return;
  }
}

template <typename T>
void CopyElements(const tensor::HostTensor& from, tensor::HostTensor& to, int64_t start,
                  const std::vector<Axis>& axes) {
  CopyAxes(reinterpret_cast<const T*>(from.data.data()) + start,
           reinterpret_cast<T*>(to.data.data()), axes);
}

}  // namespace

std::optional<tensor::LinearForm> ProvenOffset(const tensor::Stage& stage,
                                               const tensor::ExprNode& load,
                                               const std::vector<int64_t>& shape) {
  const int iter_count = static_cast<int>(stage.iters.size());
  tensor::LinearForm offset{0, std::vector<int64_t>(iter_count, 0)};
  int64_t stride = 1;
  for (int d = static_cast<int>(shape.size()) - 1; d >= 0; --d) {
    const auto index = tensor::ToLinear(load.operands[d], iter_count);
    if (!index) return std::nullopt;
    int64_t low = index->constant, high = index->constant;
    for (int k = 0; k < iter_count; ++k) {
      const int64_t reach = index->coefficients[k] * (stage.iters[k].extent - 1);
      (reach < 0 ? low : high) += reach;
      offset.coefficients[k] += stride * index->coefficients[k];
    }
    if (low < 0 || high >= shape[d]) return std::nullopt;
    offset.constant += stride * index->constant;
    stride *= shape[d];
  }
  return offset;
}

std::optional<tensor::HostTensor> CopyStage(const tensor::Stage& stage,
                                            const TensorLookup& operands) {
  const tensor::Expr& value = stage.value;
  if (value->op != tensor::ExprOp::kLoad || stage.reduction != tensor::Reduction::kNone)
    return std::nullopt;
  const tensor::HostTensor& from = operands(value->index);
  const auto offset = ProvenOffset(stage, *value, from.shape);
  if (!offset) return std::nullopt;

  std::vector<int64_t> shape;
  for (const tensor::Iter& iter : stage.iters) shape.push_back(iter.extent);
  tensor::HostTensor to = tensor::HostTensor::Zeros(from.dtype, shape);
  std::vector<Axis> axes(shape.size());
  int64_t to_stride = 1;
  for (int d = static_cast<int>(shape.size()) - 1; d >= 0; --d) {
    axes[d] = {shape[d], offset->coefficients[d], to_stride};
    to_stride *= shape[d];
  }
  switch (tensor::ByteSize(from.dtype)) {
    case 1:
      CopyElements<uint8_t>(from, to, offset->constant, axes);
      break;
    case 2:
      CopyElements<uint16_t>(from, to, offset->constant, axes);
      break;
    case 4:
      CopyElements<uint32_t>(from, to, offset->constant, axes);
      break;
    default:
      CopyElements<uint64_t>(from, to, offset->constant, axes);
  }
  return to;
}

}  // namespace bayloom::graph
