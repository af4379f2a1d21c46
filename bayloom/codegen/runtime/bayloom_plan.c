// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom_plan.h"

#include <stddef.h>
#include <string.h>

#include "bayloom_open.h"

static int64_t Apply(const bayloom_length_step* step, int64_t value) {
  if (step->operation == BAYLOOM_LENGTH_DIVIDE) return value / step->operand;
  return value < 0 ? 0 : value > step->operand ? step->operand : value;
}

int64_t bayloom_length_value(const bayloom_length_step* length, const int64_t* lengths) {
  int64_t stack[BAYLOOM_LENGTH_DEPTH] = {0};
  int top = -1;
  for (; length->operation != BAYLOOM_LENGTH_END; ++length) {
    switch (length->operation) {
      case BAYLOOM_LENGTH_NUMBER:
        stack[++top] = length->operand;
        break;
      case BAYLOOM_LENGTH_SYMBOL:
        stack[++top] = lengths[length->operand];
        break;
      case BAYLOOM_LENGTH_ADD:
        --top;
        stack[top] += stack[top + 1];
        break;
      case BAYLOOM_LENGTH_MULTIPLY:
        --top;
        stack[top] *= stack[top + 1];
        break;
      default:
        stack[top] = Apply(length, stack[top]);
    }
  }
  return stack[0];
}

/* Kernels only read what is not theirs to write: inputs and constants. */
static char* Resolve(const bayloom_place* place, const bayloom_run_memory* memory) {
  switch (place->memory) {
    case BAYLOOM_INPUT:
      return (char*)(uintptr_t)memory->inputs[place->number] + place->offset;
    case BAYLOOM_OUTPUT:
      return (char*)memory->outputs[place->number] + place->offset;
    case BAYLOOM_ARENA:
      return memory->arena + place->offset;
    case BAYLOOM_CONSTANT:
      return (char*)(uintptr_t)memory->constants + place->offset;
    default:
      break;
  }
  char* const state = memory->states + place->offset;
  if (place->rows == NULL) return state;
  return state + bayloom_length_value(place->rows, memory->lengths) * place->row_bytes;
}

static const bayloom_call* Choose(const bayloom_planned_call* planned, const int64_t* lengths) {
  for (int64_t i = 0; i < planned->small_count; ++i) {
    const bayloom_small_call* small = &planned->small[i];
    if (bayloom_length_value(small->size, lengths) <= small->up_to) return &small->call;
  }
  return &planned->usual;
}

static void SetParameters(const bayloom_call* call, const bayloom_run_memory* memory,
                          void** parameters) {
  for (int64_t i = 0; i < call->argument_count; ++i) {
    parameters[i] = Resolve(&call->arguments[i], memory);
  }
}

static void RunCall(const bayloom_call* call, const bayloom_run_memory* memory) {
  if (call->kernel == NULL) return;
  void* parameters[call->argument_count + 1];
  SetParameters(call, memory, parameters);
  call->kernel->function(parameters, memory->workspace);
}

/* Workspaces of kernels that run at the same time lie one behind the other. */
static void RunTogether(const bayloom_round* round, const bayloom_run_memory* memory) {
  const bayloom_call* chosen[BAYLOOM_MAX_LOOPS];
  int64_t arguments = 0;
  for (int64_t i = 0; i < round->count; ++i) {
    chosen[i] = Choose(&round->calls[i], memory->lengths);
    arguments += chosen[i]->argument_count;
  }
  void* parameters[arguments + 1];
  void** next = parameters;
  char* workspace = memory->workspace;
  bayloom_kernel_call calls[BAYLOOM_MAX_LOOPS];
  int count = 0;
  for (int64_t i = 0; i < round->count; ++i) {
    const bayloom_kernel_code* const kernel = chosen[i]->kernel;
    if (kernel == NULL) continue;
    SetParameters(chosen[i], memory, next);
    calls[count++] = (bayloom_kernel_call){next, workspace, kernel->steps, (int)kernel->step_count};
    next += chosen[i]->argument_count;
    workspace += kernel->shared_bytes + kernel->worker_bytes * bayloom_threads();
  }
  if (count > 0) bayloom_run_together(count, calls);
}

