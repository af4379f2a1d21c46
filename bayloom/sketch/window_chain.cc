// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/window_chain.h"

#include <algorithm>
#include <set>
#include <utility>

#include "bayloom/sketch/analysis.h"
#include "bayloom/sketch/loops_by_kind.h"
#include "bayloom/sketch/rules/rules.h"
#include "bayloom/sketch/tile_levels.h"
#include "bayloom/sketch/window_stages.h"
#include "bayloom/tensor/library_call.h"

namespace bayloom::sketch {
namespace {

using tensor::BlockId;
using tensor::BlockKind;
using tensor::BlockVar;
using tensor::LoopVar;

/// Places that are computed together, in registers, at most.
constexpr int64_t kMaxPlaces = 16;

// --- Recognition -------------------------------------------------------------------------------

/// The iterator that an index is, those of extent 1 aside; -1 if it is none alone.
int OnlyIterOf(const tensor::Expr& index, const tensor::Block& block) {
  const int count = static_cast<int>(block.iters.size());
  const std::optional<tensor::LinearForm> form = tensor::ToLinear(index, count);
  if (!form || form->constant != 0) return -1;
  int only = -1;
  for (int i = 0; i < count; ++i) {
    if (form->coefficients[i] == 0 || block.iters[i].extent == 1) continue;
    if (form->coefficients[i] != 1 || only >= 0) return -1;
    only = i;
  }
  return only;
}

/// Whether the block adds up, for each of its positions, what all channels of `buffer` have at the
/// same position.
bool IsPointwiseIn(const tensor::Program& program, BlockId id, tensor::BufferId buffer) {
  const tensor::Block& block = program.blocks[id];
  const std::vector<int64_t>& shape = program.buffers[buffer].shape;
  tensor::Expr load;
  int loads = 0;
  tensor::Visit(block.value, [&](const tensor::Expr& e) {
    if (e->op != tensor::ExprOp::kLoad || e->index != buffer) return;
    load = e;
    ++loads;
  });
  const int channel = LastSpatialIter(block);
  if (loads != 1 || channel < 1 || Mentions(load, channel)) return false;
  std::set<int> used;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    const int iter = OnlyIterOf(load->operands[d], block);
    if (iter < 0 || !used.insert(iter).second) return false;
    const tensor::Iter& read = block.iters[iter];
    const bool is_channel = d + 1 == shape.size();
    if ((read.kind == tensor::IterKind::kReduction) != is_channel) return false;
    // Channels may be more than anything reads: whole vectors of them.
    if (is_channel ? read.extent > shape[d] : read.extent != shape[d]) return false;
  }
  return true;
}

/// The blocks of a chain; -1 for those that are missing.
struct ChainBlocks {
  BlockId padding = -1, windows = -1, between = -1, pointwise = -1, epilogue = -1;
};

std::optional<ChainBlocks> FindBlocks(const tensor::Program& program) {
  BlocksInTurn blocks(program);
  ChainBlocks chain;
  chain.padding = blocks.Take(BlockKind::kPlain);
  chain.windows = blocks.Take(BlockKind::kReduce);
  chain.between = blocks.Take(BlockKind::kPlain);
  chain.pointwise = blocks.Take(BlockKind::kReduce);
  chain.epilogue = blocks.Take(BlockKind::kPlain);
  if (blocks.Next() >= 0 || chain.windows < 0 || chain.pointwise < 0) return std::nullopt;
  return chain;
}

}  // namespace

std::optional<WindowChain> FindWindowChain(const tensor::Workload& workload) {
  if (workload.stages.size() < 2 || tensor::IsCall(workload)) return std::nullopt;
  const tensor::Schedule folded = FoldElementwise(workload);
  const tensor::Program& program = folded.program();
  const std::optional<ChainBlocks> found = FindBlocks(program);
  if (!found) return std::nullopt;
  const auto& [padding, windows, between, pointwise, epilogue] = *found;
  if (padding >= 0 && !IsPaddingOf(program, padding, windows)) return std::nullopt;
  const BlockId last = between >= 0 ? between : windows;
  if (between >= 0 && (ElementwiseConsumer(program, windows) != between ||
                       LastSpatialIter(program.blocks[between]) < 1)) {
    return std::nullopt;
  }
  if (epilogue >= 0 && ElementwiseConsumer(program, pointwise) != epilogue) return std::nullopt;
  const bool is_chain = OnlyReaderOf(program, last) == pointwise &&
                        IsChannelByChannel(program.blocks[windows]) &&
                        HasDataReuse(program, pointwise) &&
                        IsPointwiseIn(program, pointwise, program.blocks[last].output);
  if (!is_chain) return std::nullopt;
  const auto name = [&](BlockId id) { return NameOf(program, id); };
  return WindowChain{name(padding), name(windows), name(between), name(pointwise),
                     name(epilogue >= 0 ? epilogue : pointwise)};
}

