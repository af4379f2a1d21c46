// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/guarded_memory.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "bayloom/codegen/abi.h"

namespace bayloom::measure {
namespace {

constexpr std::byte kPattern{0xc5};

size_t RoundUp(size_t value, size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

GuardedMemory::GuardedMemory(std::string name, int64_t bytes)
    : name_(std::move(name)), size_(bytes) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t room = static_cast<size_t>(target::AlignUp(bytes));
  const size_t inner = std::max(RoundUp(room, page), page);
  void* mapping = mmap(nullptr, inner + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  mapping_ = static_cast<std::byte*>(mapping);
  mapping_size_ = inner + 2 * page;
  if (mprotect(mapping_ + page, inner, PROT_READ | PROT_WRITE) != 0) {
    munmap(mapping_, mapping_size_);
    throw std::bad_alloc();
  }
  data_ = mapping_ + page + inner - room;
  std::memset(mapping_ + page, static_cast<int>(kPattern), inner - room);
  std::memset(data_ + bytes, static_cast<int>(kPattern), room - static_cast<size_t>(bytes));
}

GuardedMemory& GuardedMemory::operator=(GuardedMemory&& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(mapping_, other.mapping_);
  std::swap(mapping_size_, other.mapping_size_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

GuardedMemory::~GuardedMemory() {
  if (mapping_) munmap(mapping_, mapping_size_);
}

void GuardedMemory::Protect(int protection) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  mprotect(mapping_ + page, mapping_size_ - 2 * page, protection);
}

void GuardedMemory::ProtectFromWrites() { Protect(PROT_READ); }

void GuardedMemory::AllowWrites() { Protect(PROT_READ | PROT_WRITE); }

void GuardedMemory::Fill(std::byte value) {
  std::memset(data_, static_cast<int>(value), static_cast<size_t>(size_));
}

Status GuardedMemory::CheckOverrun() const {
  if (!mapping_) return Ok();
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const std::byte* first = mapping_ + page;
  const std::byte* last = mapping_ + mapping_size_ - page;
  for (const std::byte* p = data_ - 1; p >= first; --p) {
    if (*p != kPattern) {
      return Error{fmt::format("wrote {} bytes before the start of {}", data_ - p, name_)};
    }
  }
  for (const std::byte* p = data_ + size_; p < last; ++p) {
    if (*p != kPattern) {
      return Error{fmt::format("wrote {} bytes past the end of {}", p - data_ - size_ + 1, name_)};
    }
  }
  return Ok();
}

}  // namespace bayloom::measure
