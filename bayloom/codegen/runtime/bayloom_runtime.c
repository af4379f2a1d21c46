// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "bayloom_runtime.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

enum {
  kChunksPerThread = 8, /* small enough to even out, large enough not to be felt */
  kSpinsPerClockCheck = 64,
  kSpinsPerYield = 1024,
};
static const int64_t kSpinNanoseconds = 60000;

/* The gate holds the state of the current loop in one word, so that joining it is one
 * compare-and-swap: [ serial number | open | workers inside ]. */
static const uint64_t kInsideMask = 0xffff;
static const uint64_t kOpen = 0x10000;
static const uint64_t kSerialStep = 0x20000;

/* The part of a loop that belongs to one thread; who has done his own helps the others. The same
 * iterations of loops of equal extent so go to the same thread, in whose cache the rows of a
 * tensor stay from one kernel to the next. */
typedef struct {
  _Alignas(64) atomic_int_fast64_t next;
  int64_t end;
} Share;

/* A loop in its threads' shares, and the iterations that are taken of them at a time. */
typedef struct {
  bayloom_loop loop;
  int64_t chunk;
  Share shares[BAYLOOM_MAX_THREADS];
} Job;

static struct {
  pthread_mutex_t user;    /* held while a loop runs or the pool changes */
  pthread_mutex_t setting; /* held while `entered` changes, and by who sets the threads */
  pthread_mutex_t sleep_lock;
  pthread_cond_t wake;
  pthread_t threads[BAYLOOM_MAX_THREADS];
  int started; /* workers running, the caller not included */
  int entered; /* calls of bayloom_enter without their bayloom_leave */
  /* The loops that run at the same time: written while the gate is closed and no thread inside. */
  Job jobs[BAYLOOM_MAX_LOOPS];
  int job_count;
  int job_shares;
  uint64_t job_floats; /* what arithmetic is like in the thread that runs them */
  _Alignas(64) atomic_uint_fast64_t gate;
  _Alignas(64) atomic_int sleepers;
  atomic_bool stop;
  atomic_int wanted;           /* threads asked for; 0: not decided yet */
  bayloom_run_tasks run_tasks; /* on the application's threads; null: on those here */
  void* callers;               /* what these are to it */
  atomic_uint forks;           /* between the process that loaded this code and this one */
} pool = {.user = PTHREAD_MUTEX_INITIALIZER,
          .setting = PTHREAD_MUTEX_INITIALIZER,
          .sleep_lock = PTHREAD_MUTEX_INITIALIZER,
          .wake = PTHREAD_COND_INITIALIZER};

static _Thread_local bool inside_loop;

