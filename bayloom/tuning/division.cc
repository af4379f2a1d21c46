// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/division.h"

#include <fmt/format.h>

#include "bayloom/base/single_line.h"

namespace bayloom::tuning {
namespace {

/// The part of the caches that what lies between has to exceed. MobileNet-v2's pairs gained above
/// it only (docs/studies/2026-11-arithmetic.md).
constexpr double kPartOfCaches = 0.5;

}  // namespace

Result<Divisions> ParseDivisions(const std::string& text) {
  if (text == "all") return Divisions::kAll;
  if (text == "none") return Divisions::kNone;
  return Error{fmt::format("'{}' is neither all nor none", base::SingleLine(text))};
}

std::string ToString(Divisions divisions) { return divisions == Divisions::kAll ? "all" : "none"; }

bool MayPay(int64_t bytes_between, Divisions divisions, const target::Target& target) {
  if (divisions == Divisions::kNone || target.kind() == target::TargetKind::kNvidiaGpu)
    return false;
  const double caches = static_cast<double>(target.l2_bytes) * target.cores;
  return static_cast<double>(bytes_between) > kPartOfCaches * caches;
}

}  // namespace bayloom::tuning
