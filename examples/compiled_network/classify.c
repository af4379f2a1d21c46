// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/* Classifies an image with a network that Bayloom compiled. The program needs the library and its
 * header, and nothing else:
 *
 *     bayloom-models squeezenet1.1
 *     bayloom tune squeezenet1.1.onnx
 *     bayloom compile squeezenet1.1.onnx --out lib
 *     cc -O2 -Ilib classify.c -o classify -Llib -lsqueezenet1_1 -Wl,-rpath,lib
 *     ./classify image.f32 [scores.f32]
 *
 * The image is a file of 3 x 224 x 224 float32 values: channels, rows, columns. The five classes
 * with the highest scores are printed; all scores go to the second file. */
#include <stdio.h>

#include "squeezenet1_1.h"

enum { kPixels = 3 * 224 * 224, kClasses = 1000, kShown = 5 };

/* Static memory is fast if it is aligned: the network then uses it in place. */
static _Alignas(64) float image[kPixels];
static _Alignas(64) float scores[kClasses];

static int ReadImage(const char* path) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) return 0;
  const size_t count = fread(image, sizeof(float), kPixels, file);
  fclose(file);
  return count == kPixels;
}

static int WriteScores(const char* path) {
  FILE* file = fopen(path, "wb");
  if (file == NULL) return 0;
  const size_t count = fwrite(scores, sizeof(float), kClasses, file);
  return fclose(file) == 0 && count == kClasses;
}

/* The class with the highest score among those below `bound`'s score. */
static int NextBest(int bound) {
  int best = -1;
  for (int i = 0; i < kClasses; ++i) {
    const int eligible = bound < 0 || scores[i] < scores[bound];
    if (eligible && (best < 0 || scores[i] > scores[best])) best = i;
  }
  return best;
}

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: classify IMAGE [SCORES]\n");
    return 2;
  }
  if (!ReadImage(argv[1])) {
    fprintf(stderr, "classify: %s: not a file of %d float32 values\n", argv[1], kPixels);
    return 2;
  }

  /* A network with the memory it works in: one per thread that calls it. */
  squeezenet1_1_model* model = NULL;
  const bayloom_input inputs[] = {{image, sizeof(image), NULL}};
  const bayloom_output outputs[] = {{scores, sizeof(scores), NULL}};
  int code = squeezenet1_1_create(BAYLOOM_ABI_VERSION, &model);
  if (code == BAYLOOM_OK) code = squeezenet1_1_run(model, inputs, 1, outputs, 1);
  squeezenet1_1_destroy(model);
  if (code != BAYLOOM_OK) {
    fprintf(stderr, "classify: %s\n", squeezenet1_1_error_text(code));
    return 1;
  }

  for (int shown = 0, best = NextBest(-1); shown < kShown && best >= 0; ++shown) {
    printf("class %3d: %f\n", best, scores[best]);
    best = NextBest(best);
  }
  if (argc == 3 && !WriteScores(argv[2])) {
    fprintf(stderr, "classify: %s: cannot write\n", argv[2]);
    return 1;
  }
  return 0;
}
