// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#ifndef BAYLOOM_GPU_H_
#define BAYLOOM_GPU_H_

/* Networks compiled for an NVIDIA GPU, as data, and how they are run. The executor and the
 * libraries of compiled networks do so by the same code. Plain C11; it is shipped with the runtime.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One launch of a kernel, as GpuLaunch (codegen/gpu/launch.h). */
typedef struct {
  const char* symbol;
  int64_t blocks;
  int threads;
  int64_t shared_bytes;
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
  BAYLOOM_GPU_CONSTANT
} bayloom_gpu_memory;

/* Where a tensor lies. */
typedef struct {
  bayloom_gpu_memory memory;
  int64_t position; /* number of the input or output, else bytes */
  int64_t offset;   /* of inputs and outputs: further bytes */
} bayloom_gpu_place;

typedef struct {
  int kernel;
  int argument_count;
  const bayloom_gpu_place* arguments;
} bayloom_gpu_call;

/* Bytes that are copied to an output after the last call. */
typedef struct {
  bayloom_gpu_place from;
  int output;
  int64_t bytes;
} bayloom_gpu_copy;

/* What is done for inputs of one shape. */
typedef struct {
  int call_count;
  const bayloom_gpu_call* calls;
  int copy_count;
  const bayloom_gpu_copy* copies;
  const int64_t* input_bytes;
  const int64_t* output_bytes;
  int64_t arena_bytes;
} bayloom_gpu_plan;

typedef struct {
  const char* architecture; /* "sm_90": the least that runs the code; "sm_90a": the only one */
  int input_count;
  int output_count;
  int kernel_count;
  const bayloom_gpu_kernel* kernels;
  int64_t workspace_bytes; /* of the kernel that needs most */
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

/* Copies the inputs of a plan to the GPU, runs all kernels (one graph that is captured in the first
 * run) and copies the outputs back. Not for several threads at a time. */
bayloom_gpu_status bayloom_gpu_run(bayloom_gpu* gpu, int plan, const void* const* inputs,
                                   void* const* outputs, char* error, size_t size);
/* The same call by call, adding each one's seconds by the clock of the GPU to `seconds`. */
bayloom_gpu_status bayloom_gpu_time(bayloom_gpu* gpu, int plan, const void* const* inputs,
                                    void* const* outputs, double* seconds, char* error,
                                    size_t size);

#ifdef __cplusplus
}
#endif

#endif /* BAYLOOM_GPU_H_ */
