// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// The driver, its devices, contexts and modules.

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "bayloom/codegen/gpu/gpu_image.h"
#include "bayloom/target/gpu_limits.h"
#include "tests/cuda_stand_in/device.h"

namespace bayloom::cuda_stand_in {

std::string Setting(const char* name, const char* otherwise) {
  const char* const set = std::getenv(name);
  return set != nullptr ? set : otherwise;
}

int64_t NumberSetting(const char* name, int64_t otherwise) {
  const char* const set = std::getenv(name);
  return set != nullptr ? std::atoll(set) : otherwise;
}

bool TakeFault(const std::string& kind) {
  const std::string fault = Setting("STAND_IN_FAULT", "");
  if (!fault.starts_with(kind + ":")) return false;
  return unlink(fault.substr(kind.size() + 1).c_str()) == 0;
}

std::vector<int> VisibleDevices() {
  const int count = static_cast<int>(NumberSetting("STAND_IN_DEVICES", 1));
  std::vector<int> devices;
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible == nullptr) {
    for (int i = 0; i < count; ++i) devices.push_back(i);
    return devices;
  }
  std::istringstream text(visible);
  for (std::string one; std::getline(text, one, ',');) {
    const int number = std::atoi(one.c_str());
    if (number < 0 || number >= count) break;  // as the driver does: those behind are hidden, too
    devices.push_back(number);
  }
  return devices;
}

std::byte* Device::At(uint64_t address, uint64_t bytes) {
  auto found = memory.upper_bound(address);
  if (found == memory.begin()) return nullptr;
  --found;
  const uint64_t offset = address - found->first;
  if (offset + bytes > found->second.size()) return nullptr;
  return found->second.data() + offset;
}

Device& TheDevice() {
  static Device device;
  return device;
}

bayloom_cu_context ContextOf(Device& device) {
  return reinterpret_cast<bayloom_cu_context>(&device);
}

/// Of a thread; the last is the current one.
thread_local std::vector<bayloom_cu_context> contexts;

int Ready() {
  if (!TheDevice().is_initialized) return kNotInitialized;
  if (contexts.empty() || contexts.back() != ContextOf(TheDevice())) return kInvalidContext;
  return TheDevice().error;
}

namespace {

int Attribute(int number) {
  const std::string architecture = Setting("STAND_IN_ARCHITECTURE", "sm_90");
  const int capability = std::atoi(architecture.substr(3).c_str());
  switch (number) {
    case BAYLOOM_CU_CAPABILITY_MAJOR:
      return capability / 10;
    case BAYLOOM_CU_CAPABILITY_MINOR:
      return capability % 10;
    case BAYLOOM_CU_MULTIPROCESSORS:
      return 4;
    case BAYLOOM_CU_CLOCK_RATE:
    case BAYLOOM_CU_MEMORY_CLOCK_RATE:
      return static_cast<int>(NumberSetting("STAND_IN_CLOCK", 1000000));
    case BAYLOOM_CU_MEMORY_BUS_WIDTH:
      return 1024;
    case BAYLOOM_CU_L2_BYTES:
      return 1 << 20;
    default:
      return 0;
  }
}

const char* NameOf(int code) {
  switch (code) {
    case kSuccess:
      return "CUDA_SUCCESS";
    case kInvalidValue:
      return "CUDA_ERROR_INVALID_VALUE";
    case kOutOfMemory:
      return "CUDA_ERROR_OUT_OF_MEMORY";
    case kNotInitialized:
      return "CUDA_ERROR_NOT_INITIALIZED";
    case kNoDevice:
      return "CUDA_ERROR_NO_DEVICE";
    case kInvalidDevice:
      return "CUDA_ERROR_INVALID_DEVICE";
    case kInvalidImage:
      return "CUDA_ERROR_INVALID_IMAGE";
    case kInvalidContext:
      return "CUDA_ERROR_INVALID_CONTEXT";
    case kNotFound:
      return "CUDA_ERROR_NOT_FOUND";
    case kIllegalAddress:
      return "CUDA_ERROR_ILLEGAL_ADDRESS";
    case kCaptureInvalidated:
      return "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED";
    default:
      return nullptr;
  }
}

}  // namespace

STAND_IN_EXPORT int cuInit(unsigned) {
  if (TakeFault("init-hangs")) {
    while (true) pause();
  }
  // As of the driver: what has been initialized is of no use in a child.
  static const pid_t initialized_by = getpid();
  if (initialized_by != getpid()) return kNotInitialized;
  TheDevice().is_initialized = true;
  return VisibleDevices().empty() ? kNoDevice : kSuccess;
}

STAND_IN_EXPORT int cuDriverGetVersion(int* version) {
  *version = static_cast<int>(NumberSetting("STAND_IN_VERSION", 12080));
  return kSuccess;
}

STAND_IN_EXPORT int cuGetErrorName(int code, const char** name) {
  *name = NameOf(code);
  return *name == nullptr ? kInvalidValue : kSuccess;
}

STAND_IN_EXPORT int cuDeviceGetCount(int* count) {
  *count = static_cast<int>(VisibleDevices().size());
  return kSuccess;
}

