// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bayloom/tensor/flat_expr.h"
#include "bayloom/tensor/library_call.h"
#include "bayloom/tensor/scalar.h"

namespace bayloom::tensor {
namespace {

ScalarValue ElementOf(const HostTensor& tensor, int64_t place) {
  return LoadScalar(tensor.dtype, tensor.data.data() + place * ByteSize(tensor.dtype));
}

void SetElement(HostTensor& tensor, int64_t place, ScalarValue value) {
  StoreScalar(tensor.dtype, tensor.data.data() + place * ByteSize(tensor.dtype), value);
}

/// Whether a is less than b; NaN is greater than all numbers.
bool IsLess(DType dtype, ScalarValue a, ScalarValue b) {
  if (!IsFloat(dtype)) return CompareInt(ExprOp::kLess, dtype, a.i, b.i);
  if (std::isnan(a.f)) return false;
  return std::isnan(b.f) || a.f < b.f;
}

/// The elements x[outer, n, inner] along n.
struct Line {
  int64_t first, step, n;
};

Line LineOf(const LibraryCall& call, int64_t line) {
  const int64_t n = call.numbers[1], inner = call.numbers[2];
  return {line / inner * n * inner + line % inner, inner, n};
}

void EvaluateTopK(const LibraryCall& call, const HostTensor& x, HostTensor& result) {
  const int64_t inner = call.numbers[2], k = call.numbers[3];
  const bool largest = call.numbers[4] != 0;
  for (int64_t number = 0; number < call.numbers[0] * inner; ++number) {
    const Line line = LineOf(call, number);
    std::vector<int64_t> order(line.n);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      const ScalarValue first = ElementOf(x, line.first + a * line.step),
                        second = ElementOf(x, line.first + b * line.step);
      return largest ? IsLess(x.dtype, second, first) : IsLess(x.dtype, first, second);
    });
    for (int64_t j = 0; j < k; ++j) {
      result.SetInt(number / inner * k * inner + j * inner + number % inner, order[j]);
    }
  }
}

void EvaluateArgExtreme(const LibraryCall& call, const HostTensor& x, HostTensor& result) {
  const bool largest = call.numbers[3] != 0, last = call.numbers[4] != 0;
  const auto is_nan = [&](ScalarValue v) { return IsFloat(x.dtype) && std::isnan(v.f); };
  const auto beats = [&](ScalarValue a, ScalarValue b) {
    if (is_nan(a) || is_nan(b)) return is_nan(a) && !is_nan(b);
    return largest ? IsLess(x.dtype, b, a) : IsLess(x.dtype, a, b);
  };
  for (int64_t number = 0; number < call.numbers[0] * call.numbers[2]; ++number) {
    const Line line = LineOf(call, number);
    int64_t best = 0;
    for (int64_t i = 1; i < line.n; ++i) {
      const ScalarValue own = ElementOf(x, line.first + i * line.step),
                        other = ElementOf(x, line.first + best * line.step);
      if (beats(own, other) || (last && !beats(other, own))) best = i;
    }
    result.SetInt(number, best);
  }
}

void EvaluateScan(const LibraryCall& call, const HostTensor& x, HostTensor& result) {
  const Reduction reduction = call.numbers[3] != 0 ? Reduction::kProduct : Reduction::kSum;
  const bool exclusive = call.numbers[4] != 0, reverse = call.numbers[5] != 0;
  const DType wide = IsFloat(x.dtype) ? DType::kFloat64 : x.dtype;
  for (int64_t number = 0; number < call.numbers[0] * call.numbers[2]; ++number) {
    const Line line = LineOf(call, number);
    ScalarValue running = ScalarOf(NeutralElement(reduction, wide));
    for (int64_t i = 0; i < line.n; ++i) {
      const int64_t place = line.first + (reverse ? line.n - 1 - i : i) * line.step;
      const ScalarValue before = running;
      running = CombineScalars(reduction, wide, running, ElementOf(x, place));
      SetElement(result, place, exclusive ? before : running);
    }
  }
}

int64_t WrappedIndex(int64_t index, int64_t extent) {
  return std::clamp<int64_t>(index < 0 ? index + extent : index, 0, extent - 1);
}

