// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string_view>
#include <vector>

#include "bayloom/mapspace/cores/network_on_chip.h"
#include "bayloom/mapspace/fused/group_cost.h"

namespace bayloom::mapspace {

/// How several cores share a group of operators whose tensors stay at a level of memory that every
/// core has.
enum class GroupDivision : uint8_t {
  kNone,  ///< the first core does everything
  /// Each core has a run of neighbouring tiles along the outermost tiled axis, and computes, or
  /// reads from outside, all that these need.
  kRecompute,
  /// The same, but what the tiles of the core before have computed or read comes from its memory.
  kFetch,
  /// Each core has a run of neighbouring operators, for all tiles, and works on another tile than
  /// the cores before and after it (layers on cores as in Stream, Symons et al., IEEE TC 2025).
  kPipeline,
  /// One operator after the other, without tiles: each core computes a part of every result, which
  /// stays in its memory, and gets from the others' what it needs of theirs.
  kSpread,
};

/// "one core", "recompute", "fetch", "pipeline", "spread".
std::string_view ToString(GroupDivision division);

struct DividedGroup {
  FusedGroup group;  ///< with a home; kSpread: without tiling
  GroupDivision division = GroupDivision::kNone;
  /// kSpread: of every operator, the axis of its output along which it is divided.
  std::vector<int> axes = {};
};

/// What a group costs on several cores.
struct DividedCost {
  /// Energy is that of all cores, the network and the memory. Cycles are those of the slowest among
  /// cores, memory and the busiest link, all transfers overlapping. Peak words are the most of any
  /// core.
  GroupCost total;
  int cores = 1;  ///< that have work
  double network_energy_pj = 0;
  double network_delivered = 0;  ///< words, to cores and to the memory
  double core_words = 0;         ///< of these, from core to core
  double network_word_hops = 0;  ///< over all links
};

/// Cost of a group that several cores share. A word for several cores is read from memory, or a
/// core's home, once, and passes each link once. Where words come from another core, that core's
/// home level is read and the receiving one's written.
///
/// With kRecompute and kFetch neighbouring cores go through their tiles in opposite directions, so
/// that both come to their border at the same time; waiting for each other is not counted. With
/// kPipeline T tiles take the cycles of the slowest core and, of each other core, those of one
/// tile. With kSpread all cores wait for the slowest after every operator.
///
/// Fails as CostOfFusedGroup does, where there is nothing to divide, and with kFetch where all
/// tiles need one whole result of the group, for which the other cores would wait.
Result<DividedCost> CostOfDividedGroup(const FusedNetwork& network,
                                       const Architecture& architecture, const NetworkOnChip& chip,
                                       const DividedGroup& group, const TileCoster& coster);

/// Of a group, or a layer by itself, that the first core runs, with the words that it exchanges
/// with the memory over the network.
DividedCost CostOnFirstCore(const GroupCost& cost, const NetworkOnChip& chip);

}  // namespace bayloom::mapspace
