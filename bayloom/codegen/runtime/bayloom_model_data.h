// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#ifndef BAYLOOM_MODEL_DATA_H_
#define BAYLOOM_MODEL_DATA_H_

/* What a model consists of, for the files that implement its functions. Plain C11. */

#include <stdatomic.h>
#include <stdbool.h>

#include "bayloom_model.h"
#include "bayloom_open.h"

/* An input of a decoder that is the same in all steps; its data are the model's copy of the input.
 */
typedef struct {
  bool is_given;
  bool is_new; /* no run has spread it where the network reads it, if it has open dimensions */
  int64_t dims[BAYLOOM_MAX_RANK];
} bayloom_held_input;

struct bayloom_model {
  const bayloom_network* network;
  const bayloom_variant* variant;
  void* accelerated; /* the state of the variant's accelerator */
  char* arena;
  char* states; /* as they were left by the run before */
  char* workspace;
  int workspace_threads;
  const void** inputs; /* of the run under way, aligned */
  void** outputs;
  void** input_copies;
  void** output_copies;
  int64_t* lengths;         /* of the open dimensions */
  int64_t* dims;            /* of all tensors */
  bayloom_held_input* held; /* by input */
  int64_t rows;             /* of its states: those of the last tokens, of all without a window */
  atomic_llong length;      /* of a decoder: how many tokens the states are of */
  /* The process in which a run is under way, as bayloom_process() numbers them; 0: none. The child
   * of a fork has a copy of the model that no thread of it uses. */
  atomic_uint user;
};

/* Whether the model is the caller's alone from now on, until it is released. */
bool bayloom_model_claim(bayloom_model* model);
void bayloom_model_release(bayloom_model* model);

/* Sets the dimensions that all tensors of a shape have with the model's lengths. */
void bayloom_model_set_dims(const bayloom_model* model, const bayloom_shape* shape);
int64_t bayloom_tensor_bytes(const int64_t* dims, int rank, int64_t element_bytes);

/* Computes the outputs from the model's `inputs`, for the model's `lengths`: with workspace for all
 * threads, or BAYLOOM_ERROR_MEMORY. The model is claimed. */
int bayloom_model_compute(bayloom_model* model, int shape, void* last);

#endif /* BAYLOOM_MODEL_DATA_H_ */
