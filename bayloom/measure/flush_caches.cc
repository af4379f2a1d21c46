// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/flush_caches.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bayloom::measure {

void FlushCaches() {
  static std::vector<char> rubbish = [] {
    const int64_t cache = std::max<int64_t>(sysconf(_SC_LEVEL3_CACHE_SIZE), 32 << 20);
    return std::vector<char>(static_cast<size_t>(2 * cache));
  }();
  for (size_t i = 0; i < rubbish.size(); i += 64) ++rubbish[i];
}

}  // namespace bayloom::measure