namespace {

// --- Scheduling --------------------------------------------------------------------------------

class WindowChainScheduler {
 public:
  WindowChainScheduler(const tensor::Workload& workload, const WindowChain& chain,
                       const target::Target& target)
      : chain_(chain), target_(target), schedule_(FoldElementwise(workload)) {}

  Result<tensor::Schedule> Run(bool folds_padding) {
    if (folds_padding) {
      if (Status s = InlineStage(schedule_, chain_.padding); !s) return s.error();
    }
    if (Status s = TilePointwise(); !s) return s.error();
    if (Status s = PlaceWindows(); !s) return s.error();
    if (!folds_padding) {
      if (Status s = PlaceStage(schedule_, chain_.padding, tile_); !s) return s.error();
    }
    return FinishSpace(std::move(schedule_), target_);
  }

 private:
  /// As any other convolution; a tile of positions ends with the last of its outer loops over them,
  /// around the one over channels.
  Status TilePointwise() {
    schedule_ = MultiLevelTiling(std::move(schedule_), chain_.pointwise, target_).front();
    Result<BlockVar> block = schedule_.GetBlock(chain_.pointwise);
    if (!block) return block.error();
    const tensor::Block& tiled = schedule_.program().blocks[schedule_.Get(*block)];
    if (!tiled.annotations.contains(kTiled)) return Error{"the convolution cannot be tiled"};
    Result<std::vector<LoopVar>> loops = schedule_.GetLoops(*block);
    if (!loops) return loops.error();
    tile_ = (*loops)[LastSpatialIter(tiled) - 1];
    return Ok();
  }

  /// channels | positions, channels | windows | places, channels
  Status PlaceWindows() {
    Result<BlockVar> windows = schedule_.GetBlock(chain_.windows);
    if (!windows) return windows.error();
    Result<BlockVar> between = StoreOf(schedule_, *windows, chain_.between);
    if (!between) return between.error();
    if (Status s = schedule_.ComputeAt(*between, tile_); !s) return s;
    Result<LoopsByKind> own = OwnLoopsByKind(schedule_, *between);
    if (!own) return own.error();
    std::vector<LoopVar> order = std::move(own->spatial);
    const LoopVar channel = order.back(), place = order[order.size() - 2];
    order.erase(order.end() - 2, order.end());
    Result<std::vector<LoopVar>> channels =
        TilePerfectly(schedule_, channel, 3, kMaxInnermostFactor);
    if (!channels) return channels.error();
    Result<std::vector<LoopVar>> places = TilePerfectly(schedule_, place, 2, kMaxPlaces);
    if (!places) return places.error();
    order.insert(order.begin(), (*channels)[0]);
    order.insert(order.end(), {(*places)[0], (*channels)[1], (*places)[1], (*channels)[2]});
    if (Status s = schedule_.Reorder(order); !s) return s;
    if (Status s = schedule_.ComputeAt(*windows, (*channels)[1]); !s) return s;
    if (Status s = PutReductionOutside(*windows); !s) return s;
    return schedule_.Annotate(*windows, kTiled, 1);
  }

  Status PutReductionOutside(BlockVar block) {
    Result<LoopsByKind> own = OwnLoopsByKind(schedule_, block);
    if (!own) return own.error();
    std::vector<LoopVar> order = std::move(own->reduction);
    order.insert(order.end(), own->spatial.begin(), own->spatial.end());
    return schedule_.Reorder(order);
  }

  const WindowChain& chain_;
  const target::Target& target_;
  tensor::Schedule schedule_;
  LoopVar tile_;
};

}  // namespace

std::vector<tensor::Schedule> SpacesOf(const tensor::Workload& workload, const WindowChain& chain,
                                       const target::Target& target) {
  return SpacesByPadding(chain.padding, [&](bool folds_padding) {
    return WindowChainScheduler(workload, chain, target).Run(folds_padding);
  });
}

}  // namespace bayloom::sketch
