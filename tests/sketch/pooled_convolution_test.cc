// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/pooled_convolution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "bayloom/sketch/default_schedule.h"
#include "bayloom/sketch/design_space.h"
#include "bayloom/sketch/window_chain.h"
#include "bayloom/target/named_target.h"
#include "bayloom/tensor/access.h"
#include "tests/sketch/same_result.h"
#include "tests/tensor/pooled_convolutions.h"
#include "tests/tensor/window_chains.h"
#include "tests/tensor/workloads.h"

namespace bayloom::sketch {
namespace {

using testing::PooledConvolutionShape;
using testing::PooledConvolutionWorkload;

target::Target PairTarget() {
  target::Target target;
  target.name = "test";
  target.cores = 2;
  target.vector_bytes = 32;
  return target;
}

struct NamedShape {
  std::string name;
  PooledConvolutionShape shape;
};

/// Odd and prime extents, strides, padding of both, and all that may be missing.
std::vector<NamedShape> Shapes() {
  return {{"overlapping windows", {.height = 11, .width = 9}},
          {"windows beside each other", {.height = 12, .width = 8, .pool = 2}},
          {"rows and columns left over", {.height = 11, .width = 7, .pool = 2}},
          {"unpadded", {.height = 13, .width = 11, .pad = 0}},
          {"strided", {.height = 19, .width = 17, .stride = 2}},
          {"padded pool", {.height = 12, .width = 10, .pool_pad = 1}},
          {"padded pool, odd", {.height = 13, .width = 9, .pool_pad = 1}},
          {"stem", {.height = 17, .width = 14, .kernel = 7, .stride = 2, .pad = 3, .pool_pad = 1}},
          {"dense windows", {.height = 8, .width = 7, .pool_stride = 1, .pool_pad = 1}},
          {"channels first", {.height = 15, .width = 9, .pool_pad = 1, .is_planar = true}},
          {"means", {.height = 9, .width = 10, .pool_pad = 1, .averages = true}},
          {"nothing between", {.height = 10, .width = 6, .pool_pad = 1, .activates = false}},
          {"images", {.batch = 3, .height = 8, .width = 6, .pool_pad = 1}},
          {"prime rows", {.height = 37, .width = 5, .filters = 4, .pool = 2, .pool_stride = 1}},
          {"prime columns", {.height = 5, .width = 37, .filters = 4, .pool_pad = 1}}};
}

TEST(PooledConvolutionTest, FindsTheStages) {
  const auto pair = FindPooledConvolution(PooledConvolutionWorkload({}));
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->padding, "padded");
  EXPECT_EQ(pair->convolution, "conv");
  EXPECT_EQ(pair->between, "active");
  EXPECT_EQ(pair->pool_padding, "");
  EXPECT_EQ(pair->pool, "pool");
  EXPECT_EQ(pair->output, "pool");
  const auto bare = FindPooledConvolution(
      PooledConvolutionWorkload({.pad = 0, .activates = false, .averages = true}));
  ASSERT_TRUE(bare);
  EXPECT_EQ(bare->padding, "");
  EXPECT_EQ(bare->between, "");
  EXPECT_EQ(bare->output, "mean");
}

TEST(PooledConvolutionTest, OtherWorkloadsAreNone) {
  for (const auto& [name, workload] : testing::Catalogue()) {
    EXPECT_FALSE(FindPooledConvolution(workload)) << name;
    EXPECT_FALSE(WithRowsForPool(workload)) << name;
  }
  EXPECT_FALSE(FindPooledConvolution(testing::WindowChainWorkload({})));
  EXPECT_FALSE(FindPooledConvolution(testing::WindowChainWorkload({.pools = true})));
  for (const auto& [name, shape] : Shapes()) {
    EXPECT_FALSE(FindWindowChain(PooledConvolutionWorkload(shape))) << name;
  }
}

/// A depthwise convolution has windows as a pool has, but weights with them.
TEST(PooledConvolutionTest, ADepthwiseConvolutionIsNoPool) {
  tensor::WorkloadBuilder b("pair");
  const tensor::Tensor x = b.Input("x", {1, 9, 9, 8});
  const tensor::Tensor first = tensor::Conv2d(b, "first", x, b.Constant("w", {1, 1, 8, 12}), {});
  const tensor::Workload workload =
      b.Build({tensor::DepthwiseConv2d(b, "second", first, b.Constant("v", {3, 3, 12}), {})});
  EXPECT_FALSE(WithRowsForPool(workload));
}

TEST(PooledConvolutionTest, RowsOutsideAreComputedToo) {
  const tensor::Workload workload =
      PooledConvolutionWorkload({.height = 12, .width = 10, .pool_pad = 1});
  EXPECT_FALSE(FindPooledConvolution(workload)) << "windows begin one row before the first";
  const auto with_rows = WithRowsForPool(workload);
  ASSERT_TRUE(with_rows);
  const auto pair = FindPooledConvolution(*with_rows);
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->pool_padding, "bordered");
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const tensor::Stage& stage : with_rows->stages) {
    shapes[stage.name] = with_rows->buffers[stage.output].shape;
  }
  EXPECT_EQ(shapes["padded"], (std::vector<int64_t>{1, 15, 12, 3}));
  EXPECT_EQ(shapes["conv"], (std::vector<int64_t>{1, 13, 10, 8})) << "columns are as before";
  EXPECT_EQ(shapes["active"], shapes["conv"]);
  EXPECT_EQ(shapes["bordered"], (std::vector<int64_t>{1, 14, 12, 8}));
}

