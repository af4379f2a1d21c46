// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "bayloom/codegen/gpu/assemble.h"
#include "bayloom/feature/gpu_estimate.h"
#include "tests/codegen/warp_products.h"
#include "tests/effort.h"

namespace bayloom::testing {
namespace {

constexpr char kGroupInstruction[] = "wgmma.mma_async";

std::vector<int> GroupSpaces(const sketch::GpuSpaces& spaces) { return WarpSpaces(spaces, true); }

std::vector<NamedWorkload> GroupProducts() {
  std::vector<NamedWorkload> all;
  const DType bfloat16 = DType::kBFloat16, tf32 = DType::kTFloat32;
  all.push_back({"one_tile", Product({64, 64, 64})});
  all.push_back({"float16", Product({128, 192, 128})});
  all.push_back({"bfloat16", Product({192, 128, 128, bfloat16})});
  all.push_back({"transposed_a", Product({128, 128, 64, DType::kFloat16, true})});
  all.push_back({"transposed_b", Product({64, 256, 128, bfloat16, false, true})});
  all.push_back({"transposed", Product({128, 64, 192, DType::kFloat16, true, true})});
  all.push_back({"narrow", Product({64, 128, 256, DType::kFloat16, false, false, true})});
  all.push_back({"padded", Product({60, 120, 100})});
  all.push_back({"tf32_transposed_b", Product({64, 128, 64, tf32, false, true})});
  return all;
}

class WarpGroupProductsOf : public ::testing::TestWithParam<NamedWorkload> {};

TEST_P(WarpGroupProductsOf, AreRightAndWithoutRaces) {
  const sketch::GpuSpaces spaces(GetParam().workload, Hopper());
  ExpectDrawsAreRight(spaces, GroupSpaces(spaces), {kGroupInstruction, ".target sm_90a"});
}

INSTANTIATE_TEST_SUITE_P(Catalogue, WarpGroupProductsOf, ::testing::ValuesIn(GroupProducts()),
                         [](const auto& named) { return named.param.name; });

TEST(WarpGroupProducts, AreOfferedWhereOperandsLieInPanels) {
  const auto offered = [](const tensor::Workload& workload, const char* architecture = "sm_90") {
    const sketch::GpuSpaces spaces(workload, *target::FindGpuLimits(architecture));
    return !GroupSpaces(spaces).empty();
  };
  EXPECT_TRUE(offered(Product({256, 256, 256})));
  EXPECT_FALSE(offered(Product({256, 256, 256}), "sm_89"));
  EXPECT_FALSE(offered(Product({16, 256, 256})));  // three quarters would be padding
  EXPECT_FALSE(offered(Product({256, 256, 256, DType::kTFloat32})));  // columns lie the wrong way
  EXPECT_FALSE(offered(Convolution(64, 64, 64, 3, 1)));
  EXPECT_TRUE(offered(Convolution(64, 64, 64, 1)));
}

TEST(WarpGroupProducts, OfLargeOperatorsAssembleWithoutSpills) {
  if (!codegen::HasAssembler()) GTEST_SKIP() << "there is no ptxas in PATH";
  int spills = 0, assembled_programs = 0;
  for (const ProductShape& shape :
       {ProductShape{1024, 1024, 1024}, ProductShape{512, 768, 3072, DType::kBFloat16, false, true},
        ProductShape{1024, 1024, 1024, DType::kTFloat32, false, true}}) {
    const sketch::GpuSpaces spaces(Product(shape), Hopper());
    for (uint64_t seed = 0; seed < 2 * static_cast<uint64_t>(Effort()); ++seed) {
      const auto candidate = spaces.Sample(GroupSpaces(spaces).at(0), base::RandomStream(seed));
      ASSERT_TRUE(candidate) << candidate.error().message;
      const auto assembled = codegen::Assemble(PtxOf(candidate->program));
      ASSERT_TRUE(assembled) << assembled.error().message << tensor::Print(candidate->program);
      ++assembled_programs;
      spills += assembled->kernels.at(0).spill_bytes > 0;
    }
  }
  RecordProperty("assembled", assembled_programs);
  RecordProperty("spills", spills);
  EXPECT_LE(4 * spills, assembled_programs);
}

TEST(WarpGroupProducts, TheEstimateKnowsTheirSharedMemory) {
  const sketch::GpuSpaces spaces(Product({256, 250, 256}), Hopper());
  for (uint64_t seed = 0; seed < 12; ++seed) {
    const auto candidate = spaces.Sample(GroupSpaces(spaces).at(0), base::RandomStream(seed));
    ASSERT_TRUE(candidate) << candidate.error().message;
    const auto compiled = codegen::CompileToPtx(candidate->program, Hopper(), "f");
    ASSERT_TRUE(compiled) << compiled.error().message;
    const auto estimates = feature::EstimateGpuKernels(candidate->program, *target::TypicalGpu(90));
    ASSERT_EQ(estimates.size(), compiled->launches.size());
    EXPECT_EQ(estimates[0].shared_bytes, compiled->launches[0].shared_bytes);
  }
}

}  // namespace
}  // namespace bayloom::testing
