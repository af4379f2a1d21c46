// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom_decoder.h"

#include <string.h>

#include "bayloom_model_data.h"

static bool Has(const bayloom_open_dimension* open, int64_t length) {
  return length >= open->smallest && length <= open->largest &&
         (length - open->smallest) % open->step == 0;
}

static bool IsHeld(const bayloom_decoder* decoder, int input) {
  return decoder->inputs[input] == BAYLOOM_HELD || decoder->inputs[input] == BAYLOOM_HELD_OPEN;
}

/* How many tokens a shape takes in a step behind so many, at most `most`; 0: none. */
static int64_t Fitting(const bayloom_network* network, int shape, int64_t past, int64_t most) {
  const bayloom_step_shape* step = &network->decoder->shapes[shape];
  const bayloom_open_dimension* open = network->shapes[shape].open;
  if (step->past >= 0 && !Has(&open[step->past], past)) return 0;
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

static bool HoldsInputs(const bayloom_network* network) {
  for (int i = 0; i < network->input_count; ++i) {
    if (IsHeld(network->decoder, i)) return true;
  }
  return false;
}

/* Sets the lengths of a step. Returns whether what the model holds besides states fits them. */
static bool SetLengths(bayloom_model* model, int shape, int64_t past, int64_t count) {
  const bayloom_network* network = model->network;
  const bayloom_step_shape* step = &network->decoder->shapes[shape];
  const bayloom_shape* tensors = &network->shapes[shape];
  for (int i = 0; i < tensors->open_count; ++i) {
    const bayloom_open_dimension* open = &tensors->open[i];
    model->lengths[i] = i == step->past     ? past
                        : i == step->tokens ? count
                                            : model->held[open->input].dims[open->dimension];
    if (i != step->past && i != step->tokens && !Has(open, model->lengths[i])) return false;
  }
  if (!HoldsInputs(network)) return true;
  bayloom_model_set_dims(model, tensors);
  const int64_t* dims = model->dims;
  for (int t = 0; t < network->input_count; dims += tensors->ranks[t], ++t) {
    for (int d = 0; IsHeld(network->decoder, t) && d < tensors->ranks[t]; ++d) {
      if (model->held[t].dims[d] != dims[d]) return false;
    }
  }
  return true;
}

/* Whether states have rows that no later token needs. */
static bool MaySlide(const bayloom_decoder* decoder, int64_t rows) {
  return decoder->window > 0 && rows > decoder->window - 1;
}

/* The last rows that tokens may need become the first ones. */
static void Slide(bayloom_model* model) {
  const bayloom_decoder* decoder = model->network->decoder;
  const int64_t kept = decoder->window - 1;
  for (int s = 0; s < decoder->state_count; ++s) {
    const bayloom_state* state = &decoder->states[s];
    for (int64_t block = 0; block < state->outer; ++block) {
      char* const rows = model->states + state->position + block * state->room * state->row_bytes;
      memmove(rows, rows + (model->rows - kept) * state->row_bytes,
              (size_t)(kept * state->row_bytes));
    }
  }
  model->rows = kept;
}

static int Check(bayloom_model* model, int64_t past, const int64_t* ids, size_t count) {
  const bayloom_network* network = model->network;
  const bayloom_decoder* decoder = network->decoder;
  for (int i = 0; i < network->input_count; ++i) {
    if (IsHeld(decoder, i) && !model->held[i].is_given) return BAYLOOM_ERROR_UNSET;
  }
  if (count > (uint64_t)(decoder->capacity - past)) return BAYLOOM_ERROR_FULL;
  for (size_t i = 0; i < count; ++i) {
    if (ids[i] < 0 || ids[i] >= decoder->words) return BAYLOOM_ERROR_TOKEN;
  }
  int64_t left = (int64_t)count, taken = 0, rows = model->rows;
  if (left == 0) return BAYLOOM_ERROR_SIZE;
  for (; left > 0; left -= taken, rows += taken) {
    int shape = ShapeFor(network, rows, left, &taken);
    if (shape < 0 && MaySlide(decoder, rows)) {
      rows = decoder->window - 1;
      shape = ShapeFor(network, rows, left, &taken);
    }
    if (shape < 0 || !SetLengths(model, shape, rows, taken)) return BAYLOOM_ERROR_SIZE;
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

static void FillFloats(float* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] = 1;
}

/* Of `past` tokens before those of the step there are rows, of `all` with them. */
static void FillInput(bayloom_model* model, int shape, int input, int64_t past, int64_t all,
                      const int64_t* ids) {
  const bayloom_network* network = model->network;
  const int64_t bytes = network->shapes[shape].element_bytes[input];
  const int64_t held = atomic_load(&model->length), count = all - past;
  char* const to = model->input_copies[input];
  model->inputs[input] = to;
  switch (network->decoder->inputs[input]) {
    case BAYLOOM_TOKENS:
      for (int64_t i = 0; i < count; ++i) FillRow(to + i * bytes, bytes, 1, ids[i], 0);
      break;
    case BAYLOOM_POSITIONS:
      FillRow(to, bytes, count, held, 1);
      break;
    case BAYLOOM_FIRST:
      FillRow(to, bytes, 1, held, 0);
      break;
    case BAYLOOM_LAST:
      FillRow(to, bytes, 1, held + count - 1, 0);
      break;
    case BAYLOOM_TOTAL:
      FillRow(to, bytes, 1, held + count, 0);
      break;
    case BAYLOOM_ONES:
      FillRow(to, bytes, all, 1, 0);
      break;
    case BAYLOOM_FLOAT_ONES:
      FillFloats((float*)(void*)to, all);
      break;
    case BAYLOOM_PADDED_ONES:
      memset(to, 0, (size_t)network->shapes[shape].input_bytes[input]);
      FillRow(to, bytes, all, 1, 0);
      break;
    case BAYLOOM_PADDED_FLOAT_ONES:
      memset(to, 0, (size_t)network->shapes[shape].input_bytes[input]);
      FillFloats((float*)(void*)to, all);
      break;
    case BAYLOOM_REPLACED:
      if (held == 0) memset(to, 0, (size_t)network->shapes[shape].input_bytes[input]);
      break;
    case BAYLOOM_HELD:
      break;
    case BAYLOOM_HELD_OPEN:
      if (!model->held[input].is_new) model->inputs[input] = NULL;
      break;
    default:
      model->inputs[input] = NULL;
  }
}

/* What a step has left takes the place of what was there. */
static void KeepResults(bayloom_model* model) {
  const bayloom_decoder* decoder = model->network->decoder;
  for (int i = 0; i < model->network->input_count; ++i) {
    model->held[i].is_new = false;
    if (decoder->next[i] < 0) continue;
    void* const state = model->input_copies[i];
    model->input_copies[i] = model->output_copies[decoder->next[i]];
    model->output_copies[decoder->next[i]] = state;
  }
}

/* A part of a step that one shape takes. */
static int TakePart(bayloom_model* model, int shape, const int64_t* ids, int64_t count,
                    float* logits) {
  const bayloom_network* network = model->network;
  const bayloom_decoder* decoder = network->decoder;
  const bayloom_step_shape* step = &decoder->shapes[shape];
  if (!SetLengths(model, shape, model->rows, count)) return BAYLOOM_ERROR_SIZE;
  const int64_t before = step->past < 0 ? 0 : model->rows;
  for (int o = 0; o < network->output_count; ++o) model->outputs[o] = NULL;
  for (int i = 0; i < network->input_count; ++i) {
    FillInput(model, shape, i, before, before + count, ids);
    if (decoder->next[i] >= 0) {
      model->outputs[decoder->next[i]] = model->output_copies[decoder->next[i]];
    }
  }
  if (!step->open_logits) model->outputs[decoder->logits] = model->output_copies[decoder->logits];
  const int code = bayloom_model_compute(model, shape, logits);
  if (code != BAYLOOM_OK) return code;
  KeepResults(model);
  model->rows += count;
  atomic_fetch_add(&model->length, count);
  return BAYLOOM_OK;
}

int bayloom_decoder_step(const bayloom_network* network, bayloom_model* model, const int64_t* ids,
                         size_t count, float* logits) {
  if (model == NULL || model->network != network || ids == NULL) return BAYLOOM_ERROR_NULL;
  if (!bayloom_model_claim(model)) return BAYLOOM_ERROR_BUSY;
  int64_t taken = 0;
  int code = Check(model, atomic_load(&model->length), ids, count);
  for (int64_t left = (int64_t)count; code == BAYLOOM_OK && left > 0; left -= taken) {
    int shape = ShapeFor(network, model->rows, left, &taken);
    if (shape < 0) {
      Slide(model);
      shape = ShapeFor(network, model->rows, left, &taken);
    }
    code = TakePart(model, shape, ids, taken, taken == left ? logits : NULL);
    ids += taken;
  }
  bayloom_model_release(model);
  return code;
}

size_t bayloom_decoder_length(const bayloom_network* network, const bayloom_model* model) {
  if (model == NULL || model->network != network) return 0;
  return (size_t)atomic_load(&model->length);
}

static bool Replaces(const bayloom_network* network) {
  for (int i = 0; i < network->input_count; ++i) {
    if (network->decoder->inputs[i] == BAYLOOM_REPLACED) return true;
  }
  return false;
}

static int GoBack(bayloom_model* model, size_t length) {
  const int64_t held = atomic_load(&model->length), before = held - model->rows;
  const int64_t window = model->network->decoder->window;
  if (length > (uint64_t)held) return BAYLOOM_ERROR_LENGTH;
  const int64_t to = (int64_t)length;
  if (to == held) return BAYLOOM_OK;
  if (to > 0 && Replaces(model->network)) return BAYLOOM_ERROR_REWIND;
  /* Rows of tokens that the next one sees may be gone. */
  if (to > 0 && before > 0 && to - (window - 1) < before) return BAYLOOM_ERROR_REWIND;
  model->rows = to > 0 ? to - before : 0;
  atomic_store(&model->length, to);
  return BAYLOOM_OK;
}

int bayloom_decoder_rewind(const bayloom_network* network, bayloom_model* model, size_t length) {
  if (model == NULL || model->network != network) return BAYLOOM_ERROR_NULL;
  if (!bayloom_model_claim(model)) return BAYLOOM_ERROR_BUSY;
  const int code = GoBack(model, length);
  bayloom_model_release(model);
  return code;
}

static int64_t LargestInput(const bayloom_network* network, int input) {
  int64_t bytes = 0;
  for (int s = 0; s < network->shape_count; ++s) {
    if (network->shapes[s].input_bytes[input] > bytes)
      bytes = network->shapes[s].input_bytes[input];
  }
  return bytes;
}

static int64_t HeldBytes(const bayloom_model* model, int input) {
  const bayloom_shape* shape = &model->network->shapes[0];
  return bayloom_tensor_bytes(model->held[input].dims, shape->ranks[input],
                              shape->element_bytes[input]);
}

static bool HasDimsOf(const bayloom_shape* shape, int input, const bayloom_input* value) {
  if (value->dims == NULL) return value->bytes == (uint64_t)shape->input_bytes[input];
  int64_t bytes = shape->element_bytes[input];
  for (int d = 0; d < shape->ranks[input]; ++d) {
    if (value->dims[d] > (uint64_t)shape->input_bytes[input]) return false;
    bytes *= (int64_t)value->dims[d];
    if (bytes > shape->input_bytes[input]) return false;
  }
  return value->bytes == (uint64_t)bytes;
}

static int SetHeld(bayloom_model* model, int input, const bayloom_input* value) {
  const bayloom_network* network = model->network;
  const bayloom_shape* shape = &network->shapes[0];
  const int rank = shape->ranks[input];
  const bool is_open = network->decoder->inputs[input] == BAYLOOM_HELD_OPEN;
  if (!HasDimsOf(shape, input, value) || (is_open && value->dims == NULL)) {
    return BAYLOOM_ERROR_SIZE;
  }
  if (value->data == NULL && value->bytes > 0) return BAYLOOM_ERROR_NULL;
  const int64_t* dims = model->dims;
  bayloom_model_set_dims(model, shape);
  for (int t = 0; t < input; ++t) dims += shape->ranks[t];
  bayloom_held_input* held = &model->held[input];
  for (int d = 0; d < rank; ++d) {
    held->dims[d] = value->dims == NULL ? dims[d] : (int64_t)value->dims[d];
  }
  if (value->bytes > 0) memcpy(model->input_copies[input], value->data, value->bytes);
  held->is_given = held->is_new = true;
  model->rows = 0;
  atomic_store(&model->length, 0);
  return BAYLOOM_OK;
}

int bayloom_decoder_set(const bayloom_network* network, bayloom_model* model, int input,
                        const bayloom_input* value) {
  if (model == NULL || model->network != network || value == NULL) return BAYLOOM_ERROR_NULL;
  if (input < 0 || input >= network->input_count || !IsHeld(network->decoder, input)) {
    return BAYLOOM_ERROR_COUNT;
  }
  if (!bayloom_model_claim(model)) return BAYLOOM_ERROR_BUSY;
  const int code = SetHeld(model, input, value);
  bayloom_model_release(model);
  return code;
}

static void CopyStates(const bayloom_model* from, bayloom_model* to) {
  const bayloom_decoder* decoder = from->network->decoder;
  const int64_t length = atomic_load(&from->length);
  for (int s = 0; s < decoder->state_count; ++s) {
    const bayloom_state* state = &decoder->states[s];
    for (int64_t block = 0; block < state->outer; ++block) {
      const int64_t place = state->position + block * state->room * state->row_bytes;
      memcpy(to->states + place, from->states + place, (size_t)(from->rows * state->row_bytes));
    }
  }
  for (int i = 0; i < from->network->input_count; ++i) {
    if (decoder->inputs[i] == BAYLOOM_REPLACED && length > 0) {
      memcpy(to->input_copies[i], from->input_copies[i], (size_t)LargestInput(from->network, i));
    } else if (IsHeld(decoder, i) && from->held[i].is_given) {
      to->held[i] = from->held[i];
      to->held[i].is_new = true;
      memcpy(to->input_copies[i], from->input_copies[i], (size_t)HeldBytes(from, i));
    }
  }
  to->rows = from->rows;
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

/* What a run was given becomes what the model holds. */
static void HoldInput(bayloom_model* model, int input, const int64_t* dims, int rank) {
  bayloom_held_input* held = &model->held[input];
  for (int d = 0; d < rank; ++d) held->dims[d] = dims[d];
  held->is_given = held->is_new = true;
  if (model->inputs[input] != model->input_copies[input]) {
    memcpy(model->input_copies[input], model->inputs[input], (size_t)HeldBytes(model, input));
  }
}

/* Where the first token of a run was: as many were before as there are rows, unless a window has
 * left some behind, of which positions tell. */
static int64_t FirstOf(const bayloom_model* model, int shape) {
  const bayloom_decoder* decoder = model->network->decoder;
  const int past = decoder->shapes[shape].past;
  int64_t first = past < 0 ? 0 : model->lengths[past];
  for (int i = 0; decoder->window > 0 && i < model->network->input_count; ++i) {
    if (decoder->inputs[i] != BAYLOOM_POSITIONS) continue;
    int64_t given = 0;
    memcpy(&given, model->inputs[i], (size_t)model->network->shapes[shape].element_bytes[i]);
    if (given > first) first = given;
  }
  return first;
}

void bayloom_decoder_note(bayloom_model* model, int shape) {
  const bayloom_decoder* decoder = model->network->decoder;
  const bayloom_step_shape* step = &decoder->shapes[shape];
  const bayloom_shape* tensors = &model->network->shapes[shape];
  const int64_t* dims = model->dims;
  for (int i = 0; i < model->network->input_count; dims += tensors->ranks[i], ++i) {
    if (IsHeld(decoder, i)) HoldInput(model, i, dims, tensors->ranks[i]);
    if (decoder->next[i] < 0) continue;
    memcpy(model->input_copies[i], model->outputs[decoder->next[i]],
           (size_t)tensors->input_bytes[i]);
  }
  const int64_t count = step->tokens < 0 ? step->count : model->lengths[step->tokens];
  model->rows = (step->past < 0 ? 0 : model->lengths[step->past]) + count;
  atomic_store(&model->length, FirstOf(model, shape) + count);
}
