// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/* Runs a compiled network (tests/graph/two_layers.h, named "net") on the floats of a file:
 *
 *     run INPUT OUTPUT
 *
 * The output is that of "flat". Prints the target whose code was used; ends with 3, the text on
 * standard error, if the processor cannot run any. */
#include <stdio.h>

#include "net.h"

static float input[96], active[128], flat[96], same[96];

int main(int argc, char** argv) {
  net_model* model = NULL;
  const bayloom_input in[] = {{input, sizeof(input), NULL}};
  const bayloom_output out[] = {
      {active, sizeof(active), NULL}, {flat, sizeof(flat), NULL}, {same, sizeof(same), NULL}};
  FILE* file = argc == 3 ? fopen(argv[1], "rb") : NULL;
  if (file == NULL || fread(input, sizeof(input), 1, file) != 1 || fclose(file) != 0) return 2;
  int code = net_create(BAYLOOM_ABI_VERSION, &model);
  if (code == BAYLOOM_OK) code = net_run(model, in, 1, out, 3);
  if (code != BAYLOOM_OK) {
    fprintf(stderr, "%s\n", net_error_text(code));
    return code == BAYLOOM_ERROR_PROCESSOR && model == NULL ? 3 : 4;
  }
  printf("%s\n", net_target(model));
  file = fopen(argv[2], "wb");
  if (file == NULL || fwrite(flat, sizeof(flat), 1, file) != 1 || fclose(file) != 0) return 2;
  return net_destroy(model);
}
