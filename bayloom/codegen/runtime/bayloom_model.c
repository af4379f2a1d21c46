// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom_model.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "bayloom_cpu.h"
#include "bayloom_decoder.h"
#include "bayloom_huge_pages.h"
#include "bayloom_model_data.h"
#include "bayloom_runtime.h"

enum { kAlignment = 64 };

static void* Allocate(int64_t bytes) {
  return aligned_alloc(kAlignment, (size_t)(bytes / kAlignment + 1) * kAlignment);
}

static bool IsAligned(const void* memory) { return (uintptr_t)memory % kAlignment == 0; }

bool bayloom_model_claim(bayloom_model* model) {
  const unsigned process = bayloom_process();
  unsigned user = atomic_load(&model->user);
  return user != process && atomic_compare_exchange_strong(&model->user, &user, process);
}

void bayloom_model_release(bayloom_model* model) { atomic_store(&model->user, 0); }

static void Free(bayloom_model* model) {
  const bayloom_network* network = model->network;
  if (model->accelerated != NULL) model->variant->accelerator->destroy(model->accelerated);
  for (int i = 0; model->input_copies != NULL && i < network->input_count; ++i) {
    free(model->input_copies[i]);
  }
  for (int i = 0; model->output_copies != NULL && i < network->output_count; ++i) {
    free(model->output_copies[i]);
  }
  free(model->input_copies);
  free(model->output_copies);
  free(model->held);
  free(model->lengths);
  free(model->dims);
  free((void*)model->inputs);
  free(model->outputs);
  free(model->workspace);
  free(model->states);
  free(model->arena);
  free(model);
}

static bool PrepareWorkspace(bayloom_model* model, int threads) {
  if (model->workspace != NULL && threads <= model->workspace_threads) return true;
  free(model->workspace);
  model->workspace = Allocate(model->variant->shared_workspace_bytes +
                              threads * model->variant->worker_workspace_bytes);
  model->workspace_threads = threads;
  return model->workspace != NULL;
}

static int64_t LargestInput(const bayloom_network* network, size_t input) {
  int64_t bytes = 0;
  for (int s = 0; s < network->shape_count; ++s) {
    const int64_t own = network->shapes[s].input_bytes[input];
    if (own > bytes) bytes = own;
  }
  return bytes;
}

static int64_t LargestOutput(const bayloom_network* network, size_t output) {
  int64_t bytes = 0;
  for (int s = 0; s < network->shape_count; ++s) {
    const int64_t own = network->shapes[s].output_bytes[output];
    if (own > bytes) bytes = own;
  }
  return bytes;
}

static bool AllocateAll(bayloom_model* model) {
  const size_t inputs = (size_t)model->network->input_count;
  const size_t outputs = (size_t)model->network->output_count;
  model->arena = Allocate(model->variant->arena_bytes);
  model->states = Allocate(model->network->state_bytes);
  model->inputs = calloc(inputs + 1, sizeof(void*));
  model->outputs = calloc(outputs + 1, sizeof(void*));
  model->input_copies = calloc(inputs + 1, sizeof(void*));
  model->output_copies = calloc(outputs + 1, sizeof(void*));
  model->lengths = calloc((size_t)model->network->open_count + 1, sizeof(int64_t));
  model->dims = calloc((size_t)model->network->dim_count + 1, sizeof(int64_t));
  model->held = calloc(inputs + 1, sizeof(*model->held));
  if (model->lengths == NULL || model->dims == NULL || model->held == NULL) return false;
  if (model->arena == NULL || model->states == NULL || model->inputs == NULL ||
      model->outputs == NULL || model->input_copies == NULL || model->output_copies == NULL) {
    return false;
  }
  for (size_t i = 0; i < inputs; ++i) {
    model->input_copies[i] = Allocate(LargestInput(model->network, i));
    if (model->input_copies[i] == NULL) return false;
  }
  for (size_t i = 0; i < outputs; ++i) {
    model->output_copies[i] = Allocate(LargestOutput(model->network, i));
    if (model->output_copies[i] == NULL) return false;
  }
  return PrepareWorkspace(model, bayloom_threads());
}

static const bayloom_variant* ChooseVariant(const bayloom_network* network) {
  for (int i = 0; i < network->variant_count; ++i) {
    if (bayloom_cpu_has(network->variants[i].features)) return &network->variants[i];
  }
  return NULL;
}

