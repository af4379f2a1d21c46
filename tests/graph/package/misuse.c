// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/* Uses a compiled network (tests/graph/two_layers.h, named "net") in every wrong way there is: each
 * has to be answered with its code and a text, and none may have an effect. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "net.h"

enum { kInput = 96, kActive = 128, kFlat = 96 };
static float input[kInput], expected[kFlat];
static net_model* model;

#define EXPECT(condition)                                             \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "misuse.c:%d: not %s\n", __LINE__, #condition); \
      exit(1);                                                        \
    }                                                                 \
  } while (0)

/* The buffers of one caller. */
typedef struct {
  float active[kActive], flat[kFlat], same[kInput];
  bayloom_input in[1];
  bayloom_output out[3];
} Buffers;

static Buffers* NewBuffers(void) {
  Buffers* b = calloc(1, sizeof(*b));
  b->in[0] = (bayloom_input){input, sizeof(input), NULL};
  b->out[0] = (bayloom_output){b->active, sizeof(b->active), NULL};
  b->out[1] = (bayloom_output){b->flat, sizeof(b->flat), NULL};
  b->out[2] = (bayloom_output){b->same, sizeof(b->same), NULL};
  return b;
}

static int Run(Buffers* b) { return net_run(model, b->in, 1, b->out, 3); }

static void TestCreate(void) {
  net_model* other = (net_model*)&other;
  EXPECT(net_create(BAYLOOM_ABI_VERSION + 1, &other) == BAYLOOM_ERROR_ABI && other == NULL);
  EXPECT(net_create(BAYLOOM_ABI_VERSION, NULL) == BAYLOOM_ERROR_NULL);
  EXPECT(net_destroy(NULL) == BAYLOOM_OK);
  EXPECT(net_target(NULL) == NULL);
  EXPECT(net_create(BAYLOOM_ABI_VERSION, &model) == BAYLOOM_OK && model != NULL);
  EXPECT(strlen(net_target(model)) > 0);
}

static void TestTexts(void) {
  for (int code = -1; code <= 10; ++code) {
    const char* text = net_error_text(code);
    EXPECT(text != NULL && strlen(text) > 5 && strchr(text, '\n') == NULL);
    for (int other = 0; other < code && code <= BAYLOOM_ERROR_THREADS; ++other) {
      EXPECT(strcmp(text, net_error_text(other)) != 0);
    }
  }
}

static void TestBuffers(void) {
  Buffers* b = NewBuffers();
  EXPECT(net_run(NULL, b->in, 1, b->out, 3) == BAYLOOM_ERROR_NULL);
  EXPECT(net_run(model, NULL, 1, b->out, 3) == BAYLOOM_ERROR_NULL);
  EXPECT(net_run(model, b->in, 1, NULL, 3) == BAYLOOM_ERROR_NULL);
  EXPECT(net_run(model, b->in, 2, b->out, 3) == BAYLOOM_ERROR_COUNT);
  EXPECT(net_run(model, b->in, 1, b->out, -1) == BAYLOOM_ERROR_COUNT);
  b->in[0].data = NULL;
  EXPECT(Run(b) == BAYLOOM_ERROR_NULL);
  b->in[0].data = input;
  b->out[2].data = NULL;
  EXPECT(Run(b) == BAYLOOM_ERROR_NULL);
  b->out[2].data = b->same;
  b->in[0].bytes -= 4;
  EXPECT(Run(b) == BAYLOOM_ERROR_SIZE);
  b->in[0].bytes += 4;
  b->out[1].bytes += 1;
  EXPECT(Run(b) == BAYLOOM_ERROR_SIZE);
  b->out[1].bytes -= 1;
  b->out[1].data = b->active + 10;
  EXPECT(Run(b) == BAYLOOM_ERROR_OVERLAP);
  b->out[1].data = input + 95;
  EXPECT(Run(b) == BAYLOOM_ERROR_OVERLAP);
  b->out[1].data = b->flat;
  for (int i = 0; i < kActive; ++i) EXPECT(b->active[i] == 0);
  EXPECT(Run(b) == BAYLOOM_OK);
  memcpy(expected, b->flat, sizeof(expected));
  free(b);
}

