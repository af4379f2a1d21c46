// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom_elements.h"
#include "bayloom_kernels.h"
#include "bayloom_runtime.h"

/* Threads share updates by columns, so many together. */
enum { kMaxRank = 16, kCopyBytes = 1 << 16, kColumns = 64 };
/* From this length on a row is worth a number that says which update it gets. */
enum { kMinRowBytes = 32 };

static int64_t Least(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t ColumnUnits(int64_t columns) { return (columns + kColumns - 1) / kColumns; }

/* Updates are placed run by run: of `count` updates number c goes to result[c * step + stride *
 * indices[c]], or without indices to result[c * step]. */
typedef struct {
  char* result;
  const char* updates;
  const int64_t* indices; /* null: none */
  int64_t count, step, stride, extent;
} Run;

#define FOR_EACH_UPDATE(T, VALUE)                                                        \
  for (int64_t c = 0; c < run->count; ++c) {                                             \
    const int64_t moved =                                                                \
        run->indices == 0 ? 0 : run->stride * BayloomWrap(run->indices[c], run->extent); \
    T* to = (T*)run->result + c * run->step + moved;                                     \
    const T update = ((const T*)run->updates)[c];                                        \
    *to = VALUE;                                                                         \
  }

static void Replace(const Run* run, int64_t bytes) {
  switch (bytes) {
    case 1:
      FOR_EACH_UPDATE(uint8_t, update)
      break;
    case 2:
      FOR_EACH_UPDATE(uint16_t, update)
      break;
    case 4:
      FOR_EACH_UPDATE(uint32_t, update)
      break;
    default:
      FOR_EACH_UPDATE(uint64_t, update)
      break;
  }
}

#define COMBINED(OPERATION, T, W, KIND, ACCESS)                                            \
  BAYLOOM_WRITE_##ACCESS(T, BAYLOOM_##OPERATION##_##KIND(W, (W)BAYLOOM_READ_##ACCESS(*to), \
                                                         (W)BAYLOOM_READ_##ACCESS(update)))
#define DEFINE_COMBINE(NAME, CODE, T, W, KIND, ACCESS)             \
  static void Combine##NAME(const Run* run, int64_t reduction) {   \
    switch (reduction) {                                           \
      case BAYLOOM_ADD:                                            \
        FOR_EACH_UPDATE(T, COMBINED(ADD, T, W, KIND, ACCESS))      \
        break;                                                     \
      case BAYLOOM_MULTIPLY:                                       \
        FOR_EACH_UPDATE(T, COMBINED(MULTIPLY, T, W, KIND, ACCESS)) \
        break;                                                     \
      case BAYLOOM_MINIMUM:                                        \
        FOR_EACH_UPDATE(T, COMBINED(MINIMUM, T, W, KIND, ACCESS))  \
        break;                                                     \
      default:                                                     \
        FOR_EACH_UPDATE(T, COMBINED(MAXIMUM, T, W, KIND, ACCESS))  \
        break;                                                     \
    }                                                              \
  }
BAYLOOM_FOR_EACH_NUMBER(DEFINE_COMBINE)

static void Combine(int64_t type, int64_t reduction, const Run* run) {
  if (reduction == BAYLOOM_REPLACE) {
    Replace(run, BayloomElementBytes(type));
    return;
  }
  switch (type) {
#define COMBINE_CASE(NAME, CODE, T, W, KIND, ACCESS) \
  case CODE:                                         \
    Combine##NAME(run, reduction);                   \
    break;
    BAYLOOM_FOR_EACH_NUMBER(COMBINE_CASE)
    default:
      break;
  }
}

/* --- The data, which the result begins as ---------------------------------------------------- */

typedef struct {
  const char* from;
  char* to;
  int64_t bytes;
} Copy;

static void CopyPieces(void* context, int64_t begin, int64_t end, int32_t worker) {
  const Copy* copy = context;
  (void)worker;
  const int64_t last = Least(end * kCopyBytes, copy->bytes);
  memcpy(copy->to + begin * kCopyBytes, copy->from + begin * kCopyBytes,
         (size_t)(last - begin * kCopyBytes));
}

