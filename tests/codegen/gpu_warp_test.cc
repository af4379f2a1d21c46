// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <bit>

#include "bayloom/codegen/gpu/assemble.h"
#include "bayloom/codegen/gpu/fiber_block.h"
#include "bayloom/codegen/gpu/stand_in_code.h"
#include "bayloom/codegen/gpu/warp_arithmetic.h"
#include "bayloom/feature/gpu_estimate.h"
#include "bayloom/tensor/primitives.h"
#include "bayloom/tensor/scalar.h"
#include "tests/codegen/warp_products.h"
#include "tests/effort.h"

namespace bayloom::testing {
namespace {

using codegen::StandInCalls;

std::vector<NamedWorkload> Products() {
  std::vector<NamedWorkload> all;
  all.push_back({"float16", Product({32, 48, 64})});
  all.push_back({"bfloat16", Product({32, 48, 64, DType::kBFloat16})});
  all.push_back({"prime_multiples", Product({16 * 7, 8 * 13, 16 * 5})});
  all.push_back({"one_matrix", Product({16, 8, 16, DType::kBFloat16})});
  all.push_back({"transposed_a", Product({48, 24, 32, DType::kFloat16, true})});
  all.push_back({"transposed_b", Product({32, 40, 48, DType::kBFloat16, false, true})});
  all.push_back({"transposed", Product({32, 56, 32, DType::kFloat16, true, true})});
  all.push_back({"narrow", Product({48, 32, 80, DType::kFloat16, false, false, true})});
  all.push_back({"conv_1x1", Convolution(8, 16, 48, 1)});
  all.push_back({"conv_3x3", Convolution(10, 16, 16, 3)});
  all.push_back({"conv_3x3_pad", Convolution(8, 32, 16, 3, 1)});
  const DType tf32 = DType::kTFloat32;
  all.push_back({"tf32", Product({32, 48, 40, tf32})});
  all.push_back({"tf32_transposed_a", Product({48, 24, 32, tf32, true})});
  all.push_back({"tf32_transposed_b", Product({32, 40, 48, tf32, false, true})});
  all.push_back({"tf32_conv_3x3_pad", Convolution(8, 16, 16, 3, 1, tf32)});
  all.push_back({"tf32_of_float32", RoundedProduct(32, 24, 40)});
  return all;
}

class WarpProductsOf : public ::testing::TestWithParam<NamedWorkload> {};

TEST_P(WarpProductsOf, AreRightAndWithoutRaces) { ExpectWarpProductsAreRight(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Catalogue, WarpProductsOf, ::testing::ValuesIn(Products()),
                         [](const auto& named) { return named.param.name; });

/// float32 is not rounded unless it is asked for.
TEST(WarpProducts, AreOfNarrowElementsOnly) {
  const sketch::GpuSpaces spaces(tensor::MatmulWorkload(64, 64, 64), Hopper());
  EXPECT_TRUE(WarpSpaces(spaces).empty());
}

class WarpProductsOfType : public ::testing::TestWithParam<DType> {};

INSTANTIATE_TEST_SUITE_P(Types, WarpProductsOfType,
                         ::testing::Values(DType::kFloat16, DType::kTFloat32),
                         [](const auto& dtype) { return tensor::ToString(dtype.param); });

TEST_P(WarpProductsOfType, LimitsAreKnownConstraints) {
  target::GpuLimits small = Hopper();
  small.max_shared_bytes = 16 << 10;
  small.max_threads = 128;
  const tensor::Workload workload = Product({256, 250, 256, GetParam()});
  const sketch::GpuSpaces wide(workload, Hopper()), narrow(workload, small);
  int refused = 0;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    const auto candidate = wide.Sample(WarpSpace(wide), base::RandomStream(seed));
    ASSERT_TRUE(candidate) << candidate.error().message;
    const auto compiled = codegen::CompileToPtx(candidate->program, small, "f");
    const Status kept = narrow.CheckDecisions(WarpSpace(narrow), candidate->trace);
    refused += !kept;
    if (kept) {
      EXPECT_TRUE(compiled) << compiled.error().message << tensor::Print(candidate->program);
    }
    const auto within = narrow.Sample(WarpSpace(narrow), base::RandomStream(seed));
    ASSERT_TRUE(within) << within.error().message;
    const auto fits = codegen::CompileToPtx(within->program, small, "f");
    ASSERT_TRUE(fits) << fits.error().message << tensor::Print(within->program);
    EXPECT_LE(fits->launches[0].shared_bytes, small.max_shared_bytes);
    EXPECT_LE(fits->launches[0].threads, small.max_threads);
    EXPECT_EQ(fits->launches[0].threads % 32, 0);
  }
  EXPECT_GT(refused, 5);
}

/// With padded rows and all stages that code generation makes, whether warps multiply or threads.
TEST_P(WarpProductsOfType, TheEstimateKnowsTheirSharedMemory) {
  const sketch::GpuSpaces spaces(Product({256, 250, 256, GetParam()}), Hopper());
  for (const int space : {0, WarpSpace(spaces)}) {
    for (uint64_t seed = 0; seed < 12; ++seed) {
      const auto candidate = spaces.Sample(space, base::RandomStream(seed));
      ASSERT_TRUE(candidate) << candidate.error().message;
      const auto compiled = codegen::CompileToPtx(candidate->program, Hopper(), "f");
      ASSERT_TRUE(compiled) << compiled.error().message;
      const auto estimates =
          feature::EstimateGpuKernels(candidate->program, *target::TypicalGpu(90));
      ASSERT_EQ(estimates.size(), compiled->launches.size());
      EXPECT_EQ(estimates[0].shared_bytes, compiled->launches[0].shared_bytes)
          << tensor::Print(candidate->program);
    }
  }
}

TEST(WarpProducts, OfLargeOperatorsAssemble) {
  if (!codegen::HasAssembler()) GTEST_SKIP() << "there is no ptxas in PATH";
  int assembled_programs = 0, spills = 0;
  for (const ProductShape& shape :
       {ProductShape{1024, 1024, 1024}, ProductShape{512, 768, 3072, DType::kBFloat16},
        ProductShape{1024, 1024, 1024, DType::kTFloat32}, ProductShape{197, 768, 768},
        ProductShape{49, 1000, 2048, DType::kTFloat32}}) {
    const sketch::GpuSpaces spaces(Product(shape), Hopper());
    for (uint64_t seed = 0; seed < 2 * static_cast<uint64_t>(Effort()); ++seed) {
      const std::vector<int> warp_spaces = WarpSpaces(spaces);
      const int space = warp_spaces[seed % warp_spaces.size()];
      const auto candidate = spaces.Sample(space, base::RandomStream(seed));
      ASSERT_TRUE(candidate) << candidate.error().message;
      for (const char* architecture : {"sm_80", "sm_90"}) {
        const target::GpuLimits limits = *target::FindGpuLimits(architecture);
        const auto compiled = codegen::CompileToPtx(candidate->program, limits, "f");
        if (!compiled) continue;  // one has less shared memory than the other
        const auto assembled = codegen::Assemble(compiled->ptx, architecture);
        ASSERT_TRUE(assembled) << assembled.error().message << compiled->ptx;
        ++assembled_programs;
        spills += assembled->kernels.at(0).spill_bytes > 0;
      }
    }
  }
  RecordProperty("assembled", assembled_programs);
  RecordProperty("spills", spills);
  EXPECT_GT(assembled_programs, 0);
}

/// A tensorized loop that is not arranged for warps is a loop.
TEST(WarpProducts, AreLoopsWhereLanesAreNotThreads) {
  const tensor::Workload workload = Product({16, 16, 32});
  tensor::Program program = tensor::Lower(workload);
  const auto loops = program.LoopsAround(tensor::NodeRef::Block(program.FindBlock("product")));
  const auto k = *tensor::Split(program, loops[2], std::vector<int64_t>{-1, 16});
  ASSERT_TRUE(tensor::Tensorize(program, k[1]).ok());
  ASSERT_TRUE(tensor::Bind(program, loops[0], tensor::LoopKind::kBlockX).ok());
  ASSERT_TRUE(tensor::Bind(program, loops[1], tensor::LoopKind::kThreadX).ok());
  EXPECT_THAT(PtxOf(program), Not(HasSubstr("mma.sync")));
  std::vector<tensor::HostTensor> actual = RandomArguments(workload, 7), expected = actual;
  tensor::Interpret(tensor::Lower(workload), expected);
  const auto stand_in = codegen::StandIn::Compile(program, Hopper());
  ASSERT_TRUE(stand_in) << stand_in.error().message;
  const Status done = RunOnStandIn(program, *stand_in, actual);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(CountWrong(program, actual, expected), 0);
}

// --- The stand-in's arithmetic -------------------------------------------------------------------

constexpr auto kFloat16 = static_cast<uint32_t>(DType::kFloat16);

uint32_t Bits(float value) {
  std::byte bytes[2];
  tensor::StoreFloat(DType::kFloat16, bytes, value);
  return std::to_integer<uint32_t>(bytes[0]) | std::to_integer<uint32_t>(bytes[1]) << 8;
}

/// PTX ISA, "Matrix Fragments for mma.m16n8k16": registers of operands and sums by thread.
TEST(WarpArithmetic, MultipliesMatricesAsThePtxManualSays) {
  float a[16][16], b[16][8], c[16][8];
  for (int i = 0; i < 16; ++i) {
    for (int k = 0; k < 16; ++k) a[i][k] = static_cast<float>((3 * i + 5 * k) % 7 - 3);
    for (int j = 0; j < 8; ++j) b[i][j] = static_cast<float>((2 * i + 3 * j) % 5 - 2);
    for (int j = 0; j < 8; ++j) c[i][j] = static_cast<float>(i - j);
  }
  uint32_t registers[32][10];
  codegen::OfWarp<uint32_t*> pointers;
  for (int lane = 0; lane < 32; ++lane) {
    const int g = lane / 4, t = lane % 4;
    uint32_t* const own = pointers[static_cast<size_t>(lane)] = registers[lane];
    const auto pair = [](float low, float high) { return Bits(low) | Bits(high) << 16; };
    own[0] = pair(a[g][2 * t], a[g][2 * t + 1]);
    own[1] = pair(a[g + 8][2 * t], a[g + 8][2 * t + 1]);
    own[2] = pair(a[g][2 * t + 8], a[g][2 * t + 9]);
    own[3] = pair(a[g + 8][2 * t + 8], a[g + 8][2 * t + 9]);
    own[4] = pair(b[2 * t][g], b[2 * t + 1][g]);
    own[5] = pair(b[2 * t + 8][g], b[2 * t + 9][g]);
    for (int i = 0; i < 4; ++i) {
      own[6 + i] = std::bit_cast<uint32_t>(c[g + 8 * (i / 2)][2 * t + i % 2]);
    }
  }
  codegen::MultiplyMatrices(DType::kFloat16, pointers);
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 8; ++j) {
      float sum = c[i][j];
      for (int k = 0; k < 16; ++k) sum += a[i][k] * b[k][j];
      const int lane = 4 * (i % 8) + j / 2, part = 2 * (i / 8) + j % 2;
      EXPECT_EQ(std::bit_cast<float>(registers[lane][6 + part]), sum) << i << " " << j;
    }
  }
}

