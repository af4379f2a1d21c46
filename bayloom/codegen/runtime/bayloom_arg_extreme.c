// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom_elements.h"
#include "bayloom_kernels.h"
#include "bayloom_runtime.h"

/* Elements whose extreme is computed at a time, and columns that are gone through together. */
enum { kBlock = 1024, kLanes = 64, kColumns = 256 };
/* Rows whose places a lane of four bytes counts. */
enum { kSegment = 1 << 30 };

typedef struct {
  const void* x;
  int64_t* result;
  int64_t n, inner, chunks; /* of columns */
  int largest, last;
} ArgExtreme;

/* The type in which elements are compared. */
#define COMPARED_Plain(T) T
#define COMPARED_Float16(T) double
#define COMPARED_BFloat16(T) double

/* Whether `a` is more extreme than `b`; NaN is, than all numbers. Without branches, so that it can
 * be done in all lanes of a register. */
#define BEATS_Integer(largest, a, b) ((largest) ? (a) > (b) : (a) < (b))
#define BEATS_Real(largest, a, b) \
  (((largest) ? (a) > (b) : (a) < (b)) | (((a) != (a)) & ((b) == (b))))
#define EQUAL_Integer(a, b) ((a) == (b))
#define EQUAL_Real(a, b) (((a) == (b)) | (((a) != (a)) & ((b) != (b))))

/* A row: the extreme of every block in lanes that do not wait for each other, then the place within
 * the block that has it. Columns side by side: one running extreme each. */
