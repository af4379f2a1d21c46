// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom_gpu_model.h"

#include "bayloom_gpu.h"
#include "bayloom_package.h"

/* Of the last call of this thread; empty if it did not fail. */
static _Thread_local char error[256];

static int CodeOf(bayloom_gpu_status status) {
  switch (status) {
    case BAYLOOM_GPU_OK:
      return BAYLOOM_OK;
    case BAYLOOM_GPU_NO_DEVICE:
      return BAYLOOM_ERROR_DEVICE;
    case BAYLOOM_GPU_NO_MEMORY:
      return BAYLOOM_ERROR_MEMORY;
    case BAYLOOM_GPU_FAILED:
      break;
  }
  return BAYLOOM_ERROR_FAILED;
}

static int Create(const void* program, void** state) {
  bayloom_gpu* gpu = NULL;
  error[0] = '\0';
  const bayloom_gpu_status status =
      bayloom_gpu_create((const bayloom_gpu_network*)program, &gpu, error, sizeof(error));
  *state = gpu;
  return CodeOf(status);
}

static int Run(void* state, int shape, const void* const* inputs, void* const* outputs,
               const int64_t* lengths) {
  const bayloom_gpu_work work = {shape, inputs, outputs, lengths};
  error[0] = '\0';
  return CodeOf(bayloom_gpu_run((bayloom_gpu*)state, &work, error, sizeof(error)));
}

static void Destroy(void* state) { bayloom_gpu_destroy((bayloom_gpu*)state); }

static const char* Error(void) { return error; }

const bayloom_accelerator bayloom_gpu_accelerator = {Create, Run, Destroy, Error};
