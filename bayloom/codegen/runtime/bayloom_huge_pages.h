// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#ifndef BAYLOOM_HUGE_PAGES_H_
#define BAYLOOM_HUGE_PAGES_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Puts what is never written any more into huge pages, at the same addresses, where it is large and
 * the system has some: weights that are read once a run come from memory a fifth faster, since the
 * processor fetches ahead within a page only. Without effect otherwise. No other thread may read
 * the memory meanwhile. `read_only`: whether it is then, as constants of a library are; memory that
 * will be freed may not be. */
void bayloom_use_huge_pages(const void* memory, int64_t bytes, int read_only);

#ifdef __cplusplus
}
#endif

#endif /* BAYLOOM_HUGE_PAGES_H_ */
