// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bayloom/tensor/program.h"
#include "tests/tensor/workloads.h"

namespace bayloom::tensor {
namespace {

using testing::FindWorkload;
using ::testing::HasSubstr;

/// The reason why the changed program is not valid; empty if it is.
template <typename Change>
std::string Broken(const Change& change, const std::string& workload = "conv2d_bias_relu") {
  Program program = Lower(FindWorkload(workload));
  change(program);
  const Status status = Validate(program);
  return status ? "" : status.error().message;
}

Block& Conv(Program& p) { return p.blocks[p.FindBlock("conv")]; }

TEST(ValidateTest, CatchesABrokenTree) {
  EXPECT_THAT(Broken([](Program& p) { p.roots.pop_back(); }), HasSubstr("not in the tree"));
  EXPECT_THAT(Broken([](Program& p) { p.loops[1].parent = NodeRef::Root(); }), HasSubstr("parent"));
  EXPECT_THAT(Broken([](Program& p) { p.roots.push_back(p.roots[0]); }), HasSubstr("twice"));
  EXPECT_THAT(Broken([](Program& p) { p.loops[0].alive = false; }), HasSubstr("dead"));
  EXPECT_THAT(Broken([](Program& p) { p.loops[0].digits = {1}; }), HasSubstr("two loops"));
  EXPECT_THAT(Broken([](Program& p) { p.loops[0].digits.clear(); }), HasSubstr("no digits"));
}

TEST(ValidateTest, CatchesBrokenBindings) {
  EXPECT_THAT(Broken([](Program& p) { Conv(p).bindings.pop_back(); }), HasSubstr("bind"));
  EXPECT_THAT(Broken([](Program& p) { Conv(p).bindings[1] = p.blocks[0].bindings[1]; }),
              HasSubstr("no loop around"));
  EXPECT_THAT(Broken([](Program& p) { Conv(p).bindings[1].constant = 1; }), HasSubstr("runs over"));
  EXPECT_THAT(Broken([](Program& p) { Conv(p).bindings[1].terms[0].coefficient = 0; }),
              HasSubstr("normal form"));
  EXPECT_THAT(Broken([](Program& p) { Conv(p).bindings[4] = {}; }), HasSubstr("exactly once"));
  EXPECT_THAT(Broken([](Program& p) { p.blocks.back().bindings[1] = {}; }),
              HasSubstr("does not write all of its output"));
}

TEST(ValidateTest, CatchesBrokenReductions) {
  EXPECT_THAT(Broken([](Program& p) { Conv(p).reduction = Reduction::kNone; }), HasSubstr("kind"));
  EXPECT_THAT(Broken([](Program& p) { Conv(p).kind = BlockKind::kUpdate; }),
              HasSubstr("not initialized"));
  // A loop of extent 2 that the block ignores, inside of its reduction.
  EXPECT_THAT(Broken([](Program& p) {
                const NodeRef block = NodeRef::Block(p.FindBlock("conv"));
                const NodeRef inner = p.ParentOf(block);
                p.digit_extents.push_back(2);
                Loop loop;
                loop.digits = {static_cast<DigitId>(p.digit_extents.size()) - 1};
                loop.parent = inner;
                loop.body = {block};
                p.loops.push_back(loop);
                const NodeRef added = NodeRef::Loop(static_cast<LoopId>(p.loops.size()) - 1);
                p.BodyOf(inner) = {added};
                p.blocks[block.id].parent = added;
              }),
              HasSubstr("repeats"));
}

TEST(ValidateTest, CatchesBrokenAccesses) {
  EXPECT_THAT(Broken([](Program& p) { Conv(p).output_index[0] = IterVar(1); }),
              HasSubstr("reaches"));
  EXPECT_THAT(Broken([](Program& p) { Conv(p).output_index.pop_back(); }),
              HasSubstr("wrong number of indices"));
  EXPECT_THAT(Broken([](Program& p) { Conv(p).output = 0; }), HasSubstr("writes the input"));
  EXPECT_THAT(Broken([](Program& p) { Conv(p).value = IterVar(0); }), HasSubstr("writes int64"));
  EXPECT_THAT(Broken([](Program& p) {
                Conv(p).value = Load(0, DType::kFloat32, {0, 0, 0, IterVar(3)});
              }),
              HasSubstr("reaches"));
  EXPECT_THAT(Broken([](Program& p) { Conv(p).value = Load(0, DType::kFloat32, {0}); }),
              HasSubstr("something it is not"));
  EXPECT_EQ(Broken([](Program& p) {
              Conv(p).value = Select(
                  IterVar(3) < 3, Load(0, DType::kFloat32, {0, 0, 0, IterVar(3)}), FloatLiteral(0));
            }),
            "");
}

TEST(ValidateTest, CatchesBrokenOrderAndLayouts) {
  EXPECT_THAT(Broken([](Program& p) { std::swap(p.roots[1], p.roots[2]); }),
              HasSubstr("before it is written"));
  EXPECT_THAT(Broken([](Program& p) { p.blocks[0].output = Conv(p).output; }),
              ::testing::Not(::testing::IsEmpty()));
  EXPECT_THAT(Broken([](Program& p) {
                p.buffers[0].layout = {{0, 1, 1}, {1, 1, 8}};
              }),
              HasSubstr("does not cover"));
  EXPECT_THAT(Broken([](Program& p) {
                p.buffers[0].layout = {{1, 2, 4}, {1, 3, 2}};
              }),
              HasSubstr("not a split"));
}

TEST(ValidateTest, CatchesIllegalLoopKinds) {
  const auto with_kind = [](size_t loop, LoopKind kind) {
    return Broken([&](Program& p) { p.loops[loop].kind = kind; }, "matmul");
  };
  EXPECT_EQ(with_kind(0, LoopKind::kParallel), "");
  EXPECT_EQ(with_kind(2, LoopKind::kUnrolled), "");
  EXPECT_THAT(with_kind(2, LoopKind::kParallel), HasSubstr("reduces over"));
  EXPECT_THAT(with_kind(1, LoopKind::kVectorized), HasSubstr("has a loop below"));
}

}  // namespace
}  // namespace bayloom::tensor
