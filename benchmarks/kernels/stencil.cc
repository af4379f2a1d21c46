// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Four steps of a stencil of nine points on n x n; returns milliseconds. Tuned: block_i, block_j,
// width (elements of a vector), nthreads.
#include <omp.h>

#include <algorithm>
#include <utility>

extern "C" float stencil(float* y, const float* x, float* scratch, int n) {
  const double start = omp_get_wtime();
  const float* from = x;
  float* to = scratch;
  for (int step = 0; step < 4; ++step) {
#pragma omp parallel for num_threads(nthreads) collapse(2)
    for (int i0 = 1; i0 < n - 1; i0 += block_i) {
      for (int j0 = 1; j0 < n - 1; j0 += block_j) {
        for (int i = i0; i < std::min(i0 + block_i, n - 1); ++i) {
#pragma omp simd simdlen(width)
          for (int j = j0; j < std::min(j0 + block_j, n - 1); ++j) {
            float sum = 0;
            for (int di = -1; di <= 1; ++di) {
              for (int dj = -1; dj <= 1; ++dj) sum += from[(i + di) * n + j + dj];
            }
            to[i * n + j] = sum * (1.0f / 9);
          }
        }
      }
    }
    from = to;
    to = to == scratch ? y : scratch;
  }
  return (float)((omp_get_wtime() - start) * 1e3);
}
