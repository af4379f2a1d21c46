// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom_gpu.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "bayloom_cuda.h"

enum { kMaxArguments = 256 };

struct bayloom_gpu {
  const bayloom_gpu_network* network;
  const bayloom_cuda* cuda;
  bayloom_cu_device device;
  bayloom_cu_context context;
  bool is_entered; /* by the call under way */
  bayloom_cu_stream stream;
  bayloom_cu_event begin, end;
  bayloom_cu_module* modules;      /* of each kernel */
  bayloom_cu_function** functions; /* of each kernel's launches */
  bayloom_cu_pointer arena, workspace, constants;
  bayloom_cu_pointer* inputs;
  bayloom_cu_pointer* outputs;
  bayloom_cu_graph_exec* graphs; /* of each plan, once it has run */
  /* Where the call under way says what fails. */
  char* error;
  size_t error_size;
  bayloom_gpu_status status;
};

/* Notes the first failure. True if there was none. */
static bool Check(bayloom_gpu* gpu, int code, const char* what) {
  if (code == BAYLOOM_CU_SUCCESS) return true;
  if (gpu->status != BAYLOOM_GPU_OK) return false;
  gpu->status = code == BAYLOOM_CU_ERROR_OUT_OF_MEMORY ? BAYLOOM_GPU_NO_MEMORY
                : code == BAYLOOM_CU_ERROR_NO_BINARY   ? BAYLOOM_GPU_NO_DEVICE
                                                       : BAYLOOM_GPU_FAILED;
  bayloom_cuda_describe(gpu->cuda, code, what, gpu->error, gpu->error_size);
  return false;
}

static bool Refuse(bayloom_gpu* gpu, bayloom_gpu_status status, const char* what) {
  gpu->status = status;
  snprintf(gpu->error, gpu->error_size, "%s", what);
  return false;
}

/* The device's primary context is the current one from Enter to Leave; what the caller had is then
 * current again. */
static bool Enter(bayloom_gpu* gpu) {
  gpu->is_entered = Check(gpu, gpu->cuda->CtxPushCurrent(gpu->context), "the GPU cannot be used");
  return gpu->is_entered;
}

static void Leave(bayloom_gpu* gpu) {
  bayloom_cu_context ours = NULL;
  if (gpu->is_entered) gpu->cuda->CtxPopCurrent(&ours);
  gpu->is_entered = false;
}

static bool OpenDevice(bayloom_gpu* gpu) {
  const bayloom_cuda* cuda = gpu->cuda;
  int count = 0, major = 0, minor = 0;
  if (!Check(gpu, cuda->DeviceGetCount(&count), "the driver tells of no devices")) return false;
  if (count == 0) return Refuse(gpu, BAYLOOM_GPU_NO_DEVICE, "the driver has no GPU");
  if (!Check(gpu, cuda->DeviceGet(&gpu->device, 0), "the GPU cannot be used") ||
      !Check(gpu, cuda->DeviceGetAttribute(&major, BAYLOOM_CU_CAPABILITY_MAJOR, gpu->device),
             "the GPU cannot be asked") ||
      !Check(gpu, cuda->DeviceGetAttribute(&minor, BAYLOOM_CU_CAPABILITY_MINOR, gpu->device),
             "the GPU cannot be asked")) {
    return false;
  }
  int wanted = 0;
  char only = 0; /* 'a': no later one runs the code */
  sscanf(gpu->network->architecture, "sm_%d%c", &wanted, &only);
  if (10 * major + minor < wanted || (only == 'a' && 10 * major + minor != wanted)) {
    char text[96];
    snprintf(text, sizeof(text), "the code is for %s, and the GPU is sm_%d%d",
             gpu->network->architecture, major, minor);
    return Refuse(gpu, BAYLOOM_GPU_NO_DEVICE, text);
  }
  return Check(gpu, cuda->PrimaryCtxRetain(&gpu->context, gpu->device), "the GPU cannot be used") &&
         Enter(gpu) &&
         Check(gpu, cuda->StreamCreate(&gpu->stream, BAYLOOM_CU_STREAM_NON_BLOCKING),
               "no stream") &&
         Check(gpu, cuda->EventCreate(&gpu->begin, 0), "no event") &&
         Check(gpu, cuda->EventCreate(&gpu->end, 0), "no event");
}

