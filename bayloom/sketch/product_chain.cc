// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/product_chain.h"

#include <algorithm>
#include <array>
#include <map>

#include "bayloom/sketch/analysis.h"
#include "bayloom/sketch/rules/rules.h"
#include "bayloom/sketch/tile_levels.h"
#include "bayloom/tensor/open_axis.h"

namespace bayloom::sketch {
namespace {

using tensor::BlockVar;
using tensor::LoopVar;
using Loops = std::vector<LoopVar>;

constexpr int64_t kMaxBlockRows = 256;
constexpr int64_t kMaxTileRows = 16;

// --- Recognition -------------------------------------------------------------------------------

/// The element that a factor is, without its conversion to the type of the sum. `iters`: of the
/// product.
const tensor::Expr& ElementOf(const tensor::Expr& factor, const std::vector<tensor::Iter>& iters) {
  const tensor::Expr& within = tensor::WithoutMasks(factor, iters);
  return within->op == tensor::ExprOp::kCast ? within->operands[0] : within;
}

/// a * b of two tensors, added up.
bool IsProduct(const tensor::Stage& stage) {
  return stage.reduction == tensor::Reduction::kSum && stage.value->op == tensor::ExprOp::kMul &&
         std::ranges::all_of(stage.value->operands, [&](const tensor::Expr& factor) {
           return ElementOf(factor, stage.iters)->op == tensor::ExprOp::kLoad;
         });
}

/// Of rows by columns: one factor is the same for all of them.
bool IsOfMatrices(const tensor::Stage& stage) {
  int last = -1;
  for (size_t i = 0; i < stage.iters.size(); ++i) {
    if (stage.iters[i].kind == tensor::IterKind::kSpatial) last = static_cast<int>(i);
  }
  return IsProduct(stage) && std::ranges::any_of(stage.value->operands, [&](const auto& factor) {
           return !Mentions(factor, last);
         });
}

/// Per dimension of a load: the iterator that is its index, or -1.
std::vector<int> ItersOf(const tensor::ExprNode& load) {
  std::vector<int> iters;
  for (const tensor::Expr& index : load.operands) {
    iters.push_back(index->op == tensor::ExprOp::kIter ? index->index : -1);
  }
  return iters;
}

class ChainFinder {
 public:
  explicit ChainFinder(const tensor::Workload& workload) : workload_(workload) {
    const int count = static_cast<int>(workload.stages.size());
    depends_.assign(count, std::vector<bool>(count, false));
    for (int s = 0; s < count; ++s) {
      tensor::Visit(workload.stages[s].value, [&](const tensor::Expr& e) {
        if (e->op != tensor::ExprOp::kLoad) return;
        const int producer = workload.Producer(e->index);
        if (producer < 0) return;
        depends_[s][producer] = true;
        for (int t = 0; t < producer; ++t) {
          if (depends_[producer][t]) depends_[s][t] = true;
        }
      });
    }
  }

  std::optional<ProductChain> Find() const {
    const int output = static_cast<int>(workload_.stages.size()) - 1;
    if (output < 3 || workload_.stages[output].reduction != tensor::Reduction::kNone) {
      return std::nullopt;
    }
    for (int second = output - 1; second >= 0; --second) {
      if (!IsProduct(StageAt(second)) || !depends_[output][second]) continue;
      return FindWith(second, output);
    }
    return std::nullopt;
  }

 private:
  const tensor::Stage& StageAt(int s) const { return workload_.stages[s]; }

  std::optional<ProductChain> FindWith(int second, int output) const {
    for (int side : {0, 1}) {
      const tensor::Expr& weights =
          ElementOf(StageAt(second).value->operands[side], StageAt(second).iters);
      const int producer = workload_.Producer(weights->index);
      if (producer < 0) continue;
      for (int first = producer; first >= 0; --first) {
        if (!IsOfMatrices(StageAt(first)) || !depends_[producer][first]) continue;
        if (!HaveOneShape(first, producer)) continue;
        ProductChain chain;
        chain.first = StageAt(first).name;
        chain.second = StageAt(second).name;
        chain.output = StageAt(output).name;
        for (int s = first + 1; s < second; ++s) {
          if (depends_[s][first]) chain.between.push_back(StageAt(s).name);
        }
        chain.keys = CopyReadBy(first, first);
        chain.values = CopyReadBy(second, first);
        return chain;
      }
    }
    return std::nullopt;
  }

  bool HaveOneShape(int a, int b) const {
    return workload_.buffers[StageAt(a).output].shape == workload_.buffers[StageAt(b).output].shape;
  }

