// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/gpu/race_checker.h"

#include <fmt/format.h>

#include <algorithm>

namespace bayloom::codegen {

RaceChecker::RaceChecker(std::vector<WatchedMemory> memories) : memories_(std::move(memories)) {
  for (const WatchedMemory& memory : memories_) {
    elements_.emplace_back(static_cast<size_t>(memory.bytes / memory.element_bytes));
  }
}

void RaceChecker::BeginBlock() {
  for (size_t i = 0; i < memories_.size(); ++i) {
    if (memories_[i].of_block) std::ranges::fill(elements_[i], Element{});
  }
}

std::optional<std::string> RaceChecker::Check(int number, const std::byte* pointer, int64_t bytes,
                                              bool is_write, const Accessor& accessor) {
  if (bytes == 0) return std::nullopt;
  ++accesses_;
  const WatchedMemory& memory = memories_[static_cast<size_t>(number)];
  // Not a difference of pointers, which need not be into one array.
  const auto offset = static_cast<int64_t>(reinterpret_cast<uintptr_t>(pointer) -
                                           reinterpret_cast<uintptr_t>(memory.base));
  if (offset < 0 || offset + bytes > memory.bytes) {
    return fmt::format("out of bounds: thread {} of block {} {} byte {} of {}, which has {}",
                       accessor.thread, accessor.block, is_write ? "writes" : "reads", offset,
                       memory.name, memory.bytes);
  }
  for (int64_t at = offset; at < offset + bytes; at += memory.element_bytes) {
    const int64_t place = at / memory.element_bytes;
    Element& element = elements_[static_cast<size_t>(number)][static_cast<size_t>(place)];
    if (auto race = CheckElement(memory, place, element, is_write, accessor)) return race;
  }
  return std::nullopt;
}

std::optional<std::string> RaceChecker::BeginCopy(int memory, const std::byte* pointer,
                                                  int64_t bytes, const Accessor& accessor) {
  if (auto fault = Check(memory, pointer, bytes, true, accessor)) return fault;
  MarkCopied(memory, pointer, bytes, accessor.thread);
  return std::nullopt;
}

std::optional<std::string> RaceChecker::EndCopy(int memory, const std::byte* pointer, int64_t bytes,
                                                const Accessor& accessor) {
  MarkCopied(memory, pointer, bytes, kNobody);
  return Check(memory, pointer, bytes, true, accessor);
}

void RaceChecker::MarkCopied(int number, const std::byte* pointer, int64_t bytes, int copier) {
  const WatchedMemory& memory = memories_[static_cast<size_t>(number)];
  const int64_t begin = pointer - memory.base;
  for (int64_t at = begin; at < begin + bytes; at += memory.element_bytes) {
    const auto place = static_cast<size_t>(at / memory.element_bytes);
    elements_[static_cast<size_t>(number)][place].copier = copier;
  }
}

bool RaceChecker::Meets(const By& before, const Accessor& now) {
  if (before.block == kNobody) return false;
  if (before.block != now.block) return true;
  return before.epoch == now.epoch && before.thread != now.thread;
}

std::optional<std::string> RaceChecker::CheckElement(const WatchedMemory& memory, int64_t place,
                                                     Element& element, bool is_write,
                                                     const Accessor& accessor) {
  const auto race = [&](const char* kind, const By& other) {
    return fmt::format(
        "race: element {} of {} (byte {}): thread {} of block {} {} thread {} of block {}, after "
        "{} barriers, and nothing makes one wait for the other",
        place, memory.name, place * memory.element_bytes, accessor.thread, accessor.block, kind,
        other.thread, other.block, accessor.epoch);
  };
  if (Meets(element.write, accessor)) {
    return race(is_write ? "writes it beside" : "reads what is written by", element.write);
  }
  if (element.copier != kNobody) {
    return fmt::format(
        "race: element {} of {} (byte {}): thread {} of block {} {} what thread {} is copying, "
        "after {} barriers, and has not waited for",
        place, memory.name, place * memory.element_bytes, accessor.thread, accessor.block,
        is_write ? "writes" : "reads", element.copier, accessor.epoch);
  }
  const By now{accessor.block, accessor.thread, accessor.epoch};
  if (is_write) {
    for (const By& read : {element.read, element.other_read, element.other_block_read}) {
      if (Meets(read, accessor)) return race("writes what is read by", read);
    }
    element.write = now;
    return std::nullopt;
  }
  if (element.read.block != now.block) element.other_block_read = element.read;
  const bool same = element.read.block == now.block && element.read.thread == now.thread;
  if (!same) element.other_read = element.read;
  element.read = now;
  return std::nullopt;
}

}  // namespace bayloom::codegen
