// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/pooled_convolution.h"

#include <algorithm>
#include <array>
#include <utility>

#include "bayloom/sketch/analysis.h"
#include "bayloom/sketch/derivations/derivations.h"
#include "bayloom/sketch/internal/loops_by_kind.h"
#include "bayloom/sketch/internal/tile_levels.h"
#include "bayloom/sketch/internal/window_stages.h"
#include "bayloom/sketch/rules/rules.h"
#include "bayloom/tensor/library_call.h"

namespace bayloom::sketch {
namespace {

using tensor::BlockId;
using tensor::BlockKind;
using tensor::BlockVar;
using tensor::LoopVar;
using Loops = std::vector<LoopVar>;

// Dimensions of images.
constexpr int kRow = 1, kColumn = 2, kChannel = 3, kRank = 4;
/// Rows of windows that a tile has at most, where they are not all.
constexpr int64_t kMaxRows = 64;
/// Columns that are computed together, in registers, at most.
constexpr int64_t kMaxPlacesAtOnce = 16;

// --- Recognition -------------------------------------------------------------------------------

/// The blocks of a pair; -1 for those that are missing.
struct PairBlocks {
  BlockId padding = -1, convolution = -1, between = -1, pool_padding = -1, pool = -1, epilogue = -1;

  BlockId LastOfConvolution() const { return between >= 0 ? between : convolution; }
};

/// The only load of a block that reads a single tensor once; null for others.
tensor::Expr OnlyLoad(const tensor::Expr& value) {
  tensor::Expr load;
  int loads = 0;
  tensor::Visit(value, [&](const tensor::Expr& e) {
    if (e->op != tensor::ExprOp::kLoad) return;
    load = e;
    ++loads;
  });
  return loads == 1 ? load : tensor::Expr();
}

/// Whether the block reads the buffer at its own place, dimension by dimension.
bool ReadsInPlace(const tensor::Program& program, BlockId id, tensor::BufferId buffer) {
  const std::vector<int64_t>& shape = program.buffers[buffer].shape;
  bool in_place = true;
  tensor::Visit(program.blocks[id].value, [&](const tensor::Expr& e) {
    if (e->op != tensor::ExprOp::kLoad || e->index != buffer) return;
    for (int d = 0; d < static_cast<int>(shape.size()); ++d) {
      const tensor::Expr& index = e->operands[d];
      const bool is_own = index->op == tensor::ExprOp::kIter && index->index == d;
      in_place &= is_own || (shape[d] == 1 && tensor::IsIntLiteral(index, 0));
    }
  });
  return in_place;
}

/// Whether the block combines windows of rows and columns of one tensor, channel by channel.
bool IsPool(const tensor::Block& block) {
  const tensor::Expr load = OnlyLoad(block.value);
  if (!load.defined() || load->operands.size() != kRank || LastSpatialIter(block) != kChannel ||
      !IsChannelByChannel(block)) {
    return false;
  }
  for (int d = 0; d < kRank; ++d) {
    const auto form = tensor::ToLinear(load->operands[d], static_cast<int>(block.iters.size()));
    if (!form) return false;
    for (int i = 0; i < kRank; ++i) {
      if (i != d && form->coefficients[i] != 0 && block.iters[i].extent > 1) return false;
    }
  }
  return true;
}

std::optional<PairBlocks> FindPairBlocks(const tensor::Program& program) {
  const std::vector<BlockId> blocks = program.BlocksInOrder();
  PairBlocks pair;
  auto next = blocks.begin();
  const auto take = [&](BlockKind kind) {
    return next != blocks.end() && program.blocks[*next].kind == kind ? *next++ : BlockId(-1);
  };
  pair.padding = take(BlockKind::kPlain);
  pair.convolution = take(BlockKind::kReduce);
  if (pair.convolution < 0) return std::nullopt;
  if (next != blocks.end() && ElementwiseConsumer(program, pair.convolution) == *next) {
    pair.between = take(BlockKind::kPlain);
  }
  pair.pool_padding = take(BlockKind::kPlain);
  pair.pool = take(BlockKind::kReduce);
  pair.epilogue = take(BlockKind::kPlain);
  if (next != blocks.end() || pair.pool < 0) return std::nullopt;

  const BlockId last = pair.LastOfConvolution();
  const BlockId reader = pair.pool_padding >= 0 ? pair.pool_padding : pair.pool;
  const tensor::BufferId image = program.blocks[last].output;
  const auto pads = [&](BlockId padding, BlockId padded) {
    return padding < 0 || IsPaddingOf(program, padding, padded);
  };
  const auto finishes = [&](BlockId plain, BlockId reduction) {
    return plain < 0 || (ElementwiseConsumer(program, reduction) == plain &&
                         ReadsInPlace(program, plain, program.blocks[reduction].output));
  };
  const bool is_pair =
      program.buffers[image].shape.size() == kRank && OnlyReaderOf(program, last) == reader &&
      IsPool(program.blocks[pair.pool]) && HasDataReuse(program, pair.convolution) &&
      pads(pair.padding, pair.convolution) && pads(pair.pool_padding, pair.pool) &&
      finishes(pair.between, pair.convolution) && finishes(pair.epilogue, pair.pool);
  return is_pair ? std::optional(pair) : std::nullopt;
}

/// Smallest and largest value of a linear form.
struct Range {
  int64_t min = 0, max = 0;
};
Range RangeOf(const tensor::LinearForm& form, const std::vector<tensor::Iter>& iters) {
  Range range = {form.constant, form.constant};
  for (size_t i = 0; i < iters.size(); ++i) {
    const int64_t reach = form.coefficients[i] * (iters[i].extent - 1);
    (reach < 0 ? range.min : range.max) += reach;
  }
  return range;
}

/// Where a padding reads its rows: a dimension of what it reads, and what to add to its own row.
struct RowsRead {
  int dimension;
  int64_t shift;
};
/// nullopt if it reads anything but one row for each of its own.
std::optional<RowsRead> FindRowsRead(const tensor::Expr& value, int iters) {
  const tensor::Expr load = OnlyLoad(value);
  if (!load.defined()) return std::nullopt;
  std::optional<RowsRead> found;
  for (int d = 0; d < static_cast<int>(load->operands.size()); ++d) {
    if (!Mentions(load->operands[d], kRow)) continue;
    const std::optional<tensor::LinearForm> form = tensor::ToLinear(load->operands[d], iters);
    if (!form || found) return std::nullopt;
    for (int i = 0; i < iters; ++i) {
      if (form->coefficients[i] != (i == kRow ? 1 : 0)) return std::nullopt;
    }
    found = {d, form->constant};
  }
  return found;
}

/// Rows that windows read before the first and behind the last of what the convolution computes.
struct RowsOutside {
  int64_t before = 0, behind = 0;
  bool any() const { return before > 0 || behind > 0; }
};
std::optional<RowsOutside> FindRowsOutside(const tensor::Program& program, const PairBlocks& pair) {
  const tensor::Block& pool = program.blocks[pair.pool];
  const int iters = static_cast<int>(pool.iters.size());
  const Range read =
      RangeOf(*tensor::ToLinear(OnlyLoad(pool.value)->operands[kRow], iters), pool.iters);
  int64_t shift = 0;
  if (pair.pool_padding >= 0) {
    const tensor::Block& padding = program.blocks[pair.pool_padding];
    const auto rows = FindRowsRead(padding.value, static_cast<int>(padding.iters.size()));
    if (!rows || rows->dimension != kRow) return std::nullopt;
    shift = rows->shift;
  }
  const tensor::BufferId image = program.blocks[pair.LastOfConvolution()].output;
  const int64_t last = program.buffers[image].shape[kRow] - 1;
  return RowsOutside{std::max<int64_t>(0, -(read.min + shift)),
                     std::max<int64_t>(0, read.max + shift - last)};
}

// --- Rows outside ------------------------------------------------------------------------------

/// The value at another row: `by` rows further up. Loads of what lies in `in_place` stay.
tensor::Expr WithRowsMoved(const tensor::Expr& value, int64_t by,
                           const std::vector<tensor::BufferId>& in_place = {}) {
  if (value->op == tensor::ExprOp::kLoad &&
      std::ranges::find(in_place, value->index) != in_place.end()) {
    return value;
  }
  if (value->op == tensor::ExprOp::kIter && value->index == kRow) {
    return by == 0 ? value : value - tensor::Expr(by);
  }
  tensor::ExprNode moved = *value;
  for (tensor::Expr& operand : moved.operands) operand = WithRowsMoved(operand, by, in_place);
  return tensor::Expr(std::make_shared<const tensor::ExprNode>(std::move(moved)));
}

bool HasConjunct(const tensor::Expr& condition, const tensor::Expr& conjunct) {
  if (tensor::StructurallyEqual(condition, conjunct)) return true;
  return condition->op == tensor::ExprOp::kAnd &&
         std::ranges::any_of(condition->operands,
                             [&](const tensor::Expr& part) { return HasConjunct(part, conjunct); });
}

/// Gives a stage rows before and behind those that it has; what it computes for these stays.
void AddRows(tensor::Workload& workload, tensor::Stage& stage, const RowsOutside& added) {
  stage.iters[kRow].extent += added.before + added.behind;
  workload.buffers[stage.output].shape[kRow] += added.before + added.behind;
}

/// Padding for a convolution that computes more rows. False where it is no guarded copy.
bool AddRowsOfPadding(tensor::Workload& workload, tensor::Stage& stage, const RowsOutside& added) {
  const auto read = FindRowsRead(stage.value, static_cast<int>(stage.iters.size()));
  if (!read || stage.value->op != tensor::ExprOp::kSelect) return false;
  const int64_t rows = workload.buffers[OnlyLoad(stage.value)->index].shape[read->dimension];
  AddRows(workload, stage, added);
  stage.value = WithRowsMoved(stage.value, added.before);
  tensor::ExprNode select = *stage.value;
  const tensor::Expr row = WithRowsMoved(tensor::IterVar(kRow), added.before);
  for (const tensor::Expr& inside :
       {tensor::Expr(-read->shift) <= row, row < tensor::Expr(rows - read->shift)}) {
    if (!HasConjunct(select.operands[0], inside)) {
      select.operands[0] = select.operands[0] && inside;
    }
  }
  stage.value = tensor::Expr(std::make_shared<const tensor::ExprNode>(std::move(select)));
  return true;
}

/// Makes the convolution compute the rows outside, and what is between take them over.
class RowAdder {
 public:
  RowAdder(tensor::Workload workload, const RowsOutside& added)
      : workload_(std::move(workload)), added_(added) {}

