// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <float.h>

#include "bayloom_elements.h"
#include "bayloom_kernels.h"
#include "bayloom_runtime.h"

/* Neighbouring columns that are summed up together, at most: their sums stay in the nearest cache,
 * and what is read and written lies together for long enough to be fetched ahead. */
enum { kMaxColumns = 1024, kMinColumns = 64 };
/* Rows of floats that are summed up in their own precision. */
enum { kBlockRows = 16 };

typedef struct {
  const void* x;
  void* result;
  int64_t n, inner, columns, chunks; /* columns of a chunk, chunks of a row */
  int product, exclusive, reverse;
} Scan;

static inline int64_t RowOf(const Scan* scan, int64_t step) {
  return (scan->reverse ? scan->n - 1 - step : step) * scan->inner;
}

/* Chunks of columns: a chunk of one row of x[outer, n, inner] is a unit of work. The running values
 * are of the type that is computed in, rounded only where they are stored. */
#define DEFINE_SCAN(NAME, CODE, T, W, KIND, ACCESS)                                           \
  BAYLOOM_INLINED void ScanRows##NAME(const Scan* scan, int64_t first, int64_t columns,       \
                                      int64_t begin, int64_t end, W* restrict running,        \
                                      int product, int exclusive) {                           \
    for (int64_t step = begin; step < end; ++step) {                                          \
      const int64_t row = first + RowOf(scan, step);                                          \
      const T* restrict x = (const T*)scan->x + row;                                          \
      T* restrict to = (T*)scan->result + row;                                                \
      for (int64_t c = 0; c < columns; ++c) {                                                 \
        const W before = running[c];                                                          \
        const W value = (W)BAYLOOM_READ_##ACCESS(x[c]);                                       \
        const W after = product ? BAYLOOM_MULTIPLY_##KIND(W, before, value)                   \
                                : BAYLOOM_ADD_##KIND(W, before, value);                       \
        to[c] = BAYLOOM_WRITE_##ACCESS(T, exclusive ? before : after);                        \
        running[c] = after;                                                                   \
      }                                                                                       \
    }                                                                                         \
  }                                                                                           \
  BAYLOOM_INLINED void ScanChunk##NAME(const Scan* scan, int64_t first, int64_t columns,      \
                                       int product, int exclusive) {                          \
    W running[kMaxColumns];                                                                   \
    for (int64_t c = 0; c < columns; ++c) running[c] = product ? 1 : 0;                       \
    ScanRows##NAME(scan, first, columns, 0, scan->n, running, product, exclusive);            \
  }                                                                                           \
  static void ScanRow##NAME(const Scan* scan, int64_t first) {                                \
    W running = scan->product ? 1 : 0;                                                        \
    const int64_t by = scan->reverse ? -1 : 1;                                                \
    int64_t at = scan->reverse ? first + scan->n - 1 : first;                                 \
    for (int64_t step = 0; step < scan->n; ++step, at += by) {                                \
      const W before = running;                                                               \
      const W value = (W)BAYLOOM_READ_##ACCESS(((const T*)scan->x)[at]);                      \
      running = scan->product ? BAYLOOM_MULTIPLY_##KIND(W, before, value)                     \
                              : BAYLOOM_ADD_##KIND(W, before, value);                         \
      ((T*)scan->result)[at] = BAYLOOM_WRITE_##ACCESS(T, scan->exclusive ? before : running); \
    }                                                                                         \
  }                                                                                           \
  BAYLOOM_INLINED void ScanUnit##NAME(const Scan* scan, int64_t first, int64_t columns) {     \
    if (scan->inner == 1) {                                                                   \
      ScanRow##NAME(scan, first);                                                             \
    } else if (!scan->product && !scan->exclusive) {                                          \
      ScanChunk##NAME(scan, first, columns, 0, 0);                                            \
    } else {                                                                                  \
      ScanChunk##NAME(scan, first, columns, scan->product, scan->exclusive);                  \
    }                                                                                         \
  }                                                                                           \
  DEFINE_SCAN_BODY(NAME, , )                                                                  \
  DEFINE_SCAN_BODY(NAME, Wide, BAYLOOM_WIDE)

#define DEFINE_SCAN_BODY(NAME, WIDTH, ATTRIBUTE)                                     \
  ATTRIBUTE static void Scan##NAME##WIDTH(void* context, int64_t begin, int64_t end, \
                                          int32_t worker) {                          \
    const Scan* scan = context;                                                      \
    (void)worker;                                                                    \
    for (int64_t unit = begin; unit < end; ++unit) {                                 \
      const int64_t column = unit % scan->chunks * scan->columns;                    \
      const int64_t rest = scan->inner - column;                                     \
      const int64_t first = unit / scan->chunks * scan->n * scan->inner + column;    \
      ScanUnit##NAME(scan, first, rest < scan->columns ? rest : scan->columns);      \
    }                                                                                \
  }