/// PTX ISA, "Matrix Fragments for mma.m16n8k8" of tf32; the lower 13 bits of operands do not count.
TEST(WarpArithmetic, MultipliesTFloat32AsThePtxManualSays) {
  float a[16][8], b[8][8];
  for (int i = 0; i < 16; ++i) {
    for (int k = 0; k < 8; ++k) a[i][k] = static_cast<float>((3 * i + 5 * k) % 1021 - 500);
  }
  for (int k = 0; k < 8; ++k) {
    for (int j = 0; j < 8; ++j) b[k][j] = static_cast<float>((2 * k + 3 * j) % 5 - 2);
  }
  uint32_t registers[32][10];
  codegen::OfWarp<uint32_t*> pointers;
  for (int lane = 0; lane < 32; ++lane) {
    const int g = lane / 4, t = lane % 4;
    uint32_t* const own = pointers[static_cast<size_t>(lane)] = registers[lane];
    constexpr uint32_t kBelow = 0x1fff;
    const auto bits = [](float value) { return std::bit_cast<uint32_t>(value) | kBelow; };
    own[0] = bits(a[g][t]);
    own[1] = bits(a[g + 8][t]);
    own[2] = bits(a[g][t + 4]);
    own[3] = bits(a[g + 8][t + 4]);
    own[4] = bits(b[t][g]);
    own[5] = bits(b[t + 4][g]);
    for (int i = 0; i < 4; ++i) own[6 + i] = std::bit_cast<uint32_t>(0.5F);
  }
  codegen::MultiplyMatrices(DType::kTFloat32, pointers);
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 8; ++j) {
      float sum = 0.5F;
      for (int k = 0; k < 8; ++k) sum += a[i][k] * b[k][j];
      const int lane = 4 * (i % 8) + j / 2, part = 2 * (i / 8) + j % 2;
      EXPECT_EQ(std::bit_cast<float>(registers[lane][6 + part]), sum) << i << " " << j;
    }
  }
}

