// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace bayloom::mapspace {

/// A mean rounded up, but for what is only rounding; the largest count for what exceeds it.
inline int64_t RoundedUp(double count) {
  constexpr double kLargest = 0x1p62;
  return static_cast<int64_t>(std::ceil(std::min(count - 1e-9 * std::max(1.0, count), kLargest)));
}

}  // namespace bayloom::mapspace