static bool LoadKernel(bayloom_gpu* gpu, int k) {
  const bayloom_cuda* cuda = gpu->cuda;
  const bayloom_gpu_kernel* kernel = &gpu->network->kernels[k];
  if (!Check(gpu, cuda->ModuleLoadData(&gpu->modules[k], kernel->image),
             "the driver does not load the code")) {
    return false;
  }
  gpu->functions[k] = calloc((size_t)kernel->launch_count + 1, sizeof(*gpu->functions[k]));
  if (gpu->functions[k] == NULL) return Refuse(gpu, BAYLOOM_GPU_NO_MEMORY, "no memory");
  for (int i = 0; i < kernel->launch_count; ++i) {
    const bayloom_gpu_launch* launch = &kernel->launches[i];
    if (!Check(gpu, cuda->ModuleGetFunction(&gpu->functions[k][i], gpu->modules[k], launch->symbol),
               "the code has not the kernel") ||
        !Check(gpu,
               cuda->FuncSetAttribute(gpu->functions[k][i], BAYLOOM_CU_MAX_DYNAMIC_SHARED_BYTES,
                                      (int)launch->shared_bytes),
               "the GPU has not the shared memory")) {
      return false;
    }
  }
  return true;
}

static bool Allocate(bayloom_gpu* gpu, bayloom_cu_pointer* memory, int64_t bytes) {
  return Check(gpu, gpu->cuda->MemAlloc(memory, (size_t)(bytes > 0 ? bytes : 1)),
               "the network does not fit into the memory of the GPU");
}

static bool AllocateAll(bayloom_gpu* gpu) {
  const bayloom_gpu_network* network = gpu->network;
  int64_t arena = 0;
  for (int p = 0; p < network->plan_count; ++p) {
    if (network->plans[p].arena_bytes > arena) arena = network->plans[p].arena_bytes;
  }
  if (!Allocate(gpu, &gpu->arena, arena) ||
      !Allocate(gpu, &gpu->workspace, network->workspace_bytes) ||
      !Allocate(gpu, &gpu->constants, network->constant_bytes)) {
    return false;
  }
  for (int t = 0; t < network->input_count + network->output_count; ++t) {
    const bool is_input = t < network->input_count;
    const int number = is_input ? t : t - network->input_count;
    int64_t bytes = 0;
    for (int p = 0; p < network->plan_count; ++p) {
      const bayloom_gpu_plan* plan = &network->plans[p];
      const int64_t own = is_input ? plan->input_bytes[number] : plan->output_bytes[number];
      if (own > bytes) bytes = own;
    }
    if (!Allocate(gpu, is_input ? &gpu->inputs[number] : &gpu->outputs[number], bytes)) {
      return false;
    }
  }
  if (network->constant_bytes == 0) return true;
  return Check(gpu,
               gpu->cuda->CopyToDevice(gpu->constants, network->constants,
                                       (size_t)network->constant_bytes, gpu->stream),
               "the weights cannot be copied") &&
         Check(gpu, gpu->cuda->StreamSynchronize(gpu->stream), "the weights cannot be copied");
}

static bool Prepare(bayloom_gpu* gpu) {
  const bayloom_gpu_network* network = gpu->network;
  gpu->modules = calloc((size_t)network->kernel_count + 1, sizeof(*gpu->modules));
  gpu->functions = calloc((size_t)network->kernel_count + 1, sizeof(*gpu->functions));
  gpu->inputs = calloc((size_t)network->input_count + 1, sizeof(*gpu->inputs));
  gpu->outputs = calloc((size_t)network->output_count + 1, sizeof(*gpu->outputs));
  gpu->graphs = calloc((size_t)network->plan_count + 1, sizeof(*gpu->graphs));
  if (gpu->modules == NULL || gpu->functions == NULL || gpu->inputs == NULL ||
      gpu->outputs == NULL || gpu->graphs == NULL) {
    return Refuse(gpu, BAYLOOM_GPU_NO_MEMORY, "no memory");
  }
  if (!OpenDevice(gpu)) return false;
  for (int k = 0; k < network->kernel_count; ++k) {
    if (!LoadKernel(gpu, k)) return false;
  }
  return AllocateAll(gpu);
}

bayloom_gpu_status bayloom_gpu_create(const bayloom_gpu_network* network, bayloom_gpu** made,
                                      char* error, size_t size) {
  *made = NULL;
  const bayloom_cuda* cuda = bayloom_cuda_load(error, size);
  if (cuda == NULL) return BAYLOOM_GPU_NO_DEVICE;
  bayloom_gpu* gpu = calloc(1, sizeof(*gpu));
  if (gpu == NULL) {
    snprintf(error, size, "no memory");
    return BAYLOOM_GPU_NO_MEMORY;
  }
  gpu->network = network;
  gpu->cuda = cuda;
  gpu->error = error;
  gpu->error_size = size;
  const bool is_prepared = Prepare(gpu);
  Leave(gpu);
  if (is_prepared) {
    *made = gpu;
    return BAYLOOM_GPU_OK;
  }
  const bayloom_gpu_status status = gpu->status;
  bayloom_gpu_destroy(gpu);
  return status;
}

