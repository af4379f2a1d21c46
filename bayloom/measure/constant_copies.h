// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace bayloom::measure {

/// Copies of a program's constants that its runs take in turn: together they are larger than the
/// last cache, so that each run reads them from main memory, as it does inside of a network whose
/// constants do not fit into that cache. What a program reads besides stays where the run before
/// left it.
class ConstantCopies {
 public:
  /// `cache_bytes`: of the last cache; 0: as the system has it.
  explicit ConstantCopies(int64_t cache_bytes = 0);
  ~ConstantCopies();
  ConstantCopies(const ConstantCopies&) = delete;
  ConstantCopies& operator=(const ConstantCopies&) = delete;

  struct Constant {
    size_t parameter = 0;  ///< its position
    const std::byte* data = nullptr;
    int64_t bytes = 0;
  };
  /// Copies these instead of others. Without any, or where one copy is much larger than the last
  /// cache, there are none. Throws std::bad_alloc.
  void Copy(const std::vector<Constant>& constants);
  /// From now on there are none.
  void Drop();
  /// Has the parameters point to the next copy, if there are any.
  void Next(std::vector<void*>& parameters);

 private:
  void Reserve(int64_t bytes);

  int64_t cache_bytes_;
  std::byte* memory_ = nullptr;
  int64_t capacity_ = 0;
  std::vector<std::pair<size_t, int64_t>> offsets_;  ///< of a parameter's constant in a copy
  int64_t copy_bytes_ = 0;
  int64_t copies_ = 0;
  int64_t next_ = 0;
};

}  // namespace bayloom::measure
