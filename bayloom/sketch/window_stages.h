// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bayloom/target/target.h"
#include "bayloom/tensor/schedule.h"

namespace bayloom::sketch {

// --- What chains of windows with products before or behind them are recognized by ---------------

/// The blocks of a program one after the other, in order of execution.
class BlocksInTurn {
 public:
  explicit BlocksInTurn(const tensor::Program& program)
      : program_(program), blocks_(program.BlocksInOrder()) {}

  /// The next block; -1 behind the last.
  tensor::BlockId Next() const { return next_ < blocks_.size() ? blocks_[next_] : -1; }
  /// The same, and goes on, if it is of this kind; otherwise -1.
  tensor::BlockId Take(tensor::BlockKind kind);

 private:
  const tensor::Program& program_;
  const std::vector<tensor::BlockId> blocks_;
  size_t next_ = 0;
};

/// "" for -1, which stands for a block that is missing.
std::string NameOf(const tensor::Program& program, tensor::BlockId id);

/// The only reader of what a block inside computes; -1 if there is none.
tensor::BlockId OnlyReaderOf(const tensor::Program& program, tensor::BlockId id);

/// Whether all operands move with the last spatial iterator: no channel is read for another.
bool IsChannelByChannel(const tensor::Block& block);

/// Whether the block is a guarded copy that `reader` alone reads.
bool IsPaddingOf(const tensor::Program& program, tensor::BlockId id, tensor::BlockId reader);

/// The workload with elementwise stages folded into others. Those that a reduction reads stay:
/// there they would be computed again and again; so do those between a reduction and the padding
/// behind it.
tensor::Schedule FoldElementwise(const tensor::Workload& workload);

// --- How they are scheduled ---------------------------------------------------------------------

/// Folds a stage into its readers. Stages without a name are missing, here and below.
Status InlineStage(tensor::Schedule& schedule, const std::string& name);
/// Computes a stage for each iteration of a loop, as far as the iteration needs it.
Status PlaceStage(tensor::Schedule& schedule, const std::string& name, tensor::LoopVar at);
/// The block that stores what a reduction gives: the stage behind it, or, where that is missing, a
/// copy.
Result<tensor::BlockVar> StoreOf(tensor::Schedule& schedule, tensor::BlockVar reduction,
                                 const std::string& behind);
/// Leaves open how the whole is made parallel and how far loops are unrolled.
tensor::Schedule FinishSpace(tensor::Schedule schedule, const target::Target& target);

/// A space with the padding of a chain folded into its reader, and, where there is a padding, one
/// with a copy of it; those that a primitive refuses are left out.
std::vector<tensor::Schedule> SpacesByPadding(
    const std::string& padding,
    const std::function<Result<tensor::Schedule>(bool folds_padding)>& schedule);

}  // namespace bayloom::sketch
