// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Reductions along memory, in the lanes of registers.

#include "bayloom/codegen/compile.h"
#include "bayloom/tensor/primitives.h"
#include "tests/codegen/compiled.h"
#include "tests/count_of.h"
#include "tests/tensor/workloads.h"

namespace bayloom::testing {
namespace {

using tensor::DType;
using tensor::Expr;
using tensor::Reduction;

/// y[i] = combine over j and k of x[i, j, k]
tensor::Workload RowsOf(int64_t rows, int64_t outer, int64_t inner, Reduction reduction,
                        DType dtype) {
  tensor::WorkloadBuilder b("rows");
  const tensor::Tensor x = b.Input("x", {rows, outer, inner}, dtype);
  return b.Build({b.Reduce("y", {rows}, {{"j", outer}, {"k", inner}}, reduction,
                           [&](const auto& s, const auto& r) { return x(s[0], r[0], r[1]); })});
}

/// The same with what begins the reduction apart from it, before one of its loops.
tensor::Program Decomposed(const tensor::Workload& workload, size_t depth) {
  tensor::Program program = tensor::Lower(workload);
  const tensor::BlockId block = program.BlocksInOrder()[0];
  const auto loops = program.LoopsAround(tensor::NodeRef::Block(block));
  EXPECT_TRUE(tensor::DecomposeReduction(program, block, loops[depth]).ok());
  return program;
}

void ExpectRight(const tensor::Program& program, const tensor::Workload& workload) {
  for (const int bytes : {16, 32, 64}) {
    target::Target target = codegen::HostTarget();
    if (bytes > target.vector_bytes) continue;
    target.vector_bytes = bytes;
    ExpectMatchesInterpreter(program, RandomArguments(workload, 3), tensor::Print(program), target);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(FoldTest, RowsOfAllLengths) {
  for (const int64_t inner : {15, 16, 17, 33, 64, 100, 197, 600}) {
    for (const auto reduction : {Reduction::kSum, Reduction::kMax, Reduction::kMin}) {
      const tensor::Workload workload = RowsOf(5, 1, inner, reduction, DType::kFloat32);
      ExpectRight(tensor::Lower(workload), workload);
      ExpectRight(Decomposed(workload, 1), workload);
    }
  }
}

TEST(FoldTest, SeveralAxesAndLongSums) {
  for (const int64_t outer : {3, 40}) {
    const tensor::Workload workload = RowsOf(3, outer, 130, Reduction::kSum, DType::kFloat32);
    for (const size_t depth : {0, 1}) ExpectRight(Decomposed(workload, depth), workload);
    ExpectRight(tensor::Lower(workload), workload);
  }
}

/// So many chunks that they are run in a loop, several in each turn, with what is left over.
TEST(FoldTest, RegistersTakeTurns) {
  for (const int64_t inner : {1024, 1040, 1056, 1072, 1088, 1099, 1111}) {
    for (const auto dtype : {DType::kFloat32, DType::kInt32, DType::kFloat64}) {
      for (const auto reduction : {Reduction::kSum, Reduction::kMax}) {
        for (const int64_t rows : {1, 3}) {
          const tensor::Workload workload = RowsOf(rows, 1, inner, reduction, dtype);
          ExpectRight(tensor::Lower(workload), workload);
        }
      }
    }
  }
  const tensor::Workload workload = RowsOf(4, 1, 1024, Reduction::kSum, DType::kFloat32);
  target::Target target = codegen::HostTarget();
  target.vector_bytes = 16;
  const std::string ir = *codegen::EmitLlvmIr(tensor::Lower(workload), target, "f");
  EXPECT_GE(CountOf(ir, "phi <4 x float>"), 4) << ir;
}

/// Sums in blocks of elements, each with registers that take turns.
TEST(FoldTest, BlocksAndTurns) {
  const tensor::Workload workload = RowsOf(2, 20, 1040, Reduction::kSum, DType::kFloat32);
  ExpectRight(tensor::Lower(workload), workload);
}

TEST(FoldTest, OtherTypes) {
  for (const auto dtype : {DType::kFloat64, DType::kInt32, DType::kInt64, DType::kFloat16}) {
    for (const auto reduction : {Reduction::kSum, Reduction::kMax}) {
      const tensor::Workload workload = RowsOf(4, 2, 75, reduction, dtype);
      ExpectRight(tensor::Lower(workload), workload);
    }
  }
}

/// Squares of what is in a window, of which a part lies outside of the row.
TEST(FoldTest, GuardedElements) {
  tensor::WorkloadBuilder b("guarded");
  const tensor::Tensor x = b.Input("x", {6, 50});
  const tensor::Workload workload =
      b.Build({b.Reduce("y", {6}, {{"k", 70}}, Reduction::kSum, [&](const auto& s, const auto& r) {
        const Expr at = r[0] - Expr(10);
        const Expr inside = Expr(0) <= at && at < Expr(50);
        const Expr value = tensor::Select(inside, x(s[0], at), tensor::FloatLiteral(0));
        return value * value;
      })});
  ExpectRight(tensor::Lower(workload), workload);
}

TEST(FoldTest, NothingIsAddedElementByElement) {
  const tensor::Workload workload = RowsOf(8, 1, 256, Reduction::kSum, DType::kFloat32);
  const std::string ir = *codegen::EmitLlvmIr(tensor::Lower(workload), codegen::HostTarget(), "f");
  EXPECT_EQ(ir.find("load float,"), std::string::npos) << ir;
}

}  // namespace
}  // namespace bayloom::testing
