// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/output_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "bayloom/tensor/library_call.h"
#include "bayloom/tensor/primitives.h"
#include "bayloom/tensor/scalar.h"

namespace bayloom::measure {
namespace {

constexpr double kUnitsPerRootTerm = 16;
constexpr double kUnitsAlways = 64;
constexpr double kOutliers = 1e-3;

/// Distance from 1 to the next larger value.
double Epsilon(tensor::DType dtype) {
  switch (dtype) {
    case tensor::DType::kFloat16:
    case tensor::DType::kTFloat32:
      return 0x1p-10;
    case tensor::DType::kBFloat16:
      return 0x1p-7;
    case tensor::DType::kFloat32:
      return 0x1p-23;
    case tensor::DType::kFloat64:
      return 0x1p-52;
    default:
      return 0;
  }
}

/// Terms summed up, at most, on the way to any element.
double LongestSum(const tensor::Workload& workload) {
  std::vector<double> length(workload.buffers.size(), 0);
  double longest = 0;
  for (const tensor::Stage& stage : workload.stages) {
    double own = stage.reduction == tensor::Reduction::kNone ? 0 : 1;
    for (const tensor::Iter& iter : stage.iters) {
      if (iter.kind == tensor::IterKind::kReduction) own *= static_cast<double>(iter.extent);
    }
    if (const auto call = tensor::AsCall(stage.value)) own = tensor::LongestSum(*call);
    double before = 0;
    tensor::Visit(stage.value, [&](const tensor::Expr& e) {
      if (e->op == tensor::ExprOp::kLoad) before = std::max(before, length[e->index]);
    });
    length[stage.output] = before + own;
    longest = std::max(longest, length[stage.output]);
  }
  return longest;
}

/// True if a small change of a float can make a large change of a result.
bool HasSteps(const tensor::Workload& workload) {
  bool steps = false;
  for (const tensor::Stage& stage : workload.stages) {
    tensor::Visit(stage.value, [&](const tensor::Expr& e) {
      if (e->operands.empty() || !tensor::IsFloat(e->operands[0]->dtype)) return;
      const bool compares = e->op >= tensor::ExprOp::kLess && e->op <= tensor::ExprOp::kEqual;
      const bool rounds = e->op == tensor::ExprOp::kFloor || e->op == tensor::ExprOp::kCeil ||
                          e->op == tensor::ExprOp::kRound || e->op == tensor::ExprOp::kSign ||
                          e->op == tensor::ExprOp::kMod;
      steps |= compares || rounds || (e->op == tensor::ExprOp::kCast && !tensor::IsFloat(e->dtype));
    });
  }
  return steps;
}

bool IsPoison(const std::byte* at, int bytes) {
  return std::all_of(at, at + bytes, [](std::byte b) { return b == kPoison; });
}

/// An element as text.
std::string TextOf(tensor::DType dtype, const std::byte* at) {
  if (dtype == tensor::DType::kFloat32) {
    return fmt::format("{}", static_cast<float>(tensor::LoadFloat(dtype, at)));
  }
  return tensor::IsFloat(dtype) ? fmt::format("{}", tensor::LoadFloat(dtype, at))
                                : fmt::format("{}", tensor::LoadInt(dtype, at));
}

/// Elements that differ and still have what was there before the run.
int64_t CountUnwritten(const std::byte* actual, const std::byte* expected, int bytes,
                       int64_t count) {
  int64_t unwritten = 0;
  for (int64_t i = 0; i < count; ++i) {
    const std::byte* at = actual + i * bytes;
    unwritten += IsPoison(at, bytes) && !std::equal(at, at + bytes, expected + i * bytes);
  }
  return unwritten;
}

/// The least normal number of the widest-ranged type there is.
double LeastNormal(tensor::DType dtype) {
  switch (dtype) {
    case tensor::DType::kFloat16:
      return 0x1p-24;  // its subnormal numbers are computed with; this is the least of them
    case tensor::DType::kBFloat16:
    case tensor::DType::kFloat32:
    case tensor::DType::kTFloat32:
      return 0x1p-126;
    case tensor::DType::kFloat64:
      return 0x1p-1022;
    default:
      return 0;
  }
}

}  // namespace

Tolerance ToleranceOf(const tensor::Workload& workload) {
  double epsilon = 0;
  Tolerance tolerance;
  tolerance.of_tensor = true;
  for (const tensor::Buffer& buffer : workload.buffers) {
    epsilon = std::max(epsilon, Epsilon(buffer.dtype));
    tolerance.absolute = std::max(tolerance.absolute, LeastNormal(buffer.dtype));
  }
  tolerance.relative =
      epsilon * (kUnitsAlways + kUnitsPerRootTerm * std::sqrt(LongestSum(workload)));
  tolerance.outliers = HasSteps(workload) ? kOutliers : 0;
  tolerance.of_largest = tensor::DerivationError(workload);
  return tolerance;
}

Status CheckOutput(const std::string& name, tensor::DType dtype, const std::byte* actual,
                   const std::byte* expected, int64_t count, const Tolerance& tolerance) {
  const tensor::Comparison found = tensor::Compare(dtype, actual, expected, count, tolerance);
  if (found.IsWithin(tolerance)) return Ok();
  const int bytes = tensor::ByteSize(dtype);
  const std::byte* at = actual + found.first_wrong * bytes;
  const std::string what = IsPoison(at, bytes) && tensor::IsFloat(dtype)
                               ? "was never written"
                               : fmt::format("is {}, expected {}", TextOf(dtype, at),
                                             TextOf(dtype, expected + found.first_wrong * bytes));
  return Error{fmt::format("element {} of '{}' {} ({} of {} elements differ, {} of them unwritten)",
                           found.first_wrong, name, what, found.wrong, count,
                           CountUnwritten(actual, expected, bytes, count))};
}

}  // namespace bayloom::measure
