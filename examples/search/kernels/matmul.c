// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// c = a * b for square matrices, tile by tile. What is tuned are macros: tile_i, tile_j, tile_k.
#define MIN(a, b) ((a) < (b) ? (a) : (b))

void matmul(const float* restrict a, const float* restrict b, float* restrict c, int n) {
#pragma omp parallel for
  for (int i0 = 0; i0 < n; i0 += tile_i) {
    const int i1 = MIN(i0 + tile_i, n);
    for (int e = i0 * n; e < i1 * n; ++e) c[e] = 0;
    for (int k0 = 0; k0 < n; k0 += tile_k) {
      for (int j0 = 0; j0 < n; j0 += tile_j) {
        const int k1 = MIN(k0 + tile_k, n);
        const int j1 = MIN(j0 + tile_j, n);
        for (int i = i0; i < i1; ++i) {
          for (int k = k0; k < k1; ++k) {
            for (int j = j0; j < j1; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
          }
        }
      }
    }
  }
}

// What it must compute.
void naive(const float* a, const float* b, float* c, int n) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int k = 0; k < n; ++k) sum += (double)a[i * n + k] * b[k * n + j];
      c[i * n + j] = (float)sum;
    }
  }
}
