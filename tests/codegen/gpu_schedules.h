// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/tensor/access.h"
#include "bayloom/tensor/async_copy.h"
#include "bayloom/tensor/loop_tree.h"
#include "bayloom/tensor/primitives.h"
#include "bayloom/tensor/trace.h"

namespace bayloom::testing {

/// Schedules a naive program for a GPU, at random: products in tiles with stages in shared memory
/// and accumulators in registers, reductions shared by threads, rows worked on by a block of
/// threads in several phases, everything else distributed to a grid. What a primitive refuses is
/// left out.
class GpuScheduler {
 public:
  GpuScheduler(tensor::Program& program, base::RandomStream random)
      : program_(program), random_(random) {}

  void Run() {
    for (tensor::BlockId block : program_.BlocksInOrder()) {
      if (program_.blocks[block].kind == tensor::BlockKind::kPlain && Chance(50)) {
        (void)tensor::ComputeInline(program_, block);
      }
    }
    if (Chance(35)) WorkOnRows();
    for (tensor::BlockId block : program_.BlocksInOrder()) {
      if (!IsPlain(block) || program_.blocks[block].kind != tensor::BlockKind::kReduce) continue;
      const int64_t way = random_.UniformInt(10);
      if (way < 6) {
        Tile(block);
      } else if (way < 9) {
        ShareReduction(block);
      }
    }
    for (tensor::NodeRef root : std::vector(program_.roots)) {
      if (root.is_loop() && program_.loops[root.id].kind == tensor::LoopKind::kSerial)
        Distribution(root.id);
    }
  }

 private:
  using Loops = std::vector<tensor::LoopId>;

  bool Chance(int64_t percent) { return random_.UniformInt(100) < percent; }
  template <typename T>
  T OneOf(std::initializer_list<T> choices) {
    return choices.begin()[random_.UniformInt(static_cast<int64_t>(choices.size()))];
  }
  Loops LoopsOf(tensor::BlockId block) const {
    return program_.LoopsAround(tensor::NodeRef::Block(block));
  }
  /// One serial loop around for each iterator, and nothing else in them.
  bool IsPlain(tensor::BlockId id) const {
    const Loops loops = LoopsOf(id);
    bool plain = program_.blocks[id].alive && loops.size() == program_.blocks[id].iters.size();
    for (tensor::LoopId loop : loops) {
      plain &= program_.loops[loop].kind == tensor::LoopKind::kSerial &&
               program_.loops[loop].body.size() == 1;
    }
    return plain && !loops.empty();
  }
  tensor::LoopId FuseAll(const Loops& loops) {
    if (loops.empty()) return -1;
    if (loops.size() == 1) return loops[0];
    const auto fused = tensor::Fuse(program_, loops);
    return fused ? *fused : -1;
  }

  /// Loops around a block inside of another loop.
  Loops Inside(tensor::BlockId block, tensor::LoopId outer) const {
    Loops loops = LoopsOf(block);
    loops.erase(loops.begin(), std::find(loops.begin(), loops.end(), outer) + 1);
    return loops;
  }

  void Cooperate(tensor::BlockId block, tensor::LoopId inside, int64_t threads = 0) {
    tensor::LoopId loop = FuseAll(Inside(block, inside));
    if (loop < 0) return;
    const int64_t width = OneOf({1, 1, 2, 4});
    if (width > 1) {
      const auto parts = tensor::Split(program_, loop, std::vector<int64_t>{-1, width});
      if (parts) {
        loop = (*parts)[0];
        (void)tensor::Vectorize(program_, (*parts)[1]);
      }
    }
    (void)tensor::Bind(program_, loop, tensor::LoopKind::kCooperative, threads);
  }

  // --- Tiles -----------------------------------------------------------------------------------

  /// Copies of what a block reads, to be put into shared memory.
  std::vector<tensor::BlockId> StagesOf(tensor::BlockId block) {
    std::vector<tensor::BlockId> stages;
    std::vector<tensor::BufferId> seen;
    for (const tensor::Access& access : tensor::AccessesOf(program_, block)) {
      const bool again = std::count(seen.begin(), seen.end(), access.buffer) > 0;
      if (access.is_write || again || Chance(25)) continue;
      seen.push_back(access.buffer);
      const tensor::BlockId writer = program_.WriterOf(access.buffer);
      const bool own = writer >= 0 && IsPlain(writer) &&
                       program_.blocks[writer].kind == tensor::BlockKind::kPlain &&
                       program_.ReadersOf(access.buffer).size() == 1 &&
                       program_.buffers[access.buffer].role == tensor::BufferRole::kIntermediate;
      if (own && Chance(70)) {
        (void)tensor::SetScope(program_, access.buffer, tensor::StorageScope::kShared);
        stages.push_back(writer);
      } else if (const auto copy = tensor::CacheRead(program_, block, access.buffer,
                                                     tensor::StorageScope::kShared)) {
        stages.push_back(*copy);
      }
    }
    return stages;
  }

