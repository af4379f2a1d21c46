// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#ifndef BAYLOOM_DECODER_H_
#define BAYLOOM_DECODER_H_

/* Networks that are decoders of language models: they keep what they have computed of the tokens
 * seen so far in states, and take a step for those that follow. Plain C11; it is shipped with the
 * runtime. */

#include <stddef.h>
#include <stdint.h>

#include "bayloom_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a step fills an input with. */
enum {
  BAYLOOM_TOKENS,            /* the tokens of the step */
  BAYLOOM_POSITIONS,         /* where these are among all tokens */
  BAYLOOM_ONES,              /* 1 for every token, integers or */
  BAYLOOM_FLOAT_ONES,        /* float32 */
  BAYLOOM_PADDED_ONES,       /* and zeros behind them: integers, or */
  BAYLOOM_PADDED_FLOAT_ONES, /* float32 */
  BAYLOOM_PAST,              /* nothing: it is the past of a state */
  BAYLOOM_FIRST,             /* where the first token of the step is, */
  BAYLOOM_LAST,              /* the last one */
  BAYLOOM_TOTAL,             /* how many tokens there are with those of the step */
  BAYLOOM_REPLACED,          /* a state that the step replaces; zeros before the first token */
  BAYLOOM_HELD,              /* what bayloom_decoder_set has given, the same in all steps; */
  BAYLOOM_HELD_OPEN          /* with open dimensions: the memory of states holds it */
};

/* A state: `outer` blocks of `room` rows, the first ones of which are those of the tokens seen. */
typedef struct {
  int64_t position; /* in the memory of states */
  int64_t outer;
  int64_t room;
  int64_t row_bytes;
} bayloom_state;

/* What a shape of the network takes in one step. */
typedef struct {
  int past;        /* the number of the open dimension that is the length of the past; -1: none */
  int tokens;      /* the number of that of the step; -1: it has a fixed length, */
  int64_t count;   /* which is this */
  int open_logits; /* whether there is a row of them for each token of an open number */
} bayloom_step_shape;

typedef struct bayloom_decoder {
  const int* inputs; /* what each is filled with */
  const int* next;   /* of a state that is replaced, the output that does; else -1 */
  int logits;        /* the number of the output */
  int64_t words;     /* of a row of it */
  int64_t capacity;  /* tokens that a model holds; INT64_MAX: any number */
  int64_t window;    /* rows of states that a token needs with its own; 0: all */
  int state_count;
  const bayloom_state* states;
  const bayloom_step_shape* shapes; /* parallel to the network's */
} bayloom_decoder;

/* All return a code of bayloom_package.h, but for the length. */
int bayloom_decoder_step(const bayloom_network* network, bayloom_model* model, const int64_t* ids,
                         size_t count, float* logits);
size_t bayloom_decoder_length(const bayloom_network* network, const bayloom_model* model);
int bayloom_decoder_rewind(const bayloom_network* network, bayloom_model* model, size_t length);
int bayloom_decoder_copy(const bayloom_network* network, bayloom_model* from, bayloom_model* to);
/* Of an input that is the same in all steps. The model holds no tokens afterwards. */
int bayloom_decoder_set(const bayloom_network* network, bayloom_model* model, int input,
                        const bayloom_input* value);

/* Of a model that has run with the lengths in it: its states are of all the tokens of that run. */
void bayloom_decoder_note(bayloom_model* model, int shape);

#ifdef __cplusplus
}
#endif

#endif /* BAYLOOM_DECODER_H_ */