BAYLOOM_FOR_EACH_NUMBER(DEFINE_SCAN)

/* Sums of floats: those of the block of rows in float, those of the blocks before in double
 * precision. In double precision alone conversions take longer than memory does. Where a sum is not
 * finite the block is summed up again: what a block's own sum overflows to, all sums need not be.
 */
BAYLOOM_INLINED void SumChunkOfFloats(const Scan* scan, int64_t first, int64_t columns,
                                      int exclusive) {
  double running[kMaxColumns];
  float base[kMaxColumns], sums[kMaxColumns];
  for (int64_t c = 0; c < columns; ++c) running[c] = 0;
  for (int64_t begin = 0; begin < scan->n; begin += kBlockRows) {
    const int64_t end = begin + kBlockRows < scan->n ? begin + kBlockRows : scan->n;
    for (int64_t c = 0; c < columns; ++c) {
      base[c] = (float)running[c];
      sums[c] = 0;
    }
    for (int64_t step = begin; step < end; ++step) {
      const int64_t row = first + RowOf(scan, step);
      const float* restrict x = (const float*)scan->x + row;
      float* restrict to = (float*)scan->result + row;
      for (int64_t c = 0; c < columns; ++c) {
        const float before = sums[c], after = before + x[c];
        to[c] = base[c] + (exclusive ? before : after);
        sums[c] = after;
      }
    }
    int infinite = 0;
    for (int64_t c = 0; c < columns; ++c) infinite |= !(fabsf(base[c] + sums[c]) <= FLT_MAX);
    if (infinite) {
      ScanRowsFloat32(scan, first, columns, begin, end, running, 0, exclusive);
    } else {
      for (int64_t c = 0; c < columns; ++c) running[c] += sums[c];
    }
  }
}
BAYLOOM_INLINED void ScanUnitFloatSums(const Scan* scan, int64_t first, int64_t columns) {
  if (scan->exclusive) {
    SumChunkOfFloats(scan, first, columns, 1);
  } else {
    SumChunkOfFloats(scan, first, columns, 0);
  }
}
DEFINE_SCAN_BODY(FloatSums, , )
DEFINE_SCAN_BODY(FloatSums, Wide, BAYLOOM_WIDE)

static bayloom_loop_body BodyOf(int64_t type, const Scan* scan) {
  const int wide = BayloomHasWide();
  if (type == BAYLOOM_FLOAT32 && !scan->product && scan->inner > 1) {
    return wide ? ScanFloatSumsWide : ScanFloatSums;
  }
  switch (type) {
#define SCAN_CASE(NAME, CODE, T, W, KIND, ACCESS) \
  case CODE:                                      \
    return wide ? Scan##NAME##Wide : Scan##NAME;
    BAYLOOM_FOR_EACH_NUMBER(SCAN_CASE)
    default:
      return 0;
  }
}

/* Columns of a chunk: as many as there are at most, but work for every thread. */
static int64_t ColumnsOf(int64_t outer, int64_t inner) {
  const int64_t chunks = outer > 0 ? (bayloom_threads() + outer - 1) / outer : 1;
  const int64_t columns = (inner + chunks - 1) / chunks;
  if (columns > kMaxColumns) return kMaxColumns;
  return (columns + kMinColumns - 1) / kMinColumns * kMinColumns;
}

void bayloom_scan(void* const* tensors, const int64_t* numbers, void* workspace) {
  (void)workspace;
  const int64_t outer = numbers[1], n = numbers[2], inner = numbers[3];
  const int64_t columns = ColumnsOf(outer, inner);
  Scan scan = {.x = tensors[0],
               .result = tensors[1],
               .n = n,
               .inner = inner,
               .columns = columns,
               .chunks = columns > 0 ? (inner + columns - 1) / columns : 0,
               .product = numbers[4] != 0,
               .exclusive = numbers[5] != 0,
               .reverse = numbers[6] != 0};
  const bayloom_loop_body body = BodyOf(numbers[0], &scan);
  if (body == 0) return;
  if (outer * n * inner < kBayloomSerialElements) {
    body(&scan, 0, outer * scan.chunks, 0);
  } else {
    bayloom_parallel_for(outer * scan.chunks, body, &scan);
  }
}
