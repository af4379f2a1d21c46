// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#define _DEFAULT_SOURCE /* syscall */

#include "bayloom_cpu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "bayloom_cpu_features.h"

#if defined(__x86_64__)
#include <cpuid.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

enum Register { kEax, kEbx, kEcx, kEdx };
/* What the system has to save for a feature's registers. */
enum State { kNoState, kAvxState, kAvx512State, kTileState };

typedef struct {
  const char* name;
  uint32_t leaf, subleaf;
  enum Register reg;
  int bit;
  enum State state;
} Feature;

#define ROW(name, leaf, subleaf, reg, bit, state) {name, leaf, subleaf, reg, bit, state},
static const Feature kFeatures[] = {BAYLOOM_X86_64_FEATURES(ROW)};

static uint32_t ReadCpuid(uint32_t leaf, uint32_t subleaf, enum Register reg) {
  unsigned values[4];
  if (__get_cpuid_count(leaf, 0, &values[0], &values[1], &values[2], &values[3]) == 0) return 0;
  /* Leaf 7 says how many subleaves it has; what is beyond them means nothing. */
  if (subleaf > 0 && (leaf != 7 || subleaf > values[0])) return 0;
  __cpuid_count(leaf, subleaf, values[0], values[1], values[2], values[3]);
  return values[reg];
}

/* The register in which the system says whose registers it saves. */
static uint64_t SavedState(void) {
  if ((ReadCpuid(1, 0, kEcx) >> 27 & 1) == 0) return 0;
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t)high << 32 | low;
}

/* Tile registers are large, and Linux saves them for processes that ask it to (since 5.16); from
 * then on all threads of this process may use them. */
static bool MayUseTiles(void) {
#ifdef __linux__
  const long request_permission = 0x1023, tile_data = 18;
  return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
#else
  return false;
#endif
}

static bool IsSaved(enum State state) {
  const uint64_t avx = 0x6, avx512 = 0xe6, tiles = 0x60000;
  if (state == kNoState) return true;
  if (state == kTileState) return (SavedState() & tiles) == tiles && MayUseTiles();
  const uint64_t needed = state == kAvxState ? avx : avx512;
  return (SavedState() & needed) == needed;
}

static bool Has(const Feature* feature) {
  return (ReadCpuid(feature->leaf, feature->subleaf, feature->reg) >> feature->bit & 1) != 0 &&
         IsSaved(feature->state);
}

#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>

typedef struct {
  const char* name;
  unsigned long word;
  int low_bit, high_bit;
} Feature;

#define ROW(name, word, low_bit, high_bit) {name, word, low_bit, high_bit},
static const Feature kFeatures[] = {BAYLOOM_AARCH64_FEATURES(ROW)};

static bool Has(const Feature* feature) {
  const uint64_t word = getauxval(feature->word);
  return (word >> feature->low_bit & word >> feature->high_bit & 1) != 0;
}

#else

/* Code for other processors asks for nothing. */
typedef struct {
  const char* name;
} Feature;

static const Feature kFeatures[] = {{""}};

static bool Has(const Feature* feature) {
  (void)feature;
  return false;
}

#endif

static const Feature* Find(const char* name, size_t length) {
  for (size_t i = 0; i < sizeof(kFeatures) / sizeof(kFeatures[0]); ++i) {
    const char* known = kFeatures[i].name;
    if (strlen(known) == length && memcmp(known, name, length) == 0) return &kFeatures[i];
  }
  return NULL;
}

int bayloom_cpu_has(const char* features) {
  while (*features != '\0') {
    const size_t length = strcspn(features, ",");
    const Feature* feature = Find(features, length);
    if (feature == NULL || !Has(feature)) return 0;
    features += length;
    if (*features == ',') ++features;
  }
  return 1;
}
