// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/explain/code_plan.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "bayloom/target/gpu_limits.h"
#include "bayloom/target/named_target.h"
#include "bayloom/tensor/operators.h"
#include "bayloom/tensor/primitives.h"

namespace bayloom::explain {
namespace {

using ::testing::ElementsAre;

/// A product whose columns are in vectors: j inside of k.
tensor::Program Product() {
  tensor::Program program = tensor::Lower(tensor::MatmulWorkload(24, 64, 64));
  const std::vector<tensor::LoopId> loops =
      program.LoopsAround(tensor::NodeRef::Block(program.BlocksInOrder().front()));
  EXPECT_TRUE(tensor::Reorder(program, std::vector{loops[0], loops[2], loops[1]}));
  EXPECT_TRUE(tensor::Vectorize(program, loops[1]));
  return program;
}

TEST(CodePlanTest, SaysWhichSumsAreInRegisters) {
  const nlohmann::json plan = CodePlanOf(Product(), *target::LevelTarget("x86-64-v4", 1));
  EXPECT_EQ(plan, nlohmann::json::parse(R"([{"block": "matmul", "lanes": 16, "registers": 4,
      "sums": {"registers": 24, "steps": {"i": 6, "j": 64}, "loops": ["k"], "from_zero": true},
      "unrolled": []}])"));
  EXPECT_THAT(
      CodePlanLines(plan),
      ElementsAre("matmul: 16 lanes in 4 registers; 24 registers of sums (6 of i, 64 of j), "
                  "held over k"));
}

TEST(CodePlanTest, SaysHowKernelsAreLaunched) {
  tensor::Program program = tensor::Lower(tensor::MatmulWorkload(24, 64, 64));
  const std::vector<tensor::LoopId> loops =
      program.LoopsAround(tensor::NodeRef::Block(program.BlocksInOrder().front()));
  EXPECT_TRUE(tensor::Bind(program, loops[0], tensor::LoopKind::kBlockX));
  EXPECT_TRUE(tensor::Bind(program, loops[1], tensor::LoopKind::kThreadX));
  const nlohmann::json plan = CodePlanOf(program, *target::GpuTarget("sm_90"));
  EXPECT_THAT(CodePlanLines(plan), ElementsAre("matmul: 24 blocks of 64 threads"));
  EXPECT_EQ(plan[0]["barriers"], 0);
}

TEST(CodePlanTest, SaysWhyThereIsNoCode) {
  tensor::Program program = Product();
  program.loops[program.roots.front().id].kind = tensor::LoopKind::kBlockX;
  const nlohmann::json plan = CodePlanOf(program, *target::LevelTarget("x86-64-v4", 1));
  EXPECT_THAT(CodePlanLines(plan),
              ElementsAre("no code: 'matmul' has a loop bound to accelerator threads, which a CPU "
                          "has not"));
}

}  // namespace
}  // namespace bayloom::explain
