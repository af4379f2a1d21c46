// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/expr.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "bayloom/tensor/program.h"

namespace bayloom::tensor {
namespace {

const std::vector<Iter> kSquareIters = {{"i", 8, IterKind::kSpatial}, {"j", 8, IterKind::kSpatial}};
const std::vector<Buffer> kBuffers = {
    Buffer{"x", DType::kFloat32, {8, 8}, BufferRole::kInput, StorageScope::kGlobal, {}, {}}};

std::string Text(const Expr& e) { return Print(e, kSquareIters, kBuffers); }

TEST(ExprTest, IntegerSumsTakeOneForm) {
  const Expr i = IterVar(0), j = IterVar(1);
  EXPECT_TRUE(StructurallyEqual(3 + i + 4, i + 7));
  EXPECT_TRUE(StructurallyEqual(i - 3 + 3, i));
  EXPECT_TRUE(StructurallyEqual(2 * i * 3, i * 6));
  EXPECT_TRUE(StructurallyEqual(i * 1 + j * 0, i));
  EXPECT_FALSE(StructurallyEqual(i + j, j + i));
}

TEST(ExprTest, ZerosOfBothSignsDiffer) {
  EXPECT_FALSE(StructurallyEqual(FloatLiteral(0.0), FloatLiteral(-0.0)));
  EXPECT_TRUE(StructurallyEqual(FloatLiteral(NAN), FloatLiteral(-NAN)));
}

TEST(ExprTest, LiteralsFoldWithTheSemanticsOfTheirType) {
  EXPECT_TRUE(IsIntLiteral(FloorDiv(Expr(-7), 2), -4));
  EXPECT_TRUE(IsIntLiteral(Expr(-7) / 2, -3));
  EXPECT_TRUE(IsIntLiteral(FloorMod(Expr(-7), 3), 2));
  EXPECT_TRUE(IsIntLiteral(Binary(ExprOp::kMod, -7, 3), -1));
  EXPECT_TRUE(IsIntLiteral(IntLiteral(127, DType::kInt8) + 1, -128));
  EXPECT_TRUE(IsIntLiteral(IntLiteral(200, DType::kUInt8) * 2, 144));
  EXPECT_TRUE(IsIntLiteral(Cast(DType::kInt32, FloatLiteral(-2.7)), -2));
  EXPECT_EQ(FloatLiteral(0.1)->float_value, static_cast<double>(0.1f));
  EXPECT_EQ(FloatLiteral(2049, DType::kFloat16)->float_value, 2048);  // ties to even
  EXPECT_EQ(FloatLiteral(1 + 1.0 / 256, DType::kBFloat16)->float_value, 1);
  EXPECT_TRUE(std::isnan(Min(FloatLiteral(NAN), FloatLiteral(1))->float_value));
  EXPECT_TRUE(std::isnan(Max(FloatLiteral(1), FloatLiteral(NAN))->float_value));
  EXPECT_EQ(Unary(ExprOp::kRound, FloatLiteral(2.5))->float_value, 2);
}

TEST(ExprTest, IntegerDivisionByZeroIsNotFolded) { EXPECT_EQ((Expr(3) / 0)->op, ExprOp::kDiv); }

TEST(ExprTest, ConditionsFold) {
  const Expr i = IterVar(0);
  const Expr c = i < 4;
  EXPECT_TRUE(StructurallyEqual(c && BoolLiteral(true), c));
  EXPECT_TRUE(IsIntLiteral(c && BoolLiteral(false), 0));
  EXPECT_TRUE(StructurallyEqual(!!c, c));
  EXPECT_TRUE(StructurallyEqual(Select(Expr(1) < 2, i, i + 1), i));
}

TEST(ExprTest, IntegerLiteralsAdaptAndOtherMixturesThrow) {
  const Expr x = Load(0, DType::kFloat32, {0, 0});
  EXPECT_EQ((x * 2)->dtype, DType::kFloat32);
  EXPECT_EQ((2 * x)->operands[0]->op, ExprOp::kFloat);
  EXPECT_EQ((IntLiteral(1, DType::kInt8) + 1)->dtype, DType::kInt8);
  EXPECT_THROW(x + IterVar(0), std::invalid_argument);
  EXPECT_THROW(FloorDiv(x, x), std::invalid_argument);
  EXPECT_THROW(Unary(ExprOp::kExp, IterVar(0)), std::invalid_argument);
  EXPECT_THROW(Select(x, x, x), std::invalid_argument);
  EXPECT_THROW(x && x, std::invalid_argument);
}

TEST(ExprTest, LinearForms) {
  const Expr i = IterVar(0), j = IterVar(1);
  const auto form = ToLinear((i * 2 + j - 3) * 4 - i, 2);
  ASSERT_TRUE(form);
  EXPECT_EQ(form->constant, -12);
  EXPECT_EQ(form->coefficients, (std::vector<int64_t>{7, 4}));
  EXPECT_FALSE(ToLinear(FloorDiv(i, 2), 2));
  EXPECT_FALSE(ToLinear(i * j, 2));
  EXPECT_FALSE(ToLinear(Load(0, DType::kInt64, {i}), 2));
}

TEST(ExprTest, SubstitutionFoldsAndSharesWhatIsUnchanged) {
  const Expr i = IterVar(0), j = IterVar(1);
  const Expr e = Load(0, DType::kFloat32, {i + 1, 0}) + Load(0, DType::kFloat32, {0, 0});
  const Expr replaced = SubstituteIters(e, {j * 2 + 3, j});
  EXPECT_EQ(Text(replaced), "x[j * 2 + 4, 0] + x[0, 0]");
  EXPECT_EQ(replaced->operands[1].get(), e->operands[1].get());
}

TEST(ExprTest, SubstitutionRewritesEveryLeafOnce) {
  const Expr i = IterVar(0), j = IterVar(1);
  EXPECT_EQ(Text(SubstituteIters(i + j, {j, 0})), "j") << "what folding leaves is not i again";
}

TEST(ExprTest, PrintsWithAsFewParenthesesAsNeeded) {
  const Expr i = IterVar(0), j = IterVar(1);
  const Expr x = Load(0, DType::kFloat32, {i, j});
  EXPECT_EQ(Text((x + x) * x), "(x[i, j] + x[i, j]) * x[i, j]");
  EXPECT_EQ(Text(x - (x - x)), "x[i, j] - (x[i, j] - x[i, j])");
  EXPECT_EQ(Text(x * 2), "x[i, j] * 2.0");
  EXPECT_EQ(Text(i - 3), "i - 3");
  EXPECT_EQ(Text(FloorMod(i, 4) * 2), "i % 4 * 2");
  EXPECT_EQ(Text(i * FloorMod(j, 4)), "i * (j % 4)");
  EXPECT_EQ(Text(x * (x * x)), "x[i, j] * x[i, j] * x[i, j]");
  EXPECT_EQ(Text(x * (x / (x + x))), "x[i, j] * (x[i, j] / (x[i, j] + x[i, j]))");
  EXPECT_EQ(Text(Select(0 <= i && i < 4, x, Max(x, 0))),
            "select(0 <= i and i < 4, x[i, j], max(x[i, j], 0.0))");
  EXPECT_EQ(Text(!(i < j)), "not i < j");
}

}  // namespace
}  // namespace bayloom::tensor
