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
  }
  return result;
}

}  // namespace bayloom::tensor