  /// Tiles in the order of an iterator's digits: blocks, what a thread strides over, threads, what
  /// is next to each other; reductions outer and inner.
  struct Tiles {
    std::vector<std::vector<int64_t>> factors;
    int64_t threads = 1, elements = 1;
  };
  Tiles DrawTiles(const std::vector<tensor::Iter>& iters) {
    for (int tries = 0; tries < 1000; ++tries) {
      Tiles tiles;
      for (const tensor::Iter& iter : iters) {
        const bool spatial = iter.kind == tensor::IterKind::kSpatial;
        tiles.factors.push_back(
            *tensor::SamplePerfectTiling(iter.extent, spatial ? 4 : 2, 64, random_));
        if (!spatial) continue;
        const std::vector<int64_t>& f = tiles.factors.back();
        tiles.threads *= f[2];
        tiles.elements *= f[1] * f[3];
      }
      if (tiles.threads <= 256 && tiles.elements <= 48) return tiles;
    }
    Tiles none;
    for (const tensor::Iter& iter : iters) {
      none.factors.push_back(iter.kind == tensor::IterKind::kSpatial
                                 ? std::vector<int64_t>{iter.extent, 1, 1, 1}
                                 : std::vector<int64_t>{iter.extent, 1});
    }
    return none;
  }

  void Tile(tensor::BlockId block) {
    const std::vector<tensor::Iter> iters = program_.blocks[block].iters;
    const auto copy = tensor::CacheWrite(program_, block, tensor::StorageScope::kLocal);
    const std::vector<tensor::BlockId> stages = StagesOf(block);
    const Tiles tiles = DrawTiles(iters);
    const Loops loops = LoopsOf(block);
    Loops blocks, strides, threads, inner, outer_steps, steps;
    for (size_t i = 0; i < iters.size(); ++i) {
      const Loops parts = *tensor::Split(program_, loops[i], tiles.factors[i]);
      if (iters[i].kind == tensor::IterKind::kReduction) {
        outer_steps.push_back(parts[0]);
        steps.push_back(parts[1]);
        continue;
      }
      blocks.push_back(parts[0]);
      strides.push_back(parts[1]);
      threads.push_back(parts[2]);
      inner.push_back(parts[3]);
    }
    Loops order;
    for (const Loops* level : {&blocks, &threads, &outer_steps, &steps, &strides, &inner}) {
      order.insert(order.end(), level->begin(), level->end());
    }
    (void)tensor::Reorder(program_, order);
    const tensor::LoopId grid = FuseAll(blocks), team = FuseAll(threads);
    if (grid >= 0) (void)tensor::Bind(program_, grid, tensor::LoopKind::kBlockX);
    if (team >= 0) {
      (void)tensor::Bind(program_, team, tensor::LoopKind::kThreadX);
      if (copy) (void)tensor::ReverseComputeAt(program_, *copy, team);
      (void)tensor::AnnotateUnroll(program_, team, OneOf({0, 0, 16, 64}));
    }
    const int64_t at_a_time = OneOf<int64_t>({1, 1, 2, 3, 4});
    for (tensor::BlockId stage : stages) Stage(stage, outer_steps, at_a_time);
    if (Chance(80)) (void)tensor::DecomposeReduction(program_, block, outer_steps.front());
  }

  void Stage(tensor::BlockId stage, const Loops& outer_steps, int64_t at_a_time) {
    (void)tensor::Annotate(program_, stage, tensor::kAsyncStages, at_a_time);
    const tensor::LoopId at = Chance(80) ? outer_steps.back() : outer_steps.front();
    if (tensor::ComputeAt(program_, stage, at)) return Cooperate(stage, at);
    (void)tensor::SetScope(program_, program_.blocks[stage].output, tensor::StorageScope::kGlobal);
  }

  // --- Reductions ------------------------------------------------------------------------------

  int64_t ReducingThreads() { return OneOf<int64_t>({0, 2, 4, 8, 16, 32, 64, 96, 128}); }

