// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "bayloom/mapspace/fused/depth_first.h"
#include "bayloom/mapspace/fused/retention_level.h"

namespace bayloom::mapspace {

/// How the operators [begin, end) run: by themselves, all tensors outside of the chip, or together
/// with everything between them at a level of memory.
struct FusedGroup {
  int begin = 0;
  int end = 1;
  /// Nullopt: layer by layer, of one operator.
  std::optional<RetentionLevel> home;
  DepthFirstTiling tiling;

  int OperatorCount() const { return end - begin; }
};

/// What a group costs.
struct GroupCost {
  double energy_pj = 0;
  int64_t cycles = 0;
  double operations = 0;  ///< those that are done again counted again
  int64_t outside_reads = 0;
  int64_t outside_writes = 0;
  int64_t tiles = 1;
  /// Words at the home level at the same time, as they are kept there; weights among them.
  int64_t peak_words = 0;
  /// Of every operator, whether its weights stay at the home level for all tiles; the others come
  /// again for each tile.
  std::vector<bool> has_resident_weights = {};

  int64_t OutsideWords() const { return outside_reads + outside_writes; }
};

/// Says what an operator's tile costs, whose tensors are at the home level; nullopt if no mapping
/// of it is known.
using TileCoster =
    std::function<std::optional<TileCost>(int op, const Problem& tile, RetentionLevel home)>;

/// The operator's problem with the bounds that a box of its output leaves. Nonzeros of its tensors
/// are spread over the whole ones.
Problem TileProblem(const FusedOperator& op, const Box& output);

/// Cost of a group whose tiles run one after the other, each operator as `coster` says. Words that
/// enter and leave the chip are moved between the outermost and the home level while operators run:
/// cycles are those of the slowest of operators, home level and outermost level.
///
/// Fails where a tensor's tile is no box, tensors exceed the home level, or a tile has no cost.
Result<GroupCost> CostOfFusedGroup(const FusedNetwork& network, const Architecture& architecture,
                                   const FusedGroup& group, const TileCoster& coster);

/// An operator that multiplies nothing, by itself: everything comes from the outermost level.
GroupCost CostOfStreamedLayer(const FusedNetwork& network, const Architecture& architecture,
                              int op);
/// A product by itself, by the model's account of a mapping onto the whole architecture, and that
/// of its zeros if anything is sparse. The model
/// reads padding as it reads data; groups bring in no padding. So of what it reads of the first
/// operand from the outermost level only the part that is data counts, of every reading alike: at
/// the most what this mapping reads, for where inputs are read again, padding is read again less
/// often; and never less than every word once.
GroupCost CostOfMappedLayer(const FusedNetwork& network, const Architecture& architecture, int op,
                            const Evaluation& evaluation, const SparseEvaluation* sparse = nullptr);
GroupCost CostOfLayer(const TileCost& layer);

}  // namespace bayloom::mapspace
