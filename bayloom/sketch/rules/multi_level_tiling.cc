// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <optional>
#include <utility>

#include "bayloom/sketch/analysis.h"
#include "bayloom/sketch/overlapping_tiles.h"
#include "bayloom/sketch/rules/rules.h"
#include "bayloom/sketch/tile_levels.h"
#include "bayloom/tensor/access.h"
#include "bayloom/tensor/dot_product.h"

namespace bayloom::sketch {
namespace {

/// One alternative of the rule.
struct Variant {
  /// Tile level (1: outermost, 2) under which the epilogue or the write cache's copy runs; 0:
  /// the block stores its output itself.
  int epilogue_level;
  bool pack_first;       ///< store the operand that is broadcast along vectors in tile order
  bool pack_second;      ///< store the operand that is vectorized in tile order
  bool overlap = false;  ///< tiles overlap where the extent has no good divisors
  /// No instruction sums up several products, though there is one.
  bool one_by_one = false;
  /// One image at a time, and vectors along its rows: see IsOfImages.
  bool by_image = false;
};

/// An operand that is read again and again, one iterator per dimension, and whose order in memory
/// is not ours to choose ahead of time: copying it once into the order of the tiles pays.
struct Operand {
  int read_index;
  bool vectorized;  ///< moves with the innermost spatial iterator
};

std::optional<int> SingleIterator(const tensor::Expr& index) {
  if (index->op != tensor::ExprOp::kIter) return std::nullopt;
  return index->index;
}

std::vector<Operand> PackableOperands(const tensor::Program& program, tensor::BlockId id) {
  const tensor::Block& block = program.blocks[id];
  const int innermost_spatial = LastSpatialIter(block);
  std::vector<Operand> operands;
  int read_index = -1;
  std::vector<tensor::Expr> loads;
  tensor::Visit(block.value, [&](const tensor::Expr& e) {
    if (e->op == tensor::ExprOp::kLoad) loads.push_back(e);
  });
  for (const tensor::Expr& load : loads) {
    ++read_index;
    if (program.buffers[load->index].role == tensor::BufferRole::kConstant) continue;
    bool plain = true, vectorized = false, reduces = false;
    for (const tensor::Expr& index : load->operands) {
      if (tensor::IsIntLiteral(index, 0)) continue;
      const std::optional<int> iter = SingleIterator(index);
      plain &= iter.has_value();
      if (!iter) continue;
      vectorized |= *iter == innermost_spatial;
      reduces |= block.iters[*iter].kind == tensor::IterKind::kReduction;
    }
    if (plain && reduces) operands.push_back({read_index, vectorized});
  }
  return operands;
}

/// Whether an instruction sums up products both of whose factors differ from lane to lane, as in a
/// depthwise convolution: putting the elements that it takes together may cost more than it saves.
bool MayBeOneByOne(const tensor::Program& program, tensor::BlockId id,
                   const target::Target& target) {
  if (!FindDotAxis(program, id, target)) return false;
  const tensor::Block& block = program.blocks[id];
  const std::optional<tensor::DotProduct> product = tensor::MatchDotProduct(block);
  const int lane = LastSpatialIter(block);
  return Mentions(product->a.load, lane) && Mentions(product->b.load, lane);
}

/// Whether a copy reads the buffer, or what it is made from, along another iterator than its last.
bool ReadsAcross(const tensor::Program& program, tensor::BlockId copy) {
  if (copy < 0 || program.blocks[copy].kind != tensor::BlockKind::kPlain) return false;
  const int last = LastSpatialIter(program.blocks[copy]);
  bool across = false;
  tensor::Visit(program.blocks[copy].value, [&](const tensor::Expr& e) {
    if (e->op != tensor::ExprOp::kLoad || e->operands.empty()) return;
    const tensor::Expr& place = e->operands.back();
    across = across || (!Mentions(place, last) && !tensor::IsIntLiteral(place, 0));
  });
  return across;
}

/// Whether each step of the last spatial iterator, a channel, is a computation of its own from one
/// image to another that lie in memory row by row, as in a depthwise convolution of a model that
/// keeps channels first. Elements of several channels need not be brought together, then.
bool IsOfImages(const tensor::Program& program, tensor::BlockId id) {
  const tensor::Block& block = program.blocks[id];
  const int channel = LastSpatialIter(block);
  bool alone = true, from_images = false;
  tensor::Visit(block.value, [&](const tensor::Expr& e) {
    if (e->op != tensor::ExprOp::kLoad) return;
    alone = alone && Mentions(e, channel);
    from_images = from_images || ReadsAcross(program, program.WriterOf(e->index));
  });
  return alone && from_images && ReadsAcross(program, ElementwiseConsumer(program, id));
}

std::vector<Variant> VariantsFor(const tensor::Program& program, tensor::BlockId id,
                                 const target::Target& target, bool has_epilogue) {
  bool first = false, second = false;
  for (const Operand& operand : PackableOperands(program, id)) {
    (operand.vectorized ? second : first) = true;
  }
  // Tiles that overlap are computed aside: only what is stored at the end is the same in both.
  const bool overlap = !OverlappingIters(program.blocks[id]).empty();
  const int level = has_epilogue || overlap ? 2 : 0;
  std::vector<Variant> variants = {{level, false, false}};
  if (second) {
    variants.push_back({level, false, true});
    variants.push_back({level, first, true});
  } else {
    variants.push_back({1, false, false});
    if (first) variants.push_back({level, true, false});
  }
  for (Variant& variant : variants) variant.overlap = overlap;
  if (MayBeOneByOne(program, id, target)) {
    variants.push_back(variants.front());
    variants.back().one_by_one = true;
  }
  if (IsOfImages(program, id)) {
    variants.push_back(variants.front());
    variants.back().by_image = true;
  }
  return variants;
}

Status Pack(tensor::Schedule& schedule, tensor::BlockVar block, const Variant& variant) {
  std::vector<Operand> operands = PackableOperands(schedule.program(), schedule.Get(block));
  for (const Operand& operand : operands) {
    if (!(operand.vectorized ? variant.pack_second : variant.pack_first)) continue;
    Result<tensor::BlockVar> copy =
        schedule.CacheRead(block, operand.read_index, tensor::StorageScope::kGlobal);
    if (!copy) return copy.error();
    if (Status s = schedule.Annotate(*copy, kPacked, 1); !s) return s;
  }
  return Ok();
}

Result<tensor::Schedule> Apply(tensor::Schedule schedule, const std::string& name,
                               const Variant& variant, const target::Target& target) {
  Result<tensor::BlockVar> block = schedule.GetBlock(name);
  if (!block) return block.error();
  std::optional<tensor::BlockVar> epilogue;
  if (ElementwiseConsumer(schedule.program(), schedule.Get(*block)) >= 0) {
    Result<std::vector<tensor::BlockVar>> consumers = schedule.GetConsumers(*block);
    if (!consumers) return consumers.error();
    epilogue = consumers->front();
  } else if (variant.epilogue_level > 0) {
    Result<tensor::BlockVar> copy = schedule.CacheWrite(*block, tensor::StorageScope::kLocal);
    if (!copy) return copy.error();
    epilogue = *copy;
  }
  if (Status s = Pack(schedule, *block, variant); !s) return s.error();
  Result<std::vector<tensor::LoopVar>> loops = schedule.GetLoops(*block);
  if (!loops) return loops.error();
  LevelTiling tiling;
  tiling.overlap = variant.overlap;
  if (variant.by_image) {
    tiling.whole = LastSpatialIter(schedule.program().blocks[schedule.Get(*block)]);
  }
  if (!variant.one_by_one) {
    tiling.dot = FindDotAxis(schedule.program(), schedule.Get(*block), target);
  }
  Result<std::array<tensor::LoopVar, 2>> levels =
      TileInLevels(schedule, *block, *std::move(loops), tiling);
  if (!levels) return levels.error();
  if (epilogue && variant.epilogue_level > 0) {
    const tensor::LoopVar at = (*levels)[variant.epilogue_level - 1];
    if (Status s = schedule.ReverseComputeAt(*epilogue, at); !s) return s.error();
  }
  if (Status s = schedule.Annotate(*block, kTiled, 1); !s) return s.error();
  return schedule;
}

}  // namespace

std::vector<tensor::Schedule> MultiLevelTiling(tensor::Schedule schedule, const std::string& name,
                                               const target::Target& target) {
  const tensor::BlockId id = schedule.program().FindBlock(name);
  if (!HasDataReuse(schedule.program(), id)) return {std::move(schedule)};
  const bool has_epilogue = ElementwiseConsumer(schedule.program(), id) >= 0;
  std::vector<tensor::Schedule> alternatives;
  for (Variant variant : VariantsFor(schedule.program(), id, target, has_epilogue)) {
    Result<tensor::Schedule> tiled = Apply(schedule, name, variant, target);
    if (!tiled && std::exchange(variant.overlap, false)) {
      tiled = Apply(schedule, name, variant, target);
    }
    if (tiled) alternatives.push_back(*std::move(tiled));
  }
  if (alternatives.empty()) alternatives.push_back(std::move(schedule));
  return alternatives;
}

}  // namespace bayloom::sketch