  std::optional<tensor::Workload> Run(const std::string& convolution,
                                      const std::string& pool_padding) {
    tensor::Stage* stage = StageOf(convolution);
    if (!AddRowsToConvolution(*stage)) return std::nullopt;
    for (++stage; stage->name != pool_padding; ++stage) {
      if (!AddRowsBetween(*stage)) return std::nullopt;
    }
    stage->value =
        tensor::Rewrite(stage->value, [&](const tensor::Expr& e) -> std::optional<tensor::Expr> {
          if (e->op != tensor::ExprOp::kLoad) return std::nullopt;
          std::vector<tensor::Expr> place = e->operands;
          place[kRow] = place[kRow] + tensor::Expr(added_.before);
          return tensor::Load(e->index, e->dtype, std::move(place));
        });
    return std::move(workload_);
  }

 private:
  tensor::Stage* StageOf(const std::string& name) {
    return &*std::ranges::find(workload_.stages, name, &tensor::Stage::name);
  }

  /// It reads padding, which gets as many rows more as its windows move by.
  bool AddRowsToConvolution(tensor::Stage& stage) {
    std::vector<tensor::Expr> moving;
    tensor::Visit(stage.value, [&](const tensor::Expr& e) {
      if (e->op == tensor::ExprOp::kLoad && Mentions(e, kRow)) moving.push_back(e);
    });
    if (moving.size() != 1 || moving[0]->operands.size() != kRank) return false;
    const int padding = workload_.Producer(moving[0]->index);
    const auto form =
        tensor::ToLinear(moving[0]->operands[kRow], static_cast<int>(stage.iters.size()));
    if (padding < 0 || !form) return false;
    for (int d = 0; d < kRank; ++d) {
      if (d != kRow && Mentions(moving[0]->operands[d], kRow)) return false;
    }
    const int64_t step = form->coefficients[kRow];
    if (!AddRowsOfPadding(workload_, workload_.stages[padding],
                          {added_.before * step, added_.behind * step})) {
      return false;
    }
    AddRows(workload_, stage, added_);
    with_rows_.push_back(stage.output);
    return true;
  }

