// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/heap_bytes.h"

#include <malloc.h>

#include <cstddef>

/// jemalloc's, where the program is linked to it.
extern "C" __attribute__((weak)) int mallctl(const char* name, void* old, size_t* old_size,
                                             void* replacement, size_t size);

namespace bayloom::measure {

int64_t HeapBytes() {
  if (mallctl != nullptr) {
    // Its statistics are those of when the epoch was last advanced.
    uint64_t epoch = 1;
    mallctl("epoch", nullptr, nullptr, &epoch, sizeof(epoch));
    size_t bytes = 0;
    size_t size = sizeof(bytes);
    if (mallctl("stats.allocated", &bytes, &size, nullptr, 0) == 0) {
      return static_cast<int64_t>(bytes);
    }
  }
  const struct mallinfo2 info = mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd);
}

}  // namespace bayloom::measure
