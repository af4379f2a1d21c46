// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* mremap */
#endif

#include "bayloom_huge_pages.h"

#include <string.h>
#include <sys/mman.h>

enum { kHugePage = 2 << 20, kLeastBytes = 32 << 20 };

static char* NextHugePage(const void* memory) {
  return (char*)(((uintptr_t)memory + kHugePage - 1) / kHugePage * kHugePage);
}

void bayloom_use_huge_pages(const void* memory, int64_t bytes, int read_only) {
#ifdef MADV_HUGEPAGE
  if (bytes < kLeastBytes) return;
  char* const begin = NextHugePage(memory);
  const size_t size = (size_t)((const char*)memory + bytes - begin) / kHugePage * kHugePage;
  /* One more, of which what is before the first whole huge page and behind the last is not used. */
  char* const reserved = mmap(NULL, size + kHugePage, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return;
  char* const copy = NextHugePage(reserved);
  if (madvise(copy, size, MADV_HUGEPAGE) != 0) {
    munmap(reserved, size + kHugePage);
    return;
  }
  memcpy(copy, begin, size);
  if (read_only) mprotect(copy, size, PROT_READ);
  if (mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, begin) == MAP_FAILED) {
    munmap(reserved, size + kHugePage);
    return;
  }
  if (copy > reserved) munmap(reserved, (size_t)(copy - reserved));
  if (reserved + kHugePage > copy) munmap(copy + size, (size_t)(reserved + kHugePage - copy));
#else
  (void)memory, (void)bytes, (void)read_only;
#endif
}
