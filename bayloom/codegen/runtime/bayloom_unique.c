// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom_elements.h"
#include "bayloom_kernels.h"

/* The slices x[.., n, ..] of a tensor x[outer, n, inner]. */
typedef struct {
  const void* x;
  int64_t outer, n, inner;
} Slices;

/* Less than, equal to or greater than 0 as slice a comes before b. NaN comes last. */
typedef int (*CompareFunction)(const Slices* slices, int64_t a, int64_t b);
#define ORDER_Integer(a, b) ((a) < (b) ? -1 : (a) > (b))
#define ORDER_Real(a, b) \
  ((a) != (a) || (b) != (b) ? ((a) != (a)) - ((b) != (b)) : ORDER_Integer(a, b))
#define DEFINE_COMPARE(NAME, CODE, T, W, KIND, ACCESS)                       \
  static int Compare##NAME(const Slices* slices, int64_t a, int64_t b) {     \
    const T* const x = slices->x;                                            \
    for (int64_t o = 0; o < slices->outer; ++o) {                            \
      const T* const line = x + o * slices->n * slices->inner;               \
      for (int64_t i = 0; i < slices->inner; ++i) {                          \
        const W first = BAYLOOM_READ_##ACCESS(line[a * slices->inner + i]);  \
        const W second = BAYLOOM_READ_##ACCESS(line[b * slices->inner + i]); \
        const int order = ORDER_##KIND(first, second);                       \
        if (order != 0) return order;                                        \
      }                                                                      \
    }                                                                        \
    return 0;                                                                \
  }
BAYLOOM_FOR_EACH_NUMBER(DEFINE_COMPARE)

static CompareFunction CompareOf(int64_t type) {
  switch (type) {
#define COMPARE_CASE(NAME, CODE, T, W, KIND, ACCESS) \
  case CODE:                                         \
    return Compare##NAME;
    BAYLOOM_FOR_EACH_NUMBER(COMPARE_CASE)
    default:
      return CompareUInt8; /* bool */
  }
}

/* Merges runs of so many slices into runs of twice as many; earlier ones first among equal ones. */
static void MergeRuns(const Slices* slices, CompareFunction compare, int64_t count, int64_t run,
                      const int64_t* from, int64_t* to) {
  for (int64_t begin = 0; begin < count; begin += 2 * run) {
    const int64_t middle = begin + run < count ? begin + run : count;
    const int64_t end = middle + run < count ? middle + run : count;
    int64_t a = begin, b = middle;
    for (int64_t k = begin; k < end; ++k) {
      const int takes_b = a == middle || (b < end && compare(slices, from[b], from[a]) < 0);
      to[k] = from[takes_b ? b++ : a++];
    }
  }
}

/* The slices in their order; one of the two arrays. */
static int64_t* Sort(const Slices* slices, CompareFunction compare, int64_t count, int64_t* order,
                     int64_t* other) {
  for (int64_t i = 0; i < count; ++i) order[i] = i;
  for (int64_t run = 1; run < count; run *= 2) {
    MergeRuns(slices, compare, count, run, order, other);
    int64_t* const merged = other;
    other = order;
    order = merged;
  }
  return order;
}

bayloom_kernel_memory bayloom_unique_memory(const int64_t* numbers) {
  return (bayloom_kernel_memory){2 * numbers[2] * (int64_t)sizeof(int64_t), 0};
}

enum { kFirst, kCount, kOwn, kColumns };

/* Numbers the unique slices in the order of their first ones. */
static void OrderByFirst(int64_t (*rows)[kColumns], int64_t length, int64_t count, int64_t* number,
                         int64_t* kept) {
  for (int64_t i = 0; i < length; ++i) number[i] = -1;
  for (int64_t u = 0; u < count; ++u) {
    number[rows[u][kFirst]] = u;
    kept[u] = rows[u][kCount];
  }
  int64_t next = 0;
  for (int64_t i = 0; i < length; ++i) { /* those before i have their new numbers */
    if (number[i] < 0) continue;
    rows[next][kFirst] = i;
    rows[next][kCount] = kept[number[i]];
    number[i] = next++;
  }
}

void bayloom_unique(void* const* tensors, const int64_t* numbers, void* workspace) {
  const Slices slices = {tensors[0], numbers[1], numbers[2], numbers[3]};
  const CompareFunction compare = CompareOf(numbers[0]);
  int64_t length = *(const int64_t*)tensors[1];
  length = length < 0 ? 0 : length > slices.n ? slices.n : length;
  int64_t* const order = Sort(&slices, compare, length, workspace, (int64_t*)workspace + slices.n);
  int64_t* const result = tensors[2];
  int64_t(*const rows)[kColumns] = (int64_t(*)[kColumns])(void*)(result + kColumns);
  int64_t count = 0;
  for (int64_t i = 0; i < length; ++i) {
    if (i == 0 || compare(&slices, order[i - 1], order[i]) != 0) {
      rows[count][kFirst] = order[i];
      rows[count++][kCount] = 0;
    }
    rows[order[i]][kOwn] = rows[count - 1][kFirst];
    ++rows[count - 1][kCount];
  }
  int64_t* const number = workspace; /* of the unique slice that begins at a slice */
  if (numbers[4] == 0) {
    OrderByFirst(rows, length, count, number, number + slices.n);
  } else {
    for (int64_t u = 0; u < count; ++u) number[rows[u][kFirst]] = u;
  }
  for (int64_t i = 0; i < length; ++i) rows[i][kOwn] = number[rows[i][kOwn]];
  result[0] = count;
  result[1] = result[2] = 0;
}
