// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/compile.h"
#include "bayloom/tensor/primitives.h"
#include "tests/codegen/compiled.h"
#include "tests/count_of.h"
#include "tests/tensor/workloads.h"

namespace bayloom::testing {
namespace {

using tensor::Expr;

/// y[i, j] = x[i, j] * (1 / sum over k of x[i, k]), guarded: 0 instead where x is negative.
tensor::Workload ScaledRows(bool guarded) {
  tensor::WorkloadBuilder b("rows");
  const tensor::Tensor x = b.Input("x", {6, 40});
  const tensor::Tensor sum = b.Reduce("sum", {6}, {{"k", 40}}, tensor::Reduction::kSum,
                                      [&](const auto& s, const auto& r) { return x(s[0], r[0]); });
  return b.Build({b.Compute("y", {6, 40}, [&](const auto& s) {
    const Expr scaled = x.At(s) * (tensor::FloatLiteral(1) / sum(s[0]));
    return guarded
               ? tensor::Select(x.At(s) < tensor::FloatLiteral(0), tensor::FloatLiteral(0), scaled)
               : scaled;
  })});
}

/// The rows' sums within the loop over rows of what reads them.
tensor::Program SumsRowByRow(const tensor::Workload& workload) {
  tensor::Program program = tensor::Lower(workload);
  const std::vector<tensor::BlockId> blocks = program.BlocksInOrder();
  const auto loops = program.LoopsAround(tensor::NodeRef::Block(blocks[1]));
  EXPECT_TRUE(tensor::ComputeAt(program, blocks[0], loops[0]).ok());
  EXPECT_TRUE(tensor::Vectorize(program, loops[1]).ok());
  return program;
}

TEST(HoistTest, WhatARowSharesIsComputedOnceForIt) {
  const tensor::Program program = SumsRowByRow(ScaledRows(false));
  const std::string ir = *codegen::EmitLlvmIr(program, codegen::HostTarget(), "f");
  EXPECT_EQ(CountOf(ir, "fdiv"), 1) << ir;
  ExpectMatchesInterpreter(program, RandomArguments(ScaledRows(false), 2), "row by row");
}

TEST(HoistTest, SumsOfAllRowsBeforeAreReadRowByRow) {
  tensor::Program program = tensor::Lower(ScaledRows(false));
  const std::vector<tensor::BlockId> blocks = program.BlocksInOrder();
  const auto loops = program.LoopsAround(tensor::NodeRef::Block(blocks[1]));
  ASSERT_TRUE(tensor::Vectorize(program, loops[1]).ok());
  EXPECT_EQ(CountOf(*codegen::EmitLlvmIr(program, codegen::HostTarget(), "f"), "fdiv"), 1);
  ExpectMatchesInterpreter(program, RandomArguments(ScaledRows(false), 2), "all sums before");
}

TEST(HoistTest, WhatIsBehindAConditionStaysThere) {
  ExpectMatchesInterpreter(SumsRowByRow(ScaledRows(true)), RandomArguments(ScaledRows(true), 2),
                           "guarded");
}

}  // namespace
}  // namespace bayloom::testing
