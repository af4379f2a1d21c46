// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// c = a * b for square matrices of SIZE. A work group of WGX x WGY items computes a tile of
// (WGY * TY) x (WGX * TX); LOCAL says whether TK columns and rows at a time are first brought to
// local memory.
__kernel __attribute__((reqd_work_group_size(WGX, WGY, 1))) void matmul(__global const float* a,
                                                                        __global const float* b,
                                                                        __global float* c) {
  const int x = get_local_id(0);
  const int y = get_local_id(1);
  const int row0 = get_group_id(1) * WGY * TY;
  const int column0 = get_group_id(0) * WGX * TX;
  float sum[TY][TX];
  for (int i = 0; i < TY; ++i) {
    for (int j = 0; j < TX; ++j) sum[i][j] = 0;
  }
#if LOCAL
  __local float rows[WGY * TY][TK];
  __local float columns[TK][WGX * TX];
  for (int k0 = 0; k0 < SIZE; k0 += TK) {
    for (int i = y * WGX + x; i < WGY * TY * TK; i += WGX * WGY) {
      rows[i / TK][i % TK] = a[(row0 + i / TK) * SIZE + k0 + i % TK];
    }
    for (int i = y * WGX + x; i < TK * WGX * TX; i += WGX * WGY) {
      columns[i / (WGX * TX)][i % (WGX * TX)] =
          b[(k0 + i / (WGX * TX)) * SIZE + column0 + i % (WGX * TX)];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < TK; ++k) {
      for (int i = 0; i < TY; ++i) {
        for (int j = 0; j < TX; ++j) sum[i][j] += rows[y * TY + i][k] * columns[k][j * WGX + x];
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
#else
  for (int k = 0; k < SIZE; ++k) {
    for (int i = 0; i < TY; ++i) {
      for (int j = 0; j < TX; ++j) {
        sum[i][j] += a[(row0 + y * TY + i) * SIZE + k] * b[k * SIZE + column0 + j * WGX + x];
      }
    }
  }
#endif
  for (int i = 0; i < TY; ++i) {
    for (int j = 0; j < TX; ++j) {
      c[(row0 + y * TY + i) * SIZE + column0 + j * WGX + x] = sum[i][j];
    }
  }
}
