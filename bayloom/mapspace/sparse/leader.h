// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/mapspace/sparse/sparse_nest.h"

namespace bayloom::mapspace {

/// The tile of the leader that decides whether one access to the follower is ineffectual: all that
/// is combined with what the access brings before it is brought again, while it stays in the level
/// inside (Sparseloop: Wu et al., MICRO 2022, sec. 5.3.4).
struct LeaderQuery {
  const Mapping& mapping;
  const SparseNest& nest;
  const Problem& problem;
  int follower;
  int level;            ///< that keeps the follower
  int64_t block_words;  ///< of that level: accesses move as much at least
};

/// Words of that tile; 0 if no tile of the leader decides it, because the leader would have to be
/// walked in another order than the mapping's.
int64_t LeaderTileWords(const LeaderQuery& query, int leader);

}  // namespace bayloom::mapspace
