// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <bit>
#include <cstring>

#include "bayloom/codegen/gpu/assemble.h"
#include "bayloom/codegen/gpu/fiber_block.h"
#include "bayloom/codegen/gpu/stand_in_code.h"
#include "bayloom/codegen/gpu/warp_arithmetic.h"
#include "bayloom/feature/gpu_estimate.h"
#include "bayloom/tensor/scalar.h"
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
  all.push_back({"conv_1x1", Convolution(44, 64, 64, 1)});
  all.push_back(
      {"batch", tensor::BatchMatmulWorkload(3, 64, 128, 64, DType::kFloat16, DType::kFloat32)});
  all.push_back({"tf32_transposed_b", Product({64, 128, 64, tf32, false, true})});
  return all;
}

class WarpGroupProductsOf : public ::testing::TestWithParam<NamedWorkload> {};

TEST_P(WarpGroupProductsOf, AreRightAndWithoutRaces) {
  const sketch::GpuSpaces spaces(GetParam().workload, HopperAlone());
  ExpectDrawsAreRight(spaces, GroupSpaces(spaces), {kGroupInstruction, ".target sm_90a"});
}

INSTANTIATE_TEST_SUITE_P(Catalogue, WarpGroupProductsOf, ::testing::ValuesIn(GroupProducts()),
                         [](const auto& named) { return named.param.name; });