void CombineAt(const LibraryCall& call, HostTensor& result, int64_t place, ScalarValue update) {
  const auto reduction = static_cast<Reduction>(call.numbers[0]);
  if (reduction != Reduction::kNone) {
    update = CombineScalars(reduction, result.dtype, ElementOf(result, place), update);
  }
  SetElement(result, place, update);
}

void EvaluateScatterRows(const LibraryCall& call, const HostTensor& indices,
                         const HostTensor& updates, HostTensor& result) {
  const int64_t tuples = call.numbers[1], depth = call.numbers[2], row = call.numbers[3];
  for (int64_t t = 0; t < tuples; ++t) {
    int64_t place = 0;
    for (int64_t d = 0; d < depth; ++d) {
      const int64_t extent = call.numbers[4 + d];
      place = place * extent + WrappedIndex(indices.GetInt(t * depth + d), extent);
    }
    for (int64_t c = 0; c < row; ++c) {
      CombineAt(call, result, place * row + c, ElementOf(updates, t * row + c));
    }
  }
}

void EvaluateScatterElements(const LibraryCall& call, const HostTensor& indices,
                             const HostTensor& updates, HostTensor& result) {
  const int64_t axis = call.numbers[1], rank = call.numbers[2];
  const int64_t *dims = &call.numbers[3], *index_dims = dims + rank;
  const int64_t count = indices.ElementCount();
  for (int64_t u = 0; u < count; ++u) {
    int64_t rest = u, stride = 1, place = 0;
    for (int64_t d = rank; d-- > 0; rest /= index_dims[d], stride *= dims[d]) {
      const int64_t own = rest % index_dims[d];
      place += stride * (d == axis ? WrappedIndex(indices.GetInt(u), dims[d]) : own);
    }
    CombineAt(call, result, place, ElementOf(updates, u));
  }
}

int64_t Length(const HostTensor& length, int64_t most) {
  return std::clamp<int64_t>(length.GetInt(0), 0, most);
}

void EvaluateNonZero(const LibraryCall& call, const HostTensor& x, const HostTensor& length,
                     HostTensor& result) {
  int64_t count = 0;
  for (int64_t i = 0; i < Length(length, call.numbers[0]); ++i) {
    if (x.GetInt(i) == 0) continue;
    if (++count <= call.numbers[1]) result.SetInt(count, i);
  }
  result.SetInt(0, count);
}

/// Slices along n, in lexicographic order.
struct SliceOrder {
  const LibraryCall& call;
  const HostTensor& x;

  bool operator()(int64_t a, int64_t b) const {
    const int64_t outer = call.numbers[0], n = call.numbers[1], inner = call.numbers[2];
    for (int64_t e = 0; e < outer * inner; ++e) {
      const auto at = [&](int64_t slice) {
        return ElementOf(x, (e / inner * n + slice) * inner + e % inner);
      };
      if (IsLess(x.dtype, at(a), at(b))) return true;
      if (IsLess(x.dtype, at(b), at(a))) return false;
    }
    return false;
  }
};

void EvaluateUnique(const LibraryCall& call, const HostTensor& x, const HostTensor& length,
                    HostTensor& result) {
  const SliceOrder is_before{call, x};
  std::vector<int64_t> order(Length(length, call.numbers[1])), first;
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), is_before);
  for (int64_t slice : order) {
    if (first.empty() || is_before(first.back(), slice)) first.push_back(slice);
  }
  if (call.numbers[3] == 0) std::sort(first.begin(), first.end());
  result.SetInt(0, std::ssize(first));
  for (size_t u = 0; u < first.size(); ++u) {
    const auto row = static_cast<int64_t>(u) + 1;
    int64_t count = 0;
    for (int64_t slice : order) {
      if (is_before(first[u], slice) || is_before(slice, first[u])) continue;
      result.SetInt(3 * (slice + 1) + 2, row - 1);
      ++count;
    }
    result.SetInt(3 * row, first[u]);
    result.SetInt(3 * row + 1, count);
  }
}

/// Two corners in any order, or a center and extents. As onnxruntime, in float32.
struct Box {
  float low_y, low_x, high_y, high_x;

