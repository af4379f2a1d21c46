// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/constant_copies.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "bayloom/measure/host_caches.h"

namespace bayloom::measure {
namespace {

constexpr int64_t kLine = 64;

constexpr int64_t kUsualCacheBytes = int64_t{32} << 20;

int64_t LastCacheBytes() {
  const std::vector<HostCache> caches = HostCaches(AllowedProcessors());
  return caches.empty() ? kUsualCacheBytes : caches.back().bytes;
}

}  // namespace

ConstantCopies::ConstantCopies(int64_t cache_bytes)
    : cache_bytes_(cache_bytes > 0 ? cache_bytes : LastCacheBytes()) {}

ConstantCopies::~ConstantCopies() {
  if (memory_ != nullptr) munmap(memory_, static_cast<size_t>(capacity_));
}

void ConstantCopies::Reserve(int64_t bytes) {
  if (bytes <= capacity_) return;
  if (memory_ != nullptr) munmap(memory_, static_cast<size_t>(capacity_));
  memory_ = nullptr;
  capacity_ = 0;
  void* const memory = mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  memory_ = static_cast<std::byte*>(memory);
  capacity_ = bytes;
}

void ConstantCopies::Drop() {
  offsets_.clear();
  copy_bytes_ = copies_ = next_ = 0;
}

void ConstantCopies::Copy(const std::vector<Constant>& constants) {
  Drop();
  for (const Constant& constant : constants) {
    offsets_.emplace_back(constant.parameter, copy_bytes_);
    copy_bytes_ += (constant.bytes + kLine - 1) / kLine * kLine;
  }
  // Half as much again as the cache holds: which lines leave it first is not exactly known.
  const int64_t wanted = cache_bytes_ + cache_bytes_ / 2;
  if (copy_bytes_ == 0 || copy_bytes_ >= wanted) return;
  copies_ = (wanted + copy_bytes_ - 1) / copy_bytes_;
  Reserve(copies_ * copy_bytes_);
  for (int64_t copy = 0; copy < copies_; ++copy) {
    for (size_t i = 0; i < constants.size(); ++i) {
      std::memcpy(memory_ + copy * copy_bytes_ + offsets_[i].second, constants[i].data,
                  static_cast<size_t>(constants[i].bytes));
    }
  }
}

void ConstantCopies::Next(std::vector<void*>& parameters) {
  if (copies_ == 0) return;
  for (const auto& [parameter, offset] : offsets_) {
    parameters[parameter] = memory_ + next_ * copy_bytes_ + offset;
  }
  next_ = (next_ + 1) % copies_;
}

}  // namespace bayloom::measure
