// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <bit>
#include <cstdint>

namespace bayloom::mapspace {

/// Numbers in the order of values, equal for values that differ by rounding only (by less than
/// 1e-11 of them). Infinity is the greatest; not for NaN.
inline int64_t RoundedRank(double value) {
  constexpr int kDropped = 16;  // of the 52 bits behind the first
  if (value < 0) return -RoundedRank(-value);
  return (std::bit_cast<int64_t>(value) + (int64_t{1} << (kDropped - 1))) >> kDropped;
}

}  // namespace bayloom::mapspace