  Box(const HostTensor& boxes, int64_t number, bool centered) {
    float v[4];
    for (int k = 0; k < 4; ++k) v[k] = static_cast<float>(boxes.Get(4 * number + k));
    if (centered) {  // x, y, width, height
      *this = {v[1] - v[3] / 2, v[0] - v[2] / 2, v[1] + v[3] / 2, v[0] + v[2] / 2};
    } else {
      *this = {std::min(v[0], v[2]), std::min(v[1], v[3]), std::max(v[0], v[2]),
               std::max(v[1], v[3])};
    }
  }
  Box(float y, float x, float other_y, float other_x)
      : low_y(y), low_x(x), high_y(other_y), high_x(other_x) {}
  float Area() const { return (high_y - low_y) * (high_x - low_x); }
};

/// Whether the boxes' intersection over their union exceeds the threshold.
bool Overlap(const Box& a, const Box& b, float threshold) {
  const float height = std::min(a.high_y, b.high_y) - std::max(a.low_y, b.low_y);
  const float width = std::min(a.high_x, b.high_x) - std::max(a.low_x, b.low_x);
  if (!(height > 0) || !(width > 0)) return false;
  const float shared = height * width, all = a.Area() + b.Area() - shared;
  return a.Area() > 0 && b.Area() > 0 && all > 0 && shared / all > threshold;
}

void EvaluateNonMaxSuppression(const LibraryCall& call,
                               const std::vector<const HostTensor*>& operands, HostTensor& result) {
  const HostTensor &boxes = *operands[0], &scores = *operands[1], &limits = *operands[2];
  const auto overlap = static_cast<float>(operands[3]->Get(0));
  const double least = operands[3]->Get(1);
  const int64_t classes = call.numbers[1], n = call.numbers[2];
  const auto limit = [&](int k) {
    return std::clamp<int64_t>(limits.GetInt(k), 0, call.numbers[static_cast<size_t>(k)]);
  };
  int64_t count = 0;
  for (int64_t line = 0; line < limit(0) * classes; ++line) {
    const int64_t batch = line / classes, number = line % classes;
    if (number >= limit(1)) continue;
    std::vector<int64_t> order, taken;
    for (int64_t i = 0; i < limit(2); ++i) {
      if (scores.Get(line * n + i) > least) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return scores.Get(line * n + a) > scores.Get(line * n + b);
    });
    for (int64_t i : order) {
      if (std::ssize(taken) >= limits.GetInt(3)) break;
      const Box box(boxes, batch * n + i, call.numbers[3] != 0);
      const bool is_free = std::ranges::none_of(taken, [&](int64_t other) {
        return Overlap(box, Box(boxes, batch * n + other, call.numbers[3] != 0), overlap);
      });
      if (!is_free) continue;
      taken.push_back(i);
      if (++count > call.numbers[4]) continue;
      for (int k = 0; k < 3; ++k)
        result.SetInt(3 * count + k, k == 0 ? batch : k == 1 ? number : i);
    }
  }
  result.SetInt(0, count);
}

}  // namespace

HostTensor Evaluate(const LibraryCall& call, const std::vector<const HostTensor*>& operands,
                    std::vector<int64_t> shape) {
  HostTensor result = HostTensor::Zeros(call.dtype, std::move(shape));
  switch (call.kernel) {
    case LibraryKernel::kTopK:
      EvaluateTopK(call, *operands[0], result);
      break;
    case LibraryKernel::kArgExtreme:
      EvaluateArgExtreme(call, *operands[0], result);
      break;
    case LibraryKernel::kScan:
      EvaluateScan(call, *operands[0], result);
      break;
    case LibraryKernel::kScatterRows:
      result.data = operands[0]->data;
      EvaluateScatterRows(call, *operands[1], *operands[2], result);
      break;
    case LibraryKernel::kScatterElements:
      result.data = operands[0]->data;
      EvaluateScatterElements(call, *operands[1], *operands[2], result);
      break;
    case LibraryKernel::kNonZero:
      EvaluateNonZero(call, *operands[0], *operands[1], result);
      break;
    case LibraryKernel::kUnique:
      EvaluateUnique(call, *operands[0], *operands[1], result);
      break;
    case LibraryKernel::kNonMaxSuppression:
      EvaluateNonMaxSuppression(call, operands, result);
      break;
  }
  return result;
}

}  // namespace bayloom::tensor
