// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#ifndef BAYLOOM_PLAN_H_
#define BAYLOOM_PLAN_H_

/* What a network does in one run, as data: which kernels run, in which order, on what memory. Plain
 * C11; it is shipped with the runtime. */

#include <stdint.h>

#include "bayloom_runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A number that follows from the lengths of open dimensions: operations on a stack, up to
 * BAYLOOM_LENGTH_END. What is left on the stack is its value. */
enum {
  BAYLOOM_LENGTH_END,
  BAYLOOM_LENGTH_NUMBER,   /* puts the operand on the stack */
  BAYLOOM_LENGTH_SYMBOL,   /* the length with this number */
  BAYLOOM_LENGTH_ADD,      /* takes two, puts their sum */
  BAYLOOM_LENGTH_MULTIPLY, /* takes two, puts their product */
  BAYLOOM_LENGTH_DIVIDE,   /* by the operand, rounded towards zero */
  BAYLOOM_LENGTH_PART      /* brings it between 0 and the operand */
};
enum { BAYLOOM_LENGTH_DEPTH = 64 }; /* numbers on the stack at most */

typedef struct {
  int64_t operation;
  int64_t operand;
} bayloom_length_step;

int64_t bayloom_length_value(const bayloom_length_step* length, const int64_t* lengths);

/* Where a tensor lies. */
enum { BAYLOOM_INPUT, BAYLOOM_OUTPUT, BAYLOOM_ARENA, BAYLOOM_CONSTANT, BAYLOOM_STATE };

typedef struct {
  int memory;
  int number;                      /* of the input or output */
  int64_t offset;                  /* bytes from its beginning, or that of the memory */
  const bayloom_length_step* rows; /* of a state: so many rows behind that; null: none */
  int64_t row_bytes;
} bayloom_place;

typedef struct {
  void (*function)(void* const* parameters, void* workspace);
  int64_t step_count;
  const bayloom_kernel_step* steps; /* null: it runs beside no other kernel */
  int64_t shared_bytes;             /* of its workspace: a multiple of 64, */
  int64_t worker_bytes;             /* and for each thread another one */
} bayloom_kernel_code;

typedef struct {
  const bayloom_kernel_code* kernel; /* null: nothing is to be done */
  int64_t argument_count;
  const bayloom_place* arguments;
} bayloom_call;

/* The call that takes the place of another one where a size is small. */
typedef struct {
  const bayloom_length_step* size;
  int64_t up_to;
  bayloom_call call;
} bayloom_small_call;

typedef struct {
  bayloom_call usual;
  int64_t small_count;
  const bayloom_small_call* small; /* the first that fits runs in place of the usual one */
} bayloom_planned_call;

/* At most BAYLOOM_MAX_LOOPS calls that run side by side, or one. */
typedef struct {
  int64_t count;
  const bayloom_planned_call* calls;
} bayloom_round;

/* A size that kernels read, an int64_t of the arena. */
typedef struct {
  const bayloom_length_step* value;
  int64_t position;
} bayloom_size;

/* A length that the network finds: an int64_t at that place when so many rounds have run. Sizes
 * that follow from it are written then. */
typedef struct {
  int64_t rounds;
  bayloom_place count;
  int64_t symbol; /* the number of the length that it is; -1: of none */
  int64_t least;  /* a run fails that finds less, */
  int64_t most;   /* or more */
} bayloom_found;

/* An input or output with open dimensions (bayloom_open.h). */
typedef struct {
  int64_t number;
  bayloom_place network;
  int64_t rank;
  const bayloom_length_step* const* lengths;
  const int64_t* extents;
  int64_t element_bytes;
} bayloom_open_tensor;

/* Bytes that are copied to an output after the last call. */
typedef struct {
  bayloom_place from;
  int64_t output;
  int64_t bytes;
} bayloom_copy;

typedef struct {
  int64_t size_count;
  const bayloom_size* sizes;
  int64_t open_input_count;
  const bayloom_open_tensor* open_inputs;
  int64_t round_count;
  const bayloom_round* rounds;
  int64_t copy_count;
  const bayloom_copy* copies;
  int64_t open_output_count;
  const bayloom_open_tensor* open_outputs;
  bayloom_place logits;                   /* of a decoder: as many rows of them */
  const bayloom_length_step* logit_count; /* as this says; null: it is none */
  int64_t logit_bytes;                    /* of a row */
  int64_t found_count;
  const bayloom_found* found; /* by ascending rounds */
} bayloom_plan;

/* What a run works on. Buffers are aligned to 64 bytes. */
typedef struct {
  char* arena;
  char* states;
  char* workspace;
  const char* constants;
  const void* const* inputs; /* null: what `states` holds, such as the past of a state */
  void* const* outputs; /* null: not copied to the caller, where the network does not write it */
  int64_t* lengths;     /* of the open dimensions; those that are found are set */
  void* last;           /* where it is not null, gets the last row of a decoder's logits */
} bayloom_run_memory;

/* Returns BAYLOOM_OK, or BAYLOOM_ERROR_BOUND where a length is found that is beyond its bounds. */
int bayloom_plan_run(const bayloom_plan* plan, const bayloom_run_memory* memory);

#ifdef __cplusplus
}
#endif

#endif /* BAYLOOM_PLAN_H_ */
