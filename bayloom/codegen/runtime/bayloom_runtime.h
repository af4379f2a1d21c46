// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#ifndef BAYLOOM_RUNTIME_H_
#define BAYLOOM_RUNTIME_H_

/* Thread pool of compiled kernels. Plain C11 with POSIX threads, so that it can be shipped next
 * to compiled code; nothing else of Bayloom is needed at run time.
 *
 * The pool starts with the first parallel loop. The calling thread takes part in the work; the
 * workers spin for a short while after each loop and then sleep. */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Runs iterations [begin, end) of a loop. `worker` is below bayloom_threads() and differs between
 * threads that are at work at the same time in one bayloom_parallel_for. */
typedef void (*bayloom_loop_body)(void* context, int64_t begin, int64_t end, int32_t worker);

/* Runs all of [0, extent), in chunks, and returns when it is done. A call from inside a loop body,
 * or while another thread uses the pool, runs the whole loop in the calling thread as worker 0. */
void bayloom_parallel_for(int64_t extent, bayloom_loop_body body, void* context);

/* Sets the number of threads, the caller included; 0 means the default: the environment variable
 * BAYLOOM_THREADS, else the number of processors this process may run on. */
void bayloom_set_threads(int threads);

/* The number of threads that the next loop runs on. */
int bayloom_threads(void);

#ifdef __cplusplus
}
#endif

#endif /* BAYLOOM_RUNTIME_H_ */
