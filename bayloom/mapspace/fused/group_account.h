// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <vector>

#include "bayloom/mapspace/fused/group_cost.h"
#include "bayloom/mapspace/fused/group_forms.h"

namespace bayloom::mapspace {

/// Sums up what the tiles of a group cost that run on one core: one after the other, while words
/// are moved between its home level and the outermost one, or other cores.
class GroupAccount {
 public:
  /// The architecture must outlive it.
  GroupAccount(const Architecture& architecture, RetentionLevel home);

  /// So many equal tiles of an operator.
  void Add(const TileCost& tile, int64_t count);
  /// Words of the dense tensor from the outermost level to home, so many times.
  void BringIn(int64_t words, int64_t count, const TensorForms& forms);
  /// From home to the outermost level.
  void TakeOut(int64_t words, const TensorForms& forms);
  /// From home to another core, and from another core, or with what the memory sends to several.
  void Send(int64_t words, int64_t count, const TensorForms& forms);
  void Receive(int64_t words, int64_t count, const TensorForms& forms);

  int64_t operator_cycles() const { return operator_cycles_; }
  int64_t home_cycles() const;
  /// Cycles are the most of operators', home level's and outermost level's.
  GroupCost Total() const;

 private:
  const StorageLevel& home_;
  const StorageLevel& outermost_;
  GroupCost cost_;
  int64_t home_reads_ = 0, home_writes_ = 0, operator_cycles_ = 0;
};

/// A group cut into tiles and how its tensors are kept: what its costs are counted from, whichever
/// cores run it.
struct TiledGroup {
  DepthFirstTiles tiles;
  GroupForms forms;

  /// Of a group with a home level; `starts` as for DepthFirstTiles::Make. Fails where a tensor's
  /// tile is no box or a tile that stands for others has no cost. Network and architecture must
  /// outlive it.
  static Result<TiledGroup> Make(const FusedNetwork& network, const Architecture& architecture,
                                 const FusedGroup& group, const TileCoster& coster,
                                 std::vector<int64_t> starts = {});
};

/// Which weights of the operators [begin, end), which one core runs, stay at its home level for all
/// tiles: the largest first, as long as everything fits, and where they go besides.
struct WeightsPlan {
  std::vector<bool> is_resident;  ///< of every operator of the group
  int64_t peak_words = 0;
};
/// Fails if the tensors do not fit even with the weights of one operator at a time.
Result<WeightsPlan> PlanWeights(const TiledGroup& group, const Architecture& architecture,
                                RetentionLevel home, int begin, int end);

/// Adds what the operators [begin, end) of a group cost in the tiles of one kind, weights that do
/// not stay at home among it. `is_resident` as of a WeightsPlan. Fails if a tile has no cost.
Status AddOperators(const TiledGroup& group, const DepthFirstTiles::Kind& kind, int begin, int end,
                    const Architecture& architecture, RetentionLevel home,
                    const std::vector<bool>& is_resident, const TileCoster& coster,
                    GroupAccount& account);

/// The same of all operators in the tiles of these kinds, and what comes for them from outside.
Status AddTiles(const TiledGroup& group, std::span<const DepthFirstTiles::Kind> kinds,
                const Architecture& architecture, RetentionLevel home,
                const std::vector<bool>& is_resident, const TileCoster& coster,
                GroupAccount& account);

/// What an operator costs for a box of its output that is at home with all that it reads; weights
/// are not brought in. Fails if the tile has no cost.
Result<TileCost> CostOfBox(const FusedNetwork& network, int op, const Box& box,
                           const Architecture& architecture, RetentionLevel home,
                           const TileCoster& coster);

/// Words that an operator reads of these operands for a box of its output, each tensor's once.
int64_t WordsRead(std::span<const FusedOperand> operands, const Box& output);

/// Words of an operator's constants that a tile needs.
int64_t WeightsOfTile(const FusedOperator& op, const Problem& tile);

}  // namespace bayloom::mapspace