static void CopyData(const void* from, void* to, int64_t bytes) {
  Copy copy = {from, to, bytes};
  bayloom_parallel_for((bytes + kCopyBytes - 1) / kCopyBytes, CopyPieces, &copy);
}

/* --- Rows ------------------------------------------------------------------------------------ */

typedef struct {
  int64_t type, bytes, reduction, tuples, depth, row;
  const int64_t* dims;
  const int64_t* indices;
  const char* updates;
  char* result;
} Rows;

/* The row of the result that a tuple names. */
static int64_t PlaceOf(const Rows* rows, int64_t tuple) {
  int64_t place = 0;
  for (int64_t d = 0; d < rows->depth; ++d) {
    const int64_t index = rows->indices[tuple * rows->depth + d];
    place = place * rows->dims[d] + BayloomWrap(index, rows->dims[d]);
  }
  return place;
}

/* Some columns of all updates, in order: so threads never meet. */
static void ScatterColumns(void* context, int64_t first_unit, int64_t end_unit, int32_t worker) {
  const Rows* rows = context;
  const int64_t begin = first_unit * kColumns, end = Least(end_unit * kColumns, rows->row);
  (void)worker;
  for (int64_t t = 0; t < rows->tuples; ++t) {
    char* to = rows->result + (PlaceOf(rows, t) * rows->row + begin) * rows->bytes;
    const char* update = rows->updates + (t * rows->row + begin) * rows->bytes;
    if (rows->reduction == BAYLOOM_REPLACE) {
      memcpy(to, update, (size_t)((end - begin) * rows->bytes));
    } else {
      const Run run = {to, update, 0, end - begin, 1, 0, 0};
      Combine(rows->type, rows->reduction, &run);
    }
  }
}

static int64_t RowCount(const int64_t* numbers) {
  int64_t rows = 1;
  for (int64_t d = 0; d < numbers[3]; ++d) rows *= numbers[5 + d];
  return rows;
}

/* Whether every row of the result is written once: with the last update that replaces it, or with
 * the data. */
static int WritesRowsOnce(const int64_t* numbers) {
  return numbers[1] == BAYLOOM_REPLACE &&
         numbers[4] * BayloomElementBytes(numbers[0]) >= kMinRowBytes && numbers[2] < INT32_MAX;
}

bayloom_kernel_memory bayloom_scatter_rows_memory(const int64_t* numbers) {
  const int64_t bytes = WritesRowsOnce(numbers) ? RowCount(numbers) * (int64_t)sizeof(int32_t) : 0;
  const bayloom_kernel_memory memory = {(bytes + 63) / 64 * 64, 0};
  return memory;
}

typedef struct {
  const int32_t* update_of; /* by row: the update that it gets, -1 for none */
  const char* data;
  const char* updates;
  char* result;
  int64_t rows, bytes; /* of a row */
  int64_t unit;        /* rows that are a unit of work */
} Merge;

/* What lies in one piece is copied in one. */
static void MergeRows(void* context, int64_t begin, int64_t end, int32_t worker) {
  const Merge* merge = context;
  const int64_t last = Least(end * merge->unit, merge->rows);
  (void)worker;
  for (int64_t row = begin * merge->unit, count = 1; row < last; row += count) {
    const int32_t update = merge->update_of[row];
    const int32_t step = update >= 0;
    for (count = 1; row + count < last; ++count) {
      if (merge->update_of[row + count] != update + step * (int32_t)count) break;
    }
    const char* from =
        update < 0 ? merge->data + row * merge->bytes : merge->updates + update * merge->bytes;
    memcpy(merge->result + row * merge->bytes, from, (size_t)(count * merge->bytes));
  }
}

static void ReplaceRows(const Rows* rows, int64_t count, const char* data, int32_t* update_of) {
  for (int64_t row = 0; row < count; ++row) update_of[row] = -1;
  for (int64_t t = 0; t < rows->tuples; ++t) update_of[PlaceOf(rows, t)] = (int32_t)t;
  const int64_t bytes = rows->row * rows->bytes;
  const int64_t unit = (kCopyBytes + bytes - 1) / bytes;
  Merge merge = {update_of, data, rows->updates, rows->result, count, bytes, unit};
  bayloom_parallel_for((count + unit - 1) / unit, MergeRows, &merge);
}

