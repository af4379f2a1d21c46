// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/* Runs a network of several shapes (Rows of tests/graph/package_test.cc, named "net") on the floats
 * of a file, as many rows of 24 as there are:
 *
 *     shapes INPUT OUTPUT
 *
 * Each run is made twice with one model, with another shape in between. */
#include <stdio.h>
#include <stdlib.h>

#include "net.h"

enum { kColumns = 24, kOutputs = 4096, kMaxRows = 64 };
static float input[kMaxRows * kColumns], output[kMaxRows * kOutputs];

static int Run(net_model* model, size_t rows) {
  const bayloom_input in = {input, rows * kColumns * sizeof(float), NULL};
  const bayloom_output out = {output, rows * kOutputs * sizeof(float), NULL};
  return net_run(model, &in, 1, &out, 1);
}

int main(int argc, char** argv) {
  net_model* model = NULL;
  FILE* file = argc == 3 ? fopen(argv[1], "rb") : NULL;
  if (file == NULL) return 2;
  const size_t rows = fread(input, sizeof(float), kMaxRows * kColumns, file) / kColumns;
  fclose(file);
  int code = net_create(BAYLOOM_ABI_VERSION, &model);
  if (code == BAYLOOM_OK) code = Run(model, rows);
  if (code == BAYLOOM_OK) code = Run(model, 1);
  if (code == BAYLOOM_OK) code = Run(model, rows);
  if (code != BAYLOOM_OK) {
    fprintf(stderr, "%s\n", net_error_text(code));
    return 4;
  }
  file = fopen(argv[2], "wb");
  if (file == NULL || fwrite(output, rows * kOutputs * sizeof(float), 1, file) != 1) return 2;
  return fclose(file) != 0 ? 2 : net_destroy(model);
}
