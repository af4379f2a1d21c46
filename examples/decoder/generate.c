// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/* Prints the tokens that a language model's decoder finds most likely behind some others.
 *
 *   python benchmarks/decoders/make_decoder.py tiny --bits 32 --out decoder.onnx
 *   bayloom compile decoder.onnx --dim batch_size=1 --dim sequence_length=1,2..64 \
 *       --dim past_sequence_length=0..255 --out lib
 *   cc -Ilib examples/decoder/generate.c lib/libdecoder.so -Wl,-rpath,lib -o generate
 *   ./generate 17 200 3
 */

#include <stdio.h>
#include <stdlib.h>

#include "decoder.h"

static int64_t Likeliest(const float* logits) {
  int64_t best = 0;
  for (int64_t word = 1; word < decoder_words; ++word) {
    if (logits[word] > logits[best]) best = word;
  }
  return best;
}

int main(int count, char** arguments) {
  static float logits[decoder_words];
  decoder_model* model;
  int code = decoder_create(BAYLOOM_ABI_VERSION, &model);
  for (int i = 1; i < count && code == BAYLOOM_OK; ++i) {
    const int64_t token = strtoll(arguments[i], NULL, 10);
    code = decoder_step(model, &token, 1, logits);
  }
  for (int i = 0; i < 20 && code == BAYLOOM_OK; ++i) {
    const int64_t token = Likeliest(logits);
    printf("%lld\n", (long long)token);
    code = decoder_step(model, &token, 1, logits);
  }
  if (code != BAYLOOM_OK) fprintf(stderr, "%s\n", decoder_error_text(code));
  if (decoder_destroy(model) != BAYLOOM_OK || code != BAYLOOM_OK) return 1;
  return 0;
}
