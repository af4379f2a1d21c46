// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/* Kernels of all sorts for the task y = 2 x on 1000 floats. Compiled without sanitizers: they do
 * on purpose what those forbid. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kCount = 1000 };

static void Good(void* const* p) {
  const float* x = p[0];
  float* y = p[1];
  for (int i = 0; i < kCount; ++i) y[i] = 2 * x[i];
}

void good(void* const* p, void* w) {
  (void)w;
  Good(p);
}

void crash(void* const* p, void* w) {
  (void)w;
  Good(p);
  *(volatile int*)64 = 1;
}

void give_up(void* const* p, void* w) {
  (void)p, (void)w;
  abort();
}

void leave(void* const* p, void* w) {
  (void)p, (void)w;
  exit(0);
}

void divide(void* const* p, void* w) {
  (void)w;
  volatile int zero = 0;
  ((int*)p[1])[0] = 7 / zero;
}

static int Descend(volatile char* above) {
  volatile char frame[4096];
  frame[0] = *above;
  return Descend(frame) + frame[0];
}

void overflow_stack(void* const* p, void* w) {
  (void)w;
  ((int*)p[1])[0] = Descend((volatile char*)p[0]);
}

/* Tells that a kernel runs which will not end, and in which process: in the file that
 * BAYLOOM_TEST_BEGUN names. */
static void TellBegun(void) {
  const char* path = getenv("BAYLOOM_TEST_BEGUN");
  if (path == NULL) return;
  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  dprintf(file, "%d\n", (int)getpid());
  close(file);
}

void hang(void* const* p, void* w) {
  (void)p, (void)w;
  TellBegun();
  for (volatile int i = 0;; ++i) {
  }
}

void stop(void* const* p, void* w) {
  (void)p, (void)w;
  TellBegun();
  raise(SIGSTOP);
}

void eat_memory(void* const* p, void* w) {
  (void)p, (void)w;
  for (;;) {
    char* block = malloc(1 << 20);
    memset(block, 1, 1 << 20); /* ends here when there is no more */
  }
}

void wrong(void* const* p, void* w) {
  (void)w;
  Good(p);
  ((float*)p[1])[777] += 0.01f;
}

void unwritten(void* const* p, void* w) {
  (void)w;
  const float* x = p[0];
  float* y = p[1];
  for (int i = 0; i < kCount - 1; ++i) y[i] = 2 * x[i];
}

void overrun_near(void* const* p, void* w) {
  (void)w;
  Good(p);
  ((float*)p[1])[kCount] = 1;
}

void underrun_near(void* const* p, void* w) {
  (void)w;
  Good(p);
  ((float*)p[1])[-1] = 1;
}

void overrun_far(void* const* p, void* w) {
  (void)w;
  Good(p);
  ((volatile float*)p[1])[kCount + 200] = 1;
}

void write_input(void* const* p, void* w) {
  (void)w;
  Good(p);
  ((volatile float*)p[0])[5] = 1;
}

void overrun_workspace(void* const* p, void* w) {
  Good(p);
  ((char*)w)[100] = 1;
}

/* Right as long as the output holds NaN before. */
void depends_on_output(void* const* p, void* w) {
  (void)w;
  const float* x = p[0];
  float* y = p[1];
  for (int i = 0; i < kCount; ++i) {
    if (y[i] != y[i]) y[i] = 2 * x[i];
  }
}

/* Right as long as the workspace holds zeros before. */
void reads_workspace(void* const* p, void* w) {
  Good(p);
  ((float*)p[1])[3] += *(float*)w;
}

void noisy(void* const* p, void* w) {
  (void)w;
  Good(p);
  for (int i = 0; i < 100; ++i) puts("the quick brown fox jumps over the lazy dog");
  fflush(stdout);
  const char garbage[] = "garbage garbage garbage";
  for (int d = 0; d < 32; ++d) {
    ssize_t written = write(d, garbage, sizeof(garbage));
    (void)written;
  }
}

void write_garbage(void* const* p, void* w) {
  (void)w;
  Good(p);
  const char garbage[] = "garbage garbage garbage";
  for (int d = 3; d < 1024; ++d) {
    ssize_t written = write(d, garbage, sizeof(garbage));
    (void)written;
  }
  hang(p, w);
}

void close_everything(void* const* p, void* w) {
  (void)w;
  Good(p);
  for (int d = 0; d < 1024; ++d) close(d);
}

void slow(void* const* p, void* w) {
  (void)w;
  usleep(30000);
  Good(p);
}
