// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Heat in a plate, and how far it spreads: a five-point stencil and a reduction, in whole numbers,
// so that no flag changes the result.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { kSize = 256 };
static int32_t now[kSize][kSize], next[kSize][kSize];

static void Step(void) {
  for (int i = 1; i < kSize - 1; ++i) {
    for (int j = 1; j < kSize - 1; ++j) {
      const int32_t around = now[i - 1][j] + now[i + 1][j] + now[i][j - 1] + now[i][j + 1];
      next[i][j] = now[i][j] + (around - 4 * now[i][j]) / 8;
    }
  }
  memcpy(now, next, sizeof now);
}

static int64_t Spread(void) {
  int64_t sum = 0;
  for (int i = 0; i < kSize; ++i) {
    for (int j = 0; j < kSize; ++j) {
      if (now[i][j] > 16) sum += (int64_t)now[i][j] * (i * i + j * j);
    }
  }
  return sum;
}

int main(int count, char** arguments) {
  const int steps = count > 1 && strcmp(arguments[1], "small") == 0 ? 20 : 600;
  uint32_t state = 1;
  for (int i = 0; i < kSize; ++i) {
    for (int j = 0; j < kSize; ++j) {
      state = state * 1664525u + 1013904223u;
      now[i][j] = next[i][j] = state % 97 == 0 ? 1 << 20 : 0;
    }
  }
  int64_t spread = 0;
  for (int step = 0; step < steps; ++step) {
    Step();
    if (step % 10 == 0) spread ^= Spread();
  }
  printf("%lld\n", (long long)spread);
  return 0;
}
