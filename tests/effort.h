// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdlib>

namespace bayloom::testing {

/// How often tests of random programs are to go through their draws: BAYLOOM_FUZZ=n makes them n
/// times as long.
inline int Effort() {
  const char* text = std::getenv("BAYLOOM_FUZZ");
  return text == nullptr ? 1 : std::max(1, std::atoi(text));
}

}  // namespace bayloom::testing