TEST(WarpGroupProducts, AreOfferedWhereOperandsLieInPanels) {
  const auto offered = [](const tensor::Workload& workload, const char* architecture = "sm_90a") {
    const sketch::GpuSpaces spaces(workload, *target::FindGpuLimits(architecture));
    return !GroupSpaces(spaces).empty();
  };
  EXPECT_TRUE(offered(Product({256, 256, 256})));
  EXPECT_FALSE(offered(Product({256, 256, 256}), "sm_90"));
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
    const sketch::GpuSpaces spaces(Product(shape), HopperAlone());
    for (uint64_t seed = 0; seed < 2 * static_cast<uint64_t>(Effort()); ++seed) {
      const auto candidate = spaces.Sample(GroupSpaces(spaces).at(0), base::RandomStream(seed));
      ASSERT_TRUE(candidate) << candidate.error().message;
      const auto assembled = codegen::Assemble(PtxOf(candidate->program, "sm_90a"), "sm_90a");
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
  const sketch::GpuSpaces spaces(Product({256, 250, 256}), HopperAlone());
  for (uint64_t seed = 0; seed < 12; ++seed) {
    const auto candidate = spaces.Sample(GroupSpaces(spaces).at(0), base::RandomStream(seed));
    ASSERT_TRUE(candidate) << candidate.error().message;
    const auto compiled = codegen::CompileToPtx(candidate->program, HopperAlone(), "f");
    ASSERT_TRUE(compiled) << compiled.error().message;
    const auto estimates = feature::EstimateGpuKernels(candidate->program, *target::TypicalGpu(90));
    ASSERT_EQ(estimates.size(), compiled->launches.size());
    EXPECT_EQ(estimates[0].shared_bytes, compiled->launches[0].shared_bytes);
  }
}

/// Code without one of the things that order accesses to panels.
class Faulty final : public codegen::StandInMachine {
 public:
  enum Kind { kBarrier, kWait, kKinds };
  explicit Faulty(Kind kind) : kind_(kind) {}

  void Barrier(codegen::IrBuilder& b) override {
    if (kind_ != kBarrier || barriers_++ > 0) StandInMachine::Barrier(b);
  }
  std::vector<llvm::Value*> WaitForGroup(codegen::IrBuilder& b,
                                         const std::vector<llvm::Value*>& sums) override {
    return kind_ == kWait ? sums : StandInMachine::WaitForGroup(b, sums);
  }

 private:
  const Kind kind_;
  int barriers_ = 0;
};

TEST(WarpGroupProducts, FaultsAreNamed) {
  const tensor::Workload workload = Product({64, 128, 128});
  const sketch::GpuSpaces spaces(workload, HopperAlone());
  for (uint64_t seed = 0; seed < 4 * static_cast<uint64_t>(Effort()); ++seed) {
    const auto candidate = spaces.Sample(GroupSpaces(spaces).at(0), base::RandomStream(seed));
    ASSERT_TRUE(candidate) << candidate.error().message;
    for (const auto kind : {Faulty::kBarrier, Faulty::kWait}) {
      Faulty machine(kind);
      const auto stand_in = codegen::CompileForStandIn(candidate->program, HopperAlone(), machine);
      ASSERT_TRUE(stand_in) << stand_in.error().message;
      std::vector<tensor::HostTensor> actual = RandomArguments(workload, 7);
      const Status done = RunOnStandIn(candidate->program, *stand_in, actual);
      EXPECT_FALSE(done) << kind << tensor::Print(candidate->program);
    }
  }
}

// --- The stand-in's arithmetic -------------------------------------------------------------------

struct Side {
  int lines;
  bool along_depth;
};

/// PTX ISA, "Shared Memory Matrix Layout": where an element of a panel of 128 bytes a row lies.
size_t PlaceInPanel(size_t row, size_t element) {
  const size_t piece = element / 8, turned = piece ^ row % 8;
  return 64 * row + 8 * turned + element % 8;
}

/// Every order of both operands, of 64 rows, 128 columns and 16 steps, each at the second step of
/// a stage of 64.
TEST(WarpGroupArithmetic, MultipliesPanelsAsThePtxManualSays) {
  constexpr int kRows = 64, kColumns = 128, kDepth = 16, kFirst = 16, kStage = 64;
  for (const bool a_along : {true, false}) {
    for (const bool b_along : {true, false}) {
      alignas(1024) static uint16_t memory[2][kStage * kColumns];
      const Side sides[] = {{kRows, a_along}, {kColumns, b_along}};
      codegen::StandInPanelPart parts[2];
      const auto value = [](int side, int line, int k) {
        return static_cast<float>((3 * line + 5 * k + side) % 7 - 3);
      };
      for (int side = 0; side < 2; ++side) {
        const auto [lines, along_depth] = sides[side];
        // Panels: all lines of 64 steps, or 64 lines of all steps.
        const size_t panel = static_cast<size_t>(64 * (along_depth ? lines : kStage));
        for (int line = 0; line < lines; ++line) {
          for (int k = 0; k < kStage; ++k) {
            const auto row = static_cast<size_t>(along_depth ? line : k);
            const auto along = static_cast<size_t>(along_depth ? k : line);
            std::byte bytes[2];
            tensor::StoreFloat(DType::kFloat16, bytes, value(side, line, k));
            std::memcpy(&memory[side][along / 64 * panel + PlaceInPanel(row, along % 64)], bytes,
                        2);
          }
        }
        const size_t first = along_depth ? kFirst : 64 * kFirst;
        parts[side] = {&memory[side][first], 0, static_cast<uint32_t>(2 * panel), along_depth};
      }
      std::vector<uint32_t> sums(128 * kColumns / 2);
      codegen::OfGroup<uint32_t*> pointers;
      for (size_t i = 0; i < pointers.size(); ++i) pointers[i] = &sums[i * kColumns / 2];
      codegen::MultiplyPanels(DType::kFloat16, parts, kColumns, pointers);
      for (int row = 0; row < kRows; ++row) {
        for (int column = 0; column < kColumns; ++column) {
          float expected = 0;
          for (int k = kFirst; k < kFirst + kDepth; ++k) {
            expected += value(0, row, k) * value(1, column, k);
          }
          // As mma.m16n8k16's sums, of the warp whose rows they are and for each 8 columns.
          const int thread = row / 16 * 32 + row % 8 * 4 + column % 8 / 2;
          const int sum = column / 8 * 4 + row % 16 / 8 * 2 + column % 2;
          const uint32_t bits = pointers[static_cast<size_t>(thread)][sum];
          ASSERT_EQ(std::bit_cast<float>(bits), expected) << row << " " << column;
        }
      }
    }
  }
}

TEST(WarpGroupArithmetic, NamesThreadsThatDoNotCome) {
  alignas(1024) static std::byte shared[64 * 128];
  codegen::FiberBlock block(128, {});
  codegen::RaceChecker checker({{"x.shared", shared, sizeof(shared), 2, true}});
  const auto fault = block.Run(
      [](void* const*, void* memory, codegen::StandInCalls* calls, uint32_t thread, uint32_t) {
        const codegen::StandInPanelPart part = {memory, 0, 64 * 128, 1}, parts[] = {part, part};
        uint32_t registers[32] = {};
        const auto half = static_cast<uint32_t>(DType::kFloat16);
        if (thread != 77) calls->multiply_in_group(calls, half, parts, 64, registers);
      },
      nullptr, shared, 0, checker);
  ASSERT_TRUE(fault);
  EXPECT_THAT(*fault, HasSubstr("thread 77 does not take part in what its group of warps does"));
}

}  // namespace
}  // namespace bayloom::testing
