// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/feature/program_features.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "bayloom/tensor/operators.h"
#include "bayloom/tensor/primitives.h"
#include "tests/feature/loops_of.h"

namespace bayloom::feature {
namespace {

float SLog(double x) { return static_cast<float>(std::log2(x + 1)); }

/// c[8, 16] = a[8, 4] * w[4, 16], w being a constant; loops i (8), j (16), k (4).
tensor::Program Matmul(int64_t m = 8, int64_t n = 16, int64_t k = 4) {
  tensor::WorkloadBuilder b("matmul");
  tensor::Tensor a = b.Input("a", {m, k}), w = b.Constant("w", {k, n});
  tensor::Tensor c = b.Reduce("c", {m, n}, {{"k", k}}, tensor::Reduction::kSum,
                              [&](auto s, auto r) { return a(s[0], r[0]) * w(r[0], s[1]); });
  return tensor::Lower(b.Build({c}));
}

constexpr tensor::BufferId kW = 1;  // in Matmul()

/// Expects the 18 columns of one described buffer, given unslogged and by name.
struct ExpectedBuffer {
  BufferFeature access;
  double bytes, unique_bytes, lines, unique_lines;
  BufferFeature reuse;
  double reuse_iterations, reuse_bytes, reuse_count, stride;
};
void ExpectBuffer(std::span<const float> row, int buffer, const ExpectedBuffer& want) {
  const double per = want.reuse_count > 0 ? 1 / want.reuse_count : 2;
  std::vector<float> expected(kBufferColumns, 0);
  const auto set = [&](BufferFeature f, float value) { expected[static_cast<int>(f)] = value; };
  set(want.access, 1);
  set(want.reuse, 1);
  set(BufferFeature::kBytes, SLog(want.bytes));
  set(BufferFeature::kUniqueBytes, SLog(want.unique_bytes));
  set(BufferFeature::kLines, SLog(want.lines));
  set(BufferFeature::kUniqueLines, SLog(want.unique_lines));
  set(BufferFeature::kReuseIterations, SLog(want.reuse_iterations));
  set(BufferFeature::kReuseBytes, SLog(want.reuse_bytes));
  set(BufferFeature::kReuseCount, SLog(want.reuse_count));
  set(BufferFeature::kBytesPerReuse, SLog(want.bytes * per));
  set(BufferFeature::kUniqueBytesPerReuse, SLog(want.unique_bytes * per));
  set(BufferFeature::kLinesPerReuse, SLog(want.lines * per));
  set(BufferFeature::kUniqueLinesPerReuse, SLog(want.unique_lines * per));
  set(BufferFeature::kStride, SLog(want.stride));
  for (int i = 0; i < kBufferColumns; ++i) {
    const int column = BufferColumnOf(buffer, static_cast<BufferFeature>(i));
    EXPECT_NEAR(row[column], expected[i], 1e-4) << FeatureColumnName(column);
  }
}

TEST(FeatureColumns, EveryColumnHasItsOwnName) {
  std::set<std::string> names;
  for (int column = 0; column < kFeatureColumns; ++column) names.insert(FeatureColumnName(column));
  EXPECT_EQ(names.size(), static_cast<size_t>(kFeatureColumns));
  EXPECT_EQ(FeatureColumnName(kVectorizedColumn), "vectorized.count");
  EXPECT_EQ(FeatureColumnName(BufferColumnOf(4, BufferFeature::kStride)), "buffer4.stride");
  EXPECT_EQ(FeatureColumnName(kIntensityColumn + 9), "intensity.100");
  EXPECT_EQ(FeatureColumnName(kFeatureColumns - 1), "auto_unroll");
}

TEST(ProgramFeatures, NaiveMatmul) {
  const FeatureMatrix features = ExtractFeatures(Matmul());
  ASSERT_EQ(features.rows, 1);
  const std::span<const float> row = features.Row(0);

  // Operations: one multiply-add in each of 512 iterations, and nothing else.
  for (int op = 0; op < kOpClasses; ++op) {
    const bool mad = op == static_cast<int>(OpClass::kFloatMad);
    EXPECT_FLOAT_EQ(row[op], mad ? SLog(512) : 0) << FeatureColumnName(op);
  }
  for (int column : {kVectorizedColumn, kUnrolledColumn, kParallelColumn}) {
    EXPECT_EQ(row[column + kAnnotatedCount], 0);
    EXPECT_EQ(row[column + kAnnotatedPosition], 1);  // none
  }
  EXPECT_EQ(row[kAcceleratorColumn], 0);
  EXPECT_EQ(row[kAcceleratorColumn + 1], 1);  // slog(1)

  // w[k, j]: the innermost loop jumps a row of 16, each time to a new line. All of it is used
  // again by the next i, after 4 x 16 iterations that touch 4 of a, 64 of w and 16 of c.
  ExpectBuffer(row, 0,
               {.access = BufferFeature::kRead,
                .bytes = 2048,
                .unique_bytes = 256,
                .lines = 512,
                .unique_lines = 4,
                .reuse = BufferFeature::kLoopReuse,
                .reuse_iterations = 64,
                .reuse_bytes = 4 * (4 + 64 + 16),
                .reuse_count = 8,
                .stride = 16});
  // a[i, k]: every 16th iteration reaches a new line; used again by the next j.
  ExpectBuffer(row, 1,
               {.access = BufferFeature::kRead,
                .bytes = 2048,
                .unique_bytes = 128,
                .lines = 32,
                .unique_lines = 2,
                .reuse = BufferFeature::kLoopReuse,
                .reuse_iterations = 4,
                .reuse_bytes = 4 * (4 + 4 + 1),
                .reuse_count = 16,
                .stride = 1});
  // c[i, j] stays put while k runs.
  ExpectBuffer(row, 2,
               {.access = BufferFeature::kReadWrite,
                .bytes = 2048,
                .unique_bytes = 512,
                .lines = 8,
                .unique_lines = 8,
                .reuse = BufferFeature::kLoopReuse,
                .reuse_iterations = 1,
                .reuse_bytes = 12,
                .reuse_count = 4,
                .stride = 0});
  for (int column = BufferColumnOf(3, BufferFeature::kRead); column < kIntensityColumn; ++column) {
    EXPECT_EQ(row[column], 0) << FeatureColumnName(column);
  }

  // Innermost loops hold 2, 8, 128, 1024 operations on 12, 36, 336, 896 bytes.
  EXPECT_NEAR(row[kIntensityColumn + 9], SLog(1024.0 / 896), 1e-5);
  const double share = (0.1 * 1024 - 8) / (128 - 8);
  EXPECT_NEAR(row[kIntensityColumn], (1 - share) * SLog(8.0 / 36) + share * SLog(128.0 / 336),
              1e-5);

  EXPECT_FLOAT_EQ(row[kAllocationColumn], SLog(512));
  EXPECT_FLOAT_EQ(row[kAllocationColumn + 1], SLog(128));
  EXPECT_FLOAT_EQ(row[kAllocationColumn + 2], SLog(1));
  EXPECT_FLOAT_EQ(row[kAllocationColumn + 3], SLog(512));
  EXPECT_FLOAT_EQ(row[kIterationsColumn], SLog(512));
  EXPECT_FLOAT_EQ(row[kLoopCountColumn], SLog(3));
  EXPECT_EQ(row[kAutoUnrollColumn], 0);
}

TEST(ProgramFeatures, AnnotatedLoopsAndTheirPositions) {
  tensor::Program program = Matmul();
  std::vector<tensor::LoopId> loops = LoopsOf(program, "c");
  const std::vector<int64_t> factors = {2, 8};
  const std::vector<tensor::LoopId> j = *tensor::Split(program, loops[1], factors);
  ASSERT_TRUE(
      tensor::Reorder(program, std::vector<tensor::LoopId>{loops[0], j[0], loops[2], j[1]}).ok());
  ASSERT_TRUE(tensor::Parallelize(program, loops[0]).ok());
  ASSERT_TRUE(tensor::Vectorize(program, j[1]).ok());
  ASSERT_TRUE(tensor::Unroll(program, loops[2]).ok());
  ASSERT_TRUE(tensor::AnnotateUnroll(program, loops[0], 64).ok());
  const FeatureMatrix features = ExtractFeatures(program);
  const std::span<const float> row = features.Row(0);
  const auto expect = [&](int column, double extent, LoopPosition position) {
    EXPECT_FLOAT_EQ(row[column + kAnnotatedCount], SLog(1));
    EXPECT_FLOAT_EQ(row[column + kAnnotatedProduct], SLog(extent));
    EXPECT_FLOAT_EQ(row[column + kAnnotatedInnermost], SLog(extent));
    EXPECT_EQ(row[column + kAnnotatedPosition], 0);
    EXPECT_EQ(row[column + kAnnotatedPosition + static_cast<int>(position)], 1);
  };
  expect(kParallelColumn, 8, LoopPosition::kOuterSpatial);
  expect(kVectorizedColumn, 8, LoopPosition::kInnerSpatial);
  expect(kUnrolledColumn, 4, LoopPosition::kInnerReduction);
  EXPECT_FLOAT_EQ(row[kAutoUnrollColumn], SLog(64));
  EXPECT_FLOAT_EQ(row[kLoopCountColumn], SLog(4));
}

/// x[8, 16] scaled by its rows' sums; both stages under the loop over rows.
tensor::Program RowScaling() {
  tensor::WorkloadBuilder b("scale");
  tensor::Tensor x = b.Input("x", {8, 16});
  tensor::Tensor sum = b.Reduce("sum", {8}, {{"j", 16}}, tensor::Reduction::kSum,
                                [&](auto s, auto r) { return x(s[0], r[0]); });
  tensor::Tensor scaled =
      b.Compute("scaled", {8, 16}, [&](auto i) { return x(i[0], i[1]) * sum(i[0]); });
  tensor::Program program = tensor::Lower(b.Build({scaled}));
  const tensor::LoopId rows = LoopsOf(program, "sum")[0];
  EXPECT_TRUE(tensor::ReverseComputeAt(program, program.FindBlock("scaled"), rows).ok());
  return program;
}

TEST(ProgramFeatures, EarlierStoresOfALoopBodyAreSerialReuse) {
  const FeatureMatrix features = ExtractFeatures(RowScaling());
  ASSERT_EQ(features.rows, 2);
  // scaled[i, j] and x[i, j] touch the same lines and bytes; x is accessed first. The stores under
  // the loop over rows touched 128 of x and one of sum, then both again and 128 of scaled.
  ExpectBuffer(features.Row(1), 0,
               {.access = BufferFeature::kRead,
                .bytes = 512,
                .unique_bytes = 512,
                .lines = 8,
                .unique_lines = 8,
                .reuse = BufferFeature::kSerialReuse,
                .reuse_iterations = 128 / 8,
                .reuse_bytes = 4.0 * (129 + 257) / 8,
                .reuse_count = 1,
                .stride = 1});
  ExpectBuffer(features.Row(1), 1,
               {.access = BufferFeature::kWrite,
                .bytes = 512,
                .unique_bytes = 512,
                .lines = 8,
                .unique_lines = 8,
                .reuse = BufferFeature::kNoReuse,
                .reuse_iterations = 0,
                .reuse_bytes = 0,
                .reuse_count = 0,
                .stride = 1});
}

TEST(ProgramFeatures, IntermediatesAreSeenAsTheyAreAllocated) {
  const FeatureMatrix features = ExtractFeatures(RowScaling());
  // One element of sum, again for each of the 8 rows.
  const std::span<const float> row = features.Row(0);
  EXPECT_FLOAT_EQ(row[kAllocationColumn], SLog(4));
  EXPECT_FLOAT_EQ(row[kAllocationColumn + 1], SLog(8));
  EXPECT_FLOAT_EQ(row[kAllocationColumn + 2], SLog(8));
  EXPECT_FLOAT_EQ(row[kAllocationColumn + 3], SLog(16));
  // It is 8 elements if it has to outlive the rows.
  tensor::WorkloadBuilder b("sum");
  tensor::Tensor x = b.Input("x", {8, 16});
  tensor::Tensor sum = b.Reduce("sum", {8}, {{"j", 16}}, tensor::Reduction::kSum,
                                [&](auto s, auto r) { return x(s[0], r[0]); });
  tensor::Tensor next = b.Compute("next", {8}, [&](auto i) { return -sum(i[0]); });
  const FeatureMatrix apart = ExtractFeatures(tensor::Lower(b.Build({next})));
  EXPECT_FLOAT_EQ(apart.Row(0)[kAllocationColumn], SLog(32));
  EXPECT_FLOAT_EQ(apart.Row(0)[kAllocationColumn + 2], SLog(1));
}

TEST(ProgramFeatures, RewrittenLayoutsDecideStrides) {
  tensor::Program program = Matmul();
  std::vector<tensor::LoopId> loops = LoopsOf(program, "c");
  const std::vector<int64_t> factors = {4, 4};
  const std::vector<tensor::LoopId> j = *tensor::Split(program, loops[1], factors);
  ASSERT_TRUE(
      tensor::Reorder(program, std::vector<tensor::LoopId>{loops[0], j[0], j[1], loops[2]}).ok());
  const int stride = BufferColumnOf(0, BufferFeature::kStride);
  EXPECT_FLOAT_EQ(ExtractFeatures(program).Row(0)[stride], SLog(16));
  // Tiles of 4 columns, in each of them k by k the 4 neighbours.
  program.buffers[kW].layout = {{1, 4, 4}, {0, 1, 4}, {1, 1, 4}};
  EXPECT_FLOAT_EQ(ExtractFeatures(program).Row(0)[stride], SLog(4));
}

TEST(ProgramFeatures, IndicesThatAreNotAffineTouchWhatTheyCanWithUnknownStride) {
  tensor::WorkloadBuilder b("gather");
  tensor::Tensor table = b.Input("table", {1000, 32});
  tensor::Tensor ids = b.Input("ids", {8}, tensor::DType::kInt64);
  tensor::Tensor rows = b.Compute("rows", {8, 32}, [&](auto i) { return table(ids(i[0]), i[1]); });
  const FeatureMatrix features = ExtractFeatures(tensor::Lower(b.Build({rows})));
  ASSERT_EQ(features.rows, 1);
  const std::span<const float> row = features.Row(0);
  // The store and the table touch the same number of lines and bytes; the table comes first.
  EXPECT_EQ(row[BufferColumnOf(0, BufferFeature::kRead)], 1);
  EXPECT_FLOAT_EQ(row[BufferColumnOf(0, BufferFeature::kUniqueBytes)], SLog(4 * 8 * 32 * 32));
  EXPECT_FLOAT_EQ(row[BufferColumnOf(0, BufferFeature::kStride)], SLog(1));
}

TEST(ProgramFeatures, OperationsAreCountedByKind) {
  tensor::WorkloadBuilder b("ops");
  tensor::Tensor x = b.Input("x", {10});
  tensor::Tensor y = b.Compute("y", {10}, [&](auto i) {
    const tensor::Expr v = x(i[0]);
    const tensor::Expr scaled = v * tensor::FloatLiteral(2) + tensor::FloatLiteral(1);  // mad
    const tensor::Expr bounded = tensor::Max(tensor::Min(scaled, tensor::FloatLiteral(6)),
                                             tensor::FloatLiteral(0));  // 2 compares
    const tensor::Expr sign =
        v < tensor::FloatLiteral(0) && i[0] < tensor::Expr(5);  // 2 compares, bool
    return tensor::Select(sign, bounded / tensor::FloatLiteral(6),
                          tensor::Unary(tensor::ExprOp::kExp, v - tensor::FloatLiteral(1)));
  });
  const FeatureMatrix features = ExtractFeatures(tensor::Lower(b.Build({y})));
  const std::span<const float> row = features.Row(0);
  const auto count = [&](OpClass op) { return std::exp2(row[static_cast<int>(op)]) - 1; };
  EXPECT_NEAR(count(OpClass::kFloatMad), 10, 1e-3);
  EXPECT_NEAR(count(OpClass::kFloatAddSub), 10, 1e-3);
  EXPECT_NEAR(count(OpClass::kFloatMul), 0, 1e-3);
  EXPECT_NEAR(count(OpClass::kFloatDivMod), 10, 1e-3);
  EXPECT_NEAR(count(OpClass::kFloatCompare), 30, 1e-3);
  EXPECT_NEAR(count(OpClass::kFloatMath), 10, 1e-3);
  EXPECT_NEAR(count(OpClass::kIntCompare), 10, 1e-3);
  EXPECT_NEAR(count(OpClass::kBool), 10, 1e-3);
  EXPECT_NEAR(count(OpClass::kSelect), 10, 1e-3);
}

TEST(ProgramFeatures, UnitLoopsDoNotMatter) {
  tensor::Program plain = Matmul(), padded = Matmul();
  for (tensor::LoopId loop : LoopsOf(padded, "c")) {
    const std::vector<int64_t> factors = {1, padded.ExtentOf(loop), 1};
    const std::vector<tensor::LoopId> parts = *tensor::Split(padded, loop, factors);
    ASSERT_TRUE(tensor::Unroll(padded, parts[0]).ok());
  }
  EXPECT_EQ(ExtractFeatures(plain), ExtractFeatures(padded));
}

TEST(ProgramFeatures, EqualHashesGiveEqualFeatures) {
  tensor::Program a = Matmul(), b = Matmul();
  a.name = "another";
  for (tensor::Buffer& buffer : a.buffers) buffer.name = "z" + buffer.name;
  std::vector<tensor::LoopId> loops = LoopsOf(b, "c");
  // To and fro: new ids for the same program.
  const std::vector<tensor::LoopId> reordered = {loops[1], loops[0]};
  ASSERT_TRUE(tensor::Reorder(b, reordered).ok());
  ASSERT_NE(a.StructuralHash(), b.StructuralHash());
  EXPECT_NE(ExtractFeatures(a), ExtractFeatures(b));
  ASSERT_TRUE(tensor::Reorder(b, std::vector<tensor::LoopId>{loops[0], loops[1]}).ok());
  ASSERT_EQ(a.StructuralHash(), b.StructuralHash());
  EXPECT_EQ(ExtractFeatures(a), ExtractFeatures(b));
}

TEST(ProgramFeatures, FusingChangesNoMemoryColumn) {
  tensor::Program program = Matmul();
  const FeatureMatrix before = ExtractFeatures(program);
  std::vector<tensor::LoopId> loops = LoopsOf(program, "c");
  ASSERT_TRUE(tensor::Fuse(program, std::vector<tensor::LoopId>{loops[0], loops[1]}).ok());
  const FeatureMatrix after = ExtractFeatures(program);
  for (int column = kBufferColumn; column < kLoopCountColumn; ++column) {
    EXPECT_EQ(before.Row(0)[column], after.Row(0)[column]) << FeatureColumnName(column);
  }
  EXPECT_FLOAT_EQ(after.Row(0)[kLoopCountColumn], SLog(2));
}

TEST(ProgramFeatures, LiteralStoresAreLeftOut) {
  tensor::WorkloadBuilder b("fill");
  tensor::Tensor zero = b.Compute("zero", {4}, [](auto) { return tensor::FloatLiteral(0); });
  const FeatureMatrix features = ExtractFeatures(tensor::Lower(b.Build({zero})));
  EXPECT_EQ(features.rows, 0);
  EXPECT_TRUE(features.values.empty());
}

}  // namespace
}  // namespace bayloom::feature
