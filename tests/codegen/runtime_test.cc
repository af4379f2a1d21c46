// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include "bayloom/codegen/runtime/bayloom_runtime.h"
#include "bayloom/codegen/subnormals.h"

namespace bayloom::codegen {
namespace {

/// Counts how often each iteration ran.
struct Counts {
  explicit Counts(int64_t extent) : runs(extent) {}
  std::vector<std::atomic<int>> runs;
  std::atomic<bool> bad_worker{false};

  static void Body(void* context, int64_t begin, int64_t end, int32_t worker) {
    auto* counts = static_cast<Counts*>(context);
    if (worker < 0 || worker >= 4) counts->bad_worker = true;
    for (int64_t i = begin; i < end; ++i) ++counts->runs[i];
  }
  bool EachOnce() const {
    for (const std::atomic<int>& count : runs) {
      if (count != 1) return false;
    }
    return !bad_worker;
  }
};

bool RunsEachOnce(int64_t extent) {
  Counts counts(extent);
  bayloom_parallel_for(extent, Counts::Body, &counts);
  return counts.EachOnce();
}

class RuntimeTest : public ::testing::Test {
 protected:
  void SetUp() override { bayloom_set_threads(4); }
  void TearDown() override { bayloom_set_threads(0); }
};

TEST_F(RuntimeTest, EveryIterationRunsOnce) {
  for (int64_t extent : {0, 1, 2, 3, 7, 31, 32, 33, 1000, 12345}) {
    EXPECT_TRUE(RunsEachOnce(extent)) << extent;
  }
  for (int repeat = 0; repeat < 2000; ++repeat) ASSERT_TRUE(RunsEachOnce(5));
}

TEST_F(RuntimeTest, WorkersWakeUpAfterSleeping) {
  for (int repeat = 0; repeat < 20; ++repeat) {
    usleep(1000);
    ASSERT_TRUE(RunsEachOnce(64));
  }
}

TEST_F(RuntimeTest, ThreadsStayWhileAnyoneHasEntered) {
  EXPECT_EQ(bayloom_enter(), 4);
  EXPECT_EQ(bayloom_enter(), 4);
  bayloom_leave();
  EXPECT_EQ(bayloom_set_threads(2), 0);
  EXPECT_EQ(bayloom_threads(), 4);
  bayloom_leave();
  EXPECT_EQ(bayloom_set_threads(2), 1);
  EXPECT_EQ(bayloom_threads(), 2);
}

TEST_F(RuntimeTest, ThreadsCanBeChangedAtAnyTime) {
  for (int threads : {1, 3, 2, 4, 1, 4}) {
    bayloom_set_threads(threads);
    EXPECT_EQ(bayloom_threads(), threads);
    EXPECT_TRUE(RunsEachOnce(100));
  }
}

TEST_F(RuntimeTest, WorkersTakeNoSignalOfTheApplication) {
  bayloom_set_threads(1);  // ends the workers that there are
  bayloom_set_threads(4);
  struct State {
    std::atomic<int> arrived{0};
    sigset_t blocked[4];  // by worker; 0 is the calling thread
  } state;
  const auto body = [](void* context, int64_t, int64_t, int32_t worker) {
    auto* s = static_cast<State*>(context);
    pthread_sigmask(SIG_BLOCK, nullptr, &s->blocked[worker]);
    ++s->arrived;
    while (s->arrived < 4) std::this_thread::yield();  // so that each thread takes one
  };
  bayloom_parallel_for(4, body, &state);
  ASSERT_EQ(state.arrived, 4);
  for (int worker = 0; worker < 4; ++worker) {
    const sigset_t& blocked = state.blocked[worker];
    for (const int signal : {SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGCHLD}) {
      EXPECT_EQ(sigismember(&blocked, signal), worker > 0) << strsignal(signal) << " " << worker;
    }
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
      EXPECT_EQ(sigismember(&blocked, fault), 0) << strsignal(fault) << " " << worker;
    }
  }
}

TEST_F(RuntimeTest, AtMostOneThreadPerWorkerNumberIsAtWork) {
  struct State {
    std::atomic<int> busy[4] = {};
    std::atomic<bool> clash{false};
  } state;
  const auto body = [](void* context, int64_t, int64_t, int32_t worker) {
    auto* s = static_cast<State*>(context);
    if (s->busy[worker]++ != 0) s->clash = true;
    std::this_thread::yield();
    --s->busy[worker];
  };
  for (int repeat = 0; repeat < 200; ++repeat) bayloom_parallel_for(32, body, &state);
  EXPECT_FALSE(state.clash);
}

TEST_F(RuntimeTest, EachThreadBeginsWithItsOwnShare) {
  struct State {
    std::atomic<int> arrived{0};
    int64_t first[4] = {-1, -1, -1, -1};
  } state;
  const auto body = [](void* context, int64_t begin, int64_t, int32_t worker) {
    auto* s = static_cast<State*>(context);
    if (s->first[worker] >= 0) return;
    s->first[worker] = begin;
    for (++s->arrived; s->arrived < 4;) std::this_thread::yield();
  };
  bayloom_parallel_for(42, body, &state);
  EXPECT_THAT(state.first, ::testing::ElementsAre(0, 11, 22, 32));
}

TEST_F(RuntimeTest, SeveralLoopsRunEachIterationOnce) {
  for (int repeat = 0; repeat < 300; ++repeat) {
    std::deque<Counts> counts;
    std::vector<bayloom_loop> loops;
    for (int64_t extent : {7, 0, 1, 1000, 33, 1, 32, 5}) {
      counts.emplace_back(extent);
      loops.push_back({extent, Counts::Body, &counts.back()});
    }
    bayloom_parallel_loops(static_cast<int>(loops.size()), loops.data());
    for (const Counts& count : counts) ASSERT_TRUE(count.EachOnce());
  }
}

/// Waits until so many threads have arrived; false if they do not.
bool ArriveWith(std::atomic<int>& arrived, int count) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  for (++arrived; arrived < count;) {
    if (std::chrono::steady_clock::now() > give_up) return false;
    std::this_thread::yield();
  }
  return true;
}

