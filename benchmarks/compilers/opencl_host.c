// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Builds matmul.cl for a configuration, runs it on the first OpenCL device, checks it and prints
// the milliseconds of its fastest run.
//
//   host matmul.cl LOCAL_MEMORY_LIMIT SIZE WGX WGY TX TY TK LOCAL
//
// A kernel that wants more local memory than the limit (0: the device's own) is refused, as a GPU
// would refuse it.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

static void fail(const char* what, cl_int code) {
  fprintf(stderr, "%s: OpenCL error %d\n", what, code);
  exit(1);
}

static char* read_file(const char* path) {
  FILE* file = fopen(path, "rb");
  if (!file) fail("no kernel file", 0);
  char* text = calloc(1, 1 << 16);
  if (fread(text, 1, (1 << 16) - 1, file) == 0) fail("empty kernel file", 0);
  fclose(file);
  return text;
}

static void check(const float* a, const float* b, const float* c, int size) {
  for (int trial = 0; trial < 500; ++trial) {
    const int i = rand() % size;
    const int j = rand() % size;
    float sum = 0;
    for (int k = 0; k < size; ++k) sum += a[i * size + k] * b[k * size + j];
    if (sum != c[i * size + j]) {  // whole numbers: exact
      fprintf(stderr, "wrong at %d, %d\n", i, j);
      exit(1);
    }
  }
}

int main(int argc, char** argv) {
  if (argc != 10) return 2;
  const unsigned long asked_limit = strtoul(argv[2], NULL, 10);
  const int size = atoi(argv[3]);
  const size_t wgx = strtoul(argv[4], NULL, 10);
  const size_t wgy = strtoul(argv[5], NULL, 10);
  const size_t tx = strtoul(argv[6], NULL, 10);
  const size_t ty = strtoul(argv[7], NULL, 10);

  cl_int code;
  cl_platform_id platform;
  cl_device_id device;
  if ((code = clGetPlatformIDs(1, &platform, NULL))) fail("no OpenCL platform", code);
  if ((code = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))) {
    fail("no OpenCL device", code);
  }
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  cl_command_queue queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &code);

  const char* source = read_file(argv[1]);
  char options[256];
  snprintf(options, sizeof(options),
           "-DSIZE=%s -DWGX=%s -DWGY=%s -DTX=%s -DTY=%s -DTK=%s -DLOCAL=%s", argv[3], argv[4],
           argv[5], argv[6], argv[7], argv[8], argv[9]);
  cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &code);
  if ((code = clBuildProgram(program, 1, &device, options, NULL, NULL))) fail("build", code);
  cl_kernel kernel = clCreateKernel(program, "matmul", &code);
  if (code) fail("kernel", code);

  cl_ulong needed = 0;
  cl_ulong limit = 0;
  clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof(needed), &needed, NULL);
  clGetDeviceInfo(device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof(limit), &limit, NULL);
  if (asked_limit > 0 && asked_limit < limit) limit = asked_limit;
  if (needed > limit) {
    fprintf(stderr, "needs %lu bytes of local memory, there are %lu\n", (unsigned long)needed,
            (unsigned long)limit);
    return 1;
  }

  const size_t count = (size_t)size * size;
  float* a = malloc(count * sizeof(float));
  float* b = malloc(count * sizeof(float));
  float* c = malloc(count * sizeof(float));
  for (size_t i = 0; i < count; ++i) a[i] = (float)(rand() % 9 - 4);
  for (size_t i = 0; i < count; ++i) b[i] = (float)(rand() % 9 - 4);
  const cl_mem_flags in = CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR;
  cl_mem on_device[3] = {
      clCreateBuffer(context, in, count * sizeof(float), a, &code),
      clCreateBuffer(context, in, count * sizeof(float), b, &code),
      clCreateBuffer(context, CL_MEM_WRITE_ONLY, count * sizeof(float), NULL, &code)};
  for (cl_uint i = 0; i < 3; ++i) clSetKernelArg(kernel, i, sizeof(cl_mem), &on_device[i]);

  const size_t global[2] = {size / tx, size / ty};
  const size_t local[2] = {wgx, wgy};
  double fastest = 1e9;
  for (int run = 0; run < 6; ++run) {
    cl_event event;
    if ((code = clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, local, 0, NULL, &event))) {
      fail("launch", code);
    }
    if ((code = clFinish(queue))) fail("run", code);
    cl_ulong begun, ended;
    clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof(begun), &begun, NULL);
    clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof(ended), &ended, NULL);
    if ((ended - begun) * 1e-6 < fastest) fastest = (ended - begun) * 1e-6;
  }
  clEnqueueReadBuffer(queue, on_device[2], CL_TRUE, 0, count * sizeof(float), c, 0, NULL, NULL);
  check(a, b, c, size);
  printf("%g\n", fastest);
  return 0;
}
