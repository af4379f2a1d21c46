// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/* Runs a compiled network, named "net", with tensors of all kinds:
 *
 *     files INPUT... -- OUTPUT BYTES OUTPUT BYTES...
 *
 * reads the inputs from files and writes outputs of so many bytes. Prints the target whose code was
 * used; ends with 3, the text on standard error, if the processor cannot run any. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net.h"

enum { kMaxTensors = 16 };

static void* Read(const char* path, size_t* bytes) {
  FILE* file = fopen(path, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) exit(2);
  *bytes = (size_t)ftell(file);
  rewind(file);
  void* data = malloc(*bytes + 1);
  if (data == NULL || fread(data, 1, *bytes, file) != *bytes) exit(2);
  fclose(file);
  return data;
}

static void Write(const char* path, const void* data, size_t bytes) {
  FILE* file = fopen(path, "wb");
  if (file == NULL || fwrite(data, 1, bytes, file) != bytes || fclose(file) != 0) exit(2);
}

int main(int argc, char** argv) {
  net_model* model = NULL;
  bayloom_input in[kMaxTensors] = {{NULL, 0, NULL}};
  bayloom_output out[kMaxTensors] = {{NULL, 0, NULL}};
  const char* paths[kMaxTensors];
  int inputs = 0, outputs = 0, i = 1;
  for (; i < argc && inputs < kMaxTensors && strcmp(argv[i], "--") != 0; ++i, ++inputs) {
    in[inputs].data = Read(argv[i], &in[inputs].bytes);
  }
  for (++i; i + 1 < argc && outputs < kMaxTensors; i += 2, ++outputs) {
    paths[outputs] = argv[i];
    out[outputs].bytes = (size_t)strtol(argv[i + 1], NULL, 10);
    out[outputs].data = calloc(1, out[outputs].bytes + 1);
  }
  int code = net_create(BAYLOOM_ABI_VERSION, &model);
  if (code == BAYLOOM_OK) code = net_run(model, in, inputs, out, outputs);
  if (code != BAYLOOM_OK) {
    fprintf(stderr, "%s\n", net_error_text(code));
    return code == BAYLOOM_ERROR_PROCESSOR && model == NULL ? 3 : 4;
  }
  printf("%s\n", net_target(model));
  for (int o = 0; o < outputs; ++o) Write(paths[o], out[o].data, out[o].bytes);
  return net_destroy(model);
}