STAND_IN_EXPORT int cuDeviceGet(int* device, int number) {
  const std::vector<int> devices = VisibleDevices();
  if (number < 0 || number >= std::ssize(devices)) return kInvalidDevice;
  *device = devices[static_cast<size_t>(number)];
  return kSuccess;
}

STAND_IN_EXPORT int cuDeviceGetName(char* name, int size, int device) {
  std::snprintf(name, static_cast<size_t>(size), "Stand-in %d", device);
  return kSuccess;
}

STAND_IN_EXPORT int cuDeviceGetPCIBusId(char* id, int size, int device) {
  std::snprintf(id, static_cast<size_t>(size), "0000:%02x:00.0", device);
  return kSuccess;
}

STAND_IN_EXPORT int cuDeviceGetAttribute(int* value, int attribute, int) {
  *value = Attribute(attribute);
  return kSuccess;
}

STAND_IN_EXPORT int cuDeviceTotalMem_v2(size_t* bytes, int) {
  *bytes = static_cast<size_t>(NumberSetting("STAND_IN_MEMORY", 1 << 30));
  return kSuccess;
}

STAND_IN_EXPORT int cuDevicePrimaryCtxRetain(bayloom_cu_context* context, int device) {
  TheDevice().has_context = true;
  *context = ContextOf(TheDevice());
  if (const std::string log = Setting("STAND_IN_LOG", ""); !log.empty()) {
    std::ofstream(log, std::ios::app) << "Stand-in " << device << "\n";
  }
  return kSuccess;
}

STAND_IN_EXPORT int cuDevicePrimaryCtxRelease_v2(int) { return kSuccess; }

STAND_IN_EXPORT int cuCtxPushCurrent_v2(bayloom_cu_context context) {
  if (!TheDevice().has_context) return kInvalidContext;
  contexts.push_back(context);
  return context == nullptr ? kInvalidContext : kSuccess;
}

STAND_IN_EXPORT int cuCtxPopCurrent_v2(bayloom_cu_context* context) {
  if (contexts.empty()) return kInvalidContext;
  *context = contexts.back();
  contexts.pop_back();
  return kSuccess;
}

STAND_IN_EXPORT int cuCtxGetCurrent(bayloom_cu_context* context) {
  *context = contexts.empty() ? nullptr : contexts.back();
  return kSuccess;
}

STAND_IN_EXPORT int cuModuleLoadData(bayloom_cu_module* module, const void* image) {
  if (const int error = Ready(); error != kSuccess) return error;
  Result<codegen::StandIn> code = codegen::StandInOf(static_cast<const char*>(image));
  if (!code) return kInvalidImage;
  std::vector<codegen::GpuLaunch> launches = code->launches();
  *module = reinterpret_cast<bayloom_cu_module>(new Module{*std::move(code), std::move(launches)});
  return kSuccess;
}

STAND_IN_EXPORT int cuModuleUnload(bayloom_cu_module module) {
  delete reinterpret_cast<Module*>(module);
  return Ready();
}

STAND_IN_EXPORT int cuModuleGetFunction(bayloom_cu_function* function, bayloom_cu_module module,
                                        const char* name) {
  if (const int error = Ready(); error != kSuccess) return error;
  const auto* of = reinterpret_cast<const Module*>(module);
  const auto found = std::ranges::find(of->launches, name, &codegen::GpuLaunch::symbol);
  if (found == of->launches.end()) return kNotFound;
  const auto number = static_cast<size_t>(found - of->launches.begin());
  // Functions live as long as the process: their module says when they may be used.
  *function = reinterpret_cast<bayloom_cu_function>(new Function{of, number});
  return kSuccess;
}

STAND_IN_EXPORT int cuFuncGetAttribute(int* value, int attribute, bayloom_cu_function) {
  if (const int error = Ready(); error != kSuccess) return error;
  *value = attribute == BAYLOOM_CU_REGISTERS
               ? static_cast<int>(NumberSetting("STAND_IN_REGISTERS", 32))
           : attribute == BAYLOOM_CU_LOCAL_BYTES
               ? static_cast<int>(NumberSetting("STAND_IN_LOCAL_BYTES", 0))
               : 0;
  return kSuccess;
}

STAND_IN_EXPORT int cuFuncSetAttribute(bayloom_cu_function function, int attribute, int value) {
  if (const int error = Ready(); error != kSuccess) return error;
  const auto limits = target::FindGpuLimits(Setting("STAND_IN_ARCHITECTURE", "sm_90"));
  if (attribute != BAYLOOM_CU_MAX_DYNAMIC_SHARED_BYTES || value > limits->max_shared_bytes) {
    return kInvalidValue;
  }
  auto* of = reinterpret_cast<Function*>(function);
  of->shared_bytes = std::max<int64_t>(of->shared_bytes, value);
  return kSuccess;
}

// NVIDIA's management library.

STAND_IN_EXPORT int nvmlInit_v2() { return 0; }

STAND_IN_EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char*, void** device) {
  *device = &TheDevice();
  return 0;
}

STAND_IN_EXPORT int nvmlDeviceGetClockInfo(void*, int, unsigned* megahertz) {
  *megahertz = 1980;
  return 0;
}

STAND_IN_EXPORT int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  *milliwatts = 412500;
  return 0;
}

}  // namespace bayloom::cuda_stand_in