static void FreeMemory(bayloom_gpu* gpu, bayloom_cu_pointer memory) {
  if (memory != 0) gpu->cuda->MemFree(memory);
}

void bayloom_gpu_destroy(bayloom_gpu* gpu) {
  if (gpu == NULL) return;
  const bayloom_gpu_network* network = gpu->network;
  if (gpu->context != NULL) {
    gpu->status = BAYLOOM_GPU_FAILED; /* no buffer to write to */
    Enter(gpu);
    for (int p = 0; p < network->plan_count; ++p) {
      if (gpu->graphs[p] != NULL) gpu->cuda->GraphExecDestroy(gpu->graphs[p]);
    }
    for (int i = 0; i < network->input_count; ++i) FreeMemory(gpu, gpu->inputs[i]);
    for (int i = 0; i < network->output_count; ++i) FreeMemory(gpu, gpu->outputs[i]);
    FreeMemory(gpu, gpu->arena);
    FreeMemory(gpu, gpu->workspace);
    FreeMemory(gpu, gpu->constants);
    for (int k = 0; k < network->kernel_count; ++k) {
      if (gpu->modules[k] != NULL) gpu->cuda->ModuleUnload(gpu->modules[k]);
      free(gpu->functions[k]);
    }
    if (gpu->begin != NULL) gpu->cuda->EventDestroy(gpu->begin);
    if (gpu->end != NULL) gpu->cuda->EventDestroy(gpu->end);
    if (gpu->stream != NULL) gpu->cuda->StreamDestroy(gpu->stream);
    Leave(gpu);
    gpu->cuda->PrimaryCtxRelease(gpu->device);
  }
  free(gpu->modules);
  free(gpu->functions);
  free(gpu->inputs);
  free(gpu->outputs);
  free(gpu->graphs);
  free(gpu);
}

static bayloom_cu_pointer Resolve(const bayloom_gpu* gpu, const bayloom_gpu_place* place) {
  switch (place->memory) {
    case BAYLOOM_GPU_INPUT:
      return gpu->inputs[place->position] + (uint64_t)place->offset;
    case BAYLOOM_GPU_OUTPUT:
      return gpu->outputs[place->position] + (uint64_t)place->offset;
    case BAYLOOM_GPU_ARENA:
      return gpu->arena + (uint64_t)place->position;
    case BAYLOOM_GPU_CONSTANT:
      break;
  }
  return gpu->constants + (uint64_t)place->position;
}

static bool Call(bayloom_gpu* gpu, const bayloom_gpu_call* call) {
  bayloom_cu_pointer pointers[kMaxArguments];
  void* arguments[kMaxArguments];
  if (call->argument_count >= kMaxArguments) {
    return Refuse(gpu, BAYLOOM_GPU_FAILED, "a kernel has too many arguments");
  }
  for (int i = 0; i < call->argument_count; ++i) pointers[i] = Resolve(gpu, &call->arguments[i]);
  pointers[call->argument_count] = gpu->workspace;
  for (int i = 0; i <= call->argument_count; ++i) arguments[i] = &pointers[i];
  const bayloom_gpu_kernel* kernel = &gpu->network->kernels[call->kernel];
  for (int i = 0; i < kernel->launch_count; ++i) {
    const bayloom_gpu_launch* launch = &kernel->launches[i];
    if (!Check(
            gpu,
            gpu->cuda->LaunchKernel(gpu->functions[call->kernel][i], (unsigned)launch->blocks, 1, 1,
                                    (unsigned)launch->threads, 1, 1, (unsigned)launch->shared_bytes,
                                    gpu->stream, arguments, NULL),
            "a kernel cannot be launched")) {
      return false;
    }
  }
  return true;
}

static bool CopyOutputs(bayloom_gpu* gpu, const bayloom_gpu_plan* plan) {
  for (int i = 0; i < plan->copy_count; ++i) {
    const bayloom_gpu_copy* copy = &plan->copies[i];
    if (!Check(gpu,
               gpu->cuda->CopyInDevice(gpu->outputs[copy->output], Resolve(gpu, &copy->from),
                                       (size_t)copy->bytes, gpu->stream),
               "an output cannot be copied")) {
      return false;
    }
  }
  return true;
}