static void Pause(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/* The register that says what arithmetic is like in this thread; on other processors nothing does.
 */
static uint64_t Floats(void) {
#if defined(__x86_64__)
  return __builtin_ia32_stmxcsr();
#elif defined(__aarch64__)
  uint64_t floats;
  __asm__ volatile("mrs %0, fpcr" : "=r"(floats));
  return floats;
#else
  return 0;
#endif
}

static void SetFloats(uint64_t floats) {
#if defined(__x86_64__)
  __builtin_ia32_ldmxcsr((uint32_t)floats);
#elif defined(__aarch64__)
  __asm__ volatile("msr fpcr, %0" : : "r"(floats));
#else
  (void)floats;
#endif
}

#if defined(__x86_64__)
static const uint64_t kFlush = 0x8040; /* results to zero, and subnormals are zeros */
static const uint64_t kRaised = 0x3f;  /* what has happened, not what is to happen */
#else
static const uint64_t kFlush = 1 << 24;
static const uint64_t kRaised = 0;
#endif

uint64_t bayloom_flush_subnormals(void) {
  const uint64_t before = Floats();
  SetFloats(before | kFlush);
  return before;
}

void bayloom_restore_floats(uint64_t before) {
  SetFloats((before & ~kRaised) | (Floats() & kRaised));
}

static int64_t Nanoseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int DefaultThreads(void) {
  const char* text = getenv("BAYLOOM_THREADS");
  if (text != NULL && atoi(text) > 0) return atoi(text);
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return 1;
  return CPU_COUNT(&allowed);
}

static void RunShare(Job* job, int of, int32_t worker) {
  const bayloom_loop loop = job->loop;
  const int64_t chunk = job->chunk;
  Share* const share = &job->shares[of];
  while (atomic_load_explicit(&share->next, memory_order_relaxed) < share->end) {
    const int64_t begin = atomic_fetch_add_explicit(&share->next, chunk, memory_order_relaxed);
    const int64_t rest = share->end - begin;
    if (rest <= 0) break;
    loop.body(loop.context, begin, begin + (rest < chunk ? rest : chunk), worker);
  }
}

/* The thread's own shares of all loops, then what is left of others' shares. */
static void RunChunks(int32_t worker) {
  inside_loop = true;
  for (int i = 0; i < pool.job_shares; ++i) {
    const int of = (worker + i) % pool.job_shares;
    for (int j = 0; j < pool.job_count; ++j) RunShare(&pool.jobs[j], of, worker);
  }
  inside_loop = false;
}

/* Divides a loop evenly among all threads, each share to be taken in chunks. Threads from number
 * `first` on take one iteration more, until all have been given out; the thread after these is
 * returned. */
static int DivideLoop(Job* job, const bayloom_loop* loop, int first) {
  const int shares = pool.job_shares;
  const int64_t extent = loop->extent > 0 ? loop->extent : 0;
  const int64_t chunks = (int64_t)shares * kChunksPerThread;
  const int more = (int)(extent % shares);
  job->loop = *loop;
  job->chunk = extent < chunks ? 1 : extent / chunks;
  int64_t begin = 0;
  for (int i = 0; i < shares; ++i) {
    const int64_t end = begin + extent / shares + ((i + shares - first) % shares < more);
    atomic_store_explicit(&job->shares[i].next, begin, memory_order_relaxed);
    job->shares[i].end = end;
    begin = end;
  }
  return (first + more) % shares;
}

static void DivideLoops(int count, const bayloom_loop* loops) {
  pool.job_floats = Floats();
  pool.job_count = count;
  pool.job_shares = pool.wanted;
  int first = 0;
  for (int j = 0; j < count; ++j) first = DivideLoop(&pool.jobs[j], &loops[j], first);
}

static void RunInThisThread(int count, const bayloom_loop* loops) {
  for (int j = 0; j < count; ++j) {
    if (loops[j].extent > 0) loops[j].body(loops[j].context, 0, loops[j].extent, 0);
  }
}

/* A gate that is worth looking at: open, and not the loop this worker has already been in. */
static bool IsNews(uint64_t gate, uint64_t last_serial) {
  return (gate & kOpen) != 0 && gate / kSerialStep != last_serial;
}

/* Spins, then sleeps, until a new loop opens; false when the pool stops. */
static bool AwaitLoop(uint64_t last_serial) {
  const int64_t deadline = Nanoseconds() + kSpinNanoseconds;
  for (int spins = 0;; ++spins) {
    if (atomic_load_explicit(&pool.stop, memory_order_acquire)) return false;
    if (IsNews(atomic_load_explicit(&pool.gate, memory_order_acquire), last_serial)) return true;
    Pause();
    if (spins % kSpinsPerClockCheck == 0 && Nanoseconds() > deadline) break;
  }
  /* Sequentially consistent with the caller's store to `gate` and load of `sleepers`: either we
   * see the open gate or the caller sees us. */
  pthread_mutex_lock(&pool.sleep_lock);
  atomic_fetch_add(&pool.sleepers, 1);
  while (!atomic_load(&pool.stop) && !IsNews(atomic_load(&pool.gate), last_serial)) {
    pthread_cond_wait(&pool.wake, &pool.sleep_lock);
  }
  atomic_fetch_sub(&pool.sleepers, 1);
  pthread_mutex_unlock(&pool.sleep_lock);
  return !atomic_load(&pool.stop);
}

static void* Work(void* argument) {
  const int32_t worker = (int32_t)(intptr_t)argument;
  uint64_t last_serial = 0;
  while (AwaitLoop(last_serial)) {
    uint64_t gate = atomic_load_explicit(&pool.gate, memory_order_acquire);
    while (IsNews(gate, last_serial)) {
      if (!atomic_compare_exchange_weak_explicit(&pool.gate, &gate, gate + 1, memory_order_acq_rel,
                                                 memory_order_acquire)) {
        continue;
      }
      last_serial = gate / kSerialStep;
      SetFloats(pool.job_floats);
      RunChunks(worker);
      atomic_fetch_sub_explicit(&pool.gate, 1, memory_order_release);
    }
  }
  return NULL;
}

static void WakeSleepers(void) {
  pthread_mutex_lock(&pool.sleep_lock);
  pthread_cond_broadcast(&pool.wake);
  pthread_mutex_unlock(&pool.sleep_lock);
}

/* The child of a fork has none of the workers: it starts its own when it needs them. */
static void ForgetWorkers(void) {
  pthread_mutex_init(&pool.user, NULL);
  pthread_mutex_init(&pool.setting, NULL);
  pthread_mutex_init(&pool.sleep_lock, NULL);
  pthread_cond_init(&pool.wake, NULL);
  pool.started = 0;
  pool.entered = 0;
  atomic_store(&pool.gate, 0);
  atomic_store(&pool.sleepers, 0);
  atomic_fetch_add(&pool.forks, 1);
}

#ifdef __GLIBC__
/* What pthread_atfork calls, which older versions of this C library do not export. */
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
                             void* library);

