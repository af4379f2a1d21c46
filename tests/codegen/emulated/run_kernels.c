// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/* Runs kernels, which a table names, on the buffers of a file:
 *
 *     run_kernels THREADS INPUT OUTPUT
 *
 * INPUT is, of each kernel: the bytes of its workspace, the number of its parameters, and of each
 * whether it is an output, its bytes, and what it holds; all numbers are int64. OUTPUT gets the
 * bytes of the outputs. Ends with 3 if a kernel wrote beyond a buffer. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bayloom_runtime.h"

typedef void (*Kernel)(void* const* parameters, void* workspace);
extern const Kernel kKernels[];
extern const int kKernelCount;

enum { kAlignment = 64, kFence = 64, kFenceByte = 0xa5, kMaxParameters = 64 };

static void Fail(const char* what) {
  fprintf(stderr, "run_kernels: %s\n", what);
  exit(2);
}

static int64_t ReadNumber(FILE* file) {
  int64_t number = 0;
  if (fread(&number, sizeof(number), 1, file) != 1) Fail("the input ends early");
  return number;
}

/* So many bytes of `value`, with a fence behind them. */
static char* Allocate(int64_t bytes, int value) {
  const size_t size = (size_t)(bytes + kFence + kAlignment - 1) / kAlignment * kAlignment;
  char* memory = aligned_alloc(kAlignment, size);
  if (memory == NULL) Fail("there is not enough memory");
  memset(memory, value, (size_t)bytes);
  memset(memory + bytes, kFenceByte, kFence);
  return memory;
}

static void CheckFence(const char* memory, int64_t bytes, int kernel) {
  for (int i = 0; i < kFence; ++i) {
    if ((unsigned char)memory[bytes + i] == kFenceByte) continue;
    fprintf(stderr, "run_kernels: kernel %d wrote %d bytes beyond a buffer\n", kernel, i);
    exit(3);
  }
}

static void Run(int kernel, FILE* in, FILE* out) {
  const int64_t workspace_bytes = ReadNumber(in), count = ReadNumber(in);
  int64_t is_output[kMaxParameters], bytes[kMaxParameters];
  void* parameters[kMaxParameters];
  if (count > kMaxParameters) Fail("a kernel has too many parameters");
  for (int64_t p = 0; p < count; ++p) {
    is_output[p] = ReadNumber(in);
    bytes[p] = ReadNumber(in);
    parameters[p] = Allocate(bytes[p], 0);
    if (fread(parameters[p], 1, (size_t)bytes[p], in) != (size_t)bytes[p]) Fail("no data");
  }
  char* workspace = Allocate(workspace_bytes, 0xff);
  kKernels[kernel](parameters, workspace);
  CheckFence(workspace, workspace_bytes, kernel);
  free(workspace);
  for (int64_t p = 0; p < count; ++p) {
    CheckFence(parameters[p], bytes[p], kernel);
    if (is_output[p] != 0 && fwrite(parameters[p], 1, (size_t)bytes[p], out) != (size_t)bytes[p]) {
      Fail("cannot write");
    }
    free(parameters[p]);
  }
}

int main(int argc, char** argv) {
  if (argc != 4) Fail("needs THREADS INPUT OUTPUT");
  if (!bayloom_set_threads(atoi(argv[1]))) Fail("cannot set the number of threads");
  FILE* in = fopen(argv[2], "rb");
  FILE* out = fopen(argv[3], "wb");
  if (in == NULL || out == NULL) Fail("cannot open the files");
  for (int kernel = 0; kernel < kKernelCount; ++kernel) Run(kernel, in, out);
  fclose(in);
  return fclose(out) == 0 ? 0 : 2;
}
