// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#ifndef BAYLOOM_CUDA_H_
#define BAYLOOM_CUDA_H_

/* NVIDIA's driver, loaded when it is needed: declarations of our own for the entry points of
 * libcuda.so.1 that Bayloom calls (CUDA Driver API, versions 12.0 and later). Nothing of CUDA is
 * needed to compile or link this. Plain C11; it is shipped with networks for GPUs. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int bayloom_cu_device;
typedef struct bayloom_cu_context_s* bayloom_cu_context;
typedef struct bayloom_cu_module_s* bayloom_cu_module;
typedef struct bayloom_cu_function_s* bayloom_cu_function;
typedef struct bayloom_cu_stream_s* bayloom_cu_stream;
typedef struct bayloom_cu_event_s* bayloom_cu_event;
typedef struct bayloom_cu_graph_s* bayloom_cu_graph;
typedef struct bayloom_cu_graph_exec_s* bayloom_cu_graph_exec;
typedef uint64_t bayloom_cu_pointer; /* to memory of the device */

/* A copy of rows that lie apart: the driver's CUDA_MEMCPY2D. */
typedef struct {
  size_t from_x, from_y;
  int from_type; /* BAYLOOM_CU_HOST or BAYLOOM_CU_DEVICE */
  const void* from_host;
  bayloom_cu_pointer from_device;
  void* from_array;
  size_t from_pitch; /* bytes from one row to the next */
  size_t to_x, to_y;
  int to_type;
  void* to_host;
  bayloom_cu_pointer to_device;
  void* to_array;
  size_t to_pitch;
  size_t row_bytes;
  size_t rows;
} bayloom_cu_rows;

/* The oldest driver that takes our code, as cuDriverGetVersion has it: that of CUDA 12.0, the first
 * that knows PTX 8.0. */
enum { BAYLOOM_CUDA_LEAST_VERSION = 12000 };

/* Values of enumerations of the driver API. */
enum {
  BAYLOOM_CU_SUCCESS = 0,
  BAYLOOM_CU_ERROR_OUT_OF_MEMORY = 2,
  BAYLOOM_CU_ERROR_NOT_INITIALIZED = 3,
  BAYLOOM_CU_ERROR_NO_BINARY = 209, /* no code for this GPU in a module */
  BAYLOOM_CU_CLOCK_RATE = 13,       /* attributes of devices: kHz */
  BAYLOOM_CU_MULTIPROCESSORS = 16,
  BAYLOOM_CU_MEMORY_CLOCK_RATE = 36, /* kHz */
  BAYLOOM_CU_MEMORY_BUS_WIDTH = 37,  /* bits */
  BAYLOOM_CU_L2_BYTES = 38,
  BAYLOOM_CU_CAPABILITY_MAJOR = 75,
  BAYLOOM_CU_CAPABILITY_MINOR = 76,
  BAYLOOM_CU_STATIC_SHARED_BYTES = 1, /* attributes of functions */
  BAYLOOM_CU_LOCAL_BYTES = 3,
  BAYLOOM_CU_REGISTERS = 4,
  BAYLOOM_CU_MAX_DYNAMIC_SHARED_BYTES = 8,
  BAYLOOM_CU_HOST = 1, /* kinds of memory */
  BAYLOOM_CU_DEVICE = 2,
  BAYLOOM_CU_STREAM_NON_BLOCKING = 1,
  BAYLOOM_CU_CAPTURE_THREAD_LOCAL = 1
};

