// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom_open.h"

#include <string.h>

// Copies in pieces that lie together on both sides: all of the last dimensions that are as long as
// they can be, and the one before them.
static void copy_pieces(char* network, char* caller, int rank, const int64_t* lengths,
                        const int64_t* extents, int64_t element_bytes, int to_network) {
  int64_t index[BAYLOOM_MAX_RANK] = {0}, stride[BAYLOOM_MAX_RANK];
  int64_t piece = element_bytes;
  int outer = rank;
  while (outer > 0 && lengths[outer - 1] == extents[outer - 1]) piece *= extents[--outer];
  int64_t apart = piece;
  if (outer > 0) {
    apart *= extents[outer - 1];
    piece *= lengths[--outer];
  }
  int64_t pieces = 1;
  for (int d = outer - 1; d >= 0; --d) {
    stride[d] = apart;
    apart *= extents[d];
    pieces *= lengths[d];
  }
  char* place = network;
  for (int64_t i = 0; i < pieces && piece > 0; ++i) {
    if (to_network) {
      memcpy(place, caller, (size_t)piece);
    } else {
      memcpy(caller, place, (size_t)piece);
    }
    caller += piece;
    for (int d = outer - 1; d >= 0; --d) {
      place += stride[d];
      if (++index[d] < lengths[d]) break;
      place -= stride[d] * lengths[d];
      index[d] = 0;
    }
  }
}

void bayloom_spread(char* network, const char* caller, int rank, const int64_t* lengths,
                    const int64_t* extents, int64_t element_bytes) {
  copy_pieces(network, (char*)caller, rank, lengths, extents, element_bytes, 1);
}

void bayloom_gather(char* caller, const char* network, int rank, const int64_t* lengths,
                    const int64_t* extents, int64_t element_bytes) {
  copy_pieces((char*)network, caller, rank, lengths, extents, element_bytes, 0);
}
