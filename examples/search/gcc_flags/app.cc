// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// A blocked matrix product that times itself, to be compiled with the flags and the block size that
// a search chooses. Prints the milliseconds of the fastest of several runs.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

constexpr int kSize = 192;

static void Multiply(const std::vector<float>& a, const std::vector<float>& b,
                     std::vector<float>& c) {
  std::fill(c.begin(), c.end(), 0.0f);
  for (int ii = 0; ii < kSize; ii += BLOCK) {
    for (int kk = 0; kk < kSize; kk += BLOCK) {
      for (int i = ii; i < std::min(ii + BLOCK, kSize); ++i) {
        for (int k = kk; k < std::min(kk + BLOCK, kSize); ++k) {
          for (int j = 0; j < kSize; ++j) {
            c[i * kSize + j] += a[i * kSize + k] * b[k * kSize + j];
          }
        }
      }
    }
  }
}

int main() {
  std::vector<float> a(kSize * kSize, 1.5f);
  std::vector<float> b(kSize * kSize, 0.5f);
  std::vector<float> c(kSize * kSize);
  double best = 1e9;
  for (int run = 0; run < 7; ++run) {
    const auto begun = std::chrono::steady_clock::now();
    Multiply(a, b, c);
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - begun;
    best = std::min(best, taken.count());
  }
  if (c.front() != 0.75f * kSize || c.back() != 0.75f * kSize) return 1;
  std::printf("%g\n", best);
}