static void TestThreadCounts(void) {
  EXPECT(net_set_threads(-1) == BAYLOOM_ERROR_THREADS);
  EXPECT(net_set_threads(257) == BAYLOOM_ERROR_THREADS);
  EXPECT(net_set_threads(2) == BAYLOOM_OK);
}

static int tasks_run;

static void RunTasksHere(void* pool, int count, void (*task)(void* context, int number),
                         void* context) {
  for (int i = 0; i < count; ++i) task(context, i);
  *(int*)pool += count;
}

static void TestPool(void) {
  Buffers* b = NewBuffers();
  EXPECT(net_set_pool(RunTasksHere, &tasks_run, 0) == BAYLOOM_ERROR_THREADS);
  EXPECT(net_set_pool(RunTasksHere, &tasks_run, 257) == BAYLOOM_ERROR_THREADS);
  EXPECT(net_set_pool(RunTasksHere, &tasks_run, 4) == BAYLOOM_OK);
  EXPECT(Run(b) == BAYLOOM_OK);
  EXPECT(memcmp(b->flat, expected, sizeof(expected)) == 0);
  EXPECT(net_set_pool(NULL, NULL, 0) == BAYLOOM_OK);
  const int before = tasks_run;
  EXPECT(before > 0);
  EXPECT(Run(b) == BAYLOOM_OK);
  EXPECT(tasks_run == before);
  free(b);
}

static atomic_int end, busy, threads_busy;

/* Every run is refused or right. */
static void* RunAgainAndAgain(void* unused) {
  Buffers* b = NewBuffers();
  while (!end) {
    const int code = Run(b);
    busy += code == BAYLOOM_ERROR_BUSY;
    EXPECT(code == BAYLOOM_OK || code == BAYLOOM_ERROR_BUSY);
    if (code == BAYLOOM_OK) EXPECT(memcmp(b->flat, expected, sizeof(expected)) == 0);
  }
  free(b);
  return unused;
}

static void* SetThreadsAgainAndAgain(void* unused) {
  for (int threads = 1; !end; threads = threads % 4 + 1) {
    const int code = net_set_threads(threads);
    threads_busy += code == BAYLOOM_ERROR_BUSY;
    EXPECT(code == BAYLOOM_OK || code == BAYLOOM_ERROR_BUSY);
  }
  return unused;
}

static void TestTwoThreads(void) {
  const time_t deadline = time(NULL) + 60;
  pthread_t threads[3];
  pthread_create(&threads[0], NULL, RunAgainAndAgain, NULL);
  pthread_create(&threads[1], NULL, RunAgainAndAgain, NULL);
  pthread_create(&threads[2], NULL, SetThreadsAgainAndAgain, NULL);
  while ((busy == 0 || threads_busy == 0) && time(NULL) < deadline) usleep(1000);
  end = 1;
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
  EXPECT(busy > 0 && threads_busy > 0);
}

/* A child that is forked while another thread is in a run has a copy of the model that is free. */
static void* ForkAgainAndAgain(void* unused) {
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      Buffers* b = NewBuffers();
      const int code = Run(b);
      _exit(code == BAYLOOM_OK && memcmp(b->flat, expected, sizeof(expected)) == 0 ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    EXPECT(status == 0);
  }
  end = 1;
  return unused;
}

static void TestFork(void) {
  pthread_t forker;
  end = 0;
  pthread_create(&forker, NULL, ForkAgainAndAgain, NULL);
  RunAgainAndAgain(NULL);
  pthread_join(forker, NULL);
}

int main(void) {
  for (int i = 0; i < kInput; ++i) input[i] = (float)(i % 7) - 3;
  TestCreate();
  TestTexts();
  TestThreadCounts();
  TestBuffers();
  TestPool();
  TestTwoThreads();
  TestFork();
  EXPECT(net_destroy(model) == BAYLOOM_OK);
  return 0;
}
