// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#ifndef BAYLOOM_RUNTIME_H_
#define BAYLOOM_RUNTIME_H_

/* Thread pool of compiled kernels. Plain C11 with POSIX threads, so that it can be shipped next
 * to compiled code; nothing else of Bayloom is needed at run time.
 *
 * The pool starts with the first parallel loop. The calling thread takes part in the work; the
 * workers spin for a short while after each loop and then sleep. They block all signals but those
 * of faults, so that the application's own threads get its signals. */

#include <stdint.h>

#include "bayloom_package.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Runs iterations [begin, end) of a loop. `worker` is below bayloom_threads() and differs between
 * threads that are at work at the same time in one bayloom_parallel_for. */
typedef void (*bayloom_loop_body)(void* context, int64_t begin, int64_t end, int32_t worker);

/* Runs all of [0, extent), in chunks, and returns when it is done. A call from inside a loop body,
 * or while another thread uses the pool, runs the whole loop in the calling thread as worker 0. */
void bayloom_parallel_for(int64_t extent, bayloom_loop_body body, void* context);

#define BAYLOOM_MAX_LOOPS 8

/* A loop, as bayloom_parallel_for takes it. */
typedef struct {
  int64_t extent;
  bayloom_loop_body body;
  void* context;
} bayloom_loop;

/* Runs all of at most BAYLOOM_MAX_LOOPS loops, in chunks, and returns when they are done. No loop
 * may depend on another: a thread goes on to the next one without waiting for those that are still
 * in the one before. Otherwise as bayloom_parallel_for. */
void bayloom_parallel_loops(int count, const bayloom_loop* loops);

/* A part of a kernel, which begins when the part before it has ended: a loop whose body's context
 * is the bayloom_kernel_call. */
typedef struct {
  int64_t extent;
  bayloom_loop_body body;
} bayloom_kernel_step;

typedef struct {
  void* const* parameters; /* this and the workspace: what the kernel's bodies read */
  void* workspace;         /* no other kernel's that runs at the same time */
  const bayloom_kernel_step* steps;
  int step_count;
} bayloom_kernel_call;

/* Runs at most BAYLOOM_MAX_LOOPS kernels that do not depend on each other side by side: the first
 * steps of all, then the second ones, and so on. Where loops run in the calling thread, one kernel
 * after the other. */
void bayloom_run_together(int count, const bayloom_kernel_call* calls);

#define BAYLOOM_MAX_THREADS 256

/* Sets the number of threads, the caller included, which is brought between 1 and
 * BAYLOOM_MAX_THREADS; 0 means the default: the environment variable BAYLOOM_THREADS, else the
 * number of processors this process may run on. Returns 1; or 0, without effect, while any thread
 * is between bayloom_enter and bayloom_leave or in a loop's body. */
int bayloom_set_threads(int threads);

/* From now on loops run on threads of the application's (bayloom_package.h), as so many tasks; with
 * a null function on the pool's own ones, as many as there were. Returns as bayloom_set_threads
 * does. */
int bayloom_set_pool(bayloom_run_tasks run, void* pool, int tasks);

/* The number of threads that the next loop runs on. */
int bayloom_threads(void);

/* Keeps the number of threads, which is returned, until bayloom_leave: memory for so many workers
 * is enough for all loops between. Several threads may be in there, and calls may nest. */
int bayloom_enter(void);
void bayloom_leave(void);

/* From now on numbers below the least normal one count as zeros in this thread's arithmetic, and in
 * that of the loops that it runs: processors take a hundred times as long for them. They arise
 * where no one asks for them, beyond the length of an open axis for one. Returns what was before,
 * for bayloom_restore_floats. */
uint64_t bayloom_flush_subnormals(void);
void bayloom_restore_floats(uint64_t before);

/* A number above 0 that differs between a process and its forked children. */
unsigned bayloom_process(void);

#ifdef __cplusplus
}
#endif

#endif /* BAYLOOM_RUNTIME_H_ */
