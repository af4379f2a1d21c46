// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "bayloom/mapspace/architecture.h"
#include "bayloom/mapspace/sparse/sparse_evaluation.h"

namespace bayloom::mapspace {

/// Where the counts of one kind of accesses are.
struct AccessKind {
  ActionCounts SparseTraffic::*words;
  RankActions RankTraffic::*ranks;
};
inline constexpr AccessKind kReads = {&SparseTraffic::reads, &RankTraffic::reads};
inline constexpr AccessKind kFills = {&SparseTraffic::fills, &RankTraffic::fills};
inline constexpr AccessKind kUpdates = {&SparseTraffic::updates, &RankTraffic::updates};

/// What accesses of one kind to a tensor at one level come to where zeros are left out, gated or
/// skipped, metadata included; by default every word is accessed as it is. Accesses to a part of
/// the words cost that part of everything, rounded up.
class AccessForm {
 public:
  AccessForm() = default;
  AccessForm(const SparseTraffic& traffic, AccessKind kind);

  /// Words of the dense tensor that the counts are of; 0: any number.
  int64_t dense() const { return dense_; }
  /// Bits of metadata that all of them move, gated ones included.
  double metadata_bits() const { return actual_bits_ + gated_bits_; }
  /// Words of the level's width that accesses to `words` dense ones move, metadata and gated
  /// accesses among them: what takes bandwidth.
  int64_t MovedWords(int64_t words, const StorageLevel& level) const;
  /// pJ of accesses to `words` dense ones, a block at the given energy.
  double EnergyPj(int64_t words, const StorageLevel& level, double block_energy_pj) const;
  /// The same of one instance, data and metadata apart.
  double DataEnergyPj(int64_t words, const StorageLevel& level, double block_energy_pj) const;
  double MetadataEnergyPj(int64_t words, const StorageLevel& level) const;

 private:
  int64_t PartOf(int64_t count, int64_t words) const;
  double PartOf(double bits, int64_t words) const;

  int64_t dense_ = 0, actual_ = 0, gated_ = 0;
  double actual_bits_ = 0, gated_bits_ = 0;  ///< of metadata
  double word_share_ = 1, block_overhead_ = 1, instances_ = 1;
};

}  // namespace bayloom::mapspace
