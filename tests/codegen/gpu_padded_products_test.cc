// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Products by tensor cores whose extents are no multiples of what the instruction takes.

#include <gmock/gmock.h>

#include "bayloom/codegen/gpu/stand_in_code.h"
#include "tests/codegen/warp_products.h"
#include "tests/effort.h"

namespace bayloom::testing {
namespace {

std::vector<NamedWorkload> PaddedProducts() {
  const DType half = DType::kFloat16, bfloat = DType::kBFloat16, tf32 = DType::kTFloat32;
  std::vector<NamedWorkload> all;
  all.push_back({"odd", Product({33, 35, 37})});
  all.push_back({"prime", Product({31, 61, 29, bfloat})});
  all.push_back({"few", Product({9, 7, 13, half})});
  all.push_back({"classes", Product({24, 125, 64, half})});
  all.push_back({"tokens", Product({197, 32, 48, bfloat})});
  all.push_back({"odd_depth", Product({32, 48, 41, half})});
  all.push_back({"transposed_a", Product({23, 50, 30, half, true})});
  all.push_back({"transposed_b", Product({29, 43, 34, bfloat, false, true})});
  all.push_back({"transposed", Product({30, 41, 20, half, true, true})});
  all.push_back({"narrow", Product({37, 43, 32, half, false, false, true})});
  all.push_back({"tf32", Product({33, 35, 37, tf32})});
  all.push_back({"tf32_transposed", Product({31, 43, 13, tf32, true, true})});
  all.push_back({"tf32_of_float32", RoundedProduct(19, 27, 21)});
  all.push_back({"conv_7x7_1x1", Convolution(7, 32, 16, 1)});
  all.push_back({"conv_7x7_3x3_pad", Convolution(7, 16, 24, 3, 1)});
  all.push_back({"conv_13x13_stride", Convolution(13, 16, 17, 3, 1, half, 2)});
  all.push_back({"conv_channels", Convolution(6, 21, 19, 3, 1, bfloat)});
  all.push_back({"tf32_conv_7x7", Convolution(7, 13, 16, 3, 1, tf32)});
  return all;
}

class PaddedProductsOf : public ::testing::TestWithParam<NamedWorkload> {};

TEST_P(PaddedProductsOf, AreRightAndWithoutRaces) { ExpectWarpProductsAreRight(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Catalogue, PaddedProductsOf, ::testing::ValuesIn(PaddedProducts()),
                         [](const auto& named) { return named.param.name; });

/// The extents that a space multiplies, as it pads them; empty if it does not.
std::vector<int64_t> PaddedExtents(const sketch::GpuSpaces& spaces, int space) {
  const std::vector<tensor::Trace> traces = spaces.spaces();
  for (const tensor::Instruction& step : traces[static_cast<size_t>(space)].instructions()) {
    if (step.kind == tensor::InstructionKind::kPadProduct) return step.attributes;
  }
  return {};
}

using PerSpace = std::vector<std::vector<int64_t>>;

PerSpace PaddedExtentsOf(const tensor::Workload& workload) {
  const sketch::GpuSpaces spaces(workload, Hopper());
  PerSpace extents;
  for (const int space : WarpSpaces(spaces)) extents.push_back(PaddedExtents(spaces, space));
  return extents;
}

TEST(PaddedProducts, ArePaddedAsFarAsTheInstructionNeeds) {
  const auto extents = [](const ProductShape& shape) { return PaddedExtentsOf(Product(shape)); };
  const std::vector<int64_t> none;
  EXPECT_EQ(extents({32, 32, 64}), PerSpace{none});
  EXPECT_EQ(extents({32, 32, 64, DType::kBFloat16}), PerSpace{none});
  EXPECT_EQ(extents({32, 32, 64, DType::kTFloat32}), PerSpace{none});
  EXPECT_EQ(extents({24, 32, 64}), PerSpace{none});  // columns are the rows of the instruction
  EXPECT_EQ(extents({24, 24, 64}), (PerSpace{{32, 24, 64}}));
  EXPECT_EQ(extents({32, 32, 56}), (PerSpace{{32, 32, 64}}));
  EXPECT_EQ(extents({32, 32, 56, DType::kTFloat32}), (PerSpace{none}));
  // 125 matrices of 8 columns have few divisors, 128 many.
  EXPECT_EQ(extents({32, 1000, 64}), (PerSpace{none, {32, 1024, 64}}));
  EXPECT_EQ(extents({197, 64, 64}), (PerSpace{{200, 64, 64}, {224, 64, 64}}));
  // Sixteen times the work.
  EXPECT_EQ(extents({1, 1000, 1280}), PerSpace{});
  EXPECT_EQ(PaddedExtentsOf(Convolution(7, 32, 64, 1)), (PerSpace{{1, 8, 7, 64, 1, 1, 32}}));
  EXPECT_EQ(PaddedExtentsOf(tensor::MatmulWorkload(32, 32, 64)), PerSpace{});
}

/// Code without its first barrier.
class WithoutBarrier final : public codegen::StandInMachine {
 public:
  void Barrier(codegen::IrBuilder& b) override {
    if (left_out_++ > 0) StandInMachine::Barrier(b);
  }

 private:
  int left_out_ = 0;
};

/// A block without its guard, or that copies without its condition, changes memory of others or
/// reads beyond a buffer; without a barrier it reads what is not there.
TEST(PaddedProducts, FaultsAreFound) {
  enum Kind { kGuard, kFill, kBarrier, kKinds };
  int planted[kKinds] = {}, named[kKinds] = {}, wrong[kKinds] = {};
  for (const DType dtype : {DType::kFloat16, DType::kTFloat32}) {
    const tensor::Workload workload = Product({33, 35, 37, dtype});
    const sketch::GpuSpaces spaces(workload, Hopper());
    const std::vector<tensor::HostTensor> inputs = RandomArguments(workload, 7);
    std::vector<tensor::HostTensor> expected = inputs;
    tensor::Interpret(tensor::Lower(workload), expected);
    for (uint64_t seed = 0; seed < 4 * static_cast<uint64_t>(Effort()); ++seed) {
      const auto candidate = spaces.Sample(WarpSpace(spaces), base::RandomStream(seed));
      ASSERT_TRUE(candidate) << candidate.error().message;
      for (const Kind kind : {kGuard, kFill, kBarrier}) {
        tensor::Program program = candidate->program;
        for (tensor::Block& block : program.blocks) {
          if (kind == kGuard) block.guarded = false;
          const bool fills = block.alive && block.value->op == tensor::ExprOp::kSelect;
          if (kind == kFill && fills) block.value = tensor::Expr(block.value->operands[1]);
        }
        codegen::StandInMachine whole;
        WithoutBarrier faulty;
        codegen::Machine& machine =
            kind == kBarrier ? static_cast<codegen::Machine&>(faulty) : whole;
        const auto stand_in = codegen::CompileForStandIn(program, Hopper(), machine);
        ASSERT_TRUE(stand_in) << stand_in.error().message;
        std::vector<tensor::HostTensor> actual = inputs;
        const Status done = RunOnStandIn(program, *stand_in, actual);
        ++planted[kind];
        named[kind] += !done;
        wrong[kind] += done && CountWrong(program, actual, expected) > 0;
        EXPECT_EQ(planted[kind], named[kind] + wrong[kind]) << kind << tensor::Print(program);
      }
    }
  }
  for (const Kind kind : {kGuard, kFill, kBarrier}) {
    RecordProperty("planted" + std::to_string(kind), planted[kind]);
    RecordProperty("named" + std::to_string(kind), named[kind]);
    RecordProperty("wrong" + std::to_string(kind), wrong[kind]);
  }
}

}  // namespace
}  // namespace bayloom::testing