  /// Element by element of what has got rows.
  bool AddRowsBetween(tensor::Stage& stage) {
    if (stage.reduction != tensor::Reduction::kNone || stage.iters.size() != kRank) return false;
    bool in_place = true;
    tensor::Visit(stage.value, [&](const tensor::Expr& e) {
      if (e->op != tensor::ExprOp::kLoad) return;
      const bool has_rows = std::ranges::find(with_rows_, e->index) != with_rows_.end();
      for (int d = 0; d < static_cast<int>(e->operands.size()); ++d) {
        const tensor::Expr& index = e->operands[d];
        const bool is_row = index->op == tensor::ExprOp::kIter && index->index == kRow;
        in_place &= has_rows && d == kRow ? is_row : !Mentions(index, kRow);
      }
    });
    if (!in_place) return false;
    AddRows(workload_, stage, added_);
    stage.value = WithRowsMoved(stage.value, added_.before, with_rows_);
    with_rows_.push_back(stage.output);
    return true;
  }

  tensor::Workload workload_;
  const RowsOutside added_;
  std::vector<tensor::BufferId> with_rows_;
};

}  // namespace

std::optional<PooledConvolution> FindPooledConvolution(const tensor::Workload& workload) {
  if (workload.stages.size() < 2 || tensor::IsCall(workload)) return std::nullopt;
  const tensor::Schedule folded = FoldElementwise(workload);
  const tensor::Program& program = folded.program();
  const std::optional<PairBlocks> pair = FindPairBlocks(program);
  if (!pair) return std::nullopt;
  const std::optional<RowsOutside> outside = FindRowsOutside(program, *pair);
  if (!outside || outside->any()) return std::nullopt;
  const auto name = [&](BlockId block) {
    return block < 0 ? std::string() : program.blocks[block].name;
  };
  return PooledConvolution{
      name(pair->padding), name(pair->convolution),
      name(pair->between), name(pair->pool_padding),
      name(pair->pool),    name(pair->epilogue >= 0 ? pair->epilogue : pair->pool)};
}

std::optional<tensor::Workload> WithRowsForPool(const tensor::Workload& workload) {
  if (workload.stages.size() < 2 || tensor::IsCall(workload)) return std::nullopt;
  const tensor::Schedule folded = FoldElementwise(workload);
  const tensor::Program& program = folded.program();
  const std::optional<PairBlocks> pair = FindPairBlocks(program);
  if (!pair) return std::nullopt;
  const std::optional<RowsOutside> outside = FindRowsOutside(program, *pair);
  if (!outside) return std::nullopt;
  const std::string& convolution = program.blocks[pair->convolution].name;
  if (PromisesWinograd(folded, convolution)) return std::nullopt;
  if (!outside->any()) return workload;
  if (pair->pool_padding < 0 || pair->padding < 0) return std::nullopt;
  return RowAdder(workload, *outside).Run(convolution, program.blocks[pair->pool_padding].name);
}

namespace {

// --- Scheduling --------------------------------------------------------------------------------

class PooledConvolutionScheduler {
 public:
  PooledConvolutionScheduler(const tensor::Workload& workload, const PooledConvolution& pair,
                             const target::Target& target)
      : pair_(pair), target_(target), schedule_(FoldElementwise(workload)) {}