/* X(name here, name in the library, parameters) for every entry point. */
#define BAYLOOM_CUDA_FUNCTIONS(X)                                                               \
  X(Init, "cuInit", (unsigned))                                                                 \
  X(DriverGetVersion, "cuDriverGetVersion", (int*))                                             \
  X(GetErrorName, "cuGetErrorName", (int, const char**))                                        \
  X(DeviceGetCount, "cuDeviceGetCount", (int*))                                                 \
  X(DeviceGet, "cuDeviceGet", (bayloom_cu_device*, int))                                        \
  X(DeviceGetName, "cuDeviceGetName", (char*, int, bayloom_cu_device))                          \
  X(DeviceGetAttribute, "cuDeviceGetAttribute", (int*, int, bayloom_cu_device))                 \
  X(DeviceGetPCIBusId, "cuDeviceGetPCIBusId", (char*, int, bayloom_cu_device))                  \
  X(DeviceTotalMem, "cuDeviceTotalMem_v2", (size_t*, bayloom_cu_device))                        \
  X(PrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (bayloom_cu_context*, bayloom_cu_device))     \
  X(PrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (bayloom_cu_device))                     \
  X(CtxPushCurrent, "cuCtxPushCurrent_v2", (bayloom_cu_context))                                \
  X(CtxPopCurrent, "cuCtxPopCurrent_v2", (bayloom_cu_context*))                                 \
  X(ModuleLoadData, "cuModuleLoadData", (bayloom_cu_module*, const void*))                      \
  X(ModuleUnload, "cuModuleUnload", (bayloom_cu_module))                                        \
  X(ModuleGetFunction, "cuModuleGetFunction",                                                   \
    (bayloom_cu_function*, bayloom_cu_module, const char*))                                     \
  X(FuncGetAttribute, "cuFuncGetAttribute", (int*, int, bayloom_cu_function))                   \
  X(FuncSetAttribute, "cuFuncSetAttribute", (bayloom_cu_function, int, int))                    \
  X(MemAlloc, "cuMemAlloc_v2", (bayloom_cu_pointer*, size_t))                                   \
  X(MemFree, "cuMemFree_v2", (bayloom_cu_pointer))                                              \
  X(CopyToDevice, "cuMemcpyHtoDAsync_v2",                                                       \
    (bayloom_cu_pointer, const void*, size_t, bayloom_cu_stream))                               \
  X(CopyToHost, "cuMemcpyDtoHAsync_v2", (void*, bayloom_cu_pointer, size_t, bayloom_cu_stream)) \
  X(CopyInDevice, "cuMemcpyDtoDAsync_v2",                                                       \
    (bayloom_cu_pointer, bayloom_cu_pointer, size_t, bayloom_cu_stream))                        \
  X(CopyRows, "cuMemcpy2DAsync_v2", (const bayloom_cu_rows*, bayloom_cu_stream))                \
  X(Fill, "cuMemsetD8Async", (bayloom_cu_pointer, unsigned char, size_t, bayloom_cu_stream))    \
  X(StreamCreate, "cuStreamCreate", (bayloom_cu_stream*, unsigned))                             \
  X(StreamDestroy, "cuStreamDestroy_v2", (bayloom_cu_stream))                                   \
  X(StreamSynchronize, "cuStreamSynchronize", (bayloom_cu_stream))                              \
  X(StreamBeginCapture, "cuStreamBeginCapture_v2", (bayloom_cu_stream, int))                    \
  X(StreamEndCapture, "cuStreamEndCapture", (bayloom_cu_stream, bayloom_cu_graph*))             \
  X(GraphInstantiate, "cuGraphInstantiateWithFlags",                                            \
    (bayloom_cu_graph_exec*, bayloom_cu_graph, unsigned long long))                             \
  X(GraphLaunch, "cuGraphLaunch", (bayloom_cu_graph_exec, bayloom_cu_stream))                   \
  X(GraphExecDestroy, "cuGraphExecDestroy", (bayloom_cu_graph_exec))                            \
  X(GraphDestroy, "cuGraphDestroy", (bayloom_cu_graph))                                         \
  X(EventCreate, "cuEventCreate", (bayloom_cu_event*, unsigned))                                \
  X(EventDestroy, "cuEventDestroy_v2", (bayloom_cu_event))                                      \
  X(EventRecord, "cuEventRecord", (bayloom_cu_event, bayloom_cu_stream))                        \
  X(EventSynchronize, "cuEventSynchronize", (bayloom_cu_event))                                 \
  X(EventElapsedTime, "cuEventElapsedTime", (float*, bayloom_cu_event, bayloom_cu_event))       \
  X(LaunchKernel, "cuLaunchKernel",                                                             \
    (bayloom_cu_function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, \
     bayloom_cu_stream, void**, void**))

/* The entry points; each returns 0 or an error's number. */
typedef struct {
#define BAYLOOM_CUDA_MEMBER(name, symbol, parameters) int(*name) parameters;
  BAYLOOM_CUDA_FUNCTIONS(BAYLOOM_CUDA_MEMBER)
#undef BAYLOOM_CUDA_MEMBER
} bayloom_cuda;

/* Loads the driver, once for the process, and initializes it: from the file that the environment
 * variable BAYLOOM_CUDA_DRIVER names, else libcuda.so.1. Returns null where that is not possible;
 * `error`, of `size` bytes, then says why in one line. Thread safe. */
const bayloom_cuda* bayloom_cuda_load(char* error, size_t size);

/* Whether this process has loaded and initialized it: then a child that it forks, and that does not
 * become another program, cannot use a GPU. */
bool bayloom_cuda_is_loaded(void);

/* Writes "WHAT: CUDA_ERROR_..." . */
void bayloom_cuda_describe(const bayloom_cuda* cuda, int code, const char* what, char* error,
                           size_t size);

#ifdef __cplusplus
}
#endif

#endif /* BAYLOOM_CUDA_H_ */