/* The first model moves the weights, before any reads them. */
static void MoveConstants(const bayloom_network* network) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static bool moved = false; /* a library has one network */
  pthread_mutex_lock(&lock);
  if (!moved) bayloom_use_huge_pages(network->constants, network->constant_bytes, 1);
  moved = true;
  pthread_mutex_unlock(&lock);
}

int bayloom_model_create(const bayloom_network* network, int abi_version, bayloom_model** model) {
  if (model != NULL) *model = NULL;
  if (abi_version != BAYLOOM_ABI_VERSION) return BAYLOOM_ERROR_ABI;
  if (model == NULL) return BAYLOOM_ERROR_NULL;
  const bayloom_variant* variant = ChooseVariant(network);
  if (variant == NULL) return BAYLOOM_ERROR_PROCESSOR;
  bayloom_model* made = calloc(1, sizeof(*made));
  if (made == NULL) return BAYLOOM_ERROR_MEMORY;
  made->network = network;
  made->variant = variant;
  if (!AllocateAll(made)) {
    Free(made);
    return BAYLOOM_ERROR_MEMORY;
  }
  if (variant->accelerator == NULL) MoveConstants(network);
  if (variant->accelerator != NULL) {
    const int code = variant->accelerator->create(variant->program, &made->accelerated);
    if (code != BAYLOOM_OK) {
      Free(made);
      return code;
    }
  }
  *model = made;
  return BAYLOOM_OK;
}

int bayloom_model_destroy(const bayloom_network* network, bayloom_model* model) {
  if (model == NULL) return BAYLOOM_OK;
  if (model->network != network) return BAYLOOM_ERROR_NULL;
  if (!bayloom_model_claim(model)) return BAYLOOM_ERROR_BUSY;
  Free(model);
  return BAYLOOM_OK;
}

static bool Overlap(const void* a, size_t a_bytes, const void* b, size_t b_bytes) {
  const uintptr_t a_begin = (uintptr_t)a, b_begin = (uintptr_t)b;
  return a_begin < b_begin + b_bytes && b_begin < a_begin + a_bytes;
}

int64_t bayloom_tensor_bytes(const int64_t* dims, int rank, int64_t element_bytes) {
  int64_t bytes = element_bytes;
  for (int d = 0; d < rank; ++d) bytes *= dims[d];
  return bytes;
}

/* Sets the lengths of the shape's open dimensions, if the call gives such as they may have; those
 * that are found are at most as long as their bounds. */
static bool ReadLengths(const bayloom_shape* shape, const bayloom_input* inputs, int64_t* lengths) {
  for (int i = 0; i < shape->open_count; ++i) {
    const bayloom_open_dimension* open = &shape->open[i];
    if (open->input < 0) {
      lengths[i] = open->largest;
      continue;
    }
    if (inputs[open->input].dims == NULL) return false;
    lengths[i] = (int64_t)inputs[open->input].dims[open->dimension];
    if (lengths[i] < open->smallest || lengths[i] > open->largest ||
        (lengths[i] - open->smallest) % open->step != 0) {
      return false;
    }
  }
  return true;
}

/* Whether a call's input has these dimensions, as far as it says which it has. */
static bool HasDims(const size_t* given, const int64_t* dims, int rank) {
  for (int d = 0; given != NULL && d < rank; ++d) {
    if (given[d] != (size_t)dims[d]) return false;
  }
  return true;
}

void bayloom_model_set_dims(const bayloom_model* model, const bayloom_shape* shape) {
  const int tensors = model->network->input_count + model->network->output_count;
  int count = 0;
  for (int t = 0; t < tensors; ++t) count += shape->ranks[t];
  for (int d = 0; d < count; ++d) {
    model->dims[d] = bayloom_length_value(shape->dims[d], model->lengths);
  }
}

/* Whether a call says how long the shape's open dimensions are, unless it finds all of them. */
static bool TakesLengths(const bayloom_shape* shape) {
  for (int i = 0; i < shape->open_count; ++i) {
    if (shape->open[i].input >= 0) return true;
  }
  return false;
}

