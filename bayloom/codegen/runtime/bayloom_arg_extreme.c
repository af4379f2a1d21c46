// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom_elements.h"
#include "bayloom_kernels.h"
#include "bayloom_runtime.h"

/* Elements whose extreme is computed at a time, and columns that are gone through together. */
enum { kBlock = 1024, kLanes = 16, kColumns = 64 };

typedef struct {
  const void* x;
  int64_t* result;
  int64_t n, inner, chunks; /* of columns */
  int largest, last;
} ArgExtreme;

/* Whether `a` is more extreme than `b`; NaN is, than all numbers. */
#define BEATS_Integer(largest, a, b) ((largest) ? (a) > (b) : (a) < (b))
#define BEATS_Real(largest, a, b) \
  (((largest) ? (a) > (b) : (a) < (b)) || ((a) != (a) && (b) == (b)))
#define EQUAL_Integer(a, b) ((a) == (b))
#define EQUAL_Real(a, b) ((a) == (b) || ((a) != (a) && (b) != (b)))

/* A row: the extreme of every block in lanes that do not wait for each other, then the place within
 * the block that has it. Columns side by side: one running extreme each. */
#define DEFINE_ARG_EXTREME(NAME, CODE, T, W, KIND, ACCESS)                                       \
  static W BlockExtreme##NAME(const T* x, int64_t count, int largest) {                          \
    W lanes[kLanes];                                                                             \
    for (int l = 0; l < kLanes; ++l) lanes[l] = (W)BAYLOOM_READ_##ACCESS(x[l % count]);          \
    int64_t i = 0;                                                                               \
    for (; i + kLanes <= count; i += kLanes) {                                                   \
      for (int l = 0; l < kLanes; ++l) {                                                         \
        const W value = (W)BAYLOOM_READ_##ACCESS(x[i + l]);                                      \
        lanes[l] = BEATS_##KIND(largest, value, lanes[l]) ? value : lanes[l];                    \
      }                                                                                          \
    }                                                                                            \
    for (; i < count; ++i) {                                                                     \
      const W value = (W)BAYLOOM_READ_##ACCESS(x[i]);                                            \
      if (BEATS_##KIND(largest, value, lanes[0])) lanes[0] = value;                              \
    }                                                                                            \
    for (int l = 1; l < kLanes; ++l) {                                                           \
      if (BEATS_##KIND(largest, lanes[l], lanes[0])) lanes[0] = lanes[l];                        \
    }                                                                                            \
    return lanes[0];                                                                             \
  }                                                                                              \
  static int64_t RowExtreme##NAME(const ArgExtreme* arg, const T* x) {                           \
    int64_t block = 0;                                                                           \
    W best = (W)BAYLOOM_READ_##ACCESS(x[0]);                                                     \
    for (int64_t begin = 0; begin < arg->n; begin += kBlock) {                                   \
      const int64_t count = arg->n - begin < kBlock ? arg->n - begin : kBlock;                   \
      const W found = arg->largest ? BlockExtreme##NAME(x + begin, count, 1)                     \
                                   : BlockExtreme##NAME(x + begin, count, 0);                    \
      if (BEATS_##KIND(arg->largest, found, best) || (arg->last && EQUAL_##KIND(found, best))) { \
        best = found;                                                                            \
        block = begin;                                                                           \
      }                                                                                          \
    }                                                                                            \
    const int64_t count = arg->n - block < kBlock ? arg->n - block : kBlock;                     \
    const int64_t by = arg->last ? -1 : 1;                                                       \
    int64_t at = arg->last ? block + count - 1 : block;                                          \
    for (;; at += by) {                                                                          \
      const W value = (W)BAYLOOM_READ_##ACCESS(x[at]);                                           \
      if (EQUAL_##KIND(value, best)) return at;                                                  \
    }                                                                                            \
  }                                                                                              \
  static void ColumnExtremes##NAME(const ArgExtreme* arg, const T* x, int64_t columns,           \
                                   int64_t* result) {                                            \
    W best[kColumns];                                                                            \
    for (int64_t c = 0; c < columns; ++c) best[c] = (W)BAYLOOM_READ_##ACCESS(x[c]);              \
    for (int64_t c = 0; c < columns; ++c) result[c] = 0;                                         \
    for (int64_t row = 1; row < arg->n; ++row) {                                                 \
      for (int64_t c = 0; c < columns; ++c) {                                                    \
        const W value = (W)BAYLOOM_READ_##ACCESS(x[row * arg->inner + c]);                       \
        const int better = BEATS_##KIND(arg->largest, value, best[c]) ||                         \
                           (arg->last && EQUAL_##KIND(value, best[c]));                          \
        best[c] = better ? value : best[c];                                                      \
        result[c] = better ? row : result[c];                                                    \
      }                                                                                          \
    }                                                                                            \
  }                                                                                              \
  static void ArgExtreme##NAME(void* context, int64_t begin, int64_t end, int32_t worker) {      \
    const ArgExtreme* arg = context;                                                             \
    (void)worker;                                                                                \
    for (int64_t unit = begin; unit < end; ++unit) {                                             \
      const int64_t outer = unit / arg->chunks, column = unit % arg->chunks * kColumns;          \
      const int64_t rest = arg->inner - column;                                                  \
      const T* x = (const T*)arg->x + outer * arg->n * arg->inner + column;                      \
      int64_t* result = arg->result + outer * arg->inner + column;                               \
      if (arg->inner == 1) {                                                                     \
        *result = RowExtreme##NAME(arg, x);                                                      \
      } else {                                                                                   \
        ColumnExtremes##NAME(arg, x, rest < kColumns ? rest : kColumns, result);                 \
      }                                                                                          \
    }                                                                                            \
  }
BAYLOOM_FOR_EACH_NUMBER(DEFINE_ARG_EXTREME)

static bayloom_loop_body BodyOf(int64_t type) {
  switch (type) {
#define ARG_EXTREME_CASE(NAME, CODE, T, W, KIND, ACCESS) \
  case CODE:                                             \
    return ArgExtreme##NAME;
    BAYLOOM_FOR_EACH_NUMBER(ARG_EXTREME_CASE)
    default:
      return 0;
  }
}

void bayloom_arg_extreme(void* const* tensors, const int64_t* numbers, void* workspace) {
  (void)workspace;
  const int64_t outer = numbers[1], n = numbers[2], inner = numbers[3];
  ArgExtreme arg = {tensors[0],      tensors[1],     n, inner, (inner + kColumns - 1) / kColumns,
                    numbers[4] != 0, numbers[5] != 0};
  const bayloom_loop_body body = BodyOf(numbers[0]);
  if (body == 0) return;
  if (outer * n * inner < kBayloomSerialElements) {
    body(&arg, 0, outer * arg.chunks, 0);
  } else {
    bayloom_parallel_for(outer * arg.chunks, body, &arg);
  }
}