static void InstallForkHandler(void) { __register_atfork(NULL, NULL, ForgetWorkers, NULL); }
#else
static void InstallForkHandler(void) { pthread_atfork(NULL, NULL, ForgetWorkers); }
#endif

static void WatchForks(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, InstallForkHandler);
}

static void StopWorkers(void) {
  atomic_store(&pool.stop, true);
  WakeSleepers();
  for (int i = 0; i < pool.started; ++i) pthread_join(pool.threads[i], NULL);
  pool.started = 0;
  atomic_store(&pool.stop, false);
}

static int Clamp(int threads) {
  return threads < 1 ? 1 : threads > BAYLOOM_MAX_THREADS ? BAYLOOM_MAX_THREADS : threads;
}

/* For threads that are created: signals are for the application's own. Those of faults go to the
 * thread at fault even if it blocks it, and past the application's handlers if it does. */
static void BlockSignals(sigset_t* before) {
  static const int kFaults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
  sigset_t all;
  sigfillset(&all);
  for (size_t i = 0; i < sizeof(kFaults) / sizeof(kFaults[0]); ++i) sigdelset(&all, kFaults[i]);
  pthread_sigmask(SIG_SETMASK, &all, before);
}

/* Brings the pool to the wanted size; fewer workers than wanted if the system gives no more. */
static void StartWorkers(void) {
  bayloom_threads();
  WatchForks();
  sigset_t before;
  BlockSignals(&before);
  while (pool.started < pool.wanted - 1) {
    void* argument = (void*)(intptr_t)(pool.started + 1);
    if (pthread_create(&pool.threads[pool.started], NULL, Work, argument) != 0) {
      pool.wanted = pool.started + 1;
      break;
    }
    ++pool.started;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

int bayloom_set_threads(int threads) {
  if (inside_loop) return 0;
  pthread_mutex_lock(&pool.setting);
  const bool unused = pool.entered == 0;
  if (unused) {
    pthread_mutex_lock(&pool.user);
    const int wanted = Clamp(threads > 0 ? threads : DefaultThreads());
    if (wanted - 1 < pool.started) StopWorkers();
    pool.wanted = wanted;
    pthread_mutex_unlock(&pool.user);
  }
  pthread_mutex_unlock(&pool.setting);
  return unused;
}

int bayloom_set_pool(bayloom_run_tasks run, void* callers, int tasks) {
  if (inside_loop) return 0;
  pthread_mutex_lock(&pool.setting);
  const bool unused = pool.entered == 0;
  if (unused) {
    pthread_mutex_lock(&pool.user);
    if (run != NULL) StopWorkers();
    if (run != NULL) pool.wanted = Clamp(tasks);
    pool.run_tasks = run;
    pool.callers = callers;
    pthread_mutex_unlock(&pool.user);
  }
  pthread_mutex_unlock(&pool.setting);
  return unused;
}

int bayloom_threads(void) {
  if (inside_loop) return 1;
  if (pool.wanted == 0) pool.wanted = Clamp(DefaultThreads());
  return pool.wanted;
}

int bayloom_enter(void) {
  if (inside_loop) return 1;
  WatchForks();
  pthread_mutex_lock(&pool.setting);
  ++pool.entered;
  const int threads = bayloom_threads();
  pthread_mutex_unlock(&pool.setting);
  return threads;
}

void bayloom_leave(void) {
  if (inside_loop) return;
  pthread_mutex_lock(&pool.setting);
  --pool.entered;
  pthread_mutex_unlock(&pool.setting);
}

unsigned bayloom_process(void) {
  WatchForks();
  return pool.forks + 1;
}

void bayloom_parallel_for(int64_t extent, bayloom_loop_body body, void* context) {
  const bayloom_loop loop = {extent, body, context};
  bayloom_parallel_loops(1, &loop);
}

/* As a worker, in a thread of the application's, which has arithmetic of its own. */
static void RunTask(void* context, int number) {
  (void)context;
  const uint64_t floats = Floats();
  SetFloats(pool.job_floats);
  RunChunks(number);
  bayloom_restore_floats(floats);
}

void bayloom_parallel_loops(int count, const bayloom_loop* loops) {
  int64_t iterations = 0;
  for (int j = 0; j < count; ++j) iterations += loops[j].extent > 0 ? loops[j].extent : 0;
  if (iterations <= 1 || inside_loop || pthread_mutex_trylock(&pool.user) != 0) {
    RunInThisThread(count, loops);
    return;
  }
  if (pool.run_tasks == NULL && pool.started != pool.wanted - 1) StartWorkers();
  if (pool.wanted == 1) {
    pthread_mutex_unlock(&pool.user);
    RunInThisThread(count, loops);
    return;
  }
  DivideLoops(count, loops);
  if (pool.run_tasks != NULL) {
    pool.run_tasks(pool.callers, pool.job_shares, RunTask, NULL);
    pthread_mutex_unlock(&pool.user);
    return;
  }
  const uint64_t serial = atomic_load_explicit(&pool.gate, memory_order_relaxed) / kSerialStep + 1;
  atomic_store(&pool.gate, serial * kSerialStep | kOpen);
  if (atomic_load(&pool.sleepers) > 0) WakeSleepers();
  RunChunks(0);
  atomic_fetch_and_explicit(&pool.gate, ~kOpen, memory_order_acq_rel);
  for (int spins = 1; (atomic_load_explicit(&pool.gate, memory_order_acquire) & kInsideMask) != 0;
       ++spins) {
    Pause();
    if (spins % kSpinsPerYield == 0) sched_yield(); /* the worker may need this processor */
  }
  pthread_mutex_unlock(&pool.user);
}

static void RunStep(const bayloom_kernel_call* calls, int count, int step) {
  bayloom_loop loops[BAYLOOM_MAX_LOOPS];
  int loop_count = 0;
  for (int c = 0; c < count; ++c) {
    if (step >= calls[c].step_count) continue;
    const bayloom_kernel_step* const own = &calls[c].steps[step];
    loops[loop_count++] = (bayloom_loop){own->extent, own->body, (void*)&calls[c]};
  }
  bayloom_parallel_loops(loop_count, loops);
}

void bayloom_run_together(int count, const bayloom_kernel_call* calls) {
  int steps = 0;
  for (int c = 0; c < count; ++c) {
    if (calls[c].step_count > steps) steps = calls[c].step_count;
  }
  if (bayloom_threads() > 1) {
    for (int step = 0; step < steps; ++step) RunStep(calls, count, step);
    return;
  }
  for (int c = 0; c < count; ++c) {
    for (int step = 0; step < calls[c].step_count; ++step) RunStep(&calls[c], 1, step);
  }
}
