// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/* What the headers of all compiled networks have in common: they contain the text below. C89. */

#ifndef BAYLOOM_ABI_VERSION
#define BAYLOOM_ABI_VERSION 2

#include <stddef.h>

/* What functions return. */
#define BAYLOOM_OK 0
#define BAYLOOM_ERROR_MEMORY 1    /* there is not enough memory */
#define BAYLOOM_ERROR_PROCESSOR 2 /* the processor has not what the code needs */
#define BAYLOOM_ERROR_ABI 3       /* the library and the header are of different versions */
#define BAYLOOM_ERROR_NULL 4      /* a pointer is null, or the model is another library's */
#define BAYLOOM_ERROR_COUNT 5     /* the network has another number of inputs or outputs */
#define BAYLOOM_ERROR_SIZE 6      /* a buffer has not the size of its tensor, or not its shape */
#define BAYLOOM_ERROR_OVERLAP 7   /* an output overlaps another buffer */
#define BAYLOOM_ERROR_BUSY 8      /* another thread uses the model, or any while threads are set */
#define BAYLOOM_ERROR_THREADS 9   /* the number of threads is not 0 to 256 */
#define BAYLOOM_ERROR_DEVICE 10   /* there is no GPU, or no driver, that the code can run on */
#define BAYLOOM_ERROR_FAILED 11   /* the GPU or its driver failed; make another model */
#define BAYLOOM_ERROR_FULL 12     /* the model cannot hold so many tokens */
#define BAYLOOM_ERROR_TOKEN 13    /* a token is none of the model's words */
#define BAYLOOM_ERROR_LENGTH 14   /* the model holds fewer tokens */
#define BAYLOOM_ERROR_REWIND 15   /* the model has no states of so few tokens any more */
#define BAYLOOM_ERROR_UNSET 16    /* an input that is the same in all steps was not set */
#define BAYLOOM_ERROR_BOUND 17    /* the network finds a length beyond its bounds */

/* A tensor, the bytes there are of it, and its dimensions, as many as it has. Where dimensions are
 * open, inputs have to have `dims`; elsewhere null will do. An output has as many bytes as its
 * tensor, or more where a dimension of it is open, and as many as for the bound of a dimension that
 * the network finds; where `dims` is not null, a run writes the dimensions of the result there. */
typedef struct {
  const void* data;
  size_t bytes;
  const size_t* dims;
} bayloom_input;
typedef struct {
  void* data;
  size_t bytes;
  size_t* dims;
} bayloom_output;

/* Threads of the application's: has them run task(context, 0), ..., task(context, count - 1), in
 * any order and at the same time or not, and returns when all have ended. `pool` is what the
 * application gave beside. */
typedef void (*bayloom_run_tasks)(void* pool, int count, void (*task)(void* context, int number),
                                  void* context);

#elif BAYLOOM_ABI_VERSION != 2
#error "headers of networks that were compiled by different versions of Bayloom"
#endif