void bayloom_scatter_rows(void* const* tensors, const int64_t* numbers, void* workspace) {
  const int64_t bytes = BayloomElementBytes(numbers[0]);
  Rows rows = {numbers[0], bytes,       numbers[1], numbers[2], numbers[3],
               numbers[4], numbers + 5, tensors[1], tensors[2], tensors[3]};
  const int64_t count = RowCount(numbers);
  if (WritesRowsOnce(numbers)) {
    ReplaceRows(&rows, count, tensors[0], workspace);
    return;
  }
  CopyData(tensors[0], tensors[3], count * rows.row * bytes);
  if (rows.tuples * rows.row < kBayloomSerialElements) {
    ScatterColumns(&rows, 0, ColumnUnits(rows.row), 0);
  } else {
    bayloom_parallel_for(ColumnUnits(rows.row), ScatterColumns, &rows);
  }
}

/* --- Elements -------------------------------------------------------------------------------- */

typedef struct {
  int64_t type, bytes, reduction, axis, rank;
  const int64_t* index_dims;
  int64_t strides[kMaxRank]; /* of the data, in elements */
  int64_t extent;            /* of the data along the axis */
  int64_t rows, columns;     /* of the updates: all axes but the last, and that */
  const int64_t* indices;
  const char* updates;
  char* result;
} Elements;

/* Columns [begin, end) of one row of updates. */
static void ScatterRun(const Elements* e, int64_t row, int64_t begin, int64_t end) {
  const int64_t last = e->rank - 1;
  int64_t rest = row, place = 0;
  for (int64_t d = last - 1; d >= 0; --d) {
    if (d != e->axis) place += rest % e->index_dims[d] * e->strides[d];
    rest /= e->index_dims[d];
  }
  const int64_t step = e->axis == last ? 0 : 1;
  const int64_t first = row * e->columns + begin;
  const Run run = {e->result + (place + step * begin) * e->bytes,
                   e->updates + first * e->bytes,
                   e->indices + first,
                   end - begin,
                   step,
                   e->strides[e->axis],
                   e->extent};
  Combine(e->type, e->reduction, &run);
}

/* Along the last axis updates meet in their row only, along another one in their column only. */
static void ScatterWholeRows(void* context, int64_t begin, int64_t end, int32_t worker) {
  const Elements* e = context;
  (void)worker;
  for (int64_t row = begin; row < end; ++row) ScatterRun(e, row, 0, e->columns);
}

static void ScatterRowParts(void* context, int64_t first_unit, int64_t end_unit, int32_t worker) {
  const Elements* e = context;
  const int64_t begin = first_unit * kColumns, end = Least(end_unit * kColumns, e->columns);
  (void)worker;
  for (int64_t row = 0; row < e->rows; ++row) ScatterRun(e, row, begin, end);
}

void bayloom_scatter_elements(void* const* tensors, const int64_t* numbers, void* workspace) {
  (void)workspace;
  const int64_t rank = numbers[3];
  const int64_t* dims = numbers + 4;
  Elements e = {.type = numbers[0],
                .bytes = BayloomElementBytes(numbers[0]),
                .reduction = numbers[1],
                .axis = numbers[2],
                .rank = rank,
                .index_dims = dims + rank,
                .extent = dims[numbers[2]],
                .rows = 1,
                .columns = dims[2 * rank - 1],
                .indices = tensors[1],
                .updates = tensors[2],
                .result = tensors[3]};
  int64_t elements = 1;
  for (int64_t d = rank - 1; d >= 0; --d) {
    e.strides[d] = elements;
    elements *= dims[d];
    if (d < rank - 1) e.rows *= e.index_dims[d];
  }
  CopyData(tensors[0], tensors[3], elements * e.bytes);
  const int by_rows = e.axis == rank - 1;
  const int64_t units = by_rows ? e.rows : ColumnUnits(e.columns);
  const bayloom_loop_body body = by_rows ? ScatterWholeRows : ScatterRowParts;
  if (e.rows * e.columns < kBayloomSerialElements) {
    body(&e, 0, units, 0);
  } else {
    bayloom_parallel_for(units, body, &e);
  }
}
