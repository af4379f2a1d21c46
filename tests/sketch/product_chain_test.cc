// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/product_chain.h"

#include <gtest/gtest.h>

#include "bayloom/sketch/design_space.h"
#include "bayloom/tensor/access.h"
#include "tests/tensor/product_chains.h"
#include "tests/tensor/workloads.h"

namespace bayloom::sketch {
namespace {

TEST(ProductChainTest, FindsTheStages) {
  const auto chain = FindProductChain(testing::ProductChainWorkload());
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
  const tensor::Workload workload = testing::ProductChainWorkload();
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
