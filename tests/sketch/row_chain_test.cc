// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/row_chain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bayloom/sketch/design_space.h"
#include "bayloom/tensor/access.h"
#include "tests/sketch/same_result.h"
#include "tests/sketch/space_checks.h"
#include "tests/tensor/workloads.h"

namespace bayloom::sketch {
namespace {

using tensor::ExprOp;
using tensor::Reduction;
using tensor::Tensor;

constexpr int64_t kImages = 3, kRows = 5, kLanes = 16, kSteps = 7;

/// The softmax of rows, whose sums are made of as many parts as there are lanes.
tensor::Workload Softmax() {
  tensor::WorkloadBuilder b("softmax");
  const Tensor x = b.Input("x", {kImages, kRows, kSteps * kLanes});
  const Tensor max = b.Reduce("max", {kImages, kRows}, {{"j", kSteps * kLanes}}, Reduction::kMax,
                              [&](auto s, auto r) { return x(s[0], s[1], r[0]); });
  const Tensor exp = b.Compute("exp", {kImages, kRows, kSteps * kLanes}, [&](const auto& s) {
    return tensor::Unary(ExprOp::kExp, x(s[0], s[1], s[2]) - max(s[0], s[1]));
  });
  const Tensor partial =
      b.Reduce("partial", {kImages, kRows, kLanes}, {{"r", kSteps}}, Reduction::kSum,
               [&](auto s, auto r) { return exp(s[0], s[1], r[0] * tensor::Expr(kLanes) + s[2]); });
  const Tensor sum = b.Reduce("sum", {kImages, kRows}, {{"l", kLanes}}, Reduction::kSum,
                              [&](auto s, auto r) { return partial(s[0], s[1], r[0]); });
  return b.Build({b.Compute("y", {kImages, kRows, kSteps * kLanes}, [&](const auto& s) {
    return exp(s[0], s[1], s[2]) / sum(s[0], s[1]);
  })});
}

/// Rows less the mean of their image.
tensor::Workload Centered() {
  tensor::WorkloadBuilder b("centered");
  const Tensor x = b.Input("x", {kImages, kRows, kLanes});
  const Tensor sum = b.Reduce("sum", {kImages}, {{"i", kRows}, {"j", kLanes}}, Reduction::kSum,
                              [&](auto s, auto r) { return x(s[0], r[0], r[1]); });
  return b.Build({b.Compute("y", {kImages, kRows, kLanes}, [&](const auto& s) {
    return x(s[0], s[1], s[2]) - sum(s[0]) * tensor::FloatLiteral(1.0 / (kRows * kLanes));
  })});
}

/// How many loops there are around all that is computed.
size_t SharedLoops(const tensor::Program& program) {
  size_t shared = 0;
  for (tensor::NodeRef node = tensor::NodeRef::Root(); program.BodyOf(node).size() == 1;) {
    node = program.BodyOf(node).front();
    if (!node.is_loop()) break;
    ++shared;
  }
  return shared;
}

TEST(RowChain, SharesTheLoopsOverRowsAndKeepsOneRow) {
  const auto space = RowChainSpace(Softmax(), SmallTarget());
  ASSERT_TRUE(space);
  const tensor::Program& program = space->program();
  SCOPED_TRACE(tensor::Print(program));
  EXPECT_EQ(SharedLoops(program), 2u);
  for (const char* name : {"max", "exp", "partial", "sum"}) {
    const tensor::BlockId block = program.FindBlock(name);
    ASSERT_GE(block, 0) << name;
    const tensor::Allocation held = tensor::AllocationOf(program, program.blocks[block].output);
    int64_t elements = 1;
    for (int64_t extent : held.shape) elements *= extent;
    EXPECT_LE(elements, kSteps * kLanes) << name;
  }
  ExpectSameResult(Softmax(), program);
}

/// The mean of an image is not computed again for each of its rows.
TEST(RowChain, ComputesNothingTwice) {
  const auto space = RowChainSpace(Centered(), SmallTarget());
  ASSERT_TRUE(space);
  SCOPED_TRACE(tensor::Print(space->program()));
  EXPECT_EQ(SharedLoops(space->program()), 1u);
  ExpectSameResult(Centered(), space->program());
}

TEST(RowChain, IsNotForProductsNorForWhatReducesAtTheEnd) {
  EXPECT_FALSE(RowChainSpace(tensor::MatmulWorkload(16, 16, 16), SmallTarget()));
  EXPECT_FALSE(
      RowChainSpace(tensor::Conv2dWorkload(testing::ConvShape(8, 4, 8, 3, 1)), SmallTarget()));
  tensor::WorkloadBuilder b("sums");
  const Tensor x = b.Input("x", {8, 64});
  EXPECT_FALSE(RowChainSpace(b.Build({b.Reduce("y", {8}, {{"j", 64}}, Reduction::kSum,
                                               [&](auto s, auto r) { return x(s[0], r[0]); })}),
                             SmallTarget()));
}

/// All that the space draws computes the same, sums over parts in lanes with one row at a time.
TEST(RowChain, DrawsComputeTheSame) {
  for (const tensor::Workload& workload : {Softmax(), Centered()}) {
    const SpaceGenerator generator(workload, SmallTarget());
    const int space = generator.SpaceOf(RowChainSpace(workload, SmallTarget())->trace());
    ASSERT_GE(space, 0);
    for (uint64_t seed = 0; seed < 16; ++seed) {
      const Result<Candidate> candidate = generator.Sample(space, base::RandomStream(seed));
      ASSERT_TRUE(candidate) << candidate.error().message;
      ExpectSameResult(workload, candidate->program);
    }
  }
}

}  // namespace
}  // namespace bayloom::sketch
