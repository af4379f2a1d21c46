// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/nvml.h"

#include <dlfcn.h>

#include <cstdlib>

namespace bayloom::measure {
namespace {

constexpr int kMultiprocessorClock = 1;  // NVML_CLOCK_SM

/// The functions that are called; all return 0 for success.
struct NvmlLibrary {
  int (*init)() = nullptr;
  int (*find)(const char*, void**) = nullptr;
  int (*clock)(void*, int, unsigned*) = nullptr;
  int (*power)(void*, unsigned*) = nullptr;  ///< milliwatts
  bool is_ready = false;

  NvmlLibrary() {
    const char* const chosen = std::getenv("BAYLOOM_NVML");
    void* const library = dlopen(chosen != nullptr ? chosen : "libnvidia-ml.so.1", RTLD_NOW);
    if (library == nullptr) return;
    const auto load = [&](const char* name, auto& function) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    is_ready = load("nvmlInit_v2", init) && load("nvmlDeviceGetHandleByPciBusId_v2", find) &&
               load("nvmlDeviceGetClockInfo", clock) && load("nvmlDeviceGetPowerUsage", power) &&
               init() == 0;
  }
};

const NvmlLibrary& Nvml() {
  static const NvmlLibrary library;
  return library;
}

}  // namespace

void* FindNvmlDevice(const char* pci_bus) {
  void* device = nullptr;
  if (!Nvml().is_ready || Nvml().find(pci_bus, &device) != 0) return nullptr;
  return device;
}

GpuState NvmlState(void* device) {
  GpuState state;
  if (device == nullptr) return state;
  unsigned value = 0;
  if (Nvml().clock(device, kMultiprocessorClock, &value) == 0) state.clock_mhz = value;
  if (Nvml().power(device, &value) == 0) state.power_watts = value / 1000.0;
  return state;
}

}  // namespace bayloom::measure
