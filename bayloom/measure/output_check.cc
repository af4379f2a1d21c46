// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/output_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "bayloom/tensor/library_call.h"
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

template <typename Load>
double RootMeanSquare(const Load& load, const std::byte* data, int bytes, int64_t count) {
  double sum = 0;
  int64_t finite = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double value = load(data + i * bytes);
    if (!std::isfinite(value)) continue;
    sum += value * value;
    ++finite;
  }
  return finite == 0 ? 0 : std::sqrt(sum / static_cast<double>(finite));
}

bool IsPoison(const std::byte* at, int bytes) {
  return std::all_of(at, at + bytes, [](std::byte b) { return b == kPoison; });
}

/// `load` gives an element as a number.
template <typename Load>
Status Compare(const std::string& name, const Load& load, bool is_float, int bytes,
               const std::byte* actual, const std::byte* expected, int64_t count,
               const Tolerance& tolerance) {
  const double typical = is_float ? RootMeanSquare(load, expected, bytes, count) : 0;
  int64_t wrong = 0, unwritten = 0, first = -1;
  for (int64_t i = 0; i < count; ++i) {
    const auto a = load(actual + i * bytes);
    const auto e = load(expected + i * bytes);
    if (a == e || (a != a && e != e)) continue;
    const double scale = std::max(std::abs(static_cast<double>(e)), typical);
    const double difference = std::abs(static_cast<double>(a) - static_cast<double>(e));
    if (is_float && std::isfinite(scale) && difference <= tolerance.relative * scale) continue;
    if (first < 0) first = i;
    ++wrong;
    unwritten += IsPoison(actual + i * bytes, bytes);
  }
  if (static_cast<double>(wrong) <= tolerance.outliers * static_cast<double>(count)) {
    return Ok();
  }
  const std::string what = IsPoison(actual + first * bytes, bytes) && is_float
                               ? "was never written"
                               : fmt::format("is {}, expected {}", load(actual + first * bytes),
                                             load(expected + first * bytes));
  return Error{fmt::format("element {} of '{}' {} ({} of {} elements differ, {} of them unwritten)",
                           first, name, what, wrong, count, unwritten)};
}

}  // namespace

Tolerance ToleranceOf(const tensor::Workload& workload) {
  double epsilon = 0;
  for (const tensor::Buffer& buffer : workload.buffers) {
    epsilon = std::max(epsilon, Epsilon(buffer.dtype));
  }
  Tolerance tolerance;
  tolerance.relative =
      epsilon * (kUnitsAlways + kUnitsPerRootTerm * std::sqrt(LongestSum(workload)));
  tolerance.outliers = HasSteps(workload) ? kOutliers : 0;
  return tolerance;
}

Status CheckOutput(const std::string& name, tensor::DType dtype, const std::byte* actual,
                   const std::byte* expected, int64_t count, const Tolerance& tolerance) {
  const int bytes = tensor::ByteSize(dtype);
  const auto compare = [&](const auto& load) {
    return Compare(name, load, tensor::IsFloat(dtype), bytes, actual, expected, count, tolerance);
  };
  if (dtype == tensor::DType::kFloat32) {
    return compare([](const std::byte* at) {
      float value;
      std::memcpy(&value, at, sizeof(value));
      return value;
    });
  }
  if (tensor::IsFloat(dtype))
    return compare([=](const std::byte* at) { return tensor::LoadFloat(dtype, at); });
  return compare([=](const std::byte* at) { return tensor::LoadInt(dtype, at); });
}

}  // namespace bayloom::measure
