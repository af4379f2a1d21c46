// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#ifndef BAYLOOM_GPU_H_
#define BAYLOOM_GPU_H_

/* Networks compiled for an NVIDIA GPU, as data, and how they are run. The executor and the
 * libraries of compiled networks do so by the same code. Plain C11; it is shipped with the runtime.
 */

#include <stddef.h>
#include <stdint.h>

#include "bayloom_plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How far a size makes a loop over the grid go, as GridReach (codegen/gpu/launch.h). */
typedef struct {
  int64_t most;
  int64_t size; /* number of the argument */
  int64_t before;
  int64_t step;
  int64_t or_next;
} bayloom_gpu_reach;

/* One launch of a kernel, as GpuLaunch. */
typedef struct {
  const char* symbol;
  int64_t blocks;
  int threads;
  int64_t shared_bytes;
  int64_t block_share;
  int64_t fixed_iterations;
  int64_t reach_count; /* 0: `blocks` for all sizes */
  const bayloom_gpu_reach* reaches;
} bayloom_gpu_launch;

/* A program of one task. */
typedef struct {
  const void* image; /* a cubin, or PTX that ends with a zero */
  int launch_count;
  const bayloom_gpu_launch* launches;
} bayloom_gpu_kernel;

typedef enum {
  BAYLOOM_GPU_INPUT,
  BAYLOOM_GPU_OUTPUT,
  BAYLOOM_GPU_ARENA,
  BAYLOOM_GPU_CONSTANT,
  BAYLOOM_GPU_SIZE, /* an int64_t */
  BAYLOOM_GPU_STATE
} bayloom_gpu_memory;

/* Where a tensor lies. */
typedef struct {
  bayloom_gpu_memory memory;
  int64_t position;                /* number of the input, output or size, else bytes */
  int64_t offset;                  /* of inputs and outputs: further bytes */
  const bayloom_length_step* rows; /* of a state: so many rows behind that; null: none */
  int64_t row_bytes;
} bayloom_gpu_place;

typedef struct {
  int kernel; /* -1: nothing is to be done */
  int argument_count;
  const bayloom_gpu_place* arguments;
} bayloom_gpu_call;

/* The call that takes the place of another one where a size is small. */
typedef struct {
  const bayloom_length_step* size;
  int64_t up_to;
  bayloom_gpu_call call;
} bayloom_gpu_small_call;

typedef struct {
  bayloom_gpu_call usual;
  int64_t small_count;
  const bayloom_gpu_small_call* small; /* the first that fits runs in place of the usual one */
} bayloom_gpu_planned_call;

/* An input or output with open dimensions, as bayloom_open_tensor. */
typedef struct {
  int64_t number;
  bayloom_gpu_place network;
  int64_t rank;
  const bayloom_length_step* const* lengths;
  const int64_t* extents;
  int64_t element_bytes;
} bayloom_gpu_open_tensor;

/* Bytes that are copied to an output after the last call. */
typedef struct {
  bayloom_gpu_place from;
  int output;
  int64_t bytes;
} bayloom_gpu_copy;

/* What is done for inputs of one shape, or of all with open dimensions. */
typedef struct {
  int call_count;
  const bayloom_gpu_planned_call* calls;
  int copy_count;
  const bayloom_gpu_copy* copies;
  const int64_t* input_bytes; /* 0: it is open */
  const int64_t* output_bytes;
  int64_t arena_bytes;
  int64_t length_count; /* of the open dimensions */
  int64_t size_count;
  const bayloom_length_step* const* sizes;
  int64_t open_input_count;
  const bayloom_gpu_open_tensor* open_inputs;
  int64_t open_output_count;
  const bayloom_gpu_open_tensor* open_outputs;
} bayloom_gpu_plan;

typedef struct {
  const char* architecture; /* "sm_90": the least that runs the code; "sm_90a": the only one */
  int input_count;
  int output_count;
  int kernel_count;
  const bayloom_gpu_kernel* kernels;
  int64_t workspace_bytes; /* of the kernel that needs most */
  int64_t state_bytes;
  const void* constants;
  int64_t constant_bytes;
  int plan_count;
  const bayloom_gpu_plan* plans;
} bayloom_gpu_network;

/* A network on a GPU. What it does there it does in the device's primary context; every call below
 * leaves the current context of its thread as it was. */
typedef struct bayloom_gpu bayloom_gpu;

/* What failed. */
typedef enum {
  BAYLOOM_GPU_OK,
  BAYLOOM_GPU_NO_DEVICE, /* no driver or no GPU that runs the code */
  BAYLOOM_GPU_NO_MEMORY, /* of the GPU or here */
  BAYLOOM_GPU_FAILED     /* the driver refused something, or a kernel failed */
} bayloom_gpu_status;

/* Loads the network onto the first GPU (the variable CUDA_VISIBLE_DEVICES says which that is). It
 * must outlive the result. On failure `error`, of `size` bytes, says what went wrong in one line.
 */
bayloom_gpu_status bayloom_gpu_create(const bayloom_gpu_network* network, bayloom_gpu** made,
                                      char* error, size_t size);
void bayloom_gpu_destroy(bayloom_gpu* gpu);

/* One run. */
typedef struct {
  int plan;
  const void* const* inputs;
  void* const* outputs;
  const int64_t* lengths; /* of the open dimensions */
} bayloom_gpu_work;

/* Copies the inputs of a plan to the GPU, runs all kernels and copies the outputs back. The kernels
 * are one graph, captured in the first run; with open dimensions in the second run for the same
 * lengths, of which the last few have a graph. Not for several threads at a time. */
bayloom_gpu_status bayloom_gpu_run(bayloom_gpu* gpu, const bayloom_gpu_work* work, char* error,
                                   size_t size);
/* The same call by call, adding each one's seconds by the clock of the GPU to `seconds`. */
bayloom_gpu_status bayloom_gpu_time(bayloom_gpu* gpu, const bayloom_gpu_work* work, double* seconds,
                                    char* error, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* BAYLOOM_GPU_H_ */
