// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom_elements.h"
#include "bayloom_kernels.h"
#include "bayloom_runtime.h"

/* Neighbouring columns that are summed up together: their sums stay in the nearest cache. */
enum { kColumns = 256 };

typedef struct {
  const void* x;
  void* result;
  int64_t n, inner, chunks; /* of columns */
  int product, exclusive, reverse;
} Scan;

/* Chunks of columns: a chunk of one row of x[outer, n, inner] is a unit of work. The running values
 * are of the type that is computed in, rounded only where they are stored. */
#define DEFINE_SCAN(NAME, CODE, T, W, KIND, ACCESS)                                           \
  BAYLOOM_INLINED void ScanChunk##NAME(const Scan* scan, int64_t first, int64_t columns,      \
                                       int product, int exclusive) {                          \
    W running[kColumns];                                                                      \
    for (int64_t c = 0; c < columns; ++c) running[c] = product ? 1 : 0;                       \
    const int64_t n = scan->n, inner = scan->inner;                                           \
    for (int64_t step = 0; step < n; ++step) {                                                \
      const int64_t row = scan->reverse ? n - 1 - step : step;                                \
      const T* restrict x = (const T*)scan->x + first + row * inner;                          \
      T* restrict to = (T*)scan->result + first + row * inner;                                \
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
  DEFINE_SCAN_BODY(NAME, , )                                                                  \
  DEFINE_SCAN_BODY(NAME, Wide, BAYLOOM_WIDE)

#define DEFINE_SCAN_BODY(NAME, WIDTH, ATTRIBUTE)                                     \
  ATTRIBUTE static void Scan##NAME##WIDTH(void* context, int64_t begin, int64_t end, \
                                          int32_t worker) {                          \
    const Scan* scan = context;                                                      \
    (void)worker;                                                                    \
    for (int64_t unit = begin; unit < end; ++unit) {                                 \
      const int64_t column = unit % scan->chunks * kColumns;                         \
      const int64_t rest = scan->inner - column;                                     \
      const int64_t first = unit / scan->chunks * scan->n * scan->inner + column;    \
      const int64_t columns = rest < kColumns ? rest : kColumns;                     \
      if (scan->inner == 1) {                                                        \
        ScanRow##NAME(scan, first);                                                  \
      } else if (!scan->product && !scan->exclusive) {                               \
        ScanChunk##NAME(scan, first, columns, 0, 0);                                 \
      } else {                                                                       \
        ScanChunk##NAME(scan, first, columns, scan->product, scan->exclusive);       \
      }                                                                              \
    }                                                                                \
  }
BAYLOOM_FOR_EACH_NUMBER(DEFINE_SCAN)

static bayloom_loop_body BodyOf(int64_t type) {
  const int wide = BayloomHasWide();
  switch (type) {
#define SCAN_CASE(NAME, CODE, T, W, KIND, ACCESS) \
  case CODE:                                      \
    return wide ? Scan##NAME##Wide : Scan##NAME;
    BAYLOOM_FOR_EACH_NUMBER(SCAN_CASE)
    default:
      return 0;
  }
}

void bayloom_scan(void* const* tensors, const int64_t* numbers, void* workspace) {
  (void)workspace;
  const int64_t outer = numbers[1], n = numbers[2], inner = numbers[3];
  Scan scan = {
      tensors[0],      tensors[1],     n, inner, (inner + kColumns - 1) / kColumns, numbers[4] != 0,
      numbers[5] != 0, numbers[6] != 0};
  const bayloom_loop_body body = BodyOf(numbers[0]);
  if (body == 0) return;
  if (outer * n * inner < kBayloomSerialElements) {
    body(&scan, 0, outer * scan.chunks, 0);
  } else {
    bayloom_parallel_for(outer * scan.chunks, body, &scan);
  }
}
