// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom_cpu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>

enum Register { kEax, kEbx, kEcx, kEdx };
/* What the system has to save for a feature's registers. */
enum State { kNoState, kAvxState, kAvx512State };

typedef struct {
  const char* name;
  uint32_t leaf, subleaf; /* of the instruction cpuid */
  enum Register reg;
  int bit;
  enum State state;
} Feature;

/* Those that compilers generate code for; every x86-64 has the first seven. */
static const Feature kFeatures[] = {
    {"64bit", 0x80000001, 0, kEdx, 29, kNoState},
    {"cmov", 1, 0, kEdx, 15, kNoState},
    {"cx8", 1, 0, kEdx, 8, kNoState},
    {"fxsr", 1, 0, kEdx, 24, kNoState},
    {"mmx", 1, 0, kEdx, 23, kNoState},
    {"sse", 1, 0, kEdx, 25, kNoState},
    {"sse2", 1, 0, kEdx, 26, kNoState},

    {"adx", 7, 0, kEbx, 19, kNoState},
    {"aes", 1, 0, kEcx, 25, kNoState},
    {"avx", 1, 0, kEcx, 28, kAvxState},
    {"avx2", 7, 0, kEbx, 5, kAvxState},
    {"avx512bf16", 7, 1, kEax, 5, kAvx512State},
    {"avx512bitalg", 7, 0, kEcx, 12, kAvx512State},
    {"avx512bw", 7, 0, kEbx, 30, kAvx512State},
    {"avx512cd", 7, 0, kEbx, 28, kAvx512State},
    {"avx512dq", 7, 0, kEbx, 17, kAvx512State},
    {"avx512f", 7, 0, kEbx, 16, kAvx512State},
    {"avx512fp16", 7, 0, kEdx, 23, kAvx512State},
    {"avx512ifma", 7, 0, kEbx, 21, kAvx512State},
    {"avx512vbmi", 7, 0, kEcx, 1, kAvx512State},
    {"avx512vbmi2", 7, 0, kEcx, 6, kAvx512State},
    {"avx512vl", 7, 0, kEbx, 31, kAvx512State},
    {"avx512vnni", 7, 0, kEcx, 11, kAvx512State},
    {"avx512vpopcntdq", 7, 0, kEcx, 14, kAvx512State},
    {"avxifma", 7, 1, kEax, 23, kAvxState},
    {"avxneconvert", 7, 1, kEdx, 5, kAvxState},
    {"avxvnni", 7, 1, kEax, 4, kAvxState},
    {"avxvnniint16", 7, 1, kEdx, 10, kAvxState},
    {"avxvnniint8", 7, 1, kEdx, 4, kAvxState},
    {"bmi", 7, 0, kEbx, 3, kNoState},
    {"bmi2", 7, 0, kEbx, 8, kNoState},
    {"crc32", 1, 0, kEcx, 20, kNoState},
    {"cx16", 1, 0, kEcx, 13, kNoState},
    {"evex512", 7, 0, kEbx, 16, kAvx512State},
    {"f16c", 1, 0, kEcx, 29, kAvxState},
    {"fma", 1, 0, kEcx, 12, kAvxState},
    {"gfni", 7, 0, kEcx, 8, kNoState},
    {"lzcnt", 0x80000001, 0, kEcx, 5, kNoState},
    {"movbe", 1, 0, kEcx, 22, kNoState},
    {"pclmul", 1, 0, kEcx, 1, kNoState},
    {"popcnt", 1, 0, kEcx, 23, kNoState},
    {"sahf", 0x80000001, 0, kEcx, 0, kNoState},
    {"sha", 7, 0, kEbx, 29, kNoState},
    {"sse3", 1, 0, kEcx, 0, kNoState},
    {"sse4.1", 1, 0, kEcx, 19, kNoState},
    {"sse4.2", 1, 0, kEcx, 20, kNoState},
    {"sse4a", 0x80000001, 0, kEcx, 6, kNoState},
    {"ssse3", 1, 0, kEcx, 9, kNoState},
    {"vaes", 7, 0, kEcx, 9, kAvxState},
    {"vpclmulqdq", 7, 0, kEcx, 10, kAvxState},
    {"xsave", 1, 0, kEcx, 27, kNoState}, /* the bit that the system sets when it uses it */
};

static const Feature* Find(const char* name, size_t length) {
  for (size_t i = 0; i < sizeof(kFeatures) / sizeof(kFeatures[0]); ++i) {
    const char* known = kFeatures[i].name;
    if (strlen(known) == length && memcmp(known, name, length) == 0) return &kFeatures[i];
  }
  return NULL;
}

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

static bool IsSaved(enum State state) {
  const uint64_t avx = 0x6, avx512 = 0xe6;
  if (state == kNoState) return true;
  const uint64_t needed = state == kAvxState ? avx : avx512;
  return (SavedState() & needed) == needed;
}

static bool Has(const Feature* feature) {
  return (ReadCpuid(feature->leaf, feature->subleaf, feature->reg) >> feature->bit & 1) != 0 &&
         IsSaved(feature->state);
}

int bayloom_cpu_knows(const char* feature) { return Find(feature, strlen(feature)) != NULL; }

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

#else

int bayloom_cpu_knows(const char* feature) {
  (void)feature;
  return 0;
}

int bayloom_cpu_has(const char* features) { return *features == '\0'; }

#endif