  /// A factor of the product that is computed, but does not depend on the chain's first product.
  std::string CopyReadBy(int product, int first) const {
    for (const tensor::Expr& factor : StageAt(product).value->operands) {
      const int producer = workload_.Producer(ElementOf(factor, StageAt(product).iters)->index);
      if (producer < 0 || producer == first || depends_[producer][first]) continue;
      return StageAt(producer).name;
    }
    return "";
  }

  const tensor::Workload& workload_;
  std::vector<std::vector<bool>> depends_;  // [stage][stage before]
};

// --- Scheduling --------------------------------------------------------------------------------

/// Where a copy is made.
enum class CopyPlace { kInline, kOuterRows, kRoot };

/// One design space.
struct ChainVariant {
  CopyPlace keys, values;
};

class ChainScheduler {
 public:
  ChainScheduler(const tensor::Workload& workload, const ProductChain& chain,
                 const target::Target& target)
      : chain_(chain), target_(target), schedule_(workload, /*seed=*/0) {}

  Result<tensor::Schedule> Run(const ChainVariant& variant) {
    if (Status s = TileOutput(); !s) return s.error();
    if (Status s = PlaceSecond(); !s) return s.error();
    for (auto name = chain_.between.rbegin(); name != chain_.between.rend(); ++name) {
      if (Status s = PlaceBetween(*name); !s) return s.error();
    }
    if (Status s = PlaceFirst(); !s) return s.error();
    if (Status s = PlaceCopy(chain_.keys, chain_.first, variant.keys); !s) return s.error();
    if (Status s = PlaceCopy(chain_.values, chain_.second, variant.values); !s) return s.error();
    return ParallelizeVectorizeUnroll(std::move(schedule_), chain_.output, target_).front();
  }

 private:
  const tensor::Block& BlockOf(const std::string& name) const {
    return schedule_.program().blocks[schedule_.program().FindBlock(name)];
  }

  /// The loops of a block's own nest, one per iterator.
  Result<Loops> OwnLoops(BlockVar block) {
    Result<Loops> all = schedule_.GetLoops(block);
    if (!all) return all;
    const size_t own = schedule_.program().blocks[schedule_.Get(block)].iters.size();
    return Loops(all->end() - static_cast<int64_t>(own), all->end());
  }

  /// Brings the output's loops into the order of the second product's rows and cuts the last.
  Status TileOutput() {
    Result<BlockVar> block = schedule_.GetBlock(chain_.output);
    if (!block) return block.error();
    Result<Loops> loops = schedule_.GetLoops(*block);
    if (!loops) return loops.error();
    const tensor::BufferId product = BlockOf(chain_.second).output;
    std::vector<int> iters;
    tensor::Visit(BlockOf(chain_.output).value, [&](const tensor::Expr& e) {
      if (e->op == tensor::ExprOp::kLoad && e->index == product) iters = ItersOf(*e);
    });
    if (iters.size() < 2 || iters[iters.size() - 2] < 0) return Error{"no rows to cut into blocks"};
    const size_t rows = iters.size() - 1;
    Result<std::array<LoopVar, 2>> blocks =
        CutIntoTiles(schedule_, (*loops)[iters[rows - 1]], kMaxBlockRows);
    if (!blocks) return blocks.error();
    outer_.assign(rows - 1, LoopVar{});
    std::vector<bool> used(loops->size(), false);
    Loops order;
    for (size_t d = 0; d + 1 < rows; ++d) {
      if (iters[d] < 0) continue;
      outer_[d] = (*loops)[iters[d]];
      used[iters[d]] = true;
      order.push_back(outer_[d]);
    }
    used[iters[rows - 1]] = true;
    block_loop_ = blocks->front();
    order.insert(order.end(), blocks->begin(), blocks->end());
    for (size_t i = 0; i < loops->size(); ++i) {
      if (!used[i]) order.push_back((*loops)[i]);
    }
    return schedule_.Reorder(order);
  }

  /// The loops of a product by what they are.
  struct ProductLoops {
    Loops spatial;  ///< rows, then what is in lanes
    Loops sums;     ///< without what an instruction sums up at once
    std::optional<LoopVar> at_once;
  };

  Result<ProductLoops> PlaceProduct(const std::string& name) {
    Result<Loops> own = PlaceInBlock(name);
    if (!own) return own.error();
    const tensor::BlockId id = schedule_.program().FindBlock(name);
    const std::vector<tensor::Iter> iters = schedule_.program().blocks[id].iters;
    const std::optional<DotAxis> dot = FindDotAxis(schedule_.program(), id, target_);
    ProductLoops loops;
    for (size_t i = 0; i < iters.size(); ++i) {
      if (iters[i].kind == tensor::IterKind::kSpatial) {
        loops.spatial.push_back((*own)[i]);
      } else if (dot && dot->iter == static_cast<int>(i)) {
        Result<Loops> cut = schedule_.Split((*own)[i], {iters[i].extent / dot->depth, dot->depth});
        if (!cut) return cut.error();
        loops.sums.push_back(cut->front());
        loops.at_once = cut->back();
      } else {
        loops.sums.push_back((*own)[i]);
      }
    }
    return loops;
  }

