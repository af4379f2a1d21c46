// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom_decoder.h"

#include <string.h>

#include "bayloom_model_data.h"

/* How many tokens a shape takes in a step behind so many, at most `most`; 0: none. */
static int64_t Fitting(const bayloom_network* network, int shape, int64_t past, int64_t most) {
  const bayloom_step_shape* step = &network->decoder->shapes[shape];
  const bayloom_open_dimension* open = network->shapes[shape].open;
  const bayloom_open_dimension* held = &open[step->past];
  const bool fits =
      past >= held->smallest && past <= held->largest && (past - held->smallest) % held->step == 0;
  if (!fits) return 0;
  if (step->tokens < 0) return step->count <= most ? step->count : 0;
  const bayloom_open_dimension* taken = &open[step->tokens];
  if (most < taken->smallest) return 0;
  if (most >= taken->largest) return taken->largest;
  return most - (most - taken->smallest) % taken->step;
}

/* The shape that takes most of `most` tokens behind so many, and how many; the first of such. */
static int ShapeFor(const bayloom_network* network, int64_t past, int64_t most, int64_t* count) {
  int best = -1;
  *count = 0;
  for (int s = 0; s < network->shape_count; ++s) {
    const int64_t fitting = Fitting(network, s, past, most);
    if (fitting <= *count) continue;
    *count = fitting;
    best = s;
  }
  return best;
}

static int Check(const bayloom_network* network, int64_t past, const int64_t* ids, size_t count) {
  const bayloom_decoder* decoder = network->decoder;
  if (count > (uint64_t)(decoder->capacity - past)) return BAYLOOM_ERROR_FULL;
  for (size_t i = 0; i < count; ++i) {
    if (ids[i] < 0 || ids[i] >= decoder->words) return BAYLOOM_ERROR_TOKEN;
  }
  int64_t left = (int64_t)count, taken = 0;
  if (left == 0) return BAYLOOM_ERROR_SIZE;
  for (; left > 0; left -= taken, past += taken) {
    if (ShapeFor(network, past, left, &taken) < 0) return BAYLOOM_ERROR_SIZE;
  }
  return BAYLOOM_OK;
}

/* Writes first, first + apart, ... as integers of any width: all processors that there is code for
 * are little-endian. */
static void FillRow(char* to, int64_t element_bytes, int64_t count, int64_t first, int64_t apart) {
  if (element_bytes == sizeof(int64_t)) {
    int64_t* const row = (int64_t*)(void*)to;
    for (int64_t i = 0; i < count; ++i) row[i] = first + i * apart;
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    const int64_t value = first + i * apart;
    memcpy(to + i * element_bytes, &value, (size_t)element_bytes);
  }
}

static void FillInput(bayloom_model* model, int input, int64_t element_bytes, int64_t past,
                      const int64_t* ids, int64_t count) {
  char* const to = model->input_copies[input];
  model->inputs[input] = to;
  switch (model->network->decoder->inputs[input]) {
    case BAYLOOM_TOKENS:
      for (int64_t i = 0; i < count; ++i)
        FillRow(to + i * element_bytes, element_bytes, 1, ids[i], 0);
      break;
    case BAYLOOM_POSITIONS:
      FillRow(to, element_bytes, count, past, 1);
      break;
    case BAYLOOM_ONES:
      FillRow(to, element_bytes, past + count, 1, 0);
      break;
    case BAYLOOM_FLOAT_ONES:
      for (int64_t i = 0; i < past + count; ++i) ((float*)(void*)to)[i] = 1;
      break;
    default:
      model->inputs[input] = NULL;
  }
}

/* A part of a step that one shape takes. */
static int TakePart(bayloom_model* model, int shape, int64_t past, const int64_t* ids,
                    int64_t count, float* logits) {
  const bayloom_network* network = model->network;
  const bayloom_decoder* decoder = network->decoder;
  const bayloom_step_shape* step = &decoder->shapes[shape];
  model->lengths[step->past] = past;
  if (step->tokens >= 0) model->lengths[step->tokens] = count;
  for (int i = 0; i < network->input_count; ++i) {
    FillInput(model, i, network->shapes[shape].element_bytes[i], past, ids, count);
  }
  for (int o = 0; o < network->output_count; ++o) model->outputs[o] = NULL;
  if (step->tokens < 0) model->outputs[decoder->logits] = model->output_copies[decoder->logits];
  const int code = bayloom_model_compute(model, shape, logits);
  if (code == BAYLOOM_OK) atomic_store(&model->length, past + count);
  return code;
}

int bayloom_decoder_step(const bayloom_network* network, bayloom_model* model, const int64_t* ids,
                         size_t count, float* logits) {
  if (model == NULL || model->network != network || ids == NULL) return BAYLOOM_ERROR_NULL;
  if (!bayloom_model_claim(model)) return BAYLOOM_ERROR_BUSY;
  int64_t past = atomic_load(&model->length), taken = 0;
  int code = Check(network, past, ids, count);
  for (int64_t left = (int64_t)count; code == BAYLOOM_OK && left > 0; left -= taken) {
    const int shape = ShapeFor(network, past, left, &taken);
    code = TakePart(model, shape, past, ids, taken, taken == left ? logits : NULL);
    ids += taken;
    past += taken;
  }
  bayloom_model_release(model);
  return code;
}

size_t bayloom_decoder_length(const bayloom_network* network, const bayloom_model* model) {
  if (model == NULL || model->network != network) return 0;
  return (size_t)atomic_load(&model->length);
}

int bayloom_decoder_rewind(const bayloom_network* network, bayloom_model* model, size_t length) {
  if (model == NULL || model->network != network) return BAYLOOM_ERROR_NULL;
  if (!bayloom_model_claim(model)) return BAYLOOM_ERROR_BUSY;
  const bool holds = length <= (uint64_t)atomic_load(&model->length);
  if (holds) atomic_store(&model->length, (int64_t)length);
  bayloom_model_release(model);
  return holds ? BAYLOOM_OK : BAYLOOM_ERROR_LENGTH;
}

static void CopyStates(const bayloom_model* from, bayloom_model* to) {
  const bayloom_decoder* decoder = from->network->decoder;
  const int64_t length = atomic_load(&from->length);
  for (int s = 0; s < decoder->state_count; ++s) {
    const bayloom_state* state = &decoder->states[s];
    for (int64_t block = 0; block < state->outer; ++block) {
      const int64_t place = state->position + block * state->room * state->row_bytes;
      memcpy(to->states + place, from->states + place, (size_t)(length * state->row_bytes));
    }
  }
  atomic_store(&to->length, length);
}

int bayloom_decoder_copy(const bayloom_network* network, bayloom_model* from, bayloom_model* to) {
  if (from == NULL || to == NULL || from->network != network || to->network != network) {
    return BAYLOOM_ERROR_NULL;
  }
  if (from == to) return BAYLOOM_OK;
  if (!bayloom_model_claim(from)) return BAYLOOM_ERROR_BUSY;
  const bool is_free = bayloom_model_claim(to);
  if (is_free) {
    CopyStates(from, to);
    bayloom_model_release(to);
  }
  bayloom_model_release(from);
  return is_free ? BAYLOOM_OK : BAYLOOM_ERROR_BUSY;
}

void bayloom_decoder_note(bayloom_model* model, int shape) {
  const bayloom_step_shape* step = &model->network->decoder->shapes[shape];
  const int64_t count = step->tokens < 0 ? step->count : model->lengths[step->tokens];
  atomic_store(&model->length, model->lengths[step->past] + count);
}
