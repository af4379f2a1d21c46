// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <stddef.h>

#include "bayloom_kernels.h"

/* A box that may be selected. */
typedef struct {
  float score;
  int32_t box;
} Candidate;

typedef struct {
  float low_y, low_x, high_y, high_x;
} Box;

/* Whether a is selected before b: by falling scores, then by their positions. */
static int Before(const Candidate* a, const Candidate* b) {
  return a->score > b->score || (a->score == b->score && a->box < b->box);
}

static void SiftDown(Candidate* heap, int64_t from, int64_t count) {
  const Candidate moved = heap[from];
  for (int64_t child; (child = 2 * from + 1) < count; from = child) {
    if (child + 1 < count && Before(&heap[child + 1], &heap[child])) ++child;
    if (!Before(&heap[child], &moved)) break;
    heap[from] = heap[child];
  }
  heap[from] = moved;
}

/* Two corners in any order, or a center and extents. */
static Box BoxAt(const float* v, int64_t centered) {
  if (centered != 0) { /* x, y, width, height */
    return (Box){v[1] - v[3] / 2, v[0] - v[2] / 2, v[1] + v[3] / 2, v[0] + v[2] / 2};
  }
  return (Box){v[0] < v[2] ? v[0] : v[2], v[1] < v[3] ? v[1] : v[3], v[0] < v[2] ? v[2] : v[0],
               v[1] < v[3] ? v[3] : v[1]};
}

/* Whether the boxes' intersection over their union exceeds the threshold. */
static int Overlap(const Box* a, const Box* b, float threshold) {
  const float low_x = a->low_x > b->low_x ? a->low_x : b->low_x;
  const float high_x = a->high_x < b->high_x ? a->high_x : b->high_x;
  const float low_y = a->low_y > b->low_y ? a->low_y : b->low_y;
  const float high_y = a->high_y < b->high_y ? a->high_y : b->high_y;
  if (!(high_x > low_x) || !(high_y > low_y)) return 0;
  const float shared = (high_x - low_x) * (high_y - low_y);
  const float first = (a->high_x - a->low_x) * (a->high_y - a->low_y);
  const float second = (b->high_x - b->low_x) * (b->high_y - b->low_y);
  const float all = first + second - shared;
  return first > 0 && second > 0 && all > 0 && shared / all > threshold;
}

bayloom_kernel_memory bayloom_nms_memory(const int64_t* numbers) {
  return (bayloom_kernel_memory){numbers[3] * (int64_t)(sizeof(Candidate) + sizeof(Box)), 0};
}

static int64_t Within(int64_t length, int64_t most) {
  return length < 0 ? 0 : length > most ? most : length;
}

void bayloom_nms(void* const* tensors, const int64_t* numbers, void* workspace) {
  const float *const boxes = tensors[0], *const scores = tensors[1];
  const int64_t* const limits = tensors[2];
  const float* const thresholds = tensors[3];
  const int64_t classes = numbers[2], n = numbers[3], centered = numbers[4], capacity = numbers[5];
  const int64_t batches_there = Within(limits[0], numbers[1]);
  const int64_t classes_there = Within(limits[1], classes), there = Within(limits[2], n);
  int64_t* const result = tensors[4];
  Candidate* const heap = workspace;
  Box* const taken = (Box*)(void*)(heap + n);
  int64_t count = 0;
  for (int64_t batch = 0; batch < batches_there; ++batch) {
    for (int64_t class = 0; class < classes_there; ++class) {
      const float* const own = scores + (batch * classes + class) * n;
      int64_t left = 0, selected = 0;
      for (int64_t i = 0; i < there; ++i) {
        if (own[i] > thresholds[1]) heap[left++] = (Candidate){own[i], (int32_t)i};
      }
      for (int64_t i = left / 2; i-- > 0;) SiftDown(heap, i, left);
      while (left > 0 && selected < limits[3]) {
        const Candidate best = heap[0];
        heap[0] = heap[--left];
        SiftDown(heap, 0, left);
        const Box box = BoxAt(boxes + (batch * n + best.box) * 4, centered);
        int64_t other = 0;
        while (other < selected && !Overlap(&box, &taken[other], thresholds[0])) ++other;
        if (other < selected) continue;
        taken[selected++] = box;
        if (count < capacity) {
          int64_t* const row = result + 3 * (count + 1);
          row[0] = batch;
          row[1] = class;
          row[2] = best.box;
        }
        ++count;
      }
    }
  }
  result[0] = count;
  result[1] = result[2] = 0;
}