static void SetLengths(const bayloom_open_tensor* tensor, const int64_t* lengths, int64_t* of_run) {
  for (int64_t d = 0; d < tensor->rank; ++d) {
    of_run[d] = bayloom_length_value(tensor->lengths[d], lengths);
  }
}

static void Spread(const bayloom_open_tensor* tensor, const bayloom_run_memory* memory) {
  const char* const callers = memory->inputs[tensor->number];
  if (callers == NULL) return;
  int64_t of_run[BAYLOOM_MAX_RANK];
  SetLengths(tensor, memory->lengths, of_run);
  bayloom_spread(Resolve(&tensor->network, memory), callers, (int)tensor->rank, of_run,
                 tensor->extents, tensor->element_bytes);
}

static void Gather(const bayloom_open_tensor* tensor, const bayloom_run_memory* memory) {
  char* const callers = memory->outputs[tensor->number];
  if (callers == NULL) return;
  int64_t of_run[BAYLOOM_MAX_RANK];
  SetLengths(tensor, memory->lengths, of_run);
  bayloom_gather(callers, Resolve(&tensor->network, memory), (int)tensor->rank, of_run,
                 tensor->extents, tensor->element_bytes);
}

static void CopyLastLogits(const bayloom_plan* plan, const bayloom_run_memory* memory) {
  if (memory->last == NULL || plan->logit_count == NULL) return;
  const int64_t rows = bayloom_length_value(plan->logit_count, memory->lengths);
  memcpy(memory->last, Resolve(&plan->logits, memory) + (rows - 1) * plan->logit_bytes,
         (size_t)plan->logit_bytes);
}

static void WriteSizes(const bayloom_plan* plan, const bayloom_run_memory* memory) {
  for (int64_t i = 0; i < plan->size_count; ++i) {
    const bayloom_size* size = &plan->sizes[i];
    *(int64_t*)(void*)(memory->arena + size->position) =
        bayloom_length_value(size->value, memory->lengths);
  }
}

/* Reads the lengths that are there after so many rounds, from number `next` on, which becomes that
 * of the first one that is not. */
static int ReadFound(const bayloom_plan* plan, const bayloom_run_memory* memory, int64_t rounds,
                     int64_t* next) {
  const int64_t first = *next;
  for (; *next < plan->found_count && plan->found[*next].rounds == rounds; ++*next) {
    const bayloom_found* found = &plan->found[*next];
    const int64_t count = *(const int64_t*)(const void*)Resolve(&found->count, memory);
    if (count < found->least || count > found->most) return BAYLOOM_ERROR_BOUND;
    if (found->symbol >= 0) memory->lengths[found->symbol] = count;
  }
  if (*next > first) WriteSizes(plan, memory);
  return BAYLOOM_OK;
}

int bayloom_plan_run(const bayloom_plan* plan, const bayloom_run_memory* memory) {
  WriteSizes(plan, memory);
  for (int64_t i = 0; i < plan->open_input_count; ++i) Spread(&plan->open_inputs[i], memory);
  int64_t next = 0;
  int code = ReadFound(plan, memory, 0, &next);
  for (int64_t i = 0; i < plan->round_count && code == BAYLOOM_OK; ++i) {
    const bayloom_round* round = &plan->rounds[i];
    if (round->count == 1) {
      RunCall(Choose(round->calls, memory->lengths), memory);
    } else {
      RunTogether(round, memory);
    }
    code = ReadFound(plan, memory, i + 1, &next);
  }
  if (code != BAYLOOM_OK) return code;
  for (int64_t i = 0; i < plan->copy_count; ++i) {
    const bayloom_copy* copy = &plan->copies[i];
    if (memory->outputs[copy->output] == NULL) continue;
    memcpy(memory->outputs[copy->output], Resolve(&copy->from, memory), (size_t)copy->bytes);
  }
  CopyLastLogits(plan, memory);
  for (int64_t i = 0; i < plan->open_output_count; ++i) Gather(&plan->open_outputs[i], memory);
  return BAYLOOM_OK;
}