  Result<tensor::Schedule> Run(bool folds_padding) {
    if (Status s = Inline(pair_.pool_padding); !s) return s.error();
    if (folds_padding) {
      if (Status s = Inline(pair_.padding); !s) return s.error();
    }
    if (Status s = TilePool(); !s) return s.error();
    if (Status s = PlaceConvolution(); !s) return s.error();
    if (!pair_.padding.empty() && !folds_padding) {
      Result<BlockVar> padding = schedule_.GetBlock(pair_.padding);
      if (!padding) return padding.error();
      if (Status s = schedule_.ComputeAt(*padding, rows_); !s) return s.error();
    }
    const tensor::Program& program = schedule_.program();
    const std::string last = program.blocks[program.BlocksInOrder().back()].name;
    return ParallelizeVectorizeUnroll(std::move(schedule_), last, target_).front();
  }

 private:
  Status Inline(const std::string& name) {
    if (name.empty()) return Ok();
    Result<BlockVar> block = schedule_.GetBlock(name);
    if (!block) return block.error();
    return schedule_.ComputeInline(*block);
  }

  /// The block that stores what a reduction gives: the one named, or a copy.
  Result<BlockVar> StoreOf(BlockVar reduction, const std::string& name) {
    if (!name.empty()) return schedule_.GetBlock(name);
    return schedule_.CacheWrite(reduction, tensor::StorageScope::kLocal);
  }

  /// rows, channels | rows, columns, channels | windows | columns, channels
  Status TilePool() {
    Result<BlockVar> pool = schedule_.GetBlock(pair_.pool);
    if (!pool) return pool.error();
    Result<BlockVar> store = StoreOf(*pool, pair_.output == pair_.pool ? "" : pair_.output);
    if (!store) return store.error();
    Result<Loops> loops = schedule_.GetLoops(*store);
    if (!loops) return loops.error();
    Result<std::array<LoopVar, 2>> rows = CutIntoTiles(schedule_, (*loops)[kRow], kMaxRows);
    if (!rows) return rows.error();
    Result<Loops> columns = Tile((*loops)[kColumn], 2, kMaxPlacesAtOnce);
    if (!columns) return columns.error();
    Result<Loops> channels = Tile((*loops)[kChannel], 3, kMaxInnermostFactor);
    if (!channels) return channels.error();
    if (Status s =
            schedule_.Reorder({(*loops)[0], (*rows)[0], (*channels)[0], (*rows)[1], (*columns)[0],
                               (*channels)[1], (*columns)[1], (*channels)[2]});
        !s) {
      return s;
    }
    rows_ = (*rows)[0];
    tile_ = (*channels)[0];
    return PlaceReduction(*pool, (*channels)[1]);
  }