  /// The product's loops in the order of `outer`, then the rest of its sums, then `inner`.
  Status Arrange(const std::string& name, const ProductLoops& loops, Loops outer, size_t first_sum,
                 const Loops& inner) {
    outer.insert(outer.end(), loops.sums.begin() + static_cast<int64_t>(first_sum),
                 loops.sums.end());
    if (loops.at_once) outer.push_back(*loops.at_once);
    outer.insert(outer.end(), inner.begin(), inner.end());
    if (Status s = schedule_.Reorder(outer); !s) return s;
    if (loops.at_once) {
      if (Status s = schedule_.Tensorize(*loops.at_once); !s) return s;
    }
    Result<BlockVar> block = schedule_.GetBlock(name);
    if (!block) return block.error();
    return schedule_.Annotate(*block, kTiled, 1);
  }

  /// group | rows, channels | group, lane | rows, channels
  Status PlaceSecond() {
    Result<ProductLoops> loops = PlaceProduct(chain_.second);
    if (!loops) return loops.error();
    const size_t rows = loops->spatial.size() - 1;
    Result<Loops> row = TilePerfectly(schedule_, loops->spatial[rows - 1], 2, kMaxTileRows);
    if (!row) return row.error();
    Result<Loops> channel = TilePerfectly(schedule_, loops->spatial[rows], 2, kMaxInnermostFactor);
    if (!channel) return channel.error();
    Result<Loops> group = TilePerfectly(schedule_, loops->sums[0], 2, kMaxInnermostFactor);
    if (!group) return group.error();
    return Arrange(chain_.second, *loops, {(*group)[0], (*row)[0], (*channel)[0], (*group)[1]},
                   /*first_sum=*/1, {(*row)[1], (*channel)[1]});
  }

  /// group, rows | reduction | rows, group, lane
  Status PlaceFirst() {
    Result<ProductLoops> loops = PlaceProduct(chain_.first);
    if (!loops) return loops.error();
    const size_t rows = loops->spatial.size() - 2;
    Result<Loops> row = TilePerfectly(schedule_, loops->spatial[rows - 1], 2, kMaxTileRows);
    if (!row) return row.error();
    Result<Loops> group = TilePerfectly(schedule_, loops->spatial[rows], 2, kMaxTileRows);
    if (!group) return group.error();
    return Arrange(chain_.first, *loops, {(*group)[0], (*row)[0]}, /*first_sum=*/0,
                   {(*row)[1], (*group)[1], loops->spatial[rows + 1]});
  }

  Result<Loops> PlaceInBlock(const std::string& name) {
    Result<BlockVar> block = schedule_.GetBlock(name);
    if (!block) return block.error();
    if (Status s = schedule_.ComputeAt(*block, block_loop_); !s) return s.error();
    return OwnLoops(*block);
  }

  /// What only the rows of one reader need is computed with these rows, a few at a time; everything
  /// else once per block of rows.
  Status PlaceBetween(const std::string& name) {
    if (IsCheapStep(name)) {
      Result<BlockVar> block = schedule_.GetBlock(name);
      if (!block) return block.error();
      return schedule_.ComputeInline(*block);
    }
    const tensor::Block& block = BlockOf(name);
    const std::vector<tensor::BlockId> readers = schedule_.program().ReadersOf(block.output);
    if (readers.size() == 1 && block.iters.size() > 0 && IsPerRow(block)) {
      const auto rows = rows_of_.find(schedule_.program().blocks[readers[0]].name);
      if (rows != rows_of_.end()) {
        Result<BlockVar> var = schedule_.GetBlock(name);
        if (!var) return var.error();
        if (Status s = schedule_.ComputeAt(*var, rows->second); !s) return s;
        rows_of_.emplace(name, rows->second);
        return ReduceOverLanes(*var);
      }
    }
    Result<Loops> own = PlaceInBlock(name);
    if (!own) return own.error();
    if (ReadsRows(BlockOf(name))) {
      const size_t query = outer_.size();
      Result<Loops> rows = TilePerfectly(schedule_, (*own)[query], 2, kMaxTileRows);
      if (!rows) return rows.error();
      rows_of_.emplace(name, rows->front());
      return Ok();
    }
    Result<BlockVar> var = schedule_.GetBlock(name);
    if (!var) return var.error();
    return ReduceOverLanes(*var);
  }

