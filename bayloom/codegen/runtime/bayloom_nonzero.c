// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <string.h>

#include "bayloom_elements.h"
#include "bayloom_kernels.h"

static int64_t Within(int64_t length, int64_t most) {
  return length < 0 ? 0 : length > most ? most : length;
}

void bayloom_nonzero(void* const* tensors, const int64_t* numbers, void* workspace) {
  (void)workspace;
  const uint8_t* const x = tensors[0];
  const int64_t length = Within(*(const int64_t*)tensors[1], numbers[1]), capacity = numbers[2];
  int64_t* const places = (int64_t*)tensors[2] + 1;
  int64_t count = 0, i = 0;
  for (; i + 8 <= length; i += 8) {
    uint64_t eight;
    memcpy(&eight, x + i, sizeof(eight));
    if (eight == 0) continue;
    for (int64_t k = i; k < i + 8; ++k) {
      if (x[k] == 0) continue;
      if (count < capacity) places[count] = k;
      ++count;
    }
  }
  for (; i < length; ++i) {
    if (x[i] == 0) continue;
    if (count < capacity) places[count] = i;
    ++count;
  }
  places[-1] = count;
}