TEST_F(RuntimeTest, SeveralLoopsRunAtTheSameTime) {
  struct State {
    std::atomic<int> arrived{0};
    std::atomic<bool> alone{false};
  } state;
  const auto body = [](void* context, int64_t, int64_t, int32_t) {
    auto* s = static_cast<State*>(context);
    if (!ArriveWith(s->arrived, 3)) s->alone = true;
  };
  const bayloom_loop loop = {1, body, &state};
  const bayloom_loop loops[] = {loop, loop, loop};
  bayloom_parallel_loops(3, loops);
  EXPECT_FALSE(state.alone);
}

/// What does not divide evenly goes to other threads in the next loop.
TEST_F(RuntimeTest, SeveralLoopsAreDividedEvenlyTogether) {
  struct State {
    std::atomic<int> arrived{0};
    std::atomic<bool> alone{false};
    int64_t first[4] = {-1, -1, -1, -1};
  } states[2];
  const auto body = [](void* context, int64_t begin, int64_t, int32_t worker) {
    auto* s = static_cast<State*>(context);
    if (s->first[worker] >= 0) return;
    s->first[worker] = begin;
    if (!ArriveWith(s->arrived, 4)) s->alone = true;
  };
  const bayloom_loop loops[] = {{6, body, &states[0]}, {6, body, &states[1]}};
  bayloom_parallel_loops(2, loops);
  EXPECT_FALSE(states[0].alone || states[1].alone);
  EXPECT_THAT(states[0].first, ::testing::ElementsAre(0, 2, 4, 5));
  EXPECT_THAT(states[1].first, ::testing::ElementsAre(0, 1, 2, 4));
}

/// Kernels of up to three steps that note when each of their iterations runs.
struct NotedKernels {
  static constexpr int64_t kExtents[] = {6, 1, 9};

  explicit NotedKernels(const std::vector<int>& step_counts) : done(step_counts.size()) {
    for (size_t k = 0; k < step_counts.size(); ++k) {
      calls.push_back({nullptr, this, kSteps, step_counts[k]});
    }
  }

  template <int step>
  static void Body(void* context, int64_t begin, int64_t end, int32_t) {
    const auto* call = static_cast<const bayloom_kernel_call*>(context);
    auto* self = static_cast<NotedKernels*>(call->workspace);
    const auto kernel = static_cast<size_t>(call - self->calls.data());
    if constexpr (step > 0) {
      if (self->done[kernel][step - 1] != kExtents[step - 1]) self->early = true;
    }
    const std::lock_guard lock(self->mutex);
    if (self->order.empty() || self->order.back() != kernel) self->order.push_back(kernel);
    self->done[kernel][step] += end - begin;
  }
  static constexpr bayloom_kernel_step kSteps[] = {
      {kExtents[0], Body<0>}, {kExtents[1], Body<1>}, {kExtents[2], Body<2>}};

  void Run() { bayloom_run_together(static_cast<int>(calls.size()), calls.data()); }
  bool EachOnce() const {
    for (size_t k = 0; k < calls.size(); ++k) {
      for (int step = 0; step < calls[k].step_count; ++step) {
        if (done[k][step] != kExtents[step]) return false;
      }
    }
    return true;
  }

  std::vector<bayloom_kernel_call> calls;
  std::vector<std::array<std::atomic<int64_t>, 3>> done;  ///< iterations, by kernel and step
  std::mutex mutex;
  std::vector<size_t> order;  ///< of kernels at work
  std::atomic<bool> early{false};
};

