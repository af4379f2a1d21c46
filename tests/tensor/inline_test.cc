// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/tensor/primitive_test.h"

namespace bayloom::testing {
namespace {

using InlineTest = PrimitiveTest;

TEST_F(InlineTest, ComputeInlineSubstitutesIntoTheReader) {
  Start(TwoStages({4, 6}));
  Must(tensor::ComputeInline(program_, BlockNamed("y")));
  EXPECT_EQ(program_.FindBlock("y"), -1);
  EXPECT_EQ(program_.roots.size(), 1u);
  EXPECT_TRUE(tensor::Loads(At("z").value, BufferNamed("x")));
  ExpectSameResult();
}

TEST_F(InlineTest, ComputeInlineReachesEveryReaderAndEveryIndex) {
  Start(Stencil(18));
  MustSplit(LoopOf("z", 0), {4, 4});
  Must(tensor::ComputeInline(program_, BlockNamed("y")));
  ExpectSameResult();
  Start(FindWorkload("two_outputs"));
  ExpectRefused("it writes the output",
                [&](tensor::Program& p) { return tensor::ComputeInline(p, BlockNamed("exp")); });
}

TEST_F(InlineTest, ComputeInlineKeepsPaddingGuarded) {
  Start(FindWorkload("conv2d_pad"));
  Must(tensor::ComputeInline(program_, BlockNamed("conv_pad")));
  ExpectSameResult();
}

TEST_F(InlineTest, ComputeInlineFollowsPermutations) {
  Start(OneInput({4, 6}, [](tensor::WorkloadBuilder& b, tensor::Tensor x) {
    const tensor::Tensor y =
        b.Compute("y", {6, 4}, [&](const auto& i) { return x(i[1], i[0]) * 2; });
    const tensor::Tensor z =
        b.Compute("z", {4, 6}, [&](const auto& i) { return y(i[1], i[0]) + 1; });
    return b.Compute("w", {6, 4}, [&](const auto& i) { return z(i[1], i[0]) * z(0, 1); });
  }));
  Must(tensor::ReverseComputeInline(program_, BlockNamed("z")));  // y now stores z, transposed
  ExpectSameResult();
  Must(tensor::ComputeInline(program_, BlockNamed("y")));
  ExpectSameResult();
}

TEST_F(InlineTest, ComputeInlineRefuses) {
  Start(FindWorkload("conv2d_bias_relu"));
  const auto inline_block = [&](const std::string& name) {
    return [this, name](tensor::Program& p) { return tensor::ComputeInline(p, BlockNamed(name)); };
  };
  ExpectRefused("part of a reduction", inline_block("conv"));
  ExpectRefused("it writes the output", inline_block("relu"));
  ExpectRefused("there is no block",
                [](tensor::Program& p) { return tensor::ComputeInline(p, 50); });
  const tensor::BlockId pad = BlockNamed("conv_pad");
  Must(tensor::ComputeInline(program_, pad));
  ExpectRefused("was removed", [pad](tensor::Program& p) { return tensor::ComputeInline(p, pad); });
}

TEST_F(InlineTest, ComputeInlineRefusesIfAProducerIsComputedInTheNest) {
  Start(OneInput({8}, [](tensor::WorkloadBuilder& b, tensor::Tensor x) {
    const tensor::Tensor y = tensor::Map(b, "y", x, [](tensor::Expr e) { return e * 2; });
    const tensor::Tensor z = tensor::Map(b, "z", y, [](tensor::Expr e) { return e + 1; });
    return tensor::Map(b, "w", z, [](tensor::Expr e) { return e * e; });
  }));
  Must(tensor::ComputeAt(program_, BlockNamed("y"), LoopOf("z", 0)));
  ExpectRefused("its producer y is computed in its nest",
                [&](tensor::Program& p) { return tensor::ComputeInline(p, BlockNamed("z")); });
  Must(tensor::ComputeInline(program_, BlockNamed("y")));
  Must(tensor::ComputeInline(program_, BlockNamed("z")));
  ExpectSameResult();
}

TEST_F(InlineTest, ComputeInlineRefusesWhatNobodyReads) {
  Start(FindWorkload("two_outputs"));
  // Made an intermediate by hand: a workload has no stage without a reader.
  program_.buffers[BufferNamed("share")].role = tensor::BufferRole::kIntermediate;
  ExpectRefused("nothing reads",
                [&](tensor::Program& p) { return tensor::ComputeInline(p, BlockNamed("share")); });
}

TEST_F(InlineTest, InliningRefusesRewrittenLayouts) {
  Start(OneInput({4, 6}, [](tensor::WorkloadBuilder& b, tensor::Tensor x) {
    const tensor::Tensor c = b.Constant("c", {6, 4});
    const tensor::Tensor y =
        b.Compute("y", {4, 6}, [&](const auto& i) { return x(i[0], i[1]) * c(i[1], i[0]); });
    return tensor::Map(b, "z", y, [](tensor::Expr e) { return e + 1; });
  }));
  MustSplit(LoopOf("y", 1), {2, 3});
  MustSplit(LoopOf("y", 0), {2, 2});
  Must(tensor::RewriteLayout(program_, BufferNamed("c")));
  ASSERT_FALSE(program_.buffers[BufferNamed("c")].layout.empty());
  ExpectRefused("follows the rewritten layout of c",
                [&](tensor::Program& p) { return tensor::ComputeInline(p, BlockNamed("y")); });
  ExpectRefused("follows the rewritten layout of c", [&](tensor::Program& p) {
    return tensor::ReverseComputeInline(p, BlockNamed("z"));
  });
}

TEST_F(InlineTest, ReverseComputeInlineFoldsIntoTheProducer) {
  Start(FindWorkload("conv2d_bias_relu"));
  Must(tensor::ReverseComputeInline(program_, BlockNamed("relu")));
  EXPECT_EQ(program_.FindBlock("relu"), -1);
  EXPECT_EQ(At("add_bias").output, BufferNamed("relu"));
  ExpectSameResult();
}

TEST_F(InlineTest, ReverseComputeInlineKeepsThePlaceOfTheProducer) {
  Start(TwoStages({4, 6}));
  MustSplit(LoopOf("y", 1), {2, 3});
  Must(tensor::Parallelize(program_, LoopOf("y", 0)));
  Must(tensor::ReverseComputeInline(program_, BlockNamed("z")));
  EXPECT_THAT(ExtentsOf("y"), ElementsAre(4, 2, 3));
  ExpectSameResult();
}

TEST_F(InlineTest, ReverseComputeInlineTakesTheProducerThatFits) {
  // The consumer reads a reduction and an elementwise stage.
  Start(OneInput({4, 6}, [](tensor::WorkloadBuilder& b, tensor::Tensor x) {
    const tensor::Tensor sum = tensor::ReduceAxes(b, "sum", x, {1}, tensor::Reduction::kSum, false);
    const tensor::Tensor y = tensor::Map(b, "y", x, [](tensor::Expr e) { return e * 2; });
    return b.Compute("z", {4, 6}, [&](const auto& i) { return y(i[0], i[1]) / sum(i[0]); });
  }));
  Must(tensor::ReverseComputeInline(program_, BlockNamed("z")));
  EXPECT_EQ(program_.FindBlock("z"), -1);
  ExpectSameResult();
}

TEST_F(InlineTest, ReverseComputeInlineRefuses) {
  const auto fold = [&](const std::string& name) {
    return [this, name](tensor::Program& p) {
      return tensor::ReverseComputeInline(p, BlockNamed(name));
    };
  };
  Start(FindWorkload("conv2d_bias_relu"));
  ExpectRefused("that is a reduction", fold("add_bias"));
  ExpectRefused("it is part of a reduction", fold("conv"));
  ExpectRefused("reads nothing that a block computes", fold("conv_pad"));
  Start(Stencil(18));
  ExpectRefused("something else than its own iterators", fold("z"));
  Start(FindWorkload("two_outputs"));
  ExpectRefused("is an output", fold("share"));
  Start(OneInput({4, 6}, [](tensor::WorkloadBuilder& b, tensor::Tensor x) {
    const tensor::Tensor y = tensor::Map(b, "y", x, [](tensor::Expr e) { return e * 2; });
    const tensor::Tensor z = tensor::Map(b, "z", y, [](tensor::Expr e) { return e + 1; });
    return b.Compute("w", {4, 6}, [&](const auto& i) { return z(i[0], i[1]) * y(i[0], i[1]); });
  }));
  ExpectRefused("others read its result too", fold("z"));
  Start(OneInput({4, 6}, [](tensor::WorkloadBuilder& b, tensor::Tensor x) {
    const tensor::Tensor y = tensor::Map(b, "y", x, [](tensor::Expr e) { return e * 2; });
    return b.Compute("z", {4, 5}, [&](const auto& i) { return y(i[0], i[1]); });
  }));
  ExpectRefused("their iterators do not correspond", fold("z"));
}

TEST_F(InlineTest, ReverseComputeInlineNeedsTheOtherInputsEarlyEnough) {
  Start(OneInput({4, 6}, [](tensor::WorkloadBuilder& b, tensor::Tensor x) {
    const tensor::Tensor y = tensor::Map(b, "y", x, [](tensor::Expr e) { return e * 2; });
    const tensor::Tensor sum = tensor::ReduceAxes(b, "sum", x, {1}, tensor::Reduction::kSum, false);
    return b.Compute("z", {4, 6}, [&](const auto& i) { return y(i[0], i[1]) / sum(i[0]); });
  }));
  ExpectRefused("before sum has computed it", [&](tensor::Program& p) {
    return tensor::ReverseComputeInline(p, BlockNamed("z"));
  });
}

TEST_F(InlineTest, ReverseComputeInlineRefusesDifferentElementsPerIteration) {
  // Strided inner tiles make y's box per iteration larger than what z touches in it.
  Start(TwoStages({12}));
  const std::vector<tensor::LoopId> z = MustSplit(LoopOf("z", 0), {4, 3});
  Must(tensor::Reorder(program_, std::vector{z[1], z[0]}));
  Must(tensor::ComputeAt(program_, BlockNamed("y"), z[1]));
  ExpectSameResult();
  ExpectRefused("not computed over the same elements", [&](tensor::Program& p) {
    return tensor::ReverseComputeInline(p, BlockNamed("z"));
  });
}

}  // namespace
}  // namespace bayloom::testing
