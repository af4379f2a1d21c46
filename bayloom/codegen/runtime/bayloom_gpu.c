// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom_gpu.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "bayloom_cuda.h"
#include "bayloom_gpu_open.h"

enum { kMaxArguments = 256, kSizeStride = 8 /* int64_t, so that each is aligned as buffers are */ };

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
  bayloom_cu_pointer arena, states, workspace, constants, sizes;
  int64_t* size_values; /* of the run under way, as they lie on the device */
  bayloom_cu_pointer* inputs;
  bayloom_cu_pointer* outputs;
  bayloom_gpu_graphs graphs;
  const int64_t* lengths; /* of the run under way */
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
  int64_t arena = 0, sizes = 0;
  for (int p = 0; p < network->plan_count; ++p) {
    const bayloom_gpu_plan* plan = &network->plans[p];
    if (plan->arena_bytes > arena) arena = plan->arena_bytes;
    if (plan->size_count > sizes) sizes = plan->size_count;
  }
  gpu->size_values = calloc((size_t)sizes * kSizeStride + 1, sizeof(*gpu->size_values));
  if (gpu->size_values == NULL) return Refuse(gpu, BAYLOOM_GPU_NO_MEMORY, "no memory");
  if (!Allocate(gpu, &gpu->arena, arena) || !Allocate(gpu, &gpu->states, network->state_bytes) ||
      !Allocate(gpu, &gpu->workspace, network->workspace_bytes) ||
      !Allocate(gpu, &gpu->constants, network->constant_bytes) ||
      !Allocate(gpu, &gpu->sizes, sizes * kSizeStride * (int64_t)sizeof(*gpu->size_values))) {
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
  if (gpu->modules == NULL || gpu->functions == NULL || gpu->inputs == NULL ||
      gpu->outputs == NULL || !bayloom_gpu_graphs_create(&gpu->graphs, network)) {
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
    bayloom_gpu_graphs_destroy(&gpu->graphs, gpu->cuda);
    for (int i = 0; i < network->input_count; ++i) FreeMemory(gpu, gpu->inputs[i]);
    for (int i = 0; i < network->output_count; ++i) FreeMemory(gpu, gpu->outputs[i]);
    FreeMemory(gpu, gpu->arena);
    FreeMemory(gpu, gpu->states);
    FreeMemory(gpu, gpu->workspace);
    FreeMemory(gpu, gpu->constants);
    FreeMemory(gpu, gpu->sizes);
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
  free(gpu->size_values);
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
    case BAYLOOM_GPU_SIZE:
      return gpu->sizes + (uint64_t)place->position * kSizeStride * sizeof(*gpu->size_values);
    case BAYLOOM_GPU_STATE: {
      const bayloom_cu_pointer state = gpu->states + (uint64_t)place->position;
      if (place->rows == NULL) return state;
      return state + (uint64_t)(bayloom_length_value(place->rows, gpu->lengths) * place->row_bytes);
    }
    case BAYLOOM_GPU_CONSTANT:
      break;
  }
  return gpu->constants + (uint64_t)place->position;
}

static const bayloom_gpu_call* Choose(const bayloom_gpu* gpu,
                                      const bayloom_gpu_planned_call* planned) {
  for (int64_t i = 0; i < planned->small_count; ++i) {
    const bayloom_gpu_small_call* small = &planned->small[i];
    if (bayloom_length_value(small->size, gpu->lengths) <= small->up_to) return &small->call;
  }
  return &planned->usual;
}

