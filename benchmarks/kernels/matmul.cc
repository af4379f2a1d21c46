// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// c = a * b, n x n; returns milliseconds. Tuned: tile_i, tile_j, tile_k, rows, nthreads.
#include <omp.h>

#include <algorithm>

extern "C" float matmul(float* c, const float* a, const float* b, int n) {
  const double start = omp_get_wtime();
#pragma omp parallel for num_threads(nthreads)
  for (int i0 = 0; i0 < n; i0 += tile_i) {
    std::fill(c + i0 * n, c + std::min(i0 + tile_i, n) * n, 0.0f);
    for (int k0 = 0; k0 < n; k0 += tile_k) {
      for (int j0 = 0; j0 < n; j0 += tile_j) {
        for (int i = i0; i < std::min(i0 + tile_i, n); i += rows) {
          for (int k = k0; k < std::min(k0 + tile_k, n); ++k) {
            for (int r = 0; r < rows; ++r) {
              const float x = a[(i + r) * n + k];
              float* __restrict__ to = c + (i + r) * n;
              for (int j = j0; j < std::min(j0 + tile_j, n); ++j) to[j] += x * b[k * n + j];
            }
          }
        }
      }
    }
  }
  return (float)((omp_get_wtime() - start) * 1e3);
}
