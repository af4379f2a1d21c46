#include "bayloom/measure/test_data.h"

#include <algorithm>
#include <limits>

#include "bayloom/base/random.h"
#include "bayloom/tensor/scalar.h"

namespace bayloom {
namespace {

constexpr int64_t kUnbounded = std::numeric_limits<int64_t>::max();

struct Interval64 {
  int64_t low, high;  ///< inclusive
};

/// Per buffer: the smallest dimension that its elements index, kUnbounded if none. Walks from
/// the last stage to the first, so that what holds for a stage's result holds for the integers
/// that it is made of.
std::vector<int64_t> IndexBounds(const Workload& workload) {
  std::vector<int64_t> bounds(workload.buffers.size(), kUnbounded);
  const auto bound_loads = [&](const Expr& e, int64_t bound) {
    Visit(e, [&](const Expr& inner) {
      if (inner->op == ExprOp::kLoad) {
        bounds[inner->index] = std::min(bounds[inner->index], bound);
      }
    });
  };
  for (auto stage = workload.stages.rbegin(); stage != workload.stages.rend(); ++stage) {
    const int64_t own = bounds[stage->output];
    if (own != kUnbounded) bound_loads(stage->value, own);
    Visit(stage->value, [&](const Expr& e) {
      if (e->op != ExprOp::kLoad) return;
      for (size_t d = 0; d < e->operands.size(); ++d) {
        bound_loads(e->operands[d], workload.buffers[e->index].shape[d]);
      }
    });
  }
  return bounds;
}

/// True if some division or remainder of integers has a loaded divisor: no zeros then.
bool DividesIntegers(const Workload& workload) {
  bool divides = false;
  for (const Stage& stage : workload.stages) {
    Visit(stage.value, [&](const Expr& e) {
      const bool division = e->op == ExprOp::kDiv || e->op == ExprOp::kMod ||
                            e->op == ExprOp::kFloorDiv || e->op == ExprOp::kFloorMod;
      if (!division || !IsInteger(e->dtype)) return;
      Visit(e->operands[1], [&](const Expr& x) { divides |= x->op == ExprOp::kLoad; });
    });
  }
  return divides;
}

void FillFloats(HostTensor& tensor, RandomStream& random, DataRange range) {
  const double low = range == DataRange::kSymmetric  ? -1
                     : range == DataRange::kPositive ? 0.1
                                                     : 1.1;
  const double width = (range == DataRange::kAboveOne ? 2 : 1) - low;
  const int64_t count = tensor.ElementCount();
  const int bytes = ByteSize(tensor.dtype);
  for (int64_t i = 0; i < count; ++i) {
    StoreFloat(tensor.dtype, &tensor.data[i * bytes], low + width * random.Uniform());
  }
}

void FillIntegers(HostTensor& tensor, RandomStream& random, Interval64 range) {
  const int64_t count = tensor.ElementCount();
  const int bytes = ByteSize(tensor.dtype);
  for (int64_t i = 0; i < count; ++i) {
    StoreInt(tensor.dtype, &tensor.data[i * bytes],
             range.low + random.UniformInt(range.high - range.low + 1));
  }
}

}  // namespace

std::vector<HostTensor> MakeArguments(const Workload& workload, uint64_t seed, DataRange range) {
  const std::vector<int64_t> bounds = IndexBounds(workload);
  const bool divides = DividesIntegers(workload);
  RandomStream random(seed);
  std::vector<HostTensor> arguments;
  for (BufferId id : workload.Parameters()) {
    const Buffer& buffer = workload.buffers[id];
    HostTensor tensor = HostTensor::Zeros(buffer.dtype, buffer.shape);
    RandomStream stream = random.Fork();
    if (buffer.role == BufferRole::kOutput) {
      // Stays zero.
    } else if (IsFloat(buffer.dtype)) {
      FillFloats(tensor, stream, range);
    } else if (buffer.dtype == DType::kBool) {
      FillIntegers(tensor, stream, {0, 1});
    } else if (bounds[id] != kUnbounded) {
      // 127: what every integer type can hold
      FillIntegers(tensor, stream, {0, std::min<int64_t>(bounds[id], 127) - 1});
    } else if (divides || IsUnsigned(buffer.dtype)) {
      FillIntegers(tensor, stream, {divides ? 1 : 0, 8});
    } else {
      FillIntegers(tensor, stream, {-8, 8});
    }
    arguments.push_back(std::move(tensor));
  }
  return arguments;
}

}  // namespace bayloom
