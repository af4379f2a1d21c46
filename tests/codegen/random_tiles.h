// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "bayloom/tensor/primitives.h"
#include "bayloom/tensor/trace.h"

namespace bayloom::testing {

/// Splits every loop around a block into random tiles, ordered S S R S R S as a tuner would; the
/// innermost spatial loop is vectorized. Where `depth` is more than 1, the last reduction's
/// innermost part is so long and tensorized. Returns the loops of the two outer spatial levels,
/// outermost first.
inline std::vector<tensor::LoopId> TileAtRandom(tensor::Program& program, tensor::BlockId block,
                                                base::RandomStream& random, int64_t depth = 1) {
  std::vector<tensor::Iter> iters = program.blocks[block].iters;
  std::vector<tensor::LoopId> loops = program.LoopsAround(tensor::NodeRef::Block(block));
  tensor::LoopId at_once = -1;
  if (depth > 1) {
    const auto parts = *tensor::Split(program, loops.back(), std::vector<int64_t>{-1, depth});
    loops.back() = parts[0];
    iters.back().extent /= depth;
    at_once = parts[1];
  }
  std::vector<std::vector<tensor::LoopId>> levels(6);
  tensor::LoopId lanes = -1;
  for (size_t i = 0; i < iters.size(); ++i) {
    const bool spatial = iters[i].kind == tensor::IterKind::kSpatial;
    const int parts = spatial ? 4 : 2;
    const auto tile = *tensor::SamplePerfectTiling(iters[i].extent, parts, 64, random);
    const std::vector<tensor::LoopId> split = *tensor::Split(program, loops[i], tile);
    const std::vector<int> order = spatial ? std::vector{0, 1, 3, 5} : std::vector{2, 4};
    for (int part = 0; part < parts; ++part) levels[order[part]].push_back(split[part]);
    if (spatial) lanes = split.back();
  }
  if (at_once >= 0) levels[4].push_back(at_once);
  std::vector<tensor::LoopId> order;
  for (std::vector<tensor::LoopId>& level : levels) {
    if (random.UniformInt(4) == 0 && &level != &levels[4]) random.Shuffle(level);
    order.insert(order.end(), level.begin(), level.end());
  }
  EXPECT_TRUE(tensor::Reorder(program, order).ok());
  if (at_once >= 0) {
    EXPECT_TRUE(tensor::Tensorize(program, at_once).ok());
  }
  if (order.back() == lanes) (void)tensor::Vectorize(program, lanes);
  std::vector<tensor::LoopId> outer = levels[0];
  outer.insert(outer.end(), levels[1].begin(), levels[1].end());
  return outer;
}

/// The first loop nest is unrolled to a random degree, its outermost loop parallel or not.
inline void UnrollAndParallelizeAtRandom(tensor::Program& program, base::RandomStream& random) {
  const tensor::LoopId outermost = program.roots.front().id;
  constexpr int64_t kSteps[] = {0, 16, 512};
  EXPECT_TRUE(tensor::AnnotateUnroll(program, outermost, kSteps[random.UniformInt(3)]).ok());
  if (random.UniformInt(3) > 0) (void)tensor::Parallelize(program, outermost);
}

}  // namespace bayloom::testing
