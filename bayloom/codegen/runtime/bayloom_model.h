// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#ifndef BAYLOOM_MODEL_H_
#define BAYLOOM_MODEL_H_

/* A compiled network as data, and what its library's functions do. Plain C11; it is shipped with
 * the runtime. */

#include <stdint.h>

#include "bayloom_package.h"
#include "bayloom_plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What runs a variant's code elsewhere than on the processor. `create` and `run` return a code of
 * bayloom_package.h. */
typedef struct {
  int (*create)(const void* program, void** state);
  int (*run)(void* state, int shape, const void* const* inputs, void* const* outputs,
             const int64_t* lengths); /* of the open dimensions */
  void (*destroy)(void* state);
  const char* (*error)(void); /* of the last call of this thread that failed */
} bayloom_accelerator;

/* The code for one target. */
typedef struct {
  const char* target;   /* for people: "x86-64-v3" */
  const char* features; /* what it needs, for bayloom_cpu_has */
  int64_t arena_bytes;  /* values between kernels, of the shape that needs most */
  int64_t shared_workspace_bytes;
  int64_t worker_workspace_bytes;         /* for each thread */
  const bayloom_plan* plans;              /* one for each shape; null with an accelerator */
  const bayloom_accelerator* accelerator; /* null: the processor */
  const void* program;                    /* of the accelerator */
} bayloom_variant;

/* A dimension whose length a call gives: that of an input's dimension; or, without an input, one
 * that the network finds. */
typedef struct {
  int64_t smallest;
  int64_t largest;
  int64_t step; /* from the smallest one on */
  int input;    /* -1: it is found */
  int dimension;
} bayloom_open_dimension;

/* The tensors of one shape that the network takes, the inputs before the outputs. */
typedef struct {
  const int64_t* input_bytes; /* of the largest, where dimensions are open */
  const int64_t* output_bytes;
  const int* ranks;
  const int64_t* element_bytes;
  const bayloom_length_step* const* dims; /* of all tensors, one after the other */
  int open_count;
  const bayloom_open_dimension* open;
} bayloom_shape;

struct bayloom_decoder;

typedef struct {
  int input_count;
  int output_count;
  int shape_count;
  const bayloom_shape* shapes; /* no two with the same sizes; the first that fits is used */
  int dim_count;               /* of all tensors of the shape that has most */
  int open_count;              /* of the shape that has most */
  int64_t state_bytes;         /* what is kept from one run to the next */
  const struct bayloom_decoder* decoder; /* null: it is none (bayloom_decoder.h) */
  int variant_count;
  const bayloom_variant* variants; /* the first that the processor can run is used */
  const char* processor_error;     /* the text of BAYLOOM_ERROR_PROCESSOR */
  const char* size_error;          /* the text of BAYLOOM_ERROR_SIZE */
  const char* bound_error;         /* the text of BAYLOOM_ERROR_BOUND */
  const void* constants;           /* what kernels read of the weights */
  int64_t constant_bytes;
} bayloom_network;

typedef struct bayloom_model bayloom_model;

/* All return a code of bayloom_package.h. */
int bayloom_model_create(const bayloom_network* network, int abi_version, bayloom_model** model);
int bayloom_model_destroy(const bayloom_network* network, bayloom_model* model);
int bayloom_model_run(const bayloom_network* network, bayloom_model* model,
                      const bayloom_input* inputs, int input_count, const bayloom_output* outputs,
                      int output_count);
int bayloom_model_set_threads(int threads);
int bayloom_model_set_pool(bayloom_run_tasks run, void* pool, int tasks);

/* The target of the code that the model runs; null for a null model. */
const char* bayloom_model_target(const bayloom_model* model);
/* What a code means: one line, never null. */
const char* bayloom_error_text(const bayloom_network* network, int code);

#ifdef __cplusplus
}
#endif

#endif /* BAYLOOM_MODEL_H_ */