#define DEFINE_ARG_EXTREME(NAME, CODE, T, W, KIND, ACCESS)                                       \
  BAYLOOM_INLINED COMPARED_##ACCESS(T)                                                           \
      BlockExtreme##NAME(const T* x, int64_t count, int largest) {                               \
    COMPARED_##ACCESS(T) lanes[kLanes];                                                          \
    for (int l = 0; l < kLanes; ++l) lanes[l] = BAYLOOM_READ_##ACCESS(x[l < count ? l : 0]);     \
    int64_t i = 0;                                                                               \
    for (; i + kLanes <= count; i += kLanes) {                                                   \
      for (int l = 0; l < kLanes; ++l) {                                                         \
        const COMPARED_##ACCESS(T) value = BAYLOOM_READ_##ACCESS(x[i + l]);                      \
        lanes[l] = BEATS_##KIND(largest, value, lanes[l]) ? value : lanes[l];                    \
      }                                                                                          \
    }                                                                                            \
    for (; i < count; ++i) {                                                                     \
      const COMPARED_##ACCESS(T) value = BAYLOOM_READ_##ACCESS(x[i]);                            \
      if (BEATS_##KIND(largest, value, lanes[0])) lanes[0] = value;                              \
    }                                                                                            \
    for (int l = 1; l < kLanes; ++l) {                                                           \
      if (BEATS_##KIND(largest, lanes[l], lanes[0])) lanes[0] = lanes[l];                        \
    }                                                                                            \
    return lanes[0];                                                                             \
  }                                                                                              \
  BAYLOOM_INLINED int64_t RowExtreme##NAME(const ArgExtreme* arg, const T* x, int largest) {     \
    int64_t block = 0;                                                                           \
    COMPARED_##ACCESS(T) best = BAYLOOM_READ_##ACCESS(x[0]);                                     \
    for (int64_t begin = 0; begin < arg->n; begin += kBlock) {                                   \
      const int64_t count = arg->n - begin < kBlock ? arg->n - begin : kBlock;                   \
      const COMPARED_##ACCESS(T) found = BlockExtreme##NAME(x + begin, count, largest);          \
      if (BEATS_##KIND(largest, found, best) || (arg->last && EQUAL_##KIND(found, best))) {      \
        best = found;                                                                            \
        block = begin;                                                                           \
      }                                                                                          \
    }                                                                                            \
    const int64_t count = arg->n - block < kBlock ? arg->n - block : kBlock;                     \
    const int64_t by = arg->last ? -1 : 1;                                                       \
    int64_t at = arg->last ? block + count - 1 : block;                                          \
    for (;; at += by) {                                                                          \
      const COMPARED_##ACCESS(T) value = BAYLOOM_READ_##ACCESS(x[at]);                           \
      if (EQUAL_##KIND(value, best)) return at;                                                  \
    }                                                                                            \
  }                                                                                              \
  BAYLOOM_INLINED void ColumnExtremes##NAME(const ArgExtreme* arg, const T* x, int64_t columns,  \
                                            int64_t* result, int largest) {                      \
    COMPARED_##ACCESS(T) best[kColumns];                                                         \
    int32_t place[kColumns];                                                                     \
    const int or_equal = arg->last;                                                              \
    for (int64_t c = 0; c < columns; ++c) {                                                      \
      best[c] = BAYLOOM_READ_##ACCESS(x[c]);                                                     \
      result[c] = 0;                                                                             \
    }                                                                                            \
    for (int64_t begin = 0; begin < arg->n; begin += kSegment) {                                 \
      const int64_t rows = arg->n - begin < kSegment ? arg->n - begin : kSegment;                \
      for (int64_t c = 0; c < columns; ++c) place[c] = -1;                                       \
      for (int64_t row = 0; row < rows; ++row) {                                                 \
        const T* at = x + (begin + row) * arg->inner;                                            \
        for (int64_t c = 0; c < columns; ++c) {                                                  \
          const COMPARED_##ACCESS(T) value = BAYLOOM_READ_##ACCESS(at[c]);                       \
          const int better =                                                                     \
              BEATS_##KIND(largest, value, best[c]) | (or_equal & EQUAL_##KIND(value, best[c])); \
          best[c] = better ? value : best[c];                                                    \
          place[c] = better ? (int32_t)row : place[c];                                           \
        }                                                                                        \
      }                                                                                          \
      for (int64_t c = 0; c < columns; ++c)                                                      \
        result[c] = place[c] < 0 ? result[c] : begin + place[c];                                 \
    }                                                                                            \
  }                                                                                              \
  BAYLOOM_INLINED void Extremes##NAME(const ArgExtreme* arg, int64_t begin, int64_t end,         \
                                      int largest) {                                             \
    for (int64_t unit = begin; unit < end; ++unit) {                                             \
      const int64_t outer = unit / arg->chunks, column = unit % arg->chunks * kColumns;          \
      const int64_t rest = arg->inner - column;                                                  \
      const T* x = (const T*)arg->x + outer * arg->n * arg->inner + column;                      \
      int64_t* result = arg->result + outer * arg->inner + column;                               \
      if (arg->inner == 1) {                                                                     \
        *result = RowExtreme##NAME(arg, x, largest);                                             \
      } else {                                                                                   \
        ColumnExtremes##NAME(arg, x, rest < kColumns ? rest : kColumns, result, largest);        \
      }                                                                                          \
    }                                                                                            \
  }                                                                                              \
  DEFINE_ARG_EXTREME_BODY(NAME, , )                                                              \
  DEFINE_ARG_EXTREME_BODY(NAME, Wide, BAYLOOM_WIDE)

#define DEFINE_ARG_EXTREME_BODY(NAME, WIDTH, ATTRIBUTE)                                    \
  ATTRIBUTE static void ArgExtreme##NAME##WIDTH(void* context, int64_t begin, int64_t end, \
                                                int32_t worker) {                          \
    const ArgExtreme* arg = context;                                                       \
    (void)worker;                                                                          \
    if (arg->largest) {                                                                    \
      Extremes##NAME(arg, begin, end, 1);                                                  \
    } else {                                                                               \
      Extremes##NAME(arg, begin, end, 0);                                                  \
    }                                                                                      \
  }
BAYLOOM_FOR_EACH_NUMBER(DEFINE_ARG_EXTREME)

static bayloom_loop_body BodyOf(int64_t type) {
  const int wide = BayloomHasWide();
  switch (type) {
#define ARG_EXTREME_CASE(NAME, CODE, T, W, KIND, ACCESS) \
  case CODE:                                             \
    return wide ? ArgExtreme##NAME##Wide : ArgExtreme##NAME;
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
