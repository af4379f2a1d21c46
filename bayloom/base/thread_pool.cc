// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <exception>

namespace bayloom::base {
namespace {

// Aligned as the data that follows it: of unaligned thread-local data mold 1.10 may put the
// read-only segment on a page that is not mapped, and the program does not start.
alignas(64) thread_local bool inside_a_body = false;

}  // namespace

struct ThreadPool::Job {
  const std::function<void(int64_t)>* body;
  int64_t count;
  std::atomic<int64_t> next{0};
  std::atomic<bool> failed{false};
  std::mutex mutex;  ///< guards what follows
  std::condition_variable idle;
  int active = 0;
  std::exception_ptr failure;

  void Run() {
    inside_a_body = true;
    for (int64_t i = next++; i < count && !failed; i = next++) {
      try {
        (*body)(i);
      } catch (...) {
        std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        failed = true;
      }
    }
    inside_a_body = false;
  }
};

ThreadPool::ThreadPool(int threads) {
  if (threads <= 0) threads = std::max(1u, std::thread::hardware_concurrency());
  for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { Work(); });
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::Work() {
  std::shared_ptr<Job> done;
  while (true) {
    std::shared_ptr<Job> job;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stopping_ || (job_ && job_ != done); });
      if (stopping_) return;
      job = job_;
      std::lock_guard active(job->mutex);
      ++job->active;
    }
    job->Run();
    {
      std::lock_guard lock(job->mutex);
      --job->active;
    }
    job->idle.notify_one();
    done = std::move(job);
  }
}

void ThreadPool::ParallelFor(int64_t count, const std::function<void(int64_t)>& body) {
  if (inside_a_body || workers_.empty() || count <= 1) {
    for (int64_t i = 0; i < count; ++i) body(i);
    return;
  }
  std::lock_guard turn(callers_);
  auto job = std::make_shared<Job>();
  job->body = &body;
  job->count = count;
  {
    std::lock_guard lock(mutex_);
    job_ = job;
  }
  wake_.notify_all();
  job->Run();
  {
    std::lock_guard lock(mutex_);
    job_ = nullptr;  // late workers find nothing; those who joined are counted in `active`
  }
  std::unique_lock lock(job->mutex);
  job->idle.wait(lock, [&] { return job->active == 0; });
  if (job->failure) std::rethrow_exception(job->failure);
}

}  // namespace bayloom::base