TEST_F(RuntimeTest, StepsOfKernelsFollowEachOther) {
  for (int repeat = 0; repeat < 200; ++repeat) {
    NotedKernels kernels({2, 3, 1, 3});
    kernels.Run();
    ASSERT_TRUE(kernels.EachOnce());
    ASSERT_FALSE(kernels.early);
  }
}

TEST_F(RuntimeTest, OneThreadRunsKernelsOneAfterTheOther) {
  bayloom_set_threads(1);
  NotedKernels kernels({2, 3, 1});
  kernels.Run();
  EXPECT_TRUE(kernels.EachOnce());
  EXPECT_FALSE(kernels.early);
  EXPECT_THAT(kernels.order, ::testing::ElementsAre(0, 1, 2));
}

/// An application's threads: one for each task, or the calling one for all, the last task first.
struct CallersThreads {
  bool is_one = false;
  int tasks = 0;

  static void Run(void* pool, int count, void (*task)(void* context, int number), void* context) {
    auto* const threads = static_cast<CallersThreads*>(pool);
    threads->tasks += count;
    std::vector<std::thread> started;
    for (int i = count - 1; i >= 0; --i) {
      if (threads->is_one) {
        task(context, i);
      } else {
        started.emplace_back(task, context, i);
      }
    }
    for (std::thread& thread : started) thread.join();
  }
};

TEST_F(RuntimeTest, LoopsRunOnThreadsOfTheApplication) {
  for (const bool is_one : {false, true}) {
    CallersThreads threads{is_one};
    ASSERT_EQ(bayloom_set_pool(CallersThreads::Run, &threads, 3), 1);
    EXPECT_EQ(bayloom_threads(), 3);
    for (const int64_t extent : {2, 3, 100, 1000}) EXPECT_TRUE(RunsEachOnce(extent)) << extent;
    EXPECT_EQ(threads.tasks, 12);
    bayloom_enter();
    EXPECT_EQ(bayloom_set_pool(nullptr, nullptr, 0), 0);
    bayloom_leave();
    ASSERT_EQ(bayloom_set_pool(nullptr, nullptr, 0), 1);
    EXPECT_TRUE(RunsEachOnce(100));
    EXPECT_EQ(threads.tasks, 12);
  }
}

TEST_F(RuntimeTest, NestedLoopsRunInTheCallingThread) {
  std::deque<Counts> inner;
  for (int i = 0; i < 8; ++i) inner.emplace_back(50);
  const auto body = [](void* context, int64_t begin, int64_t end, int32_t) {
    auto* counts = static_cast<std::deque<Counts>*>(context);
    for (int64_t i = begin; i < end; ++i) {
      bayloom_parallel_for(50, Counts::Body, &(*counts)[i]);
    }
  };
  bayloom_parallel_for(8, body, &inner);
  for (const Counts& counts : inner) EXPECT_TRUE(counts.EachOnce());
}

TEST_F(RuntimeTest, SeveralThreadsMayCallAtOnce) {
  std::atomic<bool> good{true};
  std::vector<std::thread> callers;
  for (int t = 0; t < 3; ++t) {
    callers.emplace_back([&] {
      for (int repeat = 0; repeat < 200; ++repeat) {
        if (!RunsEachOnce(40)) good = false;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_TRUE(good);
}

TEST_F(RuntimeTest, WorksInTheChildOfAFork) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer allows no new threads in the child of a threaded process";
#endif
  ASSERT_TRUE(RunsEachOnce(100));
  const pid_t child = fork();
  if (child == 0) _exit(RunsEachOnce(100) && RunsEachOnce(1000) ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/// Whether half of the least normal number is zero, in all iterations or in none.
bool LoopsFlush() {
  struct Results {
    static void Body(void* context, int64_t begin, int64_t end, int32_t) {
      for (int64_t i = begin; i < end; ++i) {
        volatile float least = std::numeric_limits<float>::min(), half = least * 0.5f;
        if (half == 0) ++*static_cast<std::atomic<int>*>(context);
      }
    }
  };
  std::atomic<int> zeros = 0;
  bayloom_parallel_for(1000, Results::Body, &zeros);
  EXPECT_TRUE(zeros == 0 || zeros == 1000) << zeros;
  return zeros > 0;
}

TEST_F(RuntimeTest, AllThreadsTreatSubnormalsAsTheCallerDoes) {
  for (int repeat = 0; repeat < 20; ++repeat) {
    EXPECT_FALSE(LoopsFlush());
    const SubnormalsAreZeros flushed;
    EXPECT_TRUE(LoopsFlush());
  }
  EXPECT_FALSE(LoopsFlush());
}

}  // namespace
}  // namespace bayloom::codegen
