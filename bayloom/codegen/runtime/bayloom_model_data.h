// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#ifndef BAYLOOM_MODEL_DATA_H_
#define BAYLOOM_MODEL_DATA_H_

/* What a model consists of, for the files that implement its functions. Plain C11. */

#include <stdatomic.h>
#include <stdbool.h>

#include "bayloom_model.h"

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
  int64_t* lengths;    /* of the open dimensions */
  int64_t* dims;       /* of all tensors */
  atomic_llong length; /* of a decoder: how many tokens the states are of */
  /* The process in which a run is under way, as bayloom_process() numbers them; 0: none. The child
   * of a fork has a copy of the model that no thread of it uses. */
  atomic_uint user;
};

/* Whether the model is the caller's alone from now on, until it is released. */
bool bayloom_model_claim(bayloom_model* model);
void bayloom_model_release(bayloom_model* model);

/* Computes the outputs from the model's `inputs`, for the model's `lengths`: with workspace for all
 * threads, or BAYLOOM_ERROR_MEMORY. The model is claimed. */
int bayloom_model_compute(bayloom_model* model, int shape, void* last);

#endif /* BAYLOOM_MODEL_DATA_H_ */
