// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// y = transposed x, n x n; returns milliseconds. Tuned: block_i, block_j, inner, buffered,
// nthreads.
#include <omp.h>

#include <algorithm>

extern "C" float transpose(float* y, const float* x, int n) {
  const double start = omp_get_wtime();
#pragma omp parallel for num_threads(nthreads) collapse(2)
  for (int i0 = 0; i0 < n; i0 += block_i) {
    for (int j0 = 0; j0 < n; j0 += block_j) {
      for (int i1 = i0; i1 < std::min(i0 + block_i, n); i1 += inner) {
        for (int j1 = j0; j1 < std::min(j0 + block_j, n); j1 += inner) {
          const int rows = std::min(inner, n - i1);
          const int columns = std::min(inner, n - j1);
          if (buffered) {
            float tile[inner][inner];
            for (int i = 0; i < rows; ++i) {
              for (int j = 0; j < columns; ++j) tile[j][i] = x[(i1 + i) * n + j1 + j];
            }
            for (int j = 0; j < columns; ++j) {
              for (int i = 0; i < rows; ++i) y[(j1 + j) * n + i1 + i] = tile[j][i];
            }
          } else {
            for (int i = 0; i < rows; ++i) {
              for (int j = 0; j < columns; ++j) {
                y[(j1 + j) * n + i1 + i] = x[(i1 + i) * n + j1 + j];
              }
            }
          }
        }
      }
    }
  }
  return (float)((omp_get_wtime() - start) * 1e3);
}