static bool CallAll(bayloom_gpu* gpu, const bayloom_gpu_plan* plan) {
  for (int c = 0; c < plan->call_count; ++c) {
    if (!Call(gpu, &plan->calls[c])) return false;
  }
  return CopyOutputs(gpu, plan);
}

/* The plan's calls as a graph. */
static bool Capture(bayloom_gpu* gpu, int p) {
  const bayloom_cuda* cuda = gpu->cuda;
  bayloom_cu_graph graph = NULL;
  if (!Check(gpu, cuda->StreamBeginCapture(gpu->stream, BAYLOOM_CU_CAPTURE_THREAD_LOCAL),
             "the calls cannot be captured")) {
    return false;
  }
  const bool called = CallAll(gpu, &gpu->network->plans[p]);
  const bool captured =
      Check(gpu, cuda->StreamEndCapture(gpu->stream, &graph), "the calls cannot be captured");
  const bool made = called && captured &&
                    Check(gpu, cuda->GraphInstantiate(&gpu->graphs[p], graph, 0),
                          "there can be no graph of the calls");
  if (graph != NULL) cuda->GraphDestroy(graph);
  return made;
}

static bool TimeCalls(bayloom_gpu* gpu, const bayloom_gpu_plan* plan, double* seconds) {
  const bayloom_cuda* cuda = gpu->cuda;
  for (int c = 0; c < plan->call_count; ++c) {
    float milliseconds = 0;
    if (!Check(gpu, cuda->EventRecord(gpu->begin, gpu->stream), "no event") ||
        !Call(gpu, &plan->calls[c]) ||
        !Check(gpu, cuda->EventRecord(gpu->end, gpu->stream), "no event") ||
        !Check(gpu, cuda->EventSynchronize(gpu->end), "a kernel failed") ||
        !Check(gpu, cuda->EventElapsedTime(&milliseconds, gpu->begin, gpu->end), "no time")) {
      return false;
    }
    seconds[c] += (double)milliseconds / 1000;
  }
  return CopyOutputs(gpu, plan);
}

static bool Run(bayloom_gpu* gpu, int p, const void* const* inputs, void* const* outputs,
                double* seconds) {
  const bayloom_cuda* cuda = gpu->cuda;
  const bayloom_gpu_network* network = gpu->network;
  const bayloom_gpu_plan* plan = &network->plans[p];
  for (int i = 0; i < network->input_count; ++i) {
    if (plan->input_bytes[i] > 0 &&
        !Check(gpu,
               cuda->CopyToDevice(gpu->inputs[i], inputs[i], (size_t)plan->input_bytes[i],
                                  gpu->stream),
               "an input cannot be copied")) {
      return false;
    }
  }
  if (seconds != NULL) {
    if (!TimeCalls(gpu, plan, seconds)) return false;
  } else {
    if (gpu->graphs[p] == NULL && !Capture(gpu, p)) return false;
    if (!Check(gpu, cuda->GraphLaunch(gpu->graphs[p], gpu->stream), "the graph cannot be launched"))
      return false;
  }
  for (int i = 0; i < network->output_count; ++i) {
    if (plan->output_bytes[i] > 0 &&
        !Check(gpu,
               cuda->CopyToHost(outputs[i], gpu->outputs[i], (size_t)plan->output_bytes[i],
                                gpu->stream),
               "a kernel failed")) {
      return false;
    }
  }
  return Check(gpu, cuda->StreamSynchronize(gpu->stream), "a kernel failed");
}

/* After a failure, too, nothing of it goes on when the call returns. */
static void RunToTheEnd(bayloom_gpu* gpu, int p, const void* const* inputs, void* const* outputs,
                        double* seconds) {
  if (!Enter(gpu)) return;
  if (!Run(gpu, p, inputs, outputs, seconds)) gpu->cuda->StreamSynchronize(gpu->stream);
  Leave(gpu);
}

bayloom_gpu_status bayloom_gpu_run(bayloom_gpu* gpu, int plan, const void* const* inputs,
                                   void* const* outputs, char* error, size_t size) {
  gpu->error = error;
  gpu->error_size = size;
  gpu->status = BAYLOOM_GPU_OK;
  RunToTheEnd(gpu, plan, inputs, outputs, NULL);
  return gpu->status;
}

bayloom_gpu_status bayloom_gpu_time(bayloom_gpu* gpu, int plan, const void* const* inputs,
                                    void* const* outputs, double* seconds, char* error,
                                    size_t size) {
  gpu->error = error;
  gpu->error_size = size;
  gpu->status = BAYLOOM_GPU_OK;
  RunToTheEnd(gpu, plan, inputs, outputs, seconds);
  return gpu->status;
}
