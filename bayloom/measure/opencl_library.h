// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "bayloom/base/result.h"

namespace bayloom::measure {

// OpenCL, loaded when it is needed: declarations of our own for the entry points of libOpenCL.so.1
// that Bayloom calls (The OpenCL Specification, version 1.2). Nothing of OpenCL is needed to
// compile or link this.

using ClPlatform = struct ClPlatformObject*;
using ClDevice = struct ClDeviceObject*;
using ClContext = struct ClContextObject*;
using ClQueue = struct ClQueueObject*;
using ClProgram = struct ClProgramObject*;
using ClKernel = struct ClKernelObject*;
using ClMemory = struct ClMemoryObject*;
using ClEvent = struct ClEventObject*;

// Values of the specification.
enum : int32_t {
  kClSuccess = 0,
  kClMemAllocationFailure = -4,
  kClOutOfResources = -5,
  kClOutOfHostMemory = -6,
  kClBuildProgramFailure = -11,
  kClInvalidBuildOptions = -43,
  kClInvalidWorkGroupSize = -54,
  kClInvalidWorkItemSize = -55,
};
enum : uint64_t {
  kClDeviceTypeAll = 0xFFFFFFFF,
  kClQueueProfiling = 1 << 1,
  kClMemReadWrite = 1 << 0,
  kClMemUseHostPointer = 1 << 3,
  kClMemCopyHostPointer = 1 << 5,
  kClMapRead = 1 << 0,
  kClMapWrite = 1 << 1,
};
enum : uint32_t {
  kClDeviceLocalMemory = 0x1023,
  kClDeviceUnifiedMemory = 0x1035,
  kClProgramBuildLog = 0x1183,
  kClKernelArguments = 0x1191,
  kClKernelLocalMemory = 0x11B2,
  kClProfilingStart = 0x1282,
  kClProfilingEnd = 0x1283,
};

/// X(name here, name in the library, result, parameters) for every entry point.
#define BAYLOOM_OPENCL_FUNCTIONS(X)                                                             \
  X(GetPlatformIds, "clGetPlatformIDs", int32_t, (uint32_t, ClPlatform*, uint32_t*))            \
  X(GetDeviceIds, "clGetDeviceIDs", int32_t,                                                    \
    (ClPlatform, uint64_t, uint32_t, ClDevice*, uint32_t*))                                     \
  X(GetDeviceInfo, "clGetDeviceInfo", int32_t, (ClDevice, uint32_t, size_t, void*, size_t*))    \
  X(CreateContext, "clCreateContext", ClContext,                                                \
    (const intptr_t*, uint32_t, const ClDevice*,                                                \
     void (*)(const char*, const void*, size_t, void*), void*, int32_t*))                       \
  X(CreateQueue, "clCreateCommandQueue", ClQueue, (ClContext, ClDevice, uint64_t, int32_t*))    \
  X(CreateProgram, "clCreateProgramWithSource", ClProgram,                                      \
    (ClContext, uint32_t, const char**, const size_t*, int32_t*))                               \
  X(BuildProgram, "clBuildProgram", int32_t,                                                    \
    (ClProgram, uint32_t, const ClDevice*, const char*, void (*)(ClProgram, void*), void*))     \
  X(GetProgramBuildInfo, "clGetProgramBuildInfo", int32_t,                                      \
    (ClProgram, ClDevice, uint32_t, size_t, void*, size_t*))                                    \
  X(CreateKernel, "clCreateKernel", ClKernel, (ClProgram, const char*, int32_t*))               \
  X(GetKernelInfo, "clGetKernelInfo", int32_t, (ClKernel, uint32_t, size_t, void*, size_t*))    \
  X(GetKernelWorkGroupInfo, "clGetKernelWorkGroupInfo", int32_t,                                \
    (ClKernel, ClDevice, uint32_t, size_t, void*, size_t*))                                     \
  X(SetKernelArgument, "clSetKernelArg", int32_t, (ClKernel, uint32_t, size_t, const void*))    \
  X(CreateBuffer, "clCreateBuffer", ClMemory, (ClContext, uint64_t, size_t, void*, int32_t*))   \
  X(EnqueueKernel, "clEnqueueNDRangeKernel", int32_t,                                           \
    (ClQueue, ClKernel, uint32_t, const size_t*, const size_t*, const size_t*, uint32_t,        \
     const ClEvent*, ClEvent*))                                                                 \
  X(EnqueueMapBuffer, "clEnqueueMapBuffer", void*,                                              \
    (ClQueue, ClMemory, uint32_t, uint64_t, size_t, size_t, uint32_t, const ClEvent*, ClEvent*, \
     int32_t*))                                                                                 \
  X(EnqueueUnmap, "clEnqueueUnmapMemObject", int32_t,                                           \
    (ClQueue, ClMemory, void*, uint32_t, const ClEvent*, ClEvent*))                             \
  X(EnqueueRead, "clEnqueueReadBuffer", int32_t,                                                \
    (ClQueue, ClMemory, uint32_t, size_t, size_t, void*, uint32_t, const ClEvent*, ClEvent*))   \
  X(EnqueueWrite, "clEnqueueWriteBuffer", int32_t,                                              \
    (ClQueue, ClMemory, uint32_t, size_t, size_t, const void*, uint32_t, const ClEvent*,        \
     ClEvent*))                                                                                 \
  X(Finish, "clFinish", int32_t, (ClQueue))                                                     \
  X(GetEventProfilingInfo, "clGetEventProfilingInfo", int32_t,                                  \
    (ClEvent, uint32_t, size_t, void*, size_t*))                                                \
  X(ReleaseEvent, "clReleaseEvent", int32_t, (ClEvent))                                         \
  X(ReleaseBuffer, "clReleaseMemObject", int32_t, (ClMemory))                                   \
  X(ReleaseKernel, "clReleaseKernel", int32_t, (ClKernel))                                      \
  X(ReleaseProgram, "clReleaseProgram", int32_t, (ClProgram))

/// The entry points; those without an object as their result return 0 or an error's number.
struct OpenCl {
#define BAYLOOM_OPENCL_MEMBER(name, symbol, result, parameters) result(*name) parameters;
  BAYLOOM_OPENCL_FUNCTIONS(BAYLOOM_OPENCL_MEMBER)
#undef BAYLOOM_OPENCL_MEMBER
};

/// Loads libOpenCL.so.1, once for the process; fails where it is not installed.
Result<const OpenCl*> LoadOpenCl();

/// "CL_OUT_OF_RESOURCES", "error -9999".
std::string OpenClErrorName(int32_t code);

/// A device by its place among those of a platform; fails where there is none.
Result<ClDevice> FindOpenClDevice(const OpenCl& cl, int platform, int device);

}  // namespace bayloom::measure
