// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/opencl_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <vector>

#include "bayloom/base/single_line.h"

namespace bayloom::measure {
namespace {

Result<OpenCl> Load() {
  void* const library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Error{
        fmt::format("OpenCL is not installed ({}); on Debian: ocl-icd-libopencl1 and a "
                    "driver, such as pocl-opencl-icd",
                    base::SingleLine(dlerror()))};
  }
  OpenCl cl = {};
#define BAYLOOM_OPENCL_LOAD(name, symbol, result, parameters)            \
  cl.name = reinterpret_cast<decltype(cl.name)>(dlsym(library, symbol)); \
  if (cl.name == nullptr) return Error{"libOpenCL.so.1 has no function " symbol};
  BAYLOOM_OPENCL_FUNCTIONS(BAYLOOM_OPENCL_LOAD)
#undef BAYLOOM_OPENCL_LOAD
  return cl;
}

}  // namespace

Result<const OpenCl*> LoadOpenCl() {
  static const Result<OpenCl> loaded = Load();
  if (!loaded) return loaded.error();
  return &*loaded;
}

std::string OpenClErrorName(int32_t code) {
  switch (code) {
    case kClMemAllocationFailure:
      return "CL_MEM_OBJECT_ALLOCATION_FAILURE";
    case kClOutOfResources:
      return "CL_OUT_OF_RESOURCES";
    case kClOutOfHostMemory:
      return "CL_OUT_OF_HOST_MEMORY";
    case kClBuildProgramFailure:
      return "CL_BUILD_PROGRAM_FAILURE";
    case kClInvalidBuildOptions:
      return "CL_INVALID_BUILD_OPTIONS";
    case kClInvalidWorkGroupSize:
      return "CL_INVALID_WORK_GROUP_SIZE";
    case kClInvalidWorkItemSize:
      return "CL_INVALID_WORK_ITEM_SIZE";
    default:
      return fmt::format("error {}", code);
  }
}

Result<ClDevice> FindOpenClDevice(const OpenCl& cl, int platform, int device) {
  uint32_t count = 0;
  cl.GetPlatformIds(0, nullptr, &count);
  if (count == 0) return Error{"there is no OpenCL platform; on Debian: pocl-opencl-icd has one"};
  std::vector<ClPlatform> platforms(count);
  cl.GetPlatformIds(count, platforms.data(), nullptr);
  if (platform < 0 || platform >= static_cast<int>(count)) {
    return Error{fmt::format("there is no OpenCL platform {}; there are {}", platform, count)};
  }
  count = 0;
  cl.GetDeviceIds(platforms[platform], kClDeviceTypeAll, 0, nullptr, &count);
  if (device < 0 || device >= static_cast<int>(count)) {
    return Error{fmt::format("there is no device {} of OpenCL platform {}; there are {}", device,
                             platform, count)};
  }
  std::vector<ClDevice> devices(count);
  cl.GetDeviceIds(platforms[platform], kClDeviceTypeAll, count, devices.data(), nullptr);
  return devices[device];
}

}  // namespace bayloom::measure
