// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Memory of the device, which is memory of the process. Copies and fills check their bounds.

#include <cstring>

#include "tests/cuda_stand_in/device.h"

namespace bayloom::cuda_stand_in {
namespace {

constexpr int64_t kAlignment = 256;  // as the driver has it

uint64_t AlignedUp(uint64_t address) {
  return (address + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

STAND_IN_EXPORT int cuMemAlloc_v2(bayloom_cu_pointer* pointer, size_t bytes) {
  if (const int error = Ready(); error != kSuccess) return error;
  Device& device = TheDevice();
  const int64_t all = NumberSetting("STAND_IN_MEMORY", 1 << 30);
  if (bytes == 0) return kInvalidValue;
  if (device.used_bytes + static_cast<int64_t>(bytes) > all || TakeFault("out-of-memory")) {
    return kOutOfMemory;
  }
  std::vector<std::byte> memory(bytes + kAlignment, std::byte{0x5a});
  const auto address = reinterpret_cast<uint64_t>(memory.data());
  const uint64_t aligned = AlignedUp(address);
  device.used_bytes += static_cast<int64_t>(bytes);
  device.memory.emplace(address, std::move(memory));
  *pointer = aligned;
  return kSuccess;
}

STAND_IN_EXPORT int cuMemFree_v2(bayloom_cu_pointer pointer) {
  Device& device = TheDevice();
  auto found = device.memory.upper_bound(pointer);
  if (found == device.memory.begin()) return kInvalidValue;
  --found;
  if (AlignedUp(found->first) != pointer) return kInvalidValue;
  device.used_bytes -= std::ssize(found->second) - kAlignment;
  device.memory.erase(found);
  return Ready();
}

STAND_IN_EXPORT int cuMemcpyHtoDAsync_v2(bayloom_cu_pointer to, const void* from, size_t bytes,
                                         bayloom_cu_stream stream) {
  return Enqueue(stream, [=] {
    std::byte* const memory = TheDevice().At(to, bytes);
    if (memory == nullptr) return kInvalidValue;
    std::memcpy(memory, from, bytes);
    return kSuccess;
  });
}

STAND_IN_EXPORT int cuMemcpyDtoHAsync_v2(void* to, bayloom_cu_pointer from, size_t bytes,
                                         bayloom_cu_stream stream) {
  return Enqueue(stream, [=] {
    const std::byte* const memory = TheDevice().At(from, bytes);
    if (memory == nullptr) return kInvalidValue;
    std::memcpy(to, memory, bytes);
    return kSuccess;
  });
}

STAND_IN_EXPORT int cuMemcpyDtoDAsync_v2(bayloom_cu_pointer to, bayloom_cu_pointer from,
                                         size_t bytes, bayloom_cu_stream stream) {
  return Enqueue(stream, [=] {
    std::byte* const target = TheDevice().At(to, bytes);
    const std::byte* const source = TheDevice().At(from, bytes);
    if (target == nullptr || source == nullptr) return kInvalidValue;
    std::memcpy(target, source, bytes);
    return kSuccess;
  });
}

/// What a host's side of a copy is in is not known.
STAND_IN_EXPORT int cuMemcpy2DAsync_v2(const bayloom_cu_rows* asked, bayloom_cu_stream stream) {
  const bayloom_cu_rows copy = *asked;
  const bool whole = copy.from_pitch >= copy.row_bytes && copy.to_pitch >= copy.row_bytes;
  if (!whole || copy.from_x + copy.from_y + copy.to_x + copy.to_y > 0) return kInvalidValue;
  return Enqueue(stream, [copy] {
    const auto place = [&](int type, const void* host, bayloom_cu_pointer device, size_t pitch) {
      if (copy.rows == 0 || type == BAYLOOM_CU_HOST) return static_cast<const std::byte*>(host);
      const size_t bytes = pitch * (copy.rows - 1) + copy.row_bytes;
      return static_cast<const std::byte*>(TheDevice().At(device, bytes));
    };
    const std::byte* from =
        place(copy.from_type, copy.from_host, copy.from_device, copy.from_pitch);
    auto* to =
        const_cast<std::byte*>(place(copy.to_type, copy.to_host, copy.to_device, copy.to_pitch));
    if (from == nullptr || to == nullptr) return kInvalidValue;
    for (size_t row = 0; row < copy.rows; ++row) {
      std::memcpy(to + row * copy.to_pitch, from + row * copy.from_pitch, copy.row_bytes);
    }
    return kSuccess;
  });
}

STAND_IN_EXPORT int cuMemsetD8Async(bayloom_cu_pointer to, unsigned char value, size_t bytes,
                                    bayloom_cu_stream stream) {
  return Enqueue(stream, [=] {
    std::byte* const memory = TheDevice().At(to, bytes);
    if (memory == nullptr) return kInvalidValue;
    std::memset(memory, value, bytes);
    return kSuccess;
  });
}

}  // namespace bayloom::cuda_stand_in
