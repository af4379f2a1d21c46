// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <span>

#include "bayloom/sketch/analysis.h"
#include "bayloom/sketch/derivations/derivations.h"
#include "bayloom/sketch/rules/rules.h"
#include "bayloom/sketch/tile_levels.h"
#include "bayloom/tensor/access.h"

namespace bayloom::sketch {
namespace {

/// With less, transforming costs more than products that are saved.
constexpr int64_t kMinWinogradChannels = 16;
constexpr double kMinSaving = 1.5;
/// Transforming larger tiles costs more: they have to save so much more than those of 4.
constexpr int64_t kCommonTile = 4;
constexpr double kMinFurtherSaving = 1.1;
/// Loops around tiles, and around blocks of them.
constexpr size_t kTileLoops = 4, kTileBlockLoops = 3;

/// How the phases follow each other.
enum class Phases {
  kWhole,    ///< each over the whole image
  kByTiles,  ///< all of them for a block of tiles, then for the next
};

/// The blocks that replace a convolution, but for the copies that make whole tiles.
struct WinogradStages {
  tensor::BlockVar rows, tiles, products, sums, outputs;
};

/// Products that the definition needs over those that tiles need, for an image [n, h, w, k].
double SavingOf(const std::vector<int64_t>& shape, int64_t tile) {
  const auto tiles =
      static_cast<double>(((shape[1] + tile - 1) / tile) * ((shape[2] + tile - 1) / tile));
  const auto size = static_cast<double>(tile + 2);
  return 9.0 * static_cast<double>(shape[1] * shape[2]) / (size * size * tiles);
}

/// Whether products are saved by tiles that are worth their transforming.
bool Promises(const tensor::Program& program, const tensor::Block& block, int64_t tile) {
  const std::vector<int64_t>& shape = program.buffers[block.output].shape;
  if (shape.size() != 4 || shape[3] < kMinWinogradChannels) return false;
  if (ReductionExtent(block) < 9 * kMinWinogradChannels) return false;
  const double saving = SavingOf(shape, tile);
  if (tile > kCommonTile && saving < kMinFurtherSaving * SavingOf(shape, kCommonTile)) return false;
  return saving >= kMinSaving;
}

/// Splits the channels' loop so that its inner part is one vector.
Result<std::vector<tensor::LoopVar>> SplitChannels(tensor::Schedule& schedule, tensor::LoopVar loop,
                                                   const target::Target& target) {
  const int64_t extent = schedule.program().ExtentOf(schedule.Get(loop));
  int64_t lanes = std::min<int64_t>(std::max(target.vector_bytes / 4, 1), extent);
  while (extent % lanes != 0) --lanes;
  return schedule.Split(loop, std::vector<int64_t>{-1, lanes});
}

/// Puts the last loops of a nest into an order, given by their places among them.
Status ReorderLast(tensor::Schedule& schedule, std::span<const tensor::LoopVar> loops,
                   std::span<const size_t> order) {
  std::vector<tensor::LoopVar> ordered;
  for (size_t place : order) ordered.push_back(loops[place]);
  return schedule.Reorder(ordered);
}

/// Both steps of a transform: the second tile by tile and vector by vector, with `loops` in the
/// order that it is to have, whose next to last is unrolled; the first under it, at loop `at`.
Status NestTransforms(tensor::Schedule& schedule, const std::vector<tensor::LoopVar>& loops,
                      tensor::BlockVar first, tensor::LoopVar at, size_t outer,
                      std::span<const size_t> first_order) {
  if (Status s = schedule.Reorder(loops); !s) return s;
  if (Status s = schedule.Unroll(loops[loops.size() - 2]); !s) return s;
  if (Status s = schedule.ComputeAt(first, at); !s) return s;
  Result<std::vector<tensor::LoopVar>> inner = schedule.GetLoops(first);
  if (!inner) return inner.error();
  const std::span<const tensor::LoopVar> own = std::span(*inner).subspan(outer);
  if (Status s = ReorderLast(schedule, own, first_order); !s) return s;
  return schedule.Unroll(own[first_order[first_order.size() - 2]]);
}

/// Tiles of the image: its columns after its rows, both in cache.
Status ScheduleInput(tensor::Schedule& schedule, const WinogradStages& stages, size_t outer,
                     const target::Target& target) {
  Result<std::vector<tensor::LoopVar>> loops = schedule.GetLoops(stages.tiles);
  if (!loops) return loops.error();
  const std::span<const tensor::LoopVar> own = std::span(*loops).subspan(outer);
  Result<std::vector<tensor::LoopVar>> channels = SplitChannels(schedule, own[5], target);
  if (!channels) return channels.error();
  // Iterators of both: i, j, n, th, tw, c and i, n, th, w, c.
  const std::vector<tensor::LoopVar> order = {own[2], own[3], own[4],        (*channels)[0],
                                              own[0], own[1], (*channels)[1]};
  return NestTransforms(schedule, order, stages.rows, (*channels)[0], outer + kTileLoops,
                        std::array<size_t, 5>{1, 2, 3, 0, 4});
}

/// The outputs of tiles, with what follows elementwise. Returns the loop around a block of tiles,
/// if there is one.
Result<tensor::LoopVar> ScheduleOutput(tensor::Schedule& schedule, const WinogradStages& stages,
                                       Phases phases, const target::Target& target) {
  Result<std::vector<tensor::LoopVar>> loops = schedule.GetLoops(stages.outputs);
  if (!loops) return loops.error();
  // Iterators: n, th, p, tw, q, k; of the sums: p, j, n, th, tw, k.
  std::vector<tensor::LoopVar> order = {(*loops)[0]};
  std::vector<tensor::LoopVar> tiles = {(*loops)[1], (*loops)[3]};
  tensor::LoopVar around{};
  if (phases == Phases::kByTiles) {
    for (tensor::LoopVar& loop : tiles) {
      Result<std::vector<tensor::LoopVar>> split =
          TilePerfectly(schedule, loop, 2, kMaxInnermostFactor);
      if (!split) return split.error();
      order.push_back(around = (*split)[0]);
      loop = (*split)[1];
    }
  }
  order.insert(order.end(), tiles.begin(), tiles.end());
  Result<std::vector<tensor::LoopVar>> channels = SplitChannels(schedule, (*loops)[5], target);
  if (!channels) return channels.error();
  const tensor::LoopVar at = (*channels)[0];
  order.push_back(at);
  const size_t outer = order.size();
  for (tensor::LoopVar loop : {(*loops)[2], (*loops)[4], (*channels)[1]}) order.push_back(loop);
  if (Status s = NestTransforms(schedule, order, stages.sums, at, outer,
                                std::array<size_t, 6>{2, 3, 4, 1, 0, 5});
      !s) {
    return s.error();
  }
  if (ElementwiseConsumer(schedule.program(), schedule.Get(stages.outputs)) >= 0) {
    Result<std::vector<tensor::BlockVar>> consumers = schedule.GetConsumers(stages.outputs);
    if (!consumers) return consumers.error();
    if (Status s = schedule.ReverseComputeAt(consumers->front(), at); !s) return s.error();
  }
  return around;
}

Status ScheduleProducts(tensor::Schedule& schedule, const WinogradStages& stages, size_t outer) {
  Result<std::vector<tensor::LoopVar>> loops = schedule.GetLoops(stages.products);
  if (!loops) return loops.error();
  loops->erase(loops->begin(), loops->begin() + static_cast<std::ptrdiff_t>(outer));
  constexpr size_t kBatch = 3;  // i, j, n
  Result<std::array<tensor::LoopVar, 2>> levels =
      TileInLevels(schedule, stages.products, *std::move(loops), {.batch = kBatch});
  if (!levels) return levels.error();
  return schedule.Annotate(stages.products, kTiled, 1);
}

/// Where the padded image is computed: a decision.
Status PlaceImage(tensor::Schedule& schedule, const WinogradStages& stages) {
  const tensor::Program& program = schedule.program();
  const tensor::BufferId image = tensor::AccessesOf(program, schedule.Get(stages.rows))[0].buffer;
  const tensor::BlockId padding = program.WriterOf(image);
  if (padding < 0 || program.blocks[padding].kind != tensor::BlockKind::kPlain) return Ok();
  Result<tensor::BlockVar> block = schedule.GetBlock(program.blocks[padding].name);
  if (!block) return block.error();
  Result<tensor::LoopVar> location = schedule.SampleComputeLocation(*block);
  if (!location) return location.error();
  return schedule.ComputeAt(*block, *location);
}

/// Folds a copy into what reads it, where that is legal.
void TryInline(tensor::Schedule& schedule, tensor::BlockId copy) {
  Result<tensor::BlockVar> block = schedule.GetBlock(schedule.program().blocks[copy].name);
  if (block) (void)schedule.ComputeInline(*block);
}

/// What was made only to have whole tiles is no further copy: the image is padded and extended in
/// one step, and the outputs are read where they are.
void InlineCopies(tensor::Schedule& schedule, tensor::BlockVar extension, tensor::BlockVar crop) {
  const tensor::Program& program = schedule.program();
  const tensor::BufferId image = tensor::AccessesOf(program, schedule.Get(extension))[0].buffer;
  const tensor::BlockId padding = program.WriterOf(image);
  if (padding >= 0) TryInline(schedule, padding);
  TryInline(schedule, schedule.Get(crop));
}

Result<tensor::Schedule> ScheduleWinograd(tensor::Schedule schedule, const std::string& name,
                                          int64_t tile, Phases phases,
                                          const target::Target& target) {
  Result<tensor::BlockVar> block = schedule.GetBlock(name);
  if (!block) return block.error();
  Result<std::vector<tensor::BlockVar>> made = schedule.Winograd(*block, tile);
  if (!made) return made.error();
  constexpr size_t kAlways = 5;
  const bool in_whole_tiles = made->size() == kAlways;
  const size_t first = in_whole_tiles ? 0 : 1;
  if (!in_whole_tiles) InlineCopies(schedule, made->front(), made->back());
  const WinogradStages stages{(*made)[first], (*made)[first + 1], (*made)[first + 2],
                              (*made)[first + 3], (*made)[first + 4]};
  Result<tensor::LoopVar> around = ScheduleOutput(schedule, stages, phases, target);
  if (!around) return around.error();
  size_t outer = 0;
  if (phases == Phases::kByTiles) {
    outer = kTileBlockLoops;
    if (Status s = schedule.ComputeAt(stages.products, *around); !s) return s.error();
    if (Status s = schedule.ComputeAt(stages.tiles, *around); !s) return s.error();
  }
  if (Status s = ScheduleInput(schedule, stages, outer, target); !s) return s.error();
  if (Status s = ScheduleProducts(schedule, stages, outer); !s) return s.error();
  if (Status s = PlaceImage(schedule, stages); !s) return s.error();
  return schedule;
}

}  // namespace

bool PromisesWinograd(const tensor::Schedule& schedule, const std::string& name) {
  const tensor::Program& program = schedule.program();
  const tensor::Block& block = program.blocks[program.FindBlock(name)];
  return std::ranges::any_of(std::array{2, 4}, [&](int64_t tile) {
    tensor::Schedule derived = schedule;
    const Result<tensor::BlockVar> var = derived.GetBlock(name);
    return Promises(program, block, tile) && var && derived.Winograd(*var, tile).ok();
  });
}

Derivation WinogradDerivation(int64_t tile) {
  return [tile](const tensor::Schedule& schedule, const std::string& name,
                const target::Target& target) {
    const tensor::Program& program = schedule.program();
    std::vector<tensor::Schedule> derived;
    if (!Promises(program, program.blocks[program.FindBlock(name)], tile)) return derived;
    for (Phases phases : {Phases::kWhole, Phases::kByTiles}) {
      Result<tensor::Schedule> made = ScheduleWinograd(schedule, name, tile, phases, target);
      if (made) derived.push_back(*std::move(made));
    }
    return derived;
  };
}

}  // namespace bayloom::sketch