/* Whether the buffers are those of the shape; sets what is known of the run then. */
static bool Fits(bayloom_model* model, const bayloom_shape* shape, const bayloom_input* inputs,
                 const bayloom_output* outputs) {
  const bayloom_network* network = model->network;
  if (!ReadLengths(shape, inputs, model->lengths)) return false;
  bayloom_model_set_dims(model, shape);
  const int64_t* dims = model->dims;
  for (int t = 0; t < network->input_count + network->output_count; ++t) {
    const int rank = shape->ranks[t], output = t - network->input_count;
    const size_t bytes = (size_t)bayloom_tensor_bytes(dims, rank, shape->element_bytes[t]);
    if (output < 0) {
      const bool is_given = !TakesLengths(shape) || rank == 0 || inputs[t].dims != NULL;
      if (!is_given || inputs[t].bytes != bytes || !HasDims(inputs[t].dims, dims, rank))
        return false;
    } else {
      const bool is_larger = network->open_count > 0 && outputs[output].bytes > bytes;
      if (outputs[output].bytes != bytes && !is_larger) return false;
    }
    dims += rank;
  }
  return true;
}

/* The shape that the buffers have; -1: none. */
static int FindShape(bayloom_model* model, const bayloom_input* inputs,
                     const bayloom_output* outputs) {
  for (int s = 0; s < model->network->shape_count; ++s) {
    if (Fits(model, &model->network->shapes[s], inputs, outputs)) return s;
  }
  return -1;
}

static int CheckBuffer(const void* data, size_t bytes) {
  return data == NULL && bytes > 0 ? BAYLOOM_ERROR_NULL : BAYLOOM_OK;
}

/* Sets the shape that the buffers have. */
static int CheckBuffers(bayloom_model* model, const bayloom_input* inputs, int input_count,
                        const bayloom_output* outputs, int output_count, int* shape) {
  const bayloom_network* network = model->network;
  int code = BAYLOOM_OK;
  if (input_count != network->input_count || output_count != network->output_count) {
    return BAYLOOM_ERROR_COUNT;
  }
  if ((inputs == NULL && input_count > 0) || outputs == NULL) return BAYLOOM_ERROR_NULL;
  *shape = FindShape(model, inputs, outputs);
  if (*shape < 0) return BAYLOOM_ERROR_SIZE;
  for (int i = 0; i < input_count && code == BAYLOOM_OK; ++i) {
    code = CheckBuffer(inputs[i].data, inputs[i].bytes);
  }
  for (int i = 0; i < output_count && code == BAYLOOM_OK; ++i) {
    code = CheckBuffer(outputs[i].data, outputs[i].bytes);
  }
  if (code != BAYLOOM_OK) return code;
  for (int o = 0; o < output_count; ++o) {
    for (int i = 0; i < input_count + o; ++i) {
      const bool input = i < input_count;
      const void* data = input ? inputs[i].data : outputs[i - input_count].data;
      const size_t bytes = input ? inputs[i].bytes : outputs[i - input_count].bytes;
      if (Overlap(outputs[o].data, outputs[o].bytes, data, bytes)) return BAYLOOM_ERROR_OVERLAP;
    }
  }
  return BAYLOOM_OK;
}

/* Copies results where the call wants them, and tells their dimensions. */
static void ReturnOutputs(const bayloom_model* model, const bayloom_shape* shape,
                          const bayloom_output* outputs) {
  const int inputs = model->network->input_count;
  const int64_t* dims = model->dims;
  for (int t = 0; t < inputs; ++t) dims += shape->ranks[t];
  for (int i = 0; i < model->network->output_count; ++i) {
    const int rank = shape->ranks[inputs + i];
    for (int d = 0; outputs[i].dims != NULL && d < rank; ++d) outputs[i].dims[d] = (size_t)dims[d];
    if (model->outputs[i] != outputs[i].data) {
      memcpy(outputs[i].data, model->outputs[i],
             (size_t)bayloom_tensor_bytes(dims, rank, shape->element_bytes[inputs + i]));
    }
    dims += rank;
  }
}

int bayloom_model_compute(bayloom_model* model, int shape, void* last) {
  const bayloom_variant* variant = model->variant;
  int code = BAYLOOM_OK;
  if (!PrepareWorkspace(model, bayloom_enter())) {
    code = BAYLOOM_ERROR_MEMORY;
  } else if (variant->accelerator != NULL) {
    code = variant->accelerator->run(model->accelerated, shape, model->inputs, model->outputs,
                                     model->lengths);
  } else {
    const uint64_t floats = bayloom_flush_subnormals();
    const bayloom_run_memory memory = {
        model->arena,  model->states,  model->workspace, model->network->constants,
        model->inputs, model->outputs, model->lengths,   last};
    code = bayloom_plan_run(&variant->plans[shape], &memory);
    bayloom_restore_floats(floats);
  }
  bayloom_leave();
  return code;
}

