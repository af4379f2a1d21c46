// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <nlohmann/json.hpp>

#include "bayloom/tensor/dot_product.h"
#include "bayloom/tensor/quantized_operators.h"
#include "bayloom/tensor/schedule.h"
#include "tests/tensor/primitive_test.h"

namespace bayloom::testing {
namespace {

using tensor::DType;

class TensorizeTest : public PrimitiveTest {
 protected:
  /// Splits the reduction of a product by 4 and puts the inner part around the columns.
  tensor::LoopId StartMatmul(tensor::Workload workload) {
    Start(std::move(workload));
    const std::vector<tensor::LoopId> loops = LoopsOf("matmul");
    const std::vector<tensor::LoopId> k = MustSplit(loops[2], {-1, 4});
    Must(tensor::Reorder(program_, std::vector{k[0], k[1], loops[1]}));
    return k[1];
  }
};

tensor::Workload Product(DType a, DType b, DType sum, int64_t k = 16) {
  tensor::WorkloadBuilder builder("product");
  const tensor::Tensor x = builder.Input("x", {6, k}, a), w = builder.Constant("w", {k, 8}, b);
  tensor::MatmulOptions options;
  options.accumulator = sum;
  return builder.Build({tensor::Matmul(builder, "matmul", x, w, options)});
}

const auto Tensorize = [](tensor::LoopId loop) {
  return [loop](tensor::Program& p) { return tensor::Tensorize(p, loop); };
};

TEST_F(TensorizeTest, MarksWhatAnInstructionSumsUp) {
  for (DType a : {DType::kInt8, DType::kUInt8}) {
    for (DType b : {DType::kInt8, DType::kUInt8}) {
      const tensor::LoopId k = StartMatmul(Product(a, b, DType::kInt32));
      const uint64_t before = program_.StructuralHash();
      Must(tensor::Tensorize(program_, k));
      EXPECT_EQ(program_.loops[k].kind, tensor::LoopKind::kTensorized);
      EXPECT_NE(program_.StructuralHash(), before);
      EXPECT_THAT(tensor::Print(program_), ::testing::HasSubstr("tensorized for"));
      Must(tensor::Vectorize(program_, LoopsOf("matmul").back()));
      ExpectSameResult();
    }
  }
}

TEST_F(TensorizeTest, KeepsPaddingInside) {
  tensor::Conv2dShape shape;
  shape.height = shape.width = 5;
  shape.in_channels = 8;
  shape.out_channels = 6;
  shape.kernel = {3, 3};
  shape.options.pad_before = shape.options.pad_after = {1, 1};
  Start(tensor::QuantizedConv2dWorkload(shape));
  Must(tensor::ComputeInline(program_, BlockNamed("conv_pad")));
  const std::optional<tensor::DotProduct> product = tensor::MatchDotProduct(At("conv"));
  ASSERT_TRUE(product.has_value());
  EXPECT_TRUE(product->a.condition.defined());
  EXPECT_EQ(product->depth(), 4);
  Must(tensor::Tensorize(program_, MustSplit(LoopsOf("conv").back(), {2, 4})[1]));
  ExpectSameResult();
}

TEST_F(TensorizeTest, TakesPairsOfWiderElements) {
  for (const auto& [narrow, wide] :
       {std::pair{DType::kInt16, DType::kInt32}, std::pair{DType::kBFloat16, DType::kFloat32}}) {
    Start(Product(narrow, narrow, wide));
    Must(tensor::Tensorize(program_, MustSplit(LoopOf("matmul", 2), {8, 2})[1]));
    ExpectSameResult();
  }
}

TEST_F(TensorizeTest, RefusesOtherNests) {
  const char* kNoProducts = "no sum of products of two elements of 8 or 16 bits";
  ExpectRefused("is no longer serial", Tensorize([&] {
                  const tensor::LoopId k =
                      StartMatmul(Product(DType::kInt8, DType::kInt8, DType::kInt32));
                  Must(tensor::Tensorize(program_, k));
                  return k;
                }()));
  ExpectRefused("is not the fastest part of one reduction axis",
                Tensorize(LoopsOf("matmul").front()));
  ExpectRefused("is not the fastest part of one reduction axis", Tensorize(LoopsOf("matmul")[1]));
  for (DType sum : {DType::kInt8, DType::kInt16, DType::kInt64, DType::kFloat32}) {
    ExpectRefused(kNoProducts, Tensorize(StartMatmul(Product(DType::kInt8, DType::kInt8, sum))));
  }
  ExpectRefused(kNoProducts, Tensorize(StartMatmul(tensor::MatmulWorkload(6, 8, 16))));
  ExpectRefused(kNoProducts,
                Tensorize(StartMatmul(Product(DType::kInt8, DType::kInt16, DType::kInt32))));
  Start(Product(DType::kInt8, DType::kUInt8, DType::kInt32));
  const std::vector<tensor::LoopId> k = MustSplit(LoopOf("matmul", 2), {2, 4, 2});
  ExpectRefused("instructions sum up 4 or 8 products of int8", Tensorize(k[2]));
  Start(Product(DType::kInt8, DType::kUInt8, DType::kInt32, 4));
  ExpectRefused("is not the fastest part", Tensorize(LoopOf("matmul", 1)));
}

TEST_F(TensorizeTest, RefusesReductionsInside) {
  tensor::Conv2dShape shape;
  shape.height = shape.width = 5;
  shape.in_channels = 8;
  shape.out_channels = 6;
  shape.kernel = {3, 3};
  Start(tensor::QuantizedConv2dWorkload(shape));
  const std::vector<tensor::LoopId> loops = LoopsOf("conv");
  const std::vector<tensor::LoopId> c = MustSplit(loops.back(), {2, 4});
  Must(tensor::Reorder(program_, std::vector{c[1], c[0], loops[5]}));
  ExpectRefused("reduces over a loop inside of it", Tensorize(c[1]));
}

TEST_F(TensorizeTest, AMarkedLoopStaysAsItIs) {
  const tensor::LoopId k = StartMatmul(Product(DType::kUInt8, DType::kInt8, DType::kInt32));
  Must(tensor::Tensorize(program_, k));
  ExpectRefused("no longer serial", [&](tensor::Program& p) {
    return tensor::Split(p, k, std::vector<int64_t>{2, 2});
  });
  ExpectRefused("is tensorized",
                [&](tensor::Program& p) { return tensor::RFactor(p, BlockNamed("matmul"), k); });
  const tensor::BlockId copy = Must(tensor::CacheRead(
      program_, BlockNamed("matmul"), BufferNamed("x"), tensor::StorageScope::kLocal));
  ExpectRefused("is tensorized: nothing can be placed inside",
                [&](tensor::Program& p) { return tensor::ComputeAt(p, copy, k); });
}

TEST_F(TensorizeTest, PutsWhatIsSummedUpNextToEachOther) {
  const tensor::LoopId k = StartMatmul(Product(DType::kUInt8, DType::kInt8, DType::kInt32));
  Must(tensor::Tensorize(program_, k));
  Must(tensor::RewriteLayout(program_, BufferNamed("w")));
  // [k / 4][n][4]
  const std::vector<tensor::LayoutAxis> expected = {{0, 4, 4}, {1, 1, 8}, {0, 1, 4}};
  EXPECT_EQ(program_.buffers[BufferNamed("w")].layout, expected);
  ExpectSameResult();
}

TEST(TensorizeTraceTest, SurvivesJson) {
  const tensor::Workload workload = Product(DType::kUInt8, DType::kInt8, DType::kInt32);
  tensor::Schedule schedule(workload, 1);
  const std::vector<tensor::LoopVar> loops = *schedule.GetLoops(*schedule.GetBlock("matmul"));
  const auto k = *schedule.Split(loops[2], std::vector<int64_t>{4, 4});
  ASSERT_TRUE(schedule.Tensorize(k[1]));
  EXPECT_FALSE(schedule.Tensorize(k[1]));
  const Result<tensor::Trace> read = tensor::Trace::FromJson(schedule.trace().ToJson());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->ToJson(), schedule.trace().ToJson());
  const Result<tensor::Schedule> again = tensor::Replay(workload, *read, base::RandomStream(2));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->program().StructuralHash(), schedule.program().StructuralHash());
}

}  // namespace
}  // namespace bayloom::testing
