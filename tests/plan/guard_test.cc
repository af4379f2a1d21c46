// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/plan/cpu/guard.h"

#include "tests/plan/padded_windows.h"

namespace bayloom::testing {
namespace {

TEST(GuardPlan, GuardsAreFoundWhereAZeroAddsNothing) {
  const auto guards_of = [](const tensor::Workload& workload) {
    const tensor::Program program = WithPaddingInlined(workload);
    const tensor::BlockId block = program.BlocksInOrder().front();
    plan::BlockAccesses accesses =
        *plan::PlaceLoadsAndStore(program, plan::PlanMemory(program), program.blocks[block]);
    plan::AddAffineExpressions(program.blocks[block], accesses);
    return plan::GuardsOf(program.blocks[block], accesses).size();
  };
  EXPECT_EQ(guards_of(Depthwise(7, 4, Padded(1, 1))), 4u);
  EXPECT_EQ(guards_of(Depthwise(7, 4, Padded(0, 1))), 2u);
  EXPECT_EQ(guards_of(Depthwise(7, 4, Padded(0, 0))), 0u);
  // A sum is another one without its ones.
  tensor::WorkloadBuilder b("ones");
  const tensor::Tensor x = tensor::Pad(b, "pad", b.Input("x", {5}), {1}, {1},
                                       tensor::Literal(1, tensor::DType::kFloat32));
  EXPECT_EQ(
      guards_of(b.Build({tensor::ReduceAxes(b, "sum", x, {0}, tensor::Reduction::kSum, true)})),
      0u);
}

}  // namespace
}  // namespace bayloom::testing
