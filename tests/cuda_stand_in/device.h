// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/codegen/gpu/stand_in.h"
#include "bayloom/codegen/runtime/bayloom_cuda.h"

#define STAND_IN_EXPORT extern "C" __attribute__((visibility("default")))

namespace bayloom::cuda_stand_in {

// Errors of the driver API.
constexpr int kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kNotInitialized = 3,
              kNoDevice = 100, kInvalidDevice = 101, kInvalidImage = 200, kInvalidContext = 201,
              kNotFound = 500, kIllegalAddress = 700, kCaptureInvalidated = 901;

/// What the variables of the environment say of the GPU that there is not:
///
///     STAND_IN_ARCHITECTURE   of all GPUs, "sm_90"
///     STAND_IN_DEVICES        how many there are, 1
///     STAND_IN_MEMORY         bytes of each, 1 GiB
///     STAND_IN_VERSION        of the driver, 12080
///     STAND_IN_CLOCK          what it tells of its clocks in kHz, 1 GHz; 0: nothing
///     STAND_IN_REGISTERS      of a thread of any kernel, 32
///     STAND_IN_LOCAL_BYTES    the same of what does not fit into registers, 0
///     STAND_IN_FAULT          "KIND:FILE": once, where the file exists, which is removed.
///                             illegal-address: a launch fails, and all that follows;
///                             overrun: a launch writes behind its last buffer;
///                             out-of-memory: an allocation fails; hang: a launch never ends;
///                             init-hangs: the driver never begins
///     STAND_IN_LOG            file that the names of GPUs in use are appended to
std::string Setting(const char* name, const char* otherwise);
int64_t NumberSetting(const char* name, int64_t otherwise);
/// Whether a fault of the kind is to happen now.
bool TakeFault(const std::string& kind);

/// The GPU numbers of the driver that CUDA_VISIBLE_DEVICES leaves.
std::vector<int> VisibleDevices();

/// A module and its kernels.
struct Module {
  codegen::StandIn code;
  std::vector<codegen::GpuLaunch> launches;
};

struct Function {
  const Module* module = nullptr;
  size_t number = 0;
  int64_t shared_bytes = 48 << 10;  ///< that a launch may have
};

/// Work in the order in which it is enqueued. It is done at once, but in captures.
struct Stream {
  bool is_capturing = false;
  std::vector<std::function<int()>> captured;
};

struct Event {
  std::optional<std::chrono::steady_clock::time_point> time;
};

using Graph = std::vector<std::function<int()>>;

/// What the process has on the device.
struct Device {
  bool is_initialized = false;
  bool has_context = false;
  int error = kSuccess;  ///< of a kernel that failed: what every call returns from then on
  int64_t used_bytes = 0;
  std::map<uint64_t, std::vector<std::byte>> memory;  ///< allocations by address

  /// Where [address, address + bytes) lies; null if it is in no allocation.
  std::byte* At(uint64_t address, uint64_t bytes);
};
Device& TheDevice();
/// Its primary context.
bayloom_cu_context ContextOf(Device& device);

/// Why nothing can be done; success if something can.
int Ready();
/// Does the work now, or as part of the graph that is being captured.
int Enqueue(bayloom_cu_stream stream, std::function<int()> work);

}  // namespace bayloom::cuda_stand_in
