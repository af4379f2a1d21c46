// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#ifndef BAYLOOM_OPEN_H
#define BAYLOOM_OPEN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// A tensor whose dimensions are `lengths` in this run, and `extents` at most: the caller has its
// elements one after the other, the network where they would be if it had all extents.

enum { BAYLOOM_MAX_RANK = 16 };

void bayloom_spread(char* network, const char* caller, int rank, const int64_t* lengths,
                    const int64_t* extents, int64_t element_bytes);
void bayloom_gather(char* caller, const char* network, int rank, const int64_t* lengths,
                    const int64_t* extents, int64_t element_bytes);

#ifdef __cplusplus
}
#endif

#endif  // BAYLOOM_OPEN_H
