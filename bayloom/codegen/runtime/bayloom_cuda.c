// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom_cuda.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bayloom_cuda driver;
static atomic_bool is_loaded;
static char why_not[256];

/* dlsym gives pointers to data, which C does not convert to pointers to functions. */
static bool Find(void* library, const char* symbol, void* function) {
  void* const found = dlsym(library, symbol);
  memcpy(function, &found, sizeof(found));
  if (found == NULL) {
    snprintf(why_not, sizeof(why_not), "the NVIDIA driver is too old: it has no %s", symbol);
  }
  return found != NULL;
}

static bool FindAll(void* library) {
#define BAYLOOM_CUDA_FIND(name, symbol, parameters) \
  if (!Find(library, symbol, &driver.name)) return false;
  BAYLOOM_CUDA_FUNCTIONS(BAYLOOM_CUDA_FIND)
#undef BAYLOOM_CUDA_FIND
  return true;
}

static bool Initialize(void) {
  int code = driver.Init(0);
  int version = 0;
  if (code == BAYLOOM_CU_SUCCESS) code = driver.DriverGetVersion(&version);
  if (code != BAYLOOM_CU_SUCCESS) {
    bayloom_cuda_describe(&driver, code, "the NVIDIA driver does not start", why_not,
                          sizeof(why_not));
    return false;
  }
  if (version < BAYLOOM_CUDA_LEAST_VERSION) {
    snprintf(why_not, sizeof(why_not),
             "the NVIDIA driver is too old: it is for CUDA %d.%d, and 12.0 is needed",
             version / 1000, version % 1000 / 10);
    return false;
  }
  return true;
}

static void Load(void) {
  const char* const chosen = getenv("BAYLOOM_CUDA_DRIVER");
  const char* const name = chosen != NULL && chosen[0] != '\0' ? chosen : "libcuda.so.1";
  void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    snprintf(why_not, sizeof(why_not), "there is no NVIDIA driver here: %s cannot be loaded", name);
    return;
  }
  is_loaded = FindAll(library) && Initialize();
}

const bayloom_cuda* bayloom_cuda_load(char* error, size_t size) {
  pthread_once(&once, Load);
  if (is_loaded) return &driver;
  snprintf(error, size, "%s", why_not);
  return NULL;
}

bool bayloom_cuda_is_loaded(void) { return is_loaded; }

void bayloom_cuda_describe(const bayloom_cuda* cuda, int code, const char* what, char* error,
                           size_t size) {
  const char* name = NULL;
  if (cuda->GetErrorName(code, &name) != BAYLOOM_CU_SUCCESS || name == NULL) {
    snprintf(error, size, "%s: error %d of the driver", what, code);
  } else {
    snprintf(error, size, "%s: %s", what, name);
  }
}
