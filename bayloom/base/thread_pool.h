// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace bayloom::base {

/// A fixed set of threads that share out the iterations of loops.
///
///     ThreadPool pool(4);
///     pool.ParallelFor(items.size(), [&](int64_t i) { results[i] = Work(items[i]); });
///
/// The order of iterations is not defined, so give each its own place for its result and its own
/// forked RandomStream.
class ThreadPool {
 public:
  /// `threads` in all, the calling one included; 0 means one per hardware thread.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  /// Calls body(i) for every i in [0, count) and returns when all calls have returned. The first
  /// exception thrown is thrown again here, after the iterations already begun have ended; the
  /// others are skipped. Calls from several threads take turns; a call from within a body runs
  /// on the thread it comes from.
  void ParallelFor(int64_t count, const std::function<void(int64_t)>& body);

 private:
  struct Job;
  void Work();

  std::mutex callers_;  ///< held by the thread whose loop is running
  std::mutex mutex_;    ///< guards what follows
  std::condition_variable wake_;
  std::shared_ptr<Job> job_;
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace bayloom::base