std::optional<std::string> RunWarp(codegen::StandInKernel kernel) {
  alignas(16) static uint16_t shared[16 * 8];
  for (uint16_t i = 0; i < 16 * 8; ++i) shared[i] = i;
  codegen::FiberBlock block(32, {});
  codegen::RaceChecker checker(
      {{"x.shared", reinterpret_cast<std::byte*>(shared), sizeof(shared), 2, true}});
  return block.Run(kernel, nullptr, shared, 0, checker);
}

TEST(WarpArithmetic, LoadsMatricesByRowsAndByColumns) {
  static uint32_t seen[2][32][2];
  const auto fault =
      RunWarp([](void* const*, void* shared, StandInCalls* calls, uint32_t thread, uint32_t) {
        const uint16_t* row = static_cast<uint16_t*>(shared) + 8 * (thread % 16);
        for (const uint32_t transposed : {0U, 1U}) {
          calls->load_matrices(calls, 0, row, 2, transposed, seen[transposed][thread]);
        }
      });
  ASSERT_FALSE(fault) << *fault;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const uint32_t g = lane / 4, t = lane % 4;
    for (uint32_t m = 0; m < 2; ++m) {
      EXPECT_EQ(seen[0][lane][m], (64 * m + 8 * g + 2 * t) | (64 * m + 8 * g + 2 * t + 1) << 16);
      EXPECT_EQ(seen[1][lane][m], (64 * m + 16 * t + g) | (64 * m + 16 * t + 8 + g) << 16);
    }
  }
}

TEST(WarpArithmetic, NamesThreadsThatDoNotComeAndRowsThatAreNotAligned) {
  auto fault = RunWarp([](void* const*, void*, StandInCalls* calls, uint32_t thread, uint32_t) {
    uint32_t registers[10] = {};
    if (thread != 5) calls->multiply(calls, kFloat16, registers);
  });
  ASSERT_TRUE(fault);
  EXPECT_THAT(*fault, HasSubstr("matrices: in block 0, thread 5 does not take part"));
  fault = RunWarp([](void* const*, void* shared, StandInCalls* calls, uint32_t thread, uint32_t) {
    uint32_t registers[2];
    calls->load_matrices(calls, 0, static_cast<uint16_t*>(shared) + 4 * (thread % 16), 2, 0,
                         registers);
  });
  ASSERT_TRUE(fault);
  EXPECT_THAT(*fault, HasSubstr("thread 1 of block 0 names a row that is not aligned"));
}

}  // namespace
}  // namespace bayloom::testing
