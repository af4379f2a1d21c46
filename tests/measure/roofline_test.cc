// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/roofline.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "bayloom/measure/trial_rate.h"
#include "bayloom/target/gpu_limits.h"
#include "bayloom/target/target.h"
#include "bayloom/tensor/operator_shorthand.h"
#include "bayloom/tensor/operators.h"
#include "bayloom/tensor/primitives.h"

namespace bayloom::measure {
namespace {

/// 64 GFLOP/s and, from its levels, 64, 32 and 8 GB/s a thread; two threads.
target::MachineModel RoundMachine() {
  target::MachineModel machine;
  machine.threads = 2;
  machine.vector_bytes = 32;
  machine.multiply_add = {0.25e-9, 0};
  machine.compile = 0.02;
  machine.levels = {{32 << 10, {1e-9, 0}}, {1 << 20, {2e-9, 0}}, {0, {8e-9, 4e-9}}};
  return machine;
}

TEST(Roofline, TheSlowerOfArithmeticAndMemoryIsTheBound) {
  const target::MachineModel machine = RoundMachine();
  EXPECT_DOUBLE_EQ(machine.PeakFlops(), 128e9);
  EXPECT_DOUBLE_EQ(RooflineSeconds(machine, {128e9, 1000}), 1);
  EXPECT_DOUBLE_EQ(RooflineSeconds(machine, {1, 1e9}), (1e9 - 2 * (1056 << 10)) / 16e9);
}

TEST(Roofline, DataThatFitsIntoACacheNeedNotComeFromBehindIt) {
  const target::MachineModel machine = RoundMachine();
  EXPECT_DOUBLE_EQ(RooflineSeconds(machine, {0, 64 << 10}), (64 << 10) / 128e9);
  const double megabyte = 1 << 20;
  EXPECT_DOUBLE_EQ(RooflineSeconds(machine, {0, megabyte}), (megabyte - (64 << 10)) / 64e9);
}

TEST(Roofline, MoreToDoNeverTakesLess) {
  const target::MachineModel machine = RoundMachine();
  double before = 0;
  for (double bytes = 1; bytes < 1e9; bytes *= 1.7) {
    const double seconds = RooflineSeconds(machine, {1e3, bytes});
    EXPECT_GE(seconds, before);
    EXPECT_LE(RooflineShare(machine, {1e3, bytes}, 0.5 * seconds), 1);
    EXPECT_NEAR(RooflineShare(machine, {1e3, bytes}, 4 * seconds), 0.25, 1e-12);
    before = seconds;
  }
}

/// A product of 8 rows in these types.
tensor::Workload NarrowProduct(tensor::DType a_type, tensor::DType b_type, tensor::DType sum) {
  tensor::WorkloadBuilder b("narrow");
  const tensor::Tensor x = b.Input("x", {8, 64}, a_type), w = b.Input("w", {64, 32}, b_type);
  const tensor::Tensor y = b.Reduce(
      "y", {8, 32}, {{"k", 64}}, tensor::Reduction::kSum, [&](const auto& s, const auto& r) {
        return tensor::Cast(sum, x(s[0], r[0])) * tensor::Cast(sum, w(r[0], s[1]));
      });
  return b.Build({y});
}

TEST(Roofline, DotProductsHaveRoofsOfTheirOwn) {
  using tensor::DType;
  const target::MachineModel machine = RoundMachine();
  const WorkloadDemand demand =
      DemandOf(NarrowProduct(DType::kBFloat16, DType::kBFloat16, DType::kFloat32));
  const double flops = 2 * 8 * 32 * 64;
  const DotTypes pairs = {DType::kBFloat16, DType::kBFloat16};
  ASSERT_EQ(demand.dot_flops, (std::map<DotTypes, double>{{pairs, flops}}));
  EXPECT_EQ(demand.flops, flops);
  EXPECT_DOUBLE_EQ(RooflineSeconds(machine, {flops, 0, {{pairs, flops}}}), flops / 128e9);
  EXPECT_DOUBLE_EQ(RooflineSeconds(machine, {flops, 0, {{pairs, flops}}}, {{pairs, 256e9}}),
                   flops / 256e9);
  EXPECT_DOUBLE_EQ(RooflineSeconds(machine, {3 * flops, 0, {{pairs, flops}}}, {{pairs, 256e9}}),
                   2 * flops / 128e9 + flops / 256e9);
  EXPECT_TRUE(DemandOf(tensor::ParseOperator("matmul:8,8,8")).dot_flops.empty());
}

TEST(Roofline, NominalPeaksAreOfTheInstructions) {
  using tensor::DType;
  target::Target target;
  target.vector_bytes = 32;
  target.features = "+avxvnni";
  const auto nominal = [&](DType a, DType b, DType sum) {
    const DotPeaks peaks =
        NominalDotPeaks(target, RoundMachine(), DemandOf(NarrowProduct(a, b, sum)));
    return peaks.empty() ? 0 : peaks.begin()->second;
  };
  EXPECT_DOUBLE_EQ(nominal(DType::kUInt8, DType::kInt8, DType::kInt32), 4 * 128e9);
  EXPECT_DOUBLE_EQ(nominal(DType::kInt16, DType::kInt16, DType::kInt32), 2 * 128e9);
  EXPECT_EQ(nominal(DType::kBFloat16, DType::kBFloat16, DType::kFloat32), 0);
}

TEST(Roofline, OfProductsOnTensorCoresIsTheirRate) {
  const target::Target target = *target::GpuTarget("sm_90");
  const target::MachineModel machine = target::MachineOf(target);
  const auto peak = [&](const char* type) {
    const WorkloadDemand demand =
        DemandOf(tensor::ParseOperator(std::string("matmul:64,64,64,sum=float32,dtype=") + type));
    return NominalDotPeaks(target, machine, demand);
  };
  const DotPeaks half = peak("float16");
  ASSERT_EQ(half.size(), 1U);
  EXPECT_GT(half.begin()->second, 5 * machine.PeakFlops());
  EXPECT_EQ(peak("bfloat16").begin()->second, half.begin()->second);
  EXPECT_TRUE(peak("float32").empty());
}

TEST(Demand, OfAnAlgorithmIsItsOwn) {
  const tensor::Workload workload = tensor::ParseOperator("conv2d:8x8x16,16,3x3,pad=1");
  tensor::Program program = tensor::Lower(workload);
  EXPECT_EQ(PartOfSums(workload, program), 1);
  const auto convolution = std::ranges::find_if(program.blocks, [](const tensor::Block& block) {
    return block.kind == tensor::BlockKind::kReduce;
  });
  ASSERT_TRUE(tensor::Winograd(
      program, static_cast<tensor::BlockId>(convolution - program.blocks.begin()), 2));
  EXPECT_DOUBLE_EQ(PartOfSums(workload, program), 16.0 / 36);  // 4 x 4 products for 2 x 2 outputs
  EXPECT_DOUBLE_EQ(DemandOf(workload, program).flops, 16.0 / 36 * DemandOf(workload).flops);
  EXPECT_EQ(DemandOf(workload, program).bytes, DemandOf(workload).bytes);
}

TEST(Demand, OfAProductIsItsMatrices) {
  const WorkloadDemand demand = DemandOf(tensor::ParseOperator("matmul:16,32,64"));
  EXPECT_EQ(demand.flops, 2 * 16 * 32 * 64);
  EXPECT_EQ(demand.bytes, 4 * (16 * 64 + 64 * 32 + 16 * 32));
}

TEST(Demand, DoesNotCountPadding) {
  const tensor::Workload padded = tensor::ParseOperator("conv2d:7x7x8,8,3x3,pad=1");
  const double edges = 19.0 / 21;  // of seven places, the outer two lack one of three values
  EXPECT_NEAR(DemandOf(padded).flops, edges * edges * 2 * 7 * 7 * 9 * 8 * 8, 1e-6);
  EXPECT_EQ(DemandOf(padded).bytes, 4 * (7 * 7 * 8 + 9 * 8 * 8 + 7 * 7 * 8));
  const tensor::Workload whole = tensor::ParseOperator("conv2d:7x7x8,8,3x3");
  EXPECT_EQ(DemandOf(whole).flops, whole.Flops());
}

TEST(Demand, DoesNotCountWhatStridesPassOver) {
  const tensor::Workload shortcut = tensor::ParseOperator("conv2d:8x8x16,4,1x1,stride=2");
  EXPECT_EQ(DemandOf(shortcut).bytes, 4 * (4 * 4 * 16 + 16 * 4 + 4 * 4 * 4));
}

TEST(Demand, CountsOneElementWhereDataDecides) {
  tensor::WorkloadBuilder b("gather");
  const tensor::Tensor table = b.Input("table", {1000, 8});
  const tensor::Tensor rows = b.Input("rows", {4}, tensor::DType::kInt64);
  const tensor::Tensor y = b.Compute("y", {4, 8}, [&](auto s) { return table(rows(s[0]), s[1]); });
  EXPECT_EQ(DemandOf(b.Build({y})).bytes, 4 * 8 + 8 * 4 + 4 * 4 * 8);
}

TEST(TrialRate, GrowsWithThreadsAndShrinksWithTheCompilersTime) {
  target::MachineModel machine = RoundMachine();
  const double rate = TrialsPerSecond(machine, 1);
  EXPECT_GT(TrialsPerSecond(machine, 2), rate);
  machine.compile *= 2;
  EXPECT_LT(TrialsPerSecond(machine, 1), rate);
  EXPECT_NEAR(TrialsPerSecond(target::NominalMachine({}), 1), 5, 0.1);
}

}  // namespace
}  // namespace bayloom::measure