  void ShareReduction(tensor::BlockId block) {
    const std::vector<tensor::Iter> iters = program_.blocks[block].iters;
    const Loops loops = LoopsOf(block);
    Loops spatial, reduction;
    for (size_t i = 0; i < iters.size(); ++i) {
      (iters[i].kind == tensor::IterKind::kSpatial ? spatial : reduction).push_back(loops[i]);
    }
    tensor::LoopId shared = FuseAll(reduction);
    const tensor::LoopId rows = FuseAll(spatial);
    if (shared < 0) return;
    if (Chance(30)) {
      const auto tile = *tensor::SamplePerfectTiling(program_.ExtentOf(shared), 2, 8, random_);
      if (const auto parts = tensor::Split(program_, shared, tile)) shared = (*parts)[0];
    }
    const int64_t threads = ReducingThreads();
    if (rows >= 0) {
      const int64_t most = std::max<int64_t>(1, 256 / std::max<int64_t>(threads, 32));
      const auto tile = *tensor::SamplePerfectTiling(program_.ExtentOf(rows), 2, most, random_);
      const auto parts = tensor::Split(program_, rows, tile);
      (void)tensor::Bind(program_, parts ? (*parts)[0] : rows, tensor::LoopKind::kBlockX);
      if (parts && threads > 0)
        (void)tensor::Bind(program_, (*parts)[1], tensor::LoopKind::kThreadX);
    }
    (void)tensor::Bind(program_, shared, tensor::LoopKind::kThreadReduce, threads);
  }

  /// The last block's outermost loop becomes one over blocks; what it needs is computed inside, in
  /// shared memory, by all threads.
  void WorkOnRows() {
    const std::vector<tensor::BlockId> blocks = program_.BlocksInOrder();
    const tensor::BlockId last = blocks.back();
    if (!IsPlain(last) || program_.blocks[last].kind != tensor::BlockKind::kPlain ||
        LoopsOf(last).size() < 2) {
      return;
    }
    const tensor::LoopId row = LoopsOf(last)[0];
    if (!tensor::Bind(program_, row, tensor::LoopKind::kBlockX)) return;
    const int64_t threads = OneOf<int64_t>({32, 64, 96});
    for (auto block = blocks.rbegin() + 1; block != blocks.rend(); ++block) {
      if (!tensor::ComputeAt(program_, *block, row)) continue;
      (void)tensor::SetScope(program_, program_.blocks[*block].output,
                             tensor::StorageScope::kShared);
      if (program_.blocks[*block].kind == tensor::BlockKind::kPlain || Chance(20)) {
        Cooperate(*block, row, threads);
      } else {
        ShareInside(*block, row);
      }
    }
    Cooperate(last, row, threads);
  }

  void ShareInside(tensor::BlockId block, tensor::LoopId row) {
    Loops reduction;
    for (tensor::LoopId loop : Inside(block, row)) {
      if (!tensor::CheckParallel(program_, loop) && program_.ExtentOf(loop) > 1) {
        reduction.push_back(loop);
      }
    }
    const tensor::LoopId shared = FuseAll(reduction);
    if (shared >= 0) {
      (void)tensor::Bind(program_, shared, tensor::LoopKind::kThreadReduce, ReducingThreads());
    }
  }

  // --- Everything else -------------------------------------------------------------------------

  void Distribution(tensor::LoopId outermost) {
    Loops chain;
    for (tensor::NodeRef at = tensor::NodeRef::Loop(outermost); at.is_loop();) {
      const tensor::Loop& loop = program_.loops[at.id];
      if (loop.kind != tensor::LoopKind::kSerial || !tensor::CheckParallel(program_, at.id)) break;
      chain.push_back(at.id);
      if (loop.body.size() != 1) break;
      at = loop.body[0];
    }
    if (chain.size() > 1 && Chance(30) && tensor::Vectorize(program_, chain.back())) {
      chain.pop_back();
    }
    if (chain.empty()) return;
    if (chain.size() > 1 && Chance(40)) {
      const tensor::LoopId first = chain.front();
      chain.erase(chain.begin());
      (void)tensor::Bind(program_, first, tensor::LoopKind::kBlockX);
      const tensor::LoopId rest = FuseAll(chain);
      const bool threads = rest >= 0 && program_.ExtentOf(rest) <= 512 && Chance(50);
      if (rest >= 0) {
        (void)tensor::Bind(program_, rest,
                           threads ? tensor::LoopKind::kThreadX : tensor::LoopKind::kCooperative);
      }
      return;
    }
    const tensor::LoopId all = FuseAll(chain);
    if (all < 0) return;
    (void)tensor::Bind(program_, all, tensor::LoopKind::kGridThread,
                       OneOf<int64_t>({0, 32, 64, 96, 256}));
  }

  tensor::Program& program_;
  base::RandomStream random_;
};

}  // namespace bayloom::testing