TEST(PooledConvolutionTest, RowsWithoutPaddingForThemAreRefused) {
  EXPECT_FALSE(WithRowsForPool(PooledConvolutionWorkload({.pad = 0, .pool_pad = 1})));
}

/// Its products are fewer than any tile saves by staying in a cache.
TEST(PooledConvolutionTest, WhatWinogradsAlgorithmComputesIsLeftToIt) {
  const PooledConvolutionShape shape = {.height = 16, .width = 16, .channels = 16, .filters = 16};
  EXPECT_FALSE(WithRowsForPool(PooledConvolutionWorkload(shape)));
  PooledConvolutionShape strided = shape;
  strided.stride = 2;
  EXPECT_TRUE(WithRowsForPool(PooledConvolutionWorkload(strided)));
}

TEST(PooledConvolutionTest, AddedRowsChangeNothing) {
  for (const auto& [name, shape] : Shapes()) {
    SCOPED_TRACE(name);
    const tensor::Workload workload = PooledConvolutionWorkload(shape);
    const auto with_rows = WithRowsForPool(workload);
    ASSERT_TRUE(with_rows);
    ExpectSameResult(workload, tensor::Lower(*with_rows), 0);
  }
}

/// Of what the convolution gives there is only what a tile of the pool needs.
TEST(PooledConvolutionTest, RandomSchedulesComputeTheSameTileByTile) {
  for (const auto& [name, shape] : Shapes()) {
    SCOPED_TRACE(name);
    const tensor::Workload workload = PooledConvolutionWorkload(shape);
    const SpaceGenerator generator(*WithRowsForPool(workload), PairTarget());
    ASSERT_EQ(generator.spaces().size(), shape.pad > 0 ? 2u : 1u);
    std::set<uint64_t> hashes;
    int64_t smallest = INT64_MAX;
    for (int space = 0; space < static_cast<int>(generator.spaces().size()); ++space) {
      for (int seed = 0; seed < 16; ++seed) {
        const Result<Candidate> candidate = generator.Sample(space, base::RandomStream(seed));
        ASSERT_TRUE(candidate.ok()) << candidate.error().message;
        const tensor::Program& program = candidate->program;
        ExpectSameResult(workload, program, 1e-4);
        hashes.insert(candidate->hash);
        const tensor::BlockId pool = program.FindBlock("pool");
        const tensor::Allocation held =
            tensor::AllocationOf(program, tensor::AccessesOf(program, pool).front().buffer);
        int64_t elements = 1;
        for (int64_t extent : held.shape) elements *= extent;
        smallest = std::min(smallest, elements);
      }
    }
    EXPECT_GT(hashes.size(), 10u);
    const int64_t columns = (shape.width + 2 * shape.pad - shape.kernel) / shape.stride + 1;
    EXPECT_LE(smallest, 2 * shape.pool * columns * shape.filters);
  }
}

TEST(PooledConvolutionTest, NarrowTypesUseDotProductsWhereThereAreSome) {
  target::Target target = *target::LevelTarget("x86-64-v4", 2);
  target.features += ",+avx512bf16";
  const tensor::Workload workload =
      *WithRowsForPool(PooledConvolutionWorkload({.height = 8,
                                                  .width = 8,
                                                  .channels = 8,
                                                  .filters = 16,
                                                  .pool_pad = 1,
                                                  .dtype = tensor::DType::kBFloat16}));
  const SpaceGenerator generator(workload, target);
  for (int space = 0; space < static_cast<int>(generator.spaces().size()); ++space) {
    for (int seed = 0; seed < 6; ++seed) {
      const Result<Candidate> candidate = generator.Sample(space, base::RandomStream(seed));
      ASSERT_TRUE(candidate.ok()) << candidate.error().message;
      EXPECT_TRUE(std::ranges::any_of(candidate->program.loops, [](const tensor::Loop& loop) {
        return loop.alive && loop.kind == tensor::LoopKind::kTensorized;
      }));
      ExpectSameResult(workload, candidate->program, 0.02);
    }
  }
}

TEST(PooledConvolutionTest, ThePlainProgramComputesWhatIsBetweenOnce) {
  const tensor::Workload workload = PooledConvolutionWorkload({});
  const tensor::Program program = DefaultSchedule(workload, PairTarget());
  EXPECT_GE(program.FindBlock("active"), 0);
  ExpectSameResult(workload, program, 1e-4);
}

}  // namespace
}  // namespace bayloom::sketch
