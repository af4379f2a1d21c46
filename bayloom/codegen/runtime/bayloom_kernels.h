// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#ifndef BAYLOOM_KERNELS_H_
#define BAYLOOM_KERNELS_H_

/* Algorithms that compiled networks call where a nest of loops is the wrong form: selection,
 * scattering, prefix sums. Plain C11 like the rest of the runtime.
 *
 * A kernel gets its operands and then its result in `tensors`, all of them dense and row-major. In
 * `numbers` the element type of the first operand comes first; the comment at a kernel says what
 * follows. Integers that are indices are int64; negative ones count from the end, what lies outside
 * is moved to the nearest element. Rows are shared among the threads of bayloom_parallel_for. */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Element types. */
enum {
  BAYLOOM_BOOL,
  BAYLOOM_INT8,
  BAYLOOM_INT16,
  BAYLOOM_INT32,
  BAYLOOM_INT64,
  BAYLOOM_UINT8,
  BAYLOOM_UINT16,
  BAYLOOM_UINT32,
  BAYLOOM_UINT64,
  BAYLOOM_FLOAT16,
  BAYLOOM_BFLOAT16,
  BAYLOOM_FLOAT32,
  BAYLOOM_FLOAT64
};

/* How an update is combined with what is there. */
enum { BAYLOOM_REPLACE, BAYLOOM_ADD, BAYLOOM_MULTIPLY, BAYLOOM_MINIMUM, BAYLOOM_MAXIMUM };

/* The memory that a kernel needs besides its tensors, in bytes. */
typedef struct {
  int64_t shared; /* at the beginning of the workspace */
  int64_t worker; /* behind that, for each thread */
} bayloom_kernel_memory;

typedef void (*bayloom_kernel)(void* const* tensors, const int64_t* numbers, void* workspace);

/* x[outer, n, inner] -> int64 result[outer, k, inner]: where along n the k first elements in
 * descending order (`largest` 1) or ascending order are, in that order. Of equal elements the one
 * at the lower index comes first. NaN is greater than all numbers.
 * numbers: outer, n, inner, k, largest */
void bayloom_topk(void* const* tensors, const int64_t* numbers, void* workspace);
bayloom_kernel_memory bayloom_topk_memory(const int64_t* numbers);

/* x[outer, n, inner] -> int64 result[outer, inner]: where along n the extreme is; of equal ones the
 * first, or the last if `last` is 1. NaN is more extreme than all numbers.
 * numbers: outer, n, inner, largest, last */
void bayloom_arg_extreme(void* const* tensors, const int64_t* numbers, void* workspace);

/* x[outer, n, inner] -> result of that shape: the sums (or products) of the elements along n up to
 * each one. `exclusive` leaves out the element itself; `reverse` begins at the end. Floats are
 * summed up in double precision; sums of float32 over rows (inner above 1) so from 16 rows to the
 * next 16, which add up in float32.
 * numbers: outer, n, inner, product, exclusive, reverse */
void bayloom_scan(void* const* tensors, const int64_t* numbers, void* workspace);

/* data[dims..., row], indices[tuples, depth], updates[tuples, row] -> data with update after update
 * combined into the rows that the tuples name.
 * numbers: reduction, tuples, depth, row, dims[depth] */
void bayloom_scatter_rows(void* const* tensors, const int64_t* numbers, void* workspace);
bayloom_kernel_memory bayloom_scatter_rows_memory(const int64_t* numbers);

/* data[dims], indices[index_dims], updates[index_dims] -> data with every update combined into the
 * element at its own place, but for `axis`, where the index says.
 * numbers: reduction, axis, rank, dims[rank], index_dims[rank] */
void bayloom_scatter_elements(void* const* tensors, const int64_t* numbers, void* workspace);

/* The kernels below find how many rows of their results there are: the first number of the result
 * is the count, the rows follow. Of what is beyond the count nothing is said; beyond `capacity`
 * rows are counted, but not written. How long dimensions are in a run is an operand.
 *
 * bool x[n], int64 length -> int64 result[1 + capacity]: where x is not false, in order.
 * numbers: n, capacity */
void bayloom_nonzero(void* const* tensors, const int64_t* numbers, void* workspace);

/* x[outer, n, inner], int64 length (of n) -> int64 result[1 + n, 3]. The slices of x along n, each
 * once, in ascending order or (`sorted` 0) that of their first ones; NaN is greater than all
 * numbers. A row has the position of a unique slice's first one and how many are equal to it;
 * and for slice number i of x, row i has the number of its unique slice.
 * numbers: outer, n, inner, sorted */
void bayloom_unique(void* const* tensors, const int64_t* numbers, void* workspace);
bayloom_kernel_memory bayloom_unique_memory(const int64_t* numbers);

/* float boxes[batches, n, 4], float scores[batches, classes, n], int64 limits[4] (batches, classes,
 * boxes, how many are selected of a class at most), float thresholds[2] -> int64
 * result[1 + capacity, 3]: batch, class and box, for each batch and class by falling scores, of
 * those with a score above the second threshold whose intersection over union with none selected
 * before exceeds the first. Boxes are y, x, y, x of two corners, or, `centered`, x, y of the
 * center, width, height. numbers: batches, classes, n, centered, capacity */
void bayloom_nms(void* const* tensors, const int64_t* numbers, void* workspace);
bayloom_kernel_memory bayloom_nms_memory(const int64_t* numbers);

#ifdef __cplusplus
}
#endif

#endif /* BAYLOOM_KERNELS_H_ */
