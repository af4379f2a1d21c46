// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bayloom::codegen {

/// A stretch of memory that threads may share.
struct WatchedMemory {
  std::string name;
  const std::byte* base = nullptr;
  int64_t bytes = 0;
  int element_bytes = 1;
  bool of_block = false;  ///< each block has its own (shared memory)
};

/// Who is about to access memory.
struct Accessor {
  int64_t block = 0;
  int thread = 0;
  int epoch = 0;  ///< barriers that the block has passed
};

/// Finds accesses out of bounds, and pairs of accesses to one element by different threads, at
/// least one of them a write, that no barrier orders: those of one block between the same barriers,
/// and those of different blocks of a launch. Whether threads really met in a harmful order does
/// not matter. For one launch of a kernel, whose blocks run one after the other.
class RaceChecker {
 public:
  explicit RaceChecker(std::vector<WatchedMemory> memories);

  /// Forgets the accesses to memory of the block before.
  void BeginBlock();
  /// The first thing wrong with an access to [pointer, pointer + bytes), in words; nullopt if
  /// nothing is.
  std::optional<std::string> Check(int memory, const std::byte* pointer, int64_t bytes,
                                   bool is_write, const Accessor& accessor);
  /// An asynchronous copy into [pointer, pointer + bytes) begins, or has been waited for by the
  /// thread that began it. In between no thread may touch these elements, that thread included; it
  /// writes them when it begins and when it has waited.
  std::optional<std::string> BeginCopy(int memory, const std::byte* pointer, int64_t bytes,
                                       const Accessor& accessor);
  std::optional<std::string> EndCopy(int memory, const std::byte* pointer, int64_t bytes,
                                     const Accessor& accessor);
  int64_t accesses() const { return accesses_; }

 private:
  static constexpr int kNobody = -1;
  struct By {
    int64_t block = kNobody;
    int thread = kNobody;
    int epoch = 0;
  };
  /// The last write, and of the reads those of the last two threads and of another block: enough to
  /// tell whether a writer meets another thread.
  struct Element {
    By write, read, other_read, other_block_read;
    int copier = kNobody;  ///< the thread whose copy of it is under way
  };

  void MarkCopied(int memory, const std::byte* pointer, int64_t bytes, int copier);
  std::optional<std::string> CheckElement(const WatchedMemory& memory, int64_t place,
                                          Element& element, bool is_write,
                                          const Accessor& accessor);
  static bool Meets(const By& before, const Accessor& now);

  std::vector<WatchedMemory> memories_;
  std::vector<std::vector<Element>> elements_;
  int64_t accesses_ = 0;
};

}  // namespace bayloom::codegen
