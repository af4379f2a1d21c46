// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "bayloom/tensor/operator_shorthand.h"
#include "tests/codegen/warp_products.h"

namespace bayloom::testing {
namespace {

std::vector<int> SplitSpaces(const sketch::GpuSpaces& spaces) {
  return SpacesWhere(spaces, [](const tensor::Trace& trace) {
    return HasStep(trace, tensor::InstructionKind::kRFactor);
  });
}

struct SplitProduct {
  std::string name;
  tensor::Workload workload;
  target::GpuLimits limits;
  std::string instruction;
};
void PrintTo(const SplitProduct& product, std::ostream* out) { *out << product.name; }

std::vector<SplitProduct> SplitProducts() {
  return {
      {"by_threads", tensor::MatmulWorkload(30, 50, 256), Hopper(), "fma.rn.f32"},
      {"bias", tensor::ParseOperator("conv2d:6x6x256,24,1x1,bias,relu"), Hopper(), "fma.rn.f32"},
      {"padded_image", Convolution(5, 128, 16, 3, 1), Hopper(), "mma.sync"},
      {"by_warps", Product({20, 40, 512}), Hopper(), "mma.sync"},
      {"narrow", Product({64, 64, 256, DType::kFloat16, false, false, true}), HopperAlone(),
       "wgmma.mma_async"},
      {"by_groups", Product({64, 128, 512}), HopperAlone(), "wgmma.mma_async"},
      {"transposed", Product({128, 64, 384, DType::kBFloat16, true, true}), HopperAlone(),
       "wgmma.mma_async"},
      {"image", Convolution(12, 256, 24, 1), Hopper(), "mma.sync"},
      {"batch", tensor::BatchMatmulWorkload(2, 64, 64, 256, DType::kFloat16, DType::kFloat32),
       HopperAlone(), "wgmma.mma_async"}};
}

class SplitSumOf : public ::testing::TestWithParam<SplitProduct> {};

TEST_P(SplitSumOf, IsRightAndWithoutRaces) {
  const sketch::GpuSpaces spaces(GetParam().workload, GetParam().limits);
  ExpectDrawsAreRight(spaces, SplitSpaces(spaces), {GetParam().instruction});
}

INSTANTIATE_TEST_SUITE_P(Catalogue, SplitSumOf, ::testing::ValuesIn(SplitProducts()),
                         [](const auto& product) { return product.param.name; });

/// Each block of threads has one part, and another kernel combines them with what comes behind.
TEST(SplitSum, HasBlocksForEachPartAndOneKernelMore) {
  const sketch::GpuSpaces spaces(tensor::ParseOperator("matmul:64,64,1024"), Hopper());
  ASSERT_EQ(SplitSpaces(spaces).size(), 3U);
  for (const int space : SplitSpaces(spaces)) {
    const auto candidate = spaces.Sample(space, base::RandomStream(3));
    ASSERT_TRUE(candidate) << candidate.error().message;
    const auto compiled = codegen::CompileToPtx(candidate->program, Hopper(), "f");
    ASSERT_TRUE(compiled) << compiled.error().message;
    EXPECT_EQ(compiled->launches.size(), 2U);
    const tensor::Block& parts =
        candidate->program.blocks[candidate->program.FindBlock("matmul_rf")];
    EXPECT_EQ(compiled->launches[0].blocks % parts.iters[0].extent, 0);
    EXPECT_EQ(compiled->workspace_bytes, parts.iters[0].extent * 64 * 64 * 4);
  }
}

TEST(SplitSum, IsOfferedWhereThereAreFewElements) {
  const auto spaces_of = [](const std::string& op) {
    return SplitSpaces(sketch::GpuSpaces(tensor::ParseOperator(op), Hopper())).size();
  };
  EXPECT_EQ(spaces_of("matmul:64,64,4096"), 3U);      // 2, 4 and 8 parts
  EXPECT_EQ(spaces_of("matmul:64,64,128"), 0U);       // too short
  EXPECT_EQ(spaces_of("matmul:64,64,1000"), 0U);      // no equal parts
  EXPECT_EQ(spaces_of("matmul:512,512,1024"), 1U);    // two parts fill a GPU
  EXPECT_EQ(spaces_of("matmul:1024,1024,1024"), 0U);  // so do the elements
}

}  // namespace
}  // namespace bayloom::testing
