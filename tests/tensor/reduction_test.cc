// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/primitives/tree.h"
#include "tests/tensor/primitive_test.h"

namespace bayloom::testing {
namespace {

using ReductionTest = PrimitiveTest;

// --- DecomposeReduction ------------------------------------------------------------------------

TEST_F(ReductionTest, DecomposePlacesTheInitializationBeforeTheLoop) {
  Start(tensor::MatmulWorkload(4, 6, 8));
  const std::vector<tensor::LoopId> loops = LoopsOf("matmul");
  Must(tensor::Reorder(program_, std::vector{loops[2], loops[1]}));
  const tensor::BlockId init =
      Must(tensor::DecomposeReduction(program_, BlockNamed("matmul"), loops[2]));
  EXPECT_EQ(program_.blocks[init].kind, tensor::BlockKind::kInit);
  EXPECT_EQ(At("matmul").kind, tensor::BlockKind::kUpdate);
  EXPECT_THAT(ExtentsOf("matmul_init"), ElementsAre(4, 6));
  EXPECT_EQ(LoopOf("matmul_init", 0), loops[0]);
  EXPECT_EQ(program_.loops[loops[0]].body[1], tensor::NodeRef::Loop(loops[2]));
  ExpectSameResult();
}

TEST_F(ReductionTest, DecomposeAtTheOutermostLoopInitializesEverything) {
  Start(tensor::MatmulWorkload(4, 6, 8));
  Must(tensor::DecomposeReduction(program_, BlockNamed("matmul"), LoopOf("matmul", 0)));
  EXPECT_EQ(program_.roots.size(), 2u);
  EXPECT_THAT(ExtentsOf("matmul_init"), ElementsAre(4, 6));
  ExpectSameResult();
}

TEST_F(ReductionTest, DecomposeCarriesMarksOver) {
  Start(tensor::MatmulWorkload(4, 8, 6));
  const std::vector<tensor::LoopId> loops = LoopsOf("matmul");
  Must(tensor::Reorder(program_, std::vector{loops[2], loops[1]}));
  Must(tensor::AnnotateUnroll(program_, loops[1], 16));
  Must(tensor::Vectorize(program_, loops[1]));
  Must(tensor::DecomposeReduction(program_, BlockNamed("matmul"), loops[2]));
  const tensor::Loop& copy = program_.loops[LoopOf("matmul_init", 1)];
  EXPECT_EQ(copy.kind, tensor::LoopKind::kVectorized);
  EXPECT_EQ(copy.unroll_max_step, 16);
  ExpectSameResult();
}

TEST_F(ReductionTest, DecomposeOfASingleElementNeedsNoLoops) {
  Start(tensor::MatmulWorkload(1, 1, 8));
  Must(tensor::DecomposeReduction(program_, BlockNamed("matmul"), LoopOf("matmul", 0)));
  EXPECT_TRUE(LoopsOf("matmul_init").empty());
  ExpectSameResult();
}

TEST_F(ReductionTest, DecomposeUsesTheNeutralElement) {
  Start(FindWorkload("max_pool"));
  Must(tensor::DecomposeReduction(program_, BlockNamed("pool"), LoopOf("pool", 0)));
  ExpectSameResult();
}

TEST_F(ReductionTest, DecomposeRefuses) {
  Start(FindWorkload("matmul_bias"));
  const tensor::BlockId matmul = BlockNamed("matmul");
  const auto decompose = [](tensor::BlockId block, tensor::LoopId loop) {
    return [=](tensor::Program& p) { return tensor::DecomposeReduction(p, block, loop); };
  };
  ExpectRefused("is not a reduction", decompose(BlockNamed("add_bias"), LoopOf("add_bias", 0)));
  ExpectRefused("is not around matmul", decompose(matmul, LoopOf("add_bias", 0)));
  ExpectRefused("there is no loop", decompose(matmul, 300));
  ExpectRefused("there is no block", decompose(300, 0));
  const std::vector<tensor::LoopId> loops = LoopsOf("matmul");
  const std::vector<tensor::LoopId> k = MustSplit(loops[2], {3, 3});
  ExpectRefused("a loop further out reduces", decompose(matmul, k[1]));
  Must(tensor::DecomposeReduction(program_, matmul, k[0]));
  ExpectRefused("is not a reduction that initializes itself", decompose(matmul, k[0]));
}

TEST_F(ReductionTest, DecomposeRefusesLoopsThatComputeElementsAgain) {
  Start(OneInput({4, 6}, [](tensor::WorkloadBuilder& b, tensor::Tensor x) {
    const tensor::Tensor sum = tensor::ReduceAxes(b, "sum", x, {1}, tensor::Reduction::kSum, false);
    return b.Compute("z", {4, 3}, [&](const auto& i) { return sum(i[0]); });
  }));
  const std::vector<tensor::LoopId> z = LoopsOf("z");
  Must(tensor::ComputeAt(program_, BlockNamed("sum"), z[1]));
  ExpectSameResult();
  ExpectRefused("it computes elements more than once below", [&](tensor::Program& p) {
    return tensor::DecomposeReduction(p, BlockNamed("sum"), z[1]);
  });
  Must(tensor::DecomposeReduction(program_, BlockNamed("sum"), LoopOf("sum", 2)));
  ExpectSameResult();
}

// --- RFactor -----------------------------------------------------------------------------------

TEST_F(ReductionTest, RFactorMakesPartialResults) {
  Start(tensor::MatmulWorkload(4, 6, 24));
  const std::vector<tensor::LoopId> k = MustSplit(LoopOf("matmul", 2), {3, 8});
  const tensor::BlockId partial = Must(tensor::RFactor(program_, BlockNamed("matmul"), k[1]));
  EXPECT_EQ(program_.blocks[partial].name, "matmul_rf");
  EXPECT_EQ(program_.blocks[partial].kind, tensor::BlockKind::kReduce);
  EXPECT_THAT(program_.buffers[BufferNamed("matmul.rf")].shape, ElementsAre(8, 4, 6));
  EXPECT_THAT(ExtentsOf("matmul_rf"), ElementsAre(4, 6, 3, 8));
  EXPECT_THAT(ExtentsOf("matmul"), ElementsAre(4, 6, 8));
  ExpectSameResult();
  Must(tensor::Vectorize(program_, k[1]));  // it is spatial now
  ExpectSameResult();
}

TEST_F(ReductionTest, RFactorOverAMiddleDigit) {
  Start(tensor::MatmulWorkload(2, 3, 24));
  const std::vector<tensor::LoopId> k = MustSplit(LoopOf("matmul", 2), {2, 3, 4});
  Must(tensor::RFactor(program_, BlockNamed("matmul"), k[1]));
  ExpectSameResult();
}

TEST_F(ReductionTest, RFactorOverAFusedLoopHasADimensionPerDigit) {
  Start(FindWorkload("global_average_pool"));
  const std::vector<tensor::LoopId> loops = LoopsOf("pool_sum");
  const tensor::LoopId fused = Must(tensor::Fuse(program_, std::vector{loops[2], loops[3]}));
  Must(tensor::RFactor(program_, BlockNamed("pool_sum"), fused));
  EXPECT_THAT(program_.buffers[BufferNamed("pool_sum.rf")].shape, ElementsAre(7, 7, 2, 10));
  EXPECT_EQ(At("pool_sum_rf").kind, tensor::BlockKind::kPlain);  // nothing is left to reduce
  EXPECT_THAT(ExtentsOf("pool_sum"), ElementsAre(2, 10, 49));
  ExpectSameResult();
}

TEST_F(ReductionTest, RFactorOfAUnitLoop) {
  Start(tensor::MatmulWorkload(4, 6, 24));
  const std::vector<tensor::LoopId> k = MustSplit(LoopOf("matmul", 2), {24, 1});
  Must(tensor::RFactor(program_, BlockNamed("matmul"), k[1]));
  EXPECT_THAT(program_.buffers[BufferNamed("matmul.rf")].shape, ElementsAre(1, 4, 6));
  ExpectSameResult();
}

TEST_F(ReductionTest, RFactorToAScalar) {
  Start(FindWorkload("sum_all"));
  Must(tensor::RFactor(program_, BlockNamed("sum"), LoopOf("sum", 0)));
  Must(tensor::Parallelize(program_, LoopOf("sum_rf", 0)));
  ExpectSameResult();
}

TEST_F(ReductionTest, RFactorKeepsMaximaExact) {
  Start(FindWorkload("max_middle_axis"));
  const std::vector<tensor::LoopId> r = MustSplit(LoopOf("max", 2), {4, 3});
  Must(tensor::RFactor(program_, BlockNamed("max"), r[0]));
  ExpectSameResult();
}

TEST_F(ReductionTest, RFactorRefuses) {
  Start(FindWorkload("matmul_bias"));
  const tensor::BlockId matmul = BlockNamed("matmul");
  const std::vector<tensor::LoopId> loops = LoopsOf("matmul");
  const auto rfactor = [](tensor::BlockId block, tensor::LoopId loop) {
    return [=](tensor::Program& p) { return tensor::RFactor(p, block, loop); };
  };
  ExpectRefused("is not a reduction", rfactor(BlockNamed("add_bias"), LoopOf("add_bias", 0)));
  ExpectRefused("is not a reduction loop", rfactor(matmul, loops[0]));
  ExpectRefused("is not around matmul", rfactor(matmul, LoopOf("add_bias", 0)));
  ExpectRefused("there is no block", rfactor(-1, loops[2]));
  ExpectRefused("there is no loop", rfactor(matmul, -1));
  Must(tensor::ReverseComputeAt(program_, BlockNamed("add_bias"), loops[0]));
  ExpectRefused("not alone in its nest", rfactor(matmul, loops[2]));
  Start(FindWorkload("matmul_bias"));
  Must(tensor::DecomposeReduction(program_, BlockNamed("matmul"), LoopOf("matmul", 0)));
  ExpectRefused("is not a reduction that initializes itself",
                rfactor(BlockNamed("matmul"), LoopOf("matmul", 2)));
}

TEST_F(ReductionTest, RFactorRefusesPartialCoverage) {
  // Of the nine row sums only five are computed.
  Start(OneInput({9, 6}, [](tensor::WorkloadBuilder& b, tensor::Tensor x) {
    const tensor::Tensor sum = tensor::ReduceAxes(b, "sum", x, {1}, tensor::Reduction::kSum, false);
    return b.Compute("z", {5}, [&](const auto& i) { return sum(i[0]); });
  }));
  const std::vector<tensor::LoopId> z = MustSplit(LoopOf("z", 0), {1, 5});
  Must(tensor::ComputeAt(program_, BlockNamed("sum"), z[0]));
  const tensor::NodeRef reader = tensor::NodeRef::Loop(z[1]);
  tensor::Detach(program_, reader);
  tensor::InsertChild(program_, tensor::NodeRef::Root(), 1, reader);
  ExpectSameResult();
  ExpectRefused("do not correspond to its iterators one to one", [&](tensor::Program& p) {
    return tensor::RFactor(p, BlockNamed("sum"), LoopOf("sum", 2));
  });
}

}  // namespace
}  // namespace bayloom::testing
