// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// What matmul.cl must compute.
void naive(const float* a, const float* b, float* c) {
  for (int i = 0; i < SIZE; ++i) {
    for (int j = 0; j < SIZE; ++j) {
      double sum = 0;
      for (int k = 0; k < SIZE; ++k) sum += (double)a[i * SIZE + k] * b[k * SIZE + j];
      c[i * SIZE + j] = (float)sum;
    }
  }
}
