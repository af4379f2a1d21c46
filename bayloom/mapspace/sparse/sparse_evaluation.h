// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "bayloom/mapspace/architecture.h"
#include "bayloom/mapspace/problem.h"
#include "bayloom/mapspace/sparse/fibertree.h"

namespace bayloom::mapspace {

/// What becomes of the actions of the dense model: actual + gated + skipped + Absent() = dense.
struct ActionCounts {
  int64_t dense = 0;
  int64_t actual = 0;
  int64_t gated = 0;    ///< take their cycle, at the energy of a gated action
  int64_t skipped = 0;  ///< by the level itself
  /// Of words that are not kept, or that a level outside did not send.
  int64_t Absent() const { return dense - actual - gated - skipped; }
};

/// Accesses to one rank's metadata and to its payloads.
struct RankAccesses {
  int64_t metadata = 0;
  int64_t payload = 0;
};

struct RankActions {
  RankAccesses actual, gated, skipped;
};

/// One rank of a tensor at a level.
struct RankTraffic {
  RankMetadata occupancy;  ///< that capacity has to allow for
  RankMetadata expected;
  int metadata_bits = 0, payload_bits = 0;
  RankActions reads, fills, updates;
};

/// What one level does for one tensor: of one instance, energies of all.
struct SparseTraffic {
  ActionCounts reads, fills, updates;
  std::vector<RankTraffic> ranks;  ///< innermost first; none: plain words
  int64_t tile_words = 0;
  int64_t occupancy = 0;      ///< words that capacity has to allow for
  double density = 1;         ///< expected, of tiles that are there
  double instances = 1;       ///< with work, on average
  double word_share = 1;      ///< width of a word over that of the level's
  double block_overhead = 1;  ///< blocks over those that would do if no tile ended within one
  int64_t metadata_bits = 0;  ///< that capacity has to allow for
  double data_energy_pj = 0, metadata_energy_pj = 0;
};

struct SparseEvaluation {
  std::array<std::array<SparseTraffic, kMaxTensors>, kMaxLevels> levels;
  ActionCounts computes;
  double multipliers = 1;  ///< with work, on average
  int64_t compute_cycles = 0;
};

}  // namespace bayloom::mapspace
