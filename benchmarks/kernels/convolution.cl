// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// A convolution with a filter of 7 x 7. Each item computes tile_size_x x tile_size_y results. Tuned
// beside: use_local (the filter is brought to local memory), unroll.
#define RADIUS 3
#define EDGE (2 * RADIUS + 1)

__kernel void convolution(__global float* out, __global const float* image,
                          __constant const float* filter, int width, int height) {
  const int x0 = get_group_id(0) * block_size_x * tile_size_x + get_local_id(0);
  const int y0 = get_group_id(1) * block_size_y * tile_size_y + get_local_id(1);
#if use_local
  __local float weights[EDGE * EDGE];
  for (int i = get_local_id(1) * block_size_x + get_local_id(0); i < EDGE * EDGE;
       i += block_size_x * block_size_y) {
    weights[i] = filter[i];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#else
#define weights filter
#endif
  for (int ty = 0; ty < tile_size_y; ++ty) {
    for (int tx = 0; tx < tile_size_x; ++tx) {
      const int x = x0 + tx * block_size_x;
      const int y = y0 + ty * block_size_y;
      if (x >= width || y >= height) continue;
      float sum = 0;
      for (int dy = 0; dy < EDGE; ++dy) {
#if unroll
#pragma unroll
#endif
        for (int dx = 0; dx < EDGE; ++dx) {
          sum += weights[dy * EDGE + dx] * image[(y + dy) * (width + 2 * RADIUS) + x + dx];
        }
      }
      out[y * width + x] = sum;
    }
  }
}
