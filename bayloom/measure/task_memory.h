// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>

#include "bayloom/measure/runner.h"

namespace bayloom::measure {

/// Gives a task whose message says how large its data is a number of its own and shared memory of
/// zeros, which the caller closes. Throws SystemError where there is none.
void AllocateTaskMemory(TaskData& data);

/// Bytes rounded up to whole pages, as places in a task's data are.
int64_t WholePages(int64_t bytes);

/// A view of a task's shared memory. Throws SystemError.
class TaskMemoryView {
 public:
  explicit TaskMemoryView(const TaskData& data);
  ~TaskMemoryView();
  TaskMemoryView(const TaskMemoryView&) = delete;
  TaskMemoryView& operator=(const TaskMemoryView&) = delete;
  std::byte* at(int64_t offset) const { return bytes_ + offset; }

 private:
  size_t size_;
  std::byte* bytes_;
};

}  // namespace bayloom::measure
