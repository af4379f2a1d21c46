// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/task_memory.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "bayloom/base/system_error.h"

namespace bayloom::measure {

void AllocateTaskMemory(TaskData& data) {
  static std::atomic<int64_t> next_id{1};
  data.id = next_id++;
  data.descriptor = memfd_create("bayloom-task", MFD_CLOEXEC);
  if (data.descriptor < 0 || ftruncate(data.descriptor, data.message.data_bytes) != 0) {
    throw SystemError(fmt::format("no shared memory for the task's data: {}", strerror(errno)));
  }
}

int64_t WholePages(int64_t bytes) {
  const int64_t page = sysconf(_SC_PAGESIZE);
  return (bytes + page - 1) / page * page;
}

TaskMemoryView::TaskMemoryView(const TaskData& data)
    : size_(static_cast<size_t>(data.message.data_bytes)) {
  void* const bytes = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, data.descriptor, 0);
  if (bytes == MAP_FAILED) {
    throw SystemError(fmt::format("cannot map the task's data: {}", strerror(errno)));
  }
  bytes_ = static_cast<std::byte*>(bytes);
}

TaskMemoryView::~TaskMemoryView() { munmap(bytes_, size_); }

}  // namespace bayloom::measure
