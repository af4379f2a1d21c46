// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/product_chain.h"

#include <gtest/gtest.h>

#include "bayloom/sketch/design_space.h"
#include "bayloom/tensor/access.h"
#include "tests/tensor/workloads.h"

namespace bayloom::sketch {
namespace {

using tensor::Reduction;
using tensor::Tensor;

/// y = exp(a b') c, normalized by its row's sum: keys in groups of 4 lanes.
tensor::Workload SmallChain() {
  const int64_t heads = 3, rows = 10, depth = 5, groups = 6, lanes = 4, channels = 7;
  tensor::WorkloadBuilder b("chain");
  const Tensor q = b.Input("q", {heads, rows, depth});
  const Tensor k = b.Input("k", {heads, groups * lanes, depth});
  const Tensor v = b.Input("v", {heads, groups * lanes, channels});
  const Tensor keys = b.Compute("keys", {heads, groups, depth, lanes}, [&](const auto& s) {
    return k(s[0], s[1] * tensor::Expr(lanes) + s[3], s[2]);
  });
  const Tensor scores =
      b.Reduce("scores", {heads, rows, groups, lanes}, {{"d", depth}}, Reduction::kSum,
               [&](auto s, auto r) { return q(s[0], s[1], r[0]) * keys(s[0], s[2], r[0], s[3]); });
  const Tensor weights = b.Compute("weights", {heads, rows, groups, lanes}, [&](const auto& s) {
    return tensor::Unary(tensor::ExprOp::kExp,
                         scores(s[0], s[1], s[2], s[3]) * tensor::FloatLiteral(0.125));
  });
  const Tensor partial = b.Reduce("partial", {heads, rows, lanes}, {{"g", groups}}, Reduction::kSum,
                                  [&](auto s, auto r) { return weights(s[0], s[1], r[0], s[2]); });
  const Tensor sum = b.Reduce("sum", {heads, rows}, {{"l", lanes}}, Reduction::kSum,
                              [&](auto s, auto r) { return partial(s[0], s[1], r[0]); });
  const Tensor values = b.Compute("values", {heads, groups, lanes, channels}, [&](const auto& s) {
    return v(s[0], s[1] * tensor::Expr(lanes) + s[2], s[3]);
  });
  const Tensor product =
      b.Reduce("product", {heads, rows, channels}, {{"g", groups}, {"l", lanes}}, Reduction::kSum,
               [&](auto s, auto r) {
                 return weights(s[0], s[1], r[0], r[1]) * values(s[0], r[0], r[1], s[2]);
               });
  const Tensor y = b.Compute("y", {rows, heads, channels}, [&](const auto& s) {
    return product(s[1], s[0], s[2]) / sum(s[1], s[0]);
  });
  return b.Build({y});
}

TEST(ProductChainTest, FindsTheStages) {
  const auto chain = FindProductChain(SmallChain());
  ASSERT_TRUE(chain);
  EXPECT_EQ(chain->first, "scores");
  EXPECT_EQ(chain->between, (std::vector<std::string>{"weights", "partial", "sum"}));
  EXPECT_EQ(chain->second, "product");
  EXPECT_EQ(chain->output, "y");
  EXPECT_EQ(chain->keys, "keys");
  EXPECT_EQ(chain->values, "values");
}

TEST(ProductChainTest, OtherWorkloadsAreNone) {
  for (const auto& [name, workload] : testing::Catalogue()) {
    EXPECT_FALSE(FindProductChain(workload)) << name;
  }
}

/// No intermediate of all rows is left but the copies; programs compute what the workload says.
TEST(ProductChainTest, SpacesKeepBlocksOfRows) {
  target::Target target;
  target.name = "test";
  target.cores = 2;
  target.vector_bytes = 32;
  const tensor::Workload workload = SmallChain();
  const SpaceGenerator generator(workload, target);
  ASSERT_EQ(generator.spaces().size(), 4u);
  std::vector<tensor::HostTensor> inputs = testing::RandomArguments(workload, 3);
  std::vector<tensor::HostTensor> expected = inputs;
  tensor::Interpret(tensor::Lower(workload), expected);
  for (int space = 0; space < 4; ++space) {
    for (int seed = 0; seed < 12; ++seed) {
      const Result<Candidate> candidate = generator.Sample(space, base::RandomStream(seed));
      ASSERT_TRUE(candidate.ok()) << candidate.error().message;
      const tensor::Program& program = candidate->program;
      SCOPED_TRACE(tensor::Print(program));
      ASSERT_TRUE(tensor::Validate(program).ok());
      for (const char* name : {"scores", "weights", "partial", "sum", "product"}) {
        const tensor::BlockId block = program.FindBlock(name);
        ASSERT_GE(block, 0) << name;
        EXPECT_LE(tensor::AllocationOf(program, program.blocks[block].output).shape[0], 1) << name;
      }
      std::vector<tensor::HostTensor> actual = inputs;
      tensor::Interpret(program, actual);
      for (int64_t i = 0; i < expected.back().ElementCount(); ++i) {
        const double want = expected.back().Get(i);
        ASSERT_NEAR(actual.back().Get(i), want, 1e-4 * (1 + std::abs(want)));
      }
    }
  }
}

}  // namespace
}  // namespace bayloom::sketch