static bool Call(bayloom_gpu* gpu, const bayloom_gpu_planned_call* planned) {
  const bayloom_gpu_call* call = Choose(gpu, planned);
  if (call->kernel < 0) return true;
  bayloom_cu_pointer pointers[kMaxArguments];
  int64_t sizes[kMaxArguments];
  void* arguments[kMaxArguments];
  if (call->argument_count >= kMaxArguments) {
    return Refuse(gpu, BAYLOOM_GPU_FAILED, "a kernel has too many arguments");
  }
  for (int i = 0; i < call->argument_count; ++i) {
    const bayloom_gpu_place* place = &call->arguments[i];
    pointers[i] = Resolve(gpu, place);
    const bool is_size = place->memory == BAYLOOM_GPU_SIZE;
    sizes[i] = is_size ? gpu->size_values[place->position * kSizeStride] : 0;
  }
  pointers[call->argument_count] = gpu->workspace;
  for (int i = 0; i <= call->argument_count; ++i) arguments[i] = &pointers[i];
  const bayloom_gpu_kernel* kernel = &gpu->network->kernels[call->kernel];
  for (int i = 0; i < kernel->launch_count; ++i) {
    const bayloom_gpu_launch* launch = &kernel->launches[i];
    if (!Check(gpu,
               gpu->cuda->LaunchKernel(
                   gpu->functions[call->kernel][i], (unsigned)bayloom_gpu_blocks(launch, sizes), 1,
                   1, (unsigned)launch->threads, 1, 1, (unsigned)launch->shared_bytes, gpu->stream,
                   arguments, NULL),
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
static bool Capture(bayloom_gpu* gpu, int p, bayloom_cu_graph_exec* captured_graph) {
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
                    Check(gpu, cuda->GraphInstantiate(captured_graph, graph, 0),
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

/* Of open dimensions lengths may never come again: the first run for them needs no graph. */
static bool RunCalls(bayloom_gpu* gpu, int p) {
  const bayloom_gpu_plan* plan = &gpu->network->plans[p];
  bool is_new = false;
  bayloom_gpu_graph* graph =
      bayloom_gpu_graph_for(&gpu->graphs, gpu->cuda, p, gpu->lengths, plan->length_count, &is_new);
  if (graph->graph == NULL) {
    if (is_new && plan->length_count > 0) return CallAll(gpu, plan);
    if (!Capture(gpu, p, &graph->graph)) return false;
  }
  return Check(gpu, gpu->cuda->GraphLaunch(graph->graph, gpu->stream),
               "the graph cannot be launched");
}

static bool SetSizes(bayloom_gpu* gpu, const bayloom_gpu_plan* plan) {
  if (plan->size_count == 0) return true;
  for (int64_t i = 0; i < plan->size_count; ++i) {
    gpu->size_values[i * kSizeStride] = bayloom_length_value(plan->sizes[i], gpu->lengths);
  }
  const size_t count = (size_t)plan->size_count * kSizeStride;
  return Check(gpu,
               gpu->cuda->CopyToDevice(gpu->sizes, gpu->size_values,
                                       count * sizeof(*gpu->size_values), gpu->stream),
               "the sizes cannot be copied");
}

static bool CopyInputs(bayloom_gpu* gpu, const bayloom_gpu_plan* plan, const void* const* inputs) {
  for (int i = 0; i < gpu->network->input_count; ++i) {
    if (plan->input_bytes[i] > 0 &&
        !Check(gpu,
               gpu->cuda->CopyToDevice(gpu->inputs[i], inputs[i], (size_t)plan->input_bytes[i],
                                       gpu->stream),
               "an input cannot be copied")) {
      return false;
    }
  }
  for (int64_t i = 0; i < plan->open_input_count; ++i) {
    const bayloom_gpu_open_tensor* tensor = &plan->open_inputs[i];
    if (inputs[tensor->number] == NULL) continue;
    if (!Check(gpu,
               bayloom_gpu_spread(gpu->cuda, tensor, gpu->lengths, Resolve(gpu, &tensor->network),
                                  inputs[tensor->number], gpu->stream),
               "an input cannot be copied")) {
      return false;
    }
  }
  return true;
}

static bool CopyResults(bayloom_gpu* gpu, const bayloom_gpu_plan* plan, void* const* outputs) {
  for (int i = 0; i < gpu->network->output_count; ++i) {
    if (plan->output_bytes[i] > 0 &&
        !Check(gpu,
               gpu->cuda->CopyToHost(outputs[i], gpu->outputs[i], (size_t)plan->output_bytes[i],
                                     gpu->stream),
               "a kernel failed")) {
      return false;
    }
  }
  for (int64_t i = 0; i < plan->open_output_count; ++i) {
    const bayloom_gpu_open_tensor* tensor = &plan->open_outputs[i];
    if (outputs[tensor->number] == NULL) continue;
    if (!Check(gpu,
               bayloom_gpu_gather(gpu->cuda, tensor, gpu->lengths, Resolve(gpu, &tensor->network),
                                  outputs[tensor->number], gpu->stream),
               "a kernel failed")) {
      return false;
    }
  }
  return true;
}

static bool Run(bayloom_gpu* gpu, const bayloom_gpu_work* work, double* seconds) {
  const bayloom_gpu_plan* plan = &gpu->network->plans[work->plan];
  gpu->lengths = work->lengths;
  return SetSizes(gpu, plan) && CopyInputs(gpu, plan, work->inputs) &&
         (seconds != NULL ? TimeCalls(gpu, plan, seconds) : RunCalls(gpu, work->plan)) &&
         CopyResults(gpu, plan, work->outputs) &&
         Check(gpu, gpu->cuda->StreamSynchronize(gpu->stream), "a kernel failed");
}

/* After a failure, too, nothing of it goes on when the call returns. */
static void RunToTheEnd(bayloom_gpu* gpu, const bayloom_gpu_work* work, double* seconds) {
  if (!Enter(gpu)) return;
  if (!Run(gpu, work, seconds)) gpu->cuda->StreamSynchronize(gpu->stream);
  Leave(gpu);
}

bayloom_gpu_status bayloom_gpu_run(bayloom_gpu* gpu, const bayloom_gpu_work* work, char* error,
                                   size_t size) {
  return bayloom_gpu_time(gpu, work, NULL, error, size);
}

bayloom_gpu_status bayloom_gpu_time(bayloom_gpu* gpu, const bayloom_gpu_work* work, double* seconds,
                                    char* error, size_t size) {
  gpu->error = error;
  gpu->error_size = size;
  gpu->status = BAYLOOM_GPU_OK;
  RunToTheEnd(gpu, work, seconds);
  return gpu->status;
}
