// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "bayloom/base/result.h"

namespace bayloom::measure {

/// Memory between guard pages: it ends (rounded up to 64 bytes) where a page begins
/// that may not be touched, and another such page lies before its first one. The bytes between
/// those pages that are not part of it hold a pattern.
///
///     [ no access | pattern, data, pattern | no access ]
class GuardedMemory {
 public:
  GuardedMemory() = default;
  /// Throws std::bad_alloc when there is no room. `name` is for CrashNote and messages.
  GuardedMemory(std::string name, int64_t bytes);
  GuardedMemory(GuardedMemory&& other) noexcept { *this = std::move(other); }
  GuardedMemory& operator=(GuardedMemory&& other) noexcept;
  ~GuardedMemory();

  const std::string& name() const { return name_; }
  std::byte* data() const { return data_; }  ///< aligned to 64 bytes
  int64_t size() const { return size_; }
  std::span<std::byte> bytes() const { return {data_, static_cast<size_t>(size_)}; }
  /// Everything from guard page to guard page, guards included.
  std::span<const std::byte> mapping() const { return {mapping_, mapping_size_}; }

  /// Makes every write a fault.
  void ProtectFromWrites();
  void AllowWrites();
  void Fill(std::byte value);
  /// Fails where the pattern around the data has been overwritten.
  Status CheckOverrun() const;

 private:
  void Protect(int protection);

  std::string name_;
  std::byte* mapping_ = nullptr;
  size_t mapping_size_ = 0;
  std::byte* data_ = nullptr;
  int64_t size_ = 0;
};

}  // namespace bayloom::measure
