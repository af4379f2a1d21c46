// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/simplify.h"

#include <gtest/gtest.h>

#include "bayloom/base/random.h"
#include "bayloom/tensor/flat_expr.h"
#include "bayloom/tensor/primitives.h"

namespace bayloom::tensor {
namespace {

const std::vector<Iter> kIters = {
    {"i", 12, IterKind::kSpatial}, {"j", 64, IterKind::kSpatial}, {"k", 5, IterKind::kReduction}};

std::string Simplified(const Expr& e) { return Print(Simplify(e, kIters), kIters, {}); }

TEST(SimplifyTest, KnownForms) {
  const Expr i = IterVar(0), j = IterVar(1), k = IterVar(2);
  EXPECT_EQ(Simplified(FloorDiv(i * 64 + j, 64)), "i");
  EXPECT_EQ(Simplified(FloorMod(i * 64 + j, 64)), "j");
  EXPECT_EQ(Simplified((i * 64 + j) / 64), "i");
  EXPECT_EQ(Simplified(FloorDiv(i * 64 + j, 16)), "i * 4 + j // 16");
  EXPECT_EQ(Simplified(FloorMod(i * 64 + j, 16)), "j % 16");
  EXPECT_EQ(Simplified(FloorDiv(j, 8) * 8 + FloorMod(j, 8)), "j");
  EXPECT_EQ(Simplified(FloorDiv(FloorDiv(i * 64 + j, 64) * 5 + k, 5)), "i");
  EXPECT_EQ(Simplified(FloorDiv(FloorDiv(j, 4), 4)), "j // 16");
  EXPECT_EQ(Simplified(FloorDiv(i * 6 + k * 3 + 2, 9)), "(i * 2 + k) // 3");
  EXPECT_EQ(Simplified(FloorDiv(k - 1, 5)), "(k + 4) // 5 - 1");
  EXPECT_EQ(Simplified(FloorMod(k + 10, 5)), "k");
  EXPECT_EQ(Simplified(Expr(0) <= i && i < 10), "i < 10");
  EXPECT_EQ(Simplified(Select(k < 5, i, j)), "i");
  EXPECT_EQ(Simplified(Max(i - 20, 0)), "0");
  EXPECT_EQ(Simplified(Min(Max(k, 0), 4)), "k");
  EXPECT_EQ(Simplified(Load(0, DType::kFloat32, {FloorMod(k, 7)}) + 1), "buffer0[k] + 1.0");
  EXPECT_EQ(Simplified(k / 0), "k / 0");
}

TEST(SimplifyTest, InlinedReshapesMeltIntoOneIndex) {
  WorkloadBuilder b("reshapes");
  const Tensor x = b.Input("x", {12, 64});
  const Tensor flat = b.Compute(
      "flat", {768}, [&](const auto& i) { return x(FloorDiv(i[0], 64), FloorMod(i[0], 64)); });
  const Tensor heads = b.Compute("heads", {12, 4, 16},
                                 [&](const auto& i) { return flat(i[0] * 64 + i[1] * 16 + i[2]); });
  Program program = Lower(b.Build({heads}));
  ASSERT_TRUE(ComputeInline(program, program.FindBlock("flat")));
  const Block& block = program.blocks[program.FindBlock("heads")];
  EXPECT_EQ(Print(block.value, block.iters, program.buffers), "x[i, j * 16 + k]");
}

Expr RandomIndex(base::RandomStream& random, int depth) {
  if (depth == 0 || random.UniformInt(5) == 0) {
    const auto leaf = static_cast<int>(random.UniformInt(4));
    return leaf == 3 ? Expr(random.UniformInt(70) - 10) : IterVar(leaf);
  }
  const auto part = [&] { return RandomIndex(random, depth - 1); };
  const Expr divisor = 1 + random.UniformInt(16);
  switch (random.UniformInt(9)) {
    case 0:
      return part() + part();
    case 1:
      return part() - part();
    case 2:
      return part() * (random.UniformInt(13) - 3);
    case 3:
      return FloorDiv(part(), divisor);
    case 4:
      return FloorMod(part(), divisor);
    case 5:
      return part() / divisor;
    case 6:
      return Min(part(), part());
    case 7:
      return Max(part(), part());
    default:
      return Select(part() < part() || part() <= part(), part(), part());
  }
}

TEST(SimplifyTest, KeepsTheValueForAllIterators) {
  base::RandomStream random(17);
  const auto no_loads = [](BufferId, int64_t) -> ScalarValue { return {.i = 0}; };
  for (int round = 0; round < 3000; ++round) {
    const Expr e = RandomIndex(random, 4);
    const FlatExpr before(e, {}, 3), after(Simplify(e, kIters), {}, 3);
    for (int trial = 0; trial < 40; ++trial) {
      const int64_t at[] = {random.UniformInt(12), random.UniformInt(64), random.UniformInt(5)};
      ASSERT_EQ(before.Evaluate(at, no_loads).i, after.Evaluate(at, no_loads).i)
          << Print(e, kIters, {}) << "\n"
          << Simplified(e);
    }
  }
}

}  // namespace
}  // namespace bayloom::tensor
