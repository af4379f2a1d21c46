// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/window_chain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "bayloom/sketch/default_schedule.h"
#include "bayloom/sketch/product_chain.h"
#include "tests/sketch/space_checks.h"
#include "tests/tensor/window_chains.h"
#include "tests/tensor/workloads.h"

namespace bayloom::sketch {
namespace {

using testing::WindowChainShape;
using testing::WindowChainWorkload;

struct NamedChainShape {
  std::string name;
  WindowChainShape shape;
};

/// Odd and prime extents, strides, windows without padding, and all that may be missing.
std::vector<NamedChainShape> ChainShapes() {
  return {{"plain", {}},
          {"unpadded", {.height = 8, .width = 11, .pad = 0}},
          {"strided", {.height = 13, .width = 10, .channels = 8, .stride = 2}},
          {"wide window", {.height = 12, .width = 9, .kernel = 5, .stride = 2, .pad = 2}},
          {"nothing between", {.height = 10, .width = 6, .activates = false}},
          {"residual", {.height = 6, .width = 12, .residual = true}},
          {"pooled", {.height = 14, .width = 8, .stride = 2, .pad = 0, .pools = true}},
          {"images", {.batch = 3, .height = 6, .width = 5}},
          {"dilated", {.height = 12, .width = 9, .dilation = 2, .pad = 2}},
          {"prime rows", {.height = 37, .width = 6, .channels = 4, .filters = 4}},
          {"prime columns", {.height = 6, .width = 19, .channels = 4, .filters = 5}}};
}

TEST(WindowChainTest, FindsTheStages) {
  const auto chain = FindWindowChain(WindowChainWorkload({}));
  ASSERT_TRUE(chain);
  EXPECT_EQ(chain->padding, "padded");
  EXPECT_EQ(chain->windows, "windows");
  EXPECT_EQ(chain->between, "between");
  EXPECT_EQ(chain->pointwise, "pointwise");
  EXPECT_EQ(chain->output, "y");
  const auto bare = FindWindowChain(WindowChainWorkload({.pad = 0, .activates = false}));
  ASSERT_TRUE(bare);
  EXPECT_EQ(bare->padding, "");
  EXPECT_EQ(bare->between, "");
}

TEST(WindowChainTest, IsNoChainOfMatrices) {
  for (const auto& [name, shape] : ChainShapes()) {
    EXPECT_FALSE(FindProductChain(WindowChainWorkload(shape))) << name;
  }
}

TEST(WindowChainTest, OtherWorkloadsAreNone) {
  for (const auto& [name, workload] : testing::Catalogue()) {
    EXPECT_FALSE(FindWindowChain(workload)) << name;
  }
}

TEST(WindowChainTest, ConvolutionsOverSeveralPositionsOrChannelsAreNone) {
  tensor::Conv2dOptions pad;
  pad.pad_before = pad.pad_after = {1, 1};
  const auto chain = [&](int64_t kernel, int64_t stride, bool depthwise) {
    tensor::WorkloadBuilder b("chain");
    const tensor::Tensor x = b.Input("x", {1, 9, 9, 8});
    const tensor::Tensor first =
        depthwise ? tensor::DepthwiseConv2d(b, "first", x, b.Constant("v", {3, 3, 8}), pad)
                  : tensor::Conv2d(b, "first", x, b.Constant("v", {3, 3, 8, 8}), pad);
    tensor::Conv2dOptions options;
    options.stride = {stride, stride};
    return b.Build(
        {tensor::Conv2d(b, "second", first, b.Constant("w", {kernel, kernel, 8, 6}), options)});
  };
  EXPECT_TRUE(FindWindowChain(chain(1, 1, true)));
  EXPECT_FALSE(FindWindowChain(chain(1, 1, false))) << "the first one mixes channels";
  EXPECT_FALSE(FindWindowChain(chain(2, 1, true))) << "the second one's windows overlap";
  EXPECT_FALSE(FindWindowChain(chain(1, 2, true))) << "it leaves places out";
}

/// What is between has a dimension of positions and one of channels at least.
TEST(WindowChainTest, AVectorBetweenIsNone) {
  for (const bool is_vector : {false, true}) {
    tensor::WorkloadBuilder b("chain");
    const tensor::Tensor sum = tensor::GlobalAveragePool(b, "mean", b.Input("x", {1, 6, 5, 12}));
    const tensor::Tensor between =
        is_vector
            ? b.Compute("between", {12}, [&](const auto& i) { return tensor::Relu(sum(0, i[0])); })
            : tensor::Map(b, "between", sum, tensor::Relu);
    const tensor::Tensor weights = b.Constant("weights", {12, 9});
    const tensor::Workload workload = b.Build(
        {b.Reduce("pointwise", {1, 9}, {{"ci", 12}}, tensor::Reduction::kSum,
                  [&](const auto& s, const auto& r) {
                    return (is_vector ? between(r[0]) : between(s[0], r[0])) * weights(r[0], s[1]);
                  })});
    EXPECT_EQ(FindWindowChain(workload).has_value(), !is_vector);
    ForCandidates(SpaceGenerator(workload, SmallTarget()), 4, [&](const Candidate& candidate) {
      ExpectSameResult(workload, candidate.program, 1e-4);
    });
  }
}

/// Of what windows give there is only what is computed at a time.
TEST(WindowChainTest, RandomSchedulesComputeTheSameTileByTile) {
  for (const auto& [name, shape] : ChainShapes()) {
    SCOPED_TRACE(name);
    const tensor::Workload workload = WindowChainWorkload(shape);
    const SpaceGenerator generator(workload, SmallTarget());
    ASSERT_EQ(generator.spaces().size(), shape.pad > 0 ? 2u : 1u);
    std::set<uint64_t> hashes;
    int64_t smallest = workload.buffers[workload.stages.back().output].ElementCount();
    ForCandidates(generator, 24, [&](const Candidate& candidate) {
      const tensor::Program& program = candidate.program;
      ExpectSameResult(workload, program, 1e-4);
      hashes.insert(candidate.hash);
      const tensor::Block& windows = program.blocks[program.FindBlock("windows")];
      smallest = std::min(smallest, ElementsHeld(program, windows.output));
    });
    EXPECT_GT(hashes.size(), 10u);
    EXPECT_LE(smallest, shape.channels);
  }
}

TEST(WindowChainTest, NarrowTypesUseDotProductsWhereThereAreSome) {
  ExpectDotProductsInEverySpace(WindowChainWorkload(
      {.height = 8, .width = 8, .channels = 32, .filters = 16, .dtype = tensor::DType::kBFloat16}));
}

TEST(WindowChainTest, ThePlainProgramComputesWhatIsBetweenOnce) {
  const tensor::Workload workload = WindowChainWorkload({});
  const tensor::Program program = DefaultSchedule(workload, SmallTarget());
  EXPECT_GE(program.FindBlock("between"), 0);
  ExpectSameResult(workload, program, 1e-4);
}

}  // namespace
}  // namespace bayloom::sketch
