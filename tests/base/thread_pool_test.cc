// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace bayloom::base {
namespace {

TEST(ThreadPoolTest, RunsEveryIterationOnceWhateverTheNumberOfThreads) {
  for (int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (int64_t count : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> calls(count);
      pool.ParallelFor(count, [&](int64_t i) { ++calls[i]; });
      for (int64_t i = 0; i < count; ++i) ASSERT_EQ(calls[i], 1) << i << " of " << count;
    }
  }
}

TEST(ThreadPoolTest, SurvivesManyShortLoops) {
  ThreadPool pool(4);
  std::atomic<int64_t> sum = 0;
  for (int round = 0; round < 5000; ++round) {
    pool.ParallelFor(3, [&](int64_t i) { sum += i; });
  }
  EXPECT_EQ(sum, 5000 * 3);
}

TEST(ThreadPoolTest, ThrowsWhatABodyThrowsAndStaysUsable) {
  ThreadPool pool(3);
  EXPECT_THROW(pool.ParallelFor(100,
                                [](int64_t i) {
                                  if (i == 40) throw std::runtime_error("forty");
                                }),
               std::runtime_error);
  std::atomic<int> calls = 0;
  pool.ParallelFor(10, [&](int64_t) { ++calls; });
  EXPECT_EQ(calls, 10);
}

TEST(ThreadPoolTest, LoopsNestAndCallersTakeTurns) {
  ThreadPool pool(2);
  std::atomic<int> calls = 0;
  auto nested = [&] {
    pool.ParallelFor(4, [&](int64_t) { pool.ParallelFor(5, [&](int64_t) { ++calls; }); });
  };
  std::thread other(nested);
  nested();
  other.join();
  EXPECT_EQ(calls, 40);
}

}  // namespace
}  // namespace bayloom::base
