// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "bayloom/mapspace/sparse/density_model.h"
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

/// That tile; nullopt if no tile of the leader decides it, because the leader would have to be
/// walked in another order than the mapping's.
std::optional<TensorTile> LeaderTile(const LeaderQuery& query, int leader);

}  // namespace bayloom::mapspace