static int Compute(bayloom_model* model, int shape, const bayloom_input* inputs,
                   const bayloom_output* outputs) {
  const bayloom_network* network = model->network;
  for (int i = 0; i < network->input_count; ++i) {
    model->inputs[i] = inputs[i].data;
    if (IsAligned(inputs[i].data)) continue;
    model->inputs[i] = memcpy(model->input_copies[i], inputs[i].data, inputs[i].bytes);
  }
  for (int i = 0; i < network->output_count; ++i) {
    model->outputs[i] = IsAligned(outputs[i].data) ? outputs[i].data : model->output_copies[i];
  }
  const int code = bayloom_model_compute(model, shape, NULL);
  if (code != BAYLOOM_OK) return code;
  bayloom_model_set_dims(model, &network->shapes[shape]); /* with the lengths that were found */
  ReturnOutputs(model, &network->shapes[shape], outputs);
  if (network->decoder != NULL) bayloom_decoder_note(model, shape);
  return code;
}

int bayloom_model_run(const bayloom_network* network, bayloom_model* model,
                      const bayloom_input* inputs, int input_count, const bayloom_output* outputs,
                      int output_count) {
  if (model == NULL || model->network != network) return BAYLOOM_ERROR_NULL;
  if (!bayloom_model_claim(model)) return BAYLOOM_ERROR_BUSY;
  int shape = 0;
  int code = CheckBuffers(model, inputs, input_count, outputs, output_count, &shape);
  if (code == BAYLOOM_OK) code = Compute(model, shape, inputs, outputs);
  bayloom_model_release(model);
  return code;
}

int bayloom_model_set_threads(int threads) {
  if (threads < 0 || threads > BAYLOOM_MAX_THREADS) return BAYLOOM_ERROR_THREADS;
  return bayloom_set_threads(threads) ? BAYLOOM_OK : BAYLOOM_ERROR_BUSY;
}

int bayloom_model_set_pool(bayloom_run_tasks run, void* pool, int tasks) {
  if (run != NULL && (tasks < 1 || tasks > BAYLOOM_MAX_THREADS)) return BAYLOOM_ERROR_THREADS;
  return bayloom_set_pool(run, pool, tasks) ? BAYLOOM_OK : BAYLOOM_ERROR_BUSY;
}

const char* bayloom_model_target(const bayloom_model* model) {
  return model == NULL ? NULL : model->variant->target;
}

/* What the accelerator says of what failed; null if it does not say. */
static const char* AcceleratorError(const bayloom_network* network) {
  const bayloom_accelerator* accelerator = network->variants[0].accelerator;
  const char* const text = accelerator == NULL ? "" : accelerator->error();
  return text[0] == '\0' ? NULL : text;
}

const char* bayloom_error_text(const bayloom_network* network, int code) {
  const char* const said = AcceleratorError(network);
  switch (code) {
    case BAYLOOM_OK:
      return "no error";
    case BAYLOOM_ERROR_DEVICE:
      return said != NULL ? said : "there is no GPU that the code can run on";
    case BAYLOOM_ERROR_FAILED:
      return said != NULL ? said : "the GPU failed";
    case BAYLOOM_ERROR_MEMORY:
      return said != NULL ? said : "there is not enough memory";
    case BAYLOOM_ERROR_PROCESSOR:
      return network->processor_error;
    case BAYLOOM_ERROR_ABI:
      return "the library and the header that the program was compiled with are of different "
             "versions";
    case BAYLOOM_ERROR_NULL:
      return "a pointer is null, or the model is another library's";
    case BAYLOOM_ERROR_COUNT:
      return "the network has another number of inputs or outputs";
    case BAYLOOM_ERROR_SIZE:
      return network->size_error;
    case BAYLOOM_ERROR_BOUND:
      return network->bound_error;
    case BAYLOOM_ERROR_OVERLAP:
      return "an output overlaps another buffer";
    case BAYLOOM_ERROR_BUSY:
      return "another thread is using the model, or is in a run while the number of threads is "
             "set";
    case BAYLOOM_ERROR_THREADS:
      return "the number of threads is not 0 to 256";
    case BAYLOOM_ERROR_FULL:
      return "the model cannot hold so many tokens";
    case BAYLOOM_ERROR_TOKEN:
      return "a token is none of the model's words";
    case BAYLOOM_ERROR_LENGTH:
      return "the model holds fewer tokens";
    case BAYLOOM_ERROR_REWIND:
      return "the model has no states of so few tokens any more: it can forget all";
    case BAYLOOM_ERROR_UNSET:
      return "an input that is the same in all steps was not set";
    default:
      return "unknown error";
  }
}
