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
#include "bayloom/sketch/rows_for_pool.h"
#include "bayloom/sketch/window_chain.h"
#include "bayloom/tensor/access.h"
#include "tests/sketch/space_checks.h"
#include "tests/tensor/pooled_convolutions.h"
#include "tests/tensor/window_chains.h"
#include "tests/tensor/workloads.h"

namespace bayloom::sketch {
namespace {

using testing::PooledConvolutionShape;
using testing::PooledConvolutionWorkload;

struct NamedPoolShape {
  std::string name;
  PooledConvolutionShape shape;
};

/// Odd and prime extents, strides, dilation, padding of both, and all that may be missing.
std::vector<NamedPoolShape> PoolShapes() {
  return {
      {"overlapping windows", {.height = 11, .width = 9}},
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
      {"dilated", {.height = 17, .width = 15, .dilation = 2, .pad = 2, .pool_pad = 1}},
      {"dilated windows", {.height = 16, .width = 13, .pool_dilation = 2, .pool_pad = 2}},
      {"padded behind", {.height = 13, .width = 9, .pad = 0, .more_pad = 1, .more_pool_pad = 1}},
      {"one window", {.height = 7, .width = 7, .pool = 7, .pool_stride = 1}},
      {"prime rows", {.height = 37, .width = 5, .filters = 4, .pool = 2, .pool_stride = 1}},
      {"prime columns", {.height = 5, .width = 37, .filters = 4, .pool_pad = 1}}};
}

template <typename Workload>
auto& StageOf(Workload& workload, const std::string& name) {
  return *std::ranges::find(workload.stages, name, &tensor::Stage::name);
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
  for (const auto& [name, shape] : PoolShapes()) {
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

/// Windows over channels are none over rows and columns.
TEST(PooledConvolutionTest, WindowsOverChannelsAreNoPool) {
  for (const bool over_channels : {false, true}) {
    tensor::WorkloadBuilder b("pair");
    const tensor::Tensor x = b.Input("x", {1, 9, 9, 4});
    const tensor::Tensor conv = tensor::Conv2d(b, "conv", x, b.Constant("w", {3, 3, 4, 10}), {});
    const int64_t channels = over_channels ? 8 : 10;
    const tensor::Workload workload =
        b.Build({b.Reduce("pool", {1, 3, 7, channels}, {{"r", 3}}, tensor::Reduction::kMax,
                          [&](const auto& s, const auto& r) {
                            return over_channels ? conv(s[0], s[1] * 2, s[2], s[3] + r[0])
                                                 : conv(s[0], s[1] * 2 + r[0], s[2], s[3]);
                          })});
    EXPECT_EQ(FindPooledConvolution(workload).has_value(), !over_channels);
  }
}

/// The last stage of a pair has the dimensions of an image.
TEST(PooledConvolutionTest, AScalarBehindThePoolIsLeftApart) {
  tensor::WorkloadBuilder b("pair");
  const tensor::Tensor x = b.Input("x", {1, 8, 8, 4});
  const tensor::Tensor conv = tensor::Conv2d(b, "conv", x, b.Constant("w", {3, 3, 4, 1}), {});
  tensor::Pool2dOptions whole;
  whole.kernel = {6, 6};
  const tensor::Tensor pool = tensor::Pool2d(b, "pool", conv, whole);
  const tensor::Workload workload = b.Build(
      {b.Compute("y", {1}, [&](const auto& i) { return tensor::Sigmoid(pool(i[0], 0, 0, 0)); })});
  EXPECT_FALSE(FindPooledConvolution(workload));
  ForCandidates(SpaceGenerator(workload, SmallTarget()), 2,
                [&](const Candidate& candidate) { ExpectSameResult(workload, candidate.program); });
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

/// What the convolution does with its own row, beside reading it, moves with the row.
TEST(PooledConvolutionTest, RowsThatTheConvolutionTellsApartStayTheSame) {
  tensor::Workload workload = PooledConvolutionWorkload({.height = 12, .width = 6, .pool_pad = 1});
  tensor::Expr& value = StageOf(workload, "conv").value;
  value = tensor::Select(tensor::IterVar(1) < tensor::Expr(4), value, tensor::FloatLiteral(0.5));
  const auto with_rows = WithRowsForPool(workload);
  ASSERT_TRUE(with_rows);
  ExpectSameResult(workload, tensor::Lower(*with_rows), 0);
}

/// What is computed before the pool, but read behind it, has the pool's rows.
TEST(PooledConvolutionTest, RowsOfTheResultAreLeftAlone) {
  using tensor::Expr;
  tensor::WorkloadBuilder b("pair");
  tensor::Conv2dOptions same;
  same.pad_before = same.pad_after = {1, 1};
  const tensor::Tensor x = b.Input("x", {1, 9, 9, 4});
  const tensor::Tensor conv = tensor::Conv2d(b, "conv", x, b.Constant("w", {3, 3, 4, 5}), same);
  const tensor::Tensor weights = b.Compute("weights", {1, 9, 9, 5}, [](const auto& i) {
    return tensor::Cast(tensor::DType::kFloat32, i[1] * Expr(3) + i[2]);
  });
  tensor::Pool2dOptions pool;
  pool.kernel = {3, 3};
  pool.stride = {1, 1};
  pool.pad_before = pool.pad_after = {1, 1};
  const tensor::Tensor pooled = tensor::Pool2d(b, "pool", conv, pool);
  const tensor::Workload workload = b.Build(
      {b.Compute("y", {1, 9, 9, 5}, [&](const auto& i) { return pooled.At(i) * weights.At(i); })});
  const auto with_rows = WithRowsForPool(workload);
  if (with_rows) ExpectSameResult(workload, tensor::Lower(*with_rows), 0);
}

TEST(PooledConvolutionTest, PaddingThatIsGuardedOtherwiseIsRefused) {
  tensor::Workload workload = PooledConvolutionWorkload({.height = 12, .width = 6, .pool_pad = 1});
  tensor::Expr& value = StageOf(workload, "padded").value;
  value = tensor::Select(!value->operands[0], value->operands[2], value->operands[1]);
  EXPECT_FALSE(WithRowsForPool(workload));
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
  for (const auto& [name, shape] : PoolShapes()) {
    SCOPED_TRACE(name);
    const tensor::Workload workload = PooledConvolutionWorkload(shape);
    const auto with_rows = WithRowsForPool(workload);
    ASSERT_TRUE(with_rows);
    ExpectSameResult(workload, tensor::Lower(*with_rows), 0);
  }
}

PooledConvolutionShape RandomShape(base::RandomStream& random) {
  const auto up_to = [&](int64_t largest) { return 1 + random.UniformInt(largest); };
  PooledConvolutionShape shape;
  shape.batch = up_to(2);
  shape.height = 11 + up_to(12);
  shape.width = 11 + up_to(6);
  shape.channels = up_to(3);
  shape.filters = up_to(5);
  shape.kernel = up_to(4);
  shape.stride = up_to(2);
  shape.dilation = up_to(2);
  shape.pad = random.UniformInt(3);
  shape.more_pad = random.UniformInt(2);
  shape.pool = up_to(3);
  shape.pool_stride = up_to(3);
  shape.pool_dilation = up_to(2);
  shape.pool_pad = random.UniformInt(shape.pool);
  // No window is of padding alone.
  shape.more_pool_pad = shape.pool > 1 && shape.pool_pad == 0 ? random.UniformInt(2) : 0;
  shape.is_planar = shape.pad + shape.more_pad > 0 && random.UniformInt(2) == 0;
  shape.activates = random.UniformInt(2) == 0;
  return shape;
}

TEST(PooledConvolutionTest, RandomShapesComputeTheSame) {
  base::RandomStream random(5);
  int pairs = 0;
  for (int i = 0; i < 60; ++i) {
    const tensor::Workload workload = PooledConvolutionWorkload(RandomShape(random));
    SCOPED_TRACE(tensor::Print(tensor::Lower(workload)));
    const auto with_rows = WithRowsForPool(workload);
    if (!with_rows) continue;
    ASSERT_TRUE(FindPooledConvolution(*with_rows));
    ExpectSameResult(workload, tensor::Lower(*with_rows), 0);
    ForCandidates(SpaceGenerator(*with_rows, SmallTarget()), 2, [&](const Candidate& candidate) {
      ExpectSameResult(workload, candidate.program, 1e-4);
    });
    ASSERT_FALSE(::testing::Test::HasFatalFailure());
    ++pairs;
  }
  EXPECT_GT(pairs, 30);
}

/// Of what the convolution gives there is only what a tile of the pool needs.
TEST(PooledConvolutionTest, RandomSchedulesComputeTheSameTileByTile) {
  for (const auto& [name, shape] : PoolShapes()) {
    SCOPED_TRACE(name);
    const tensor::Workload workload = PooledConvolutionWorkload(shape);
    const SpaceGenerator generator(*WithRowsForPool(workload), SmallTarget());
    ASSERT_EQ(generator.spaces().size(), shape.pad + shape.more_pad > 0 ? 2u : 1u);
    std::set<uint64_t> hashes;
    int64_t smallest = INT64_MAX;
    ForCandidates(generator, 16, [&](const Candidate& candidate) {
      const tensor::Program& program = candidate.program;
      ExpectSameResult(workload, program, 1e-4);
      hashes.insert(candidate.hash);
      const tensor::BlockId pool = program.FindBlock("pool");
      smallest = std::min(smallest,
                          ElementsHeld(program, tensor::AccessesOf(program, pool).front().buffer));
    });
    EXPECT_GT(hashes.size(), 10u);
    const int64_t columns = workload.buffers[StageOf(workload, "conv").output].shape[2];
    EXPECT_LE(smallest, 2 * shape.pool * columns * shape.filters);
  }
}

TEST(PooledConvolutionTest, NarrowTypesUseDotProductsWhereThereAreSome) {
  ExpectDotProductsInEverySpace(
      *WithRowsForPool(PooledConvolutionWorkload({.height = 8,
                                                  .width = 8,
                                                  .channels = 8,
                                                  .filters = 16,
                                                  .pool_pad = 1,
                                                  .dtype = tensor::DType::kBFloat16})));
}

TEST(PooledConvolutionTest, ThePlainProgramComputesWhatIsBetweenOnce) {
  const tensor::Workload workload = PooledConvolutionWorkload({});
  const tensor::Program program = DefaultSchedule(workload, SmallTarget());
  EXPECT_GE(program.FindBlock("active"), 0);
  ExpectSameResult(workload, program, 1e-4);
}

}  // namespace
}  // namespace bayloom::sketch