  /// channels, rows, columns, channels | sums | columns, channels: how many rows there are is
  /// decided by the tile, and may have no divisors.
  Status PlaceConvolution() {
    Result<BlockVar> convolution = schedule_.GetBlock(pair_.convolution);
    if (!convolution) return convolution.error();
    Result<BlockVar> store = StoreOf(*convolution, pair_.between);
    if (!store) return store.error();
    if (Status s = schedule_.ComputeAt(*store, tile_); !s) return s;
    Result<LoopsByKind> own = OwnLoopsByKind(schedule_, *store);
    if (!own) return own.error();
    const Loops& loops = own->spatial;
    Result<std::array<LoopVar, 2>> strips =
        CutIntoTiles(schedule_, loops[kColumn], kMaxPlacesAtOnce);
    if (!strips) return strips.error();
    Result<Loops> columns = Tile((*strips)[1], 2, kMaxPlacesAtOnce);
    if (!columns) return columns.error();
    Result<Loops> channels = Tile(loops[kChannel], 3, kMaxInnermostFactor);
    if (!channels) return channels.error();
    if (Status s =
            schedule_.Reorder({loops[0], (*channels)[0], loops[kRow], (*strips)[0], (*columns)[0],
                               (*channels)[1], (*columns)[1], (*channels)[2]});
        !s) {
      return s;
    }
    return PlaceReduction(*convolution, (*channels)[1]);
  }

  Result<Loops> Tile(LoopVar loop, int parts, int64_t max_innermost) {
    Result<std::vector<tensor::ValueVar>> tile =
        schedule_.SamplePerfectTile(loop, parts, max_innermost);
    if (!tile) return tile.error();
    return schedule_.Split(loop, *tile);
  }

  /// Computes a reduction for each iteration of the loop, with what it sums up outside of the
  /// places; what an instruction sums up at once comes last.
  Status PlaceReduction(BlockVar block, LoopVar at) {
    const auto dot = FindDotAxis(schedule_.program(), schedule_.Get(block), target_);
    if (Status s = schedule_.ComputeAt(block, at); !s) return s;
    const std::vector<tensor::Iter> iters = schedule_.program().blocks[schedule_.Get(block)].iters;
    Result<LoopsByKind> own = OwnLoopsByKind(schedule_, block);
    if (!own) return own.error();
    Loops order;
    std::optional<LoopVar> at_once;
    size_t sum = 0;
    for (size_t i = 0; i < iters.size(); ++i) {
      if (iters[i].kind == tensor::IterKind::kSpatial) continue;
      const LoopVar loop = own->reduction[sum++];
      if (!dot || dot->iter != static_cast<int>(i)) {
        order.push_back(loop);
        continue;
      }
      Result<Loops> cut = schedule_.Split(loop, {iters[i].extent / dot->depth, dot->depth});
      if (!cut) return cut.error();
      order.push_back(cut->front());
      at_once = cut->back();
    }
    if (at_once) order.push_back(*at_once);
    order.insert(order.end(), own->spatial.begin(), own->spatial.end());
    if (Status s = schedule_.Reorder(order); !s) return s;
    if (at_once) {
      if (Status s = schedule_.Tensorize(*at_once); !s) return s;
    }
    return schedule_.Annotate(block, kTiled, 1);
  }

  const PooledConvolution& pair_;
  const target::Target& target_;
  tensor::Schedule schedule_;
  LoopVar rows_, tile_;  // over tiles of rows, and of channels within one
};

}  // namespace

std::vector<tensor::Schedule> PooledConvolutionSpaces(const tensor::Workload& workload,
                                                      const PooledConvolution& pair,
                                                      const target::Target& target) {
  std::vector<tensor::Schedule> spaces;
  for (const bool folds_padding : {true, false}) {
    if (pair.padding.empty() && !folds_padding) continue;
    Result<tensor::Schedule> space =
        PooledConvolutionScheduler(workload, pair, target).Run(folds_padding);
    if (space) spaces.push_back(*std::move(space));
  }
  return spaces;
}

}  // namespace bayloom::sketch
