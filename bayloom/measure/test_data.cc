// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/test_data.h"

#include <algorithm>
#include <limits>

#include "bayloom/base/random.h"
#include "bayloom/tensor/library_call.h"
#include "bayloom/tensor/scalar.h"

namespace bayloom::measure {
namespace {

constexpr int64_t kUnbounded = std::numeric_limits<int64_t>::max();

struct Interval64 {
  int64_t low, high;  ///< inclusive
};

/// The least length that the dimension has.
int64_t LeastLength(const tensor::Workload& workload, const tensor::Buffer& buffer, size_t d) {
  const tensor::BufferId size = buffer.bounds.empty() ? -1 : buffer.bounds[d].size;
  if (size < 0) return buffer.shape[d];
  return std::clamp<int64_t>(workload.buffers[size].range.smallest, 1, buffer.shape[d]);
}

/// Per buffer: the smallest dimension that its elements index, kUnbounded if none. Walks from
/// the last stage to the first, so that what holds for a stage's result holds for the integers
/// that it is made of.
std::vector<int64_t> IndexBounds(const tensor::Workload& workload) {
  std::vector<int64_t> bounds(workload.buffers.size(), kUnbounded);
  const auto bound_loads = [&](const tensor::Expr& e, int64_t bound) {
    tensor::Visit(e, [&](const tensor::Expr& inner) {
      if (inner->op == tensor::ExprOp::kLoad) {
        bounds[inner->index] = std::min(bounds[inner->index], bound);
      }
    });
  };
  for (auto stage = workload.stages.rbegin(); stage != workload.stages.rend(); ++stage) {
    if (const auto call = tensor::AsCall(stage->value)) {
      for (size_t i = 0; i < call->operands.size(); ++i) {
        const auto bound = tensor::IndexBound(*call, static_cast<int>(i));
        if (bound) bounds[call->operands[i]] = *bound;
      }
      continue;
    }
    const int64_t own = bounds[stage->output];
    if (own != kUnbounded) bound_loads(stage->value, own);
    tensor::Visit(stage->value, [&](const tensor::Expr& e) {
      if (e->op != tensor::ExprOp::kLoad) return;
      for (size_t d = 0; d < e->operands.size(); ++d) {
        bound_loads(e->operands[d], LeastLength(workload, workload.buffers[e->index], d));
      }
    });
  }
  return bounds;
}

/// True if some division or remainder of integers has a loaded divisor: no zeros then.
bool DividesIntegers(const tensor::Workload& workload) {
  bool divides = false;
  for (const tensor::Stage& stage : workload.stages) {
    tensor::Visit(stage.value, [&](const tensor::Expr& e) {
      const bool division = e->op == tensor::ExprOp::kDiv || e->op == tensor::ExprOp::kMod ||
                            e->op == tensor::ExprOp::kFloorDiv ||
                            e->op == tensor::ExprOp::kFloorMod;
      if (!division || !tensor::IsInteger(e->dtype)) return;
      tensor::Visit(e->operands[1],
                    [&](const tensor::Expr& x) { divides |= x->op == tensor::ExprOp::kLoad; });
    });
  }
  return divides;
}

void FillFloats(tensor::HostTensor& tensor, base::RandomStream& random, DataRange range) {
  const double low = range == DataRange::kSymmetric  ? -1
                     : range == DataRange::kPositive ? 0.1
                                                     : 1.1;
  const double width = (range == DataRange::kAboveOne ? 2 : 1) - low;
  const int64_t count = tensor.ElementCount();
  const int bytes = tensor::ByteSize(tensor.dtype);
  for (int64_t i = 0; i < count; ++i) {
    tensor::StoreFloat(tensor.dtype, &tensor.data[i * bytes], low + width * random.Uniform());
  }
}

void FillIntegers(tensor::HostTensor& tensor, base::RandomStream& random, Interval64 range) {
  const int64_t count = tensor.ElementCount();
  const int bytes = tensor::ByteSize(tensor.dtype);
  for (int64_t i = 0; i < count; ++i) {
    tensor::StoreInt(tensor.dtype, &tensor.data[i * bytes],
                     range.low + random.UniformInt(range.high - range.low + 1));
  }
}

}  // namespace

std::vector<tensor::HostTensor> MakeArguments(const tensor::Workload& workload, uint64_t seed,
                                              DataRange range) {
  const std::vector<int64_t> bounds = IndexBounds(workload);
  const bool divides = DividesIntegers(workload);
  base::RandomStream random(seed);
  std::vector<tensor::HostTensor> arguments;
  for (tensor::BufferId id : workload.Parameters()) {
    const tensor::Buffer& buffer = workload.buffers[id];
    tensor::HostTensor tensor = tensor::HostTensor::Zeros(buffer.dtype, buffer.shape);
    base::RandomStream stream = random.Fork();
    if (buffer.role == tensor::BufferRole::kOutput) {
      // Stays zero.
    } else if (buffer.role == tensor::BufferRole::kSize) {
      tensor.SetInt(0, buffer.range.largest);
    } else if (tensor::IsFloat(buffer.dtype)) {
      FillFloats(tensor, stream, range);
    } else if (buffer.dtype == tensor::DType::kBool) {
      FillIntegers(tensor, stream, {0, 1});
    } else if (bounds[id] != kUnbounded) {
      // 127: what every integer type can hold
      FillIntegers(tensor, stream, {0, std::min<int64_t>(bounds[id], 127) - 1});
    } else if (divides || tensor::IsUnsigned(buffer.dtype)) {
      FillIntegers(tensor, stream, {divides ? 1 : 0, 8});
    } else {
      FillIntegers(tensor, stream, {-8, 8});
    }
    arguments.push_back(std::move(tensor));
  }
  return arguments;
}

}  // namespace bayloom::measure