  /// Only a few operations on what is between, which two readers may as well repeat.
  bool IsCheapStep(const std::string& name) const {
    const tensor::Block& block = BlockOf(name);
    const tensor::Program& program = schedule_.program();
    if (block.kind != tensor::BlockKind::kPlain || IsExpensive(block.value)) return false;
    if (tensor::Loads(block.value, BlockOf(chain_.first).output)) return false;
    return !tensor::Loads(BlockOf(chain_.second).value, block.output) &&
           program.buffers[block.output].role == tensor::BufferRole::kIntermediate;
  }

  /// One result, or one per lane, for a row.
  bool IsPerRow(const tensor::Block& block) const {
    return program_rank(block) <= outer_.size() + 2 && block.kind == tensor::BlockKind::kReduce;
  }
  size_t program_rank(const tensor::Block& block) const {
    return schedule_.program().buffers[block.output].shape.size();
  }

  /// Whether the block reads something that has one element, or one per lane, for a row.
  bool ReadsRows(const tensor::Block& block) const {
    bool reads = false;
    tensor::Visit(block.value, [&](const tensor::Expr& e) {
      if (e->op != tensor::ExprOp::kLoad) return;
      const tensor::BlockId writer = schedule_.program().WriterOf(e->index);
      if (writer < 0) return;
      const std::string& name = schedule_.program().blocks[writer].name;
      const bool inside =
          std::find(chain_.between.begin(), chain_.between.end(), name) != chain_.between.end();
      reads |= inside && schedule_.program().buffers[e->index].shape.size() < outer_.size() + 3;
    });
    return reads;
  }

  /// rows | group | lane: the lanes of a group are combined at once.
  Status ReduceOverLanes(BlockVar var) {
    const tensor::Block& block = schedule_.program().blocks[schedule_.Get(var)];
    if (block.kind != tensor::BlockKind::kReduce) return Ok();
    Result<Loops> own = OwnLoops(var);
    if (!own) return own.error();
    if (own->size() != outer_.size() + 3) return Ok();
    return schedule_.Reorder({(*own)[own->size() - 1], (*own)[own->size() - 2]});
  }

  Status PlaceCopy(const std::string& name, const std::string& reader, CopyPlace place) {
    if (name.empty() || place == CopyPlace::kRoot) return Ok();
    Result<BlockVar> block = schedule_.GetBlock(name);
    if (!block) return block.error();
    if (place == CopyPlace::kInline) {
      if (ContainsSelect(BlockOf(name).value)) return Error{"the copy adds elements"};
      return schedule_.ComputeInline(*block);
    }
    const tensor::BufferId copy = BlockOf(name).output;
    int deepest = -1;
    for (const tensor::Expr& factor : BlockOf(reader).value->operands) {
      const tensor::Expr& element = ElementOf(factor, BlockOf(reader).iters);
      if (element->index != copy) continue;
      for (int iter : ItersOf(*element)) {
        if (iter < static_cast<int>(outer_.size())) deepest = std::max(deepest, iter);
      }
    }
    while (deepest >= 0 && outer_[deepest].id < 0) --deepest;
    if (deepest < 0) return Error{"the copy is one for all rows"};
    return schedule_.ComputeAt(*block, outer_[deepest]);
  }

  const ProductChain& chain_;
  const target::Target& target_;
  tensor::Schedule schedule_;
  Loops outer_;                             // per row axis but the last: its loop, if it has one
  LoopVar block_loop_;                      // over blocks of rows
  std::map<std::string, LoopVar> rows_of_;  // a block's loop over a few rows at a time
};

}  // namespace

std::optional<ProductChain> FindProductChain(const tensor::Workload& workload) {
  return ChainFinder(workload).Find();
}

std::vector<tensor::Schedule> SpacesOf(const tensor::Workload& workload, const ProductChain& chain,
                                       const target::Target& target) {
  constexpr ChainVariant kChainVariants[] = {
      {CopyPlace::kOuterRows, CopyPlace::kInline},
      {CopyPlace::kOuterRows, CopyPlace::kOuterRows},
      {CopyPlace::kRoot, CopyPlace::kInline},
      {CopyPlace::kRoot, CopyPlace::kRoot},
  };
  std::vector<tensor::Schedule> spaces;
  for (const ChainVariant& variant : kChainVariants) {
    Result<tensor::Schedule> schedule = ChainScheduler(workload, chain, target).Run(variant);
    if (schedule) spaces.push_back(*std::move(schedule));
  }
  return spaces;
}

}  // namespace bayloom::sketch
