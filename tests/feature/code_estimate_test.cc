// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/feature/code_estimate.h"

#include <gtest/gtest.h>

#include <array>

#include "bayloom/target/named_target.h"
#include "bayloom/tensor/operators.h"
#include "bayloom/tensor/primitives.h"
#include "tests/feature/loops_of.h"
#include "tests/tensor/workloads.h"

namespace bayloom::feature {
namespace {

target::Target OneCore() {
  target::Target target;
  target.cores = 1;
  return target;
}

double CodeEstimateOf(const tensor::Program& program) {
  return EstimateCodeTime(program, OneCore());
}

/// Rows of numbers, summed up.
tensor::Workload RowSums(bool divided) {
  tensor::WorkloadBuilder b("sums");
  const tensor::Tensor x = b.Input("x", {64, 512}), d = b.Input("d", {64});
  return b.Build({b.Reduce("sum", {64}, {{"r", 512}}, tensor::Reduction::kSum, [&](auto s, auto r) {
    const tensor::Expr value = x(s[0], r[0]);
    return divided ? value + d(s[0]) / tensor::FloatLiteral(3) : value;
  })});
}

tensor::Program Copied(bool transposed) {
  tensor::WorkloadBuilder b("copy");
  const tensor::Tensor x = b.Input("x", {256, 256});
  const tensor::Workload workload = b.Build({b.Compute(
      "y", {256, 256}, [&](auto i) { return transposed ? x(i[1], i[0]) : x(i[0], i[1]); })});
  tensor::Program program = tensor::Lower(workload);
  const std::vector<tensor::LoopId> parts =
      *tensor::Split(program, LoopsOf(program, "y")[1], std::vector<int64_t>{32, 8});
  EXPECT_TRUE(tensor::Vectorize(program, parts[1]));
  return program;
}

TEST(CodeEstimateTest, IsPositiveAndFiniteForAllKindsOfPrograms) {
  for (const auto& [name, workload] : bayloom::testing::Catalogue()) {
    const double seconds = CodeEstimateOf(tensor::Lower(workload));
    EXPECT_GT(seconds, 0) << name;
    EXPECT_LT(seconds, 1) << name;
  }
}

/// Cold constants come from main memory, however small they are; what has none takes no longer.
TEST(CodeEstimateTest, ColdConstantsTakeLonger) {
  for (const bool has_weights : {true, false}) {
    tensor::WorkloadBuilder b("scaled");
    const tensor::Tensor x = b.Input("x", {256});
    const tensor::Tensor w = has_weights ? b.Constant("w", {256}) : b.Input("w", {256});
    const tensor::Workload workload =
        b.Build({b.Compute("y", {256}, [&](auto i) { return x(i[0]) * w(i[0]); })});
    tensor::Program program = tensor::Lower(workload);
    const double warm = CodeEstimateOf(program);
    program.has_cold_constants = true;
    const double memory = target::MachineOf(OneCore()).levels.back().line.alone * 256 * 4 / 64;
    if (has_weights) {
      EXPECT_GT(CodeEstimateOf(program), warm);
      EXPECT_LT(CodeEstimateOf(program), warm + 2 * memory);
    } else {
      EXPECT_EQ(CodeEstimateOf(program), warm);
    }
  }
}

/// Several rows at a time hide all of it, the registers that take turns for one row most of it.
TEST(CodeEstimateTest, SumsHideTheLatencyInSeveralRegisters) {
  const tensor::Program alone = tensor::Lower(RowSums(false));
  tensor::Program parallel = alone;  // a job sums up one row
  EXPECT_TRUE(tensor::Parallelize(parallel, LoopsOf(parallel, "sum")[0]));
  EXPECT_LT(CodeEstimateOf(alone), 0.95 * CodeEstimateOf(parallel));
  EXPECT_GT(CodeEstimateOf(alone), 0.5 * CodeEstimateOf(parallel));
}

TEST(CodeEstimateTest, WhatDoesNotChangeAlongASumIsComputedOnce) {
  const double divided = CodeEstimateOf(tensor::Lower(RowSums(true)));
  EXPECT_LT(divided, CodeEstimateOf(tensor::Lower(RowSums(false))) +
                         512 * 64 * target::MachineOf(OneCore()).division / 4);
}

/// A sum along memory is carried out in lanes; one that reads every second element is not.
TEST(CodeEstimateTest, SumsAlongMemoryAreFoldedInLanes) {
  const auto sums = [](int64_t step) {
    return tensor::Lower(bayloom::testing::OneInput(
        {64, 512 * step}, [&](tensor::WorkloadBuilder& b, const tensor::Tensor& x) {
          return b.Reduce("sum", {64}, {{"r", 512}}, tensor::Reduction::kSum,
                          [&](auto s, auto r) { return x(s[0], r[0] * tensor::Expr(step)); });
        }));
  };
  EXPECT_LT(2 * CodeEstimateOf(sums(1)), CodeEstimateOf(sums(2)));
}

/// Where the loop around the vectorized one runs along what is read, blocks are transposed in
/// registers; with another loop between, elements are loaded one by one.
TEST(CodeEstimateTest, BlocksAreTransposedInRegisters) {
  const auto copied = [](bool across) {
    tensor::Program program = Copied(/*transposed=*/true);
    const std::vector<tensor::LoopId> loops = LoopsOf(program, "y");  // rows, parts, lanes
    if (across) {
      EXPECT_TRUE(tensor::Reorder(program, std::vector<tensor::LoopId>{loops[1], loops[0]}));
    }
    return CodeEstimateOf(program);
  };
  EXPECT_LT(1.5 * copied(true), copied(false));
}

/// With 32 registers of 16 floats.
target::Target WideCore() {
  target::Target target = OneCore();
  target.vector_bytes = 64;
  return target;
}

/// z[i, j] += x[i, k] y[k, j], all columns of a row in registers.
double RowOfProduct(int64_t rows, int64_t columns) {
  tensor::Program program = tensor::Lower(tensor::MatmulWorkload(rows, columns, 64));
  const std::vector<tensor::LoopId> loops =
      program.LoopsAround(tensor::NodeRef::Block(program.BlocksInOrder().back()));  // i, j, k
  EXPECT_TRUE(tensor::Reorder(program, std::vector{loops[0], loops[2], loops[1]}));
  EXPECT_TRUE(tensor::Vectorize(program, loops[1]));
  return EstimateCodeTime(program, WideCore()) / static_cast<double>(rows);
}

/// 13 registers of columns leave room for two rows, if there are pairs of them.
TEST(CodeEstimateTest, PairsOfRowsShareWhatIsLoaded) {
  EXPECT_LT(RowOfProduct(8, 13 * 16), 0.95 * RowOfProduct(7, 13 * 16));
}

TEST(CodeEstimateTest, LoadsAcrossCacheLinesCostMore) {
  EXPECT_LT(RowOfProduct(8, 32), RowOfProduct(8, 31));
}

/// y[j, i] = t[i, j] + 1 with t[i, j] = 2 x[j, i]: t is read across its rows, unless it is held for
/// one j at a time.
tensor::Program ReadAcross(bool held_for_one) {
  constexpr int64_t kSize = 512;
  tensor::WorkloadBuilder b("across");
  const tensor::Tensor x = b.Input("x", {kSize, kSize});
  const tensor::Tensor t = b.Compute(
      "t", {kSize, kSize}, [&](auto i) { return x(i[1], i[0]) * tensor::FloatLiteral(2); });
  tensor::Program program = tensor::Lower(b.Build({b.Compute(
      "y", {kSize, kSize}, [&](auto i) { return t(i[1], i[0]) + tensor::FloatLiteral(1); })}));
  if (held_for_one) {
    EXPECT_TRUE(tensor::ComputeAt(program, program.FindBlock("t"), LoopsOf(program, "y")[0]));
  }
  const std::vector<tensor::LoopId> loops = LoopsOf(program, "t");  // the last two are i and j
  const std::vector<tensor::LoopId> along = {loops.back(), loops[loops.size() - 2]};
  EXPECT_TRUE(tensor::Reorder(program, along));
  EXPECT_TRUE(tensor::Vectorize(program, along[1]));
  EXPECT_TRUE(tensor::Vectorize(program, LoopsOf(program, "y")[1]));
  return program;
}

TEST(CodeEstimateTest, BuffersLieInMemoryAsTheyAreHeld) {
  EXPECT_LT(CodeEstimateOf(ReadAcross(true)), 0.3 * CodeEstimateOf(ReadAcross(false)));
}

/// A row times bytes, more of them than the caches nearby hold.
TEST(CodeEstimateTest, BytesStayBytesInAnotherOrder) {
  constexpr int64_t kRows = 4096, kColumns = 4096;
  const auto product = [](bool reordered) {
    tensor::WorkloadBuilder b("product");
    const tensor::Tensor x = b.Input("x", {kRows});
    const tensor::Tensor w = b.Constant("w", {kRows, kColumns}, tensor::DType::kUInt8);
    tensor::Program program = tensor::Lower(b.Build(
        {b.Reduce("sum", {kColumns}, {{"k", kRows}}, tensor::Reduction::kSum, [&](auto s, auto r) {
          return x(r[0]) * tensor::Cast(tensor::DType::kFloat32, w(r[0], s[0]));
        })}));
    const std::vector<tensor::LoopId> parts = *tensor::Split(
        program, LoopsOf(program, "sum")[0], std::vector<int64_t>{kColumns / 64, 64});
    const tensor::LoopId k = LoopsOf(program, "sum").back();
    EXPECT_TRUE(tensor::Reorder(program, std::vector{parts[0], k, parts[1]}));
    EXPECT_TRUE(tensor::Vectorize(program, parts[1]));
    if (reordered) {
      EXPECT_TRUE(tensor::RewriteLayout(program, w.id()));
    }
    return CodeEstimateOf(program);
  };
  EXPECT_LE(product(true), product(false));
}

/// z[i, j] += x[i, k] y[k, j] with all rows inside of k, or around it: generated code puts k inside
/// of a tile of rows in both.
TEST(CodeEstimateTest, RowsThatAreInRegistersAreNotLoadedAgain) {
  const auto product = [](bool rows_inside) {
    tensor::Program program = tensor::Lower(tensor::MatmulWorkload(96, 192, 64));
    const std::vector<tensor::LoopId> loops =
        program.LoopsAround(tensor::NodeRef::Block(program.BlocksInOrder().back()));
    EXPECT_TRUE(tensor::Reorder(program, rows_inside ? std::vector{loops[2], loops[0], loops[1]}
                                                     : std::vector{loops[0], loops[2], loops[1]}));
    EXPECT_TRUE(tensor::Vectorize(program, loops[1]));
    return EstimateCodeTime(program, WideCore());
  };
  EXPECT_NEAR(product(true) / product(false), 1, 0.1);
}

/// Sums of windows of eight rows that end anywhere in a cache line, four outputs in registers.
/// Windows that overlap load 11 rows for them, others 32.
TEST(CodeEstimateTest, WindowsThatOverlapShareWhatIsLoaded) {
  const auto sums = [](int64_t stride) {
    tensor::Program program = tensor::Lower(bayloom::testing::OneInput(
        {8 * stride + 8, 67}, [&](tensor::WorkloadBuilder& b, const tensor::Tensor& x) {
          return b.Reduce("sum", {8, 64}, {{"r", 8}}, tensor::Reduction::kSum,
                          [&](auto s, auto r) { return x(s[0] * stride + r[0], s[1]); });
        }));
    const std::vector<tensor::LoopId> loops = LoopsOf(program, "sum");  // rows, columns, window
    const std::vector<tensor::LoopId> rows =
        *tensor::Split(program, loops[0], std::vector<int64_t>{2, 4});
    EXPECT_TRUE(tensor::Reorder(program, std::vector{rows[0], loops[2], rows[1], loops[1]}));
    EXPECT_TRUE(tensor::Vectorize(program, loops[1]));
    EXPECT_TRUE(tensor::AnnotateUnroll(program, rows[0], 64));
    return EstimateCodeTime(program, WideCore());
  };
  EXPECT_LT(sums(1), 0.95 * sums(8));
}

TEST(CodeEstimateTest, GatheredElementsCostMoreThanRegisters) {
  EXPECT_GT(CodeEstimateOf(Copied(true)), 2 * CodeEstimateOf(Copied(false)));
}

/// 64 x 64 sums of 64 products of bytes, with or without a loop for an instruction.
tensor::Program ProductOfBytes(const std::array<tensor::DType, 2>& types, bool tensorized) {
  tensor::WorkloadBuilder b("product");
  const tensor::Tensor x = b.Input("x", {64, 64}, types[0]);
  const tensor::Tensor w = b.Input("w", {16, 64, 4}, types[1]);  // rows in groups of four
  const auto wide = [](const tensor::Expr& e) { return tensor::Cast(tensor::DType::kInt32, e); };
  const tensor::Workload workload = b.Build({b.Reduce(
      "sum", {64, 64}, {{"k", 16}, {"d", 4}}, tensor::Reduction::kSum,
      [&](auto s, auto r) { return wide(x(s[0], r[0] * 4 + r[1])) * wide(w(r[0], s[1], r[1])); })});
  tensor::Program program = tensor::Lower(workload);
  const std::vector<tensor::LoopId> loops = LoopsOf(program, "sum");  // i, j, k, d
  EXPECT_TRUE(tensor::Reorder(program, std::vector{loops[0], loops[2], loops[3], loops[1]}));
  if (tensorized) {
    EXPECT_TRUE(tensor::Tensorize(program, loops[3]));
  }
  EXPECT_TRUE(tensor::Vectorize(program, loops[1]));
  return program;
}

target::Target Level(std::string_view level, std::string_view more = "") {
  target::Target target = *target::LevelTarget(level, 1);
  target.features.append(more);
  return target;
}

/// An instruction for bytes takes the time of one multiply-add, that for pairs of 16 bits more.
TEST(CodeEstimateTest, InstructionsForDotProductsCountAsWhatTheyTake) {
  const tensor::DType u8 = tensor::DType::kUInt8, s8 = tensor::DType::kInt8;
  const auto seconds = [](const std::array<tensor::DType, 2>& types, const target::Target& target,
                          bool tensorized = true) {
    return EstimateCodeTime(ProductOfBytes(types, tensorized), target);
  };
  const target::Target v4 = Level("x86-64-v4"), vnni = Level("x86-64-v4", ",+avx512vnni");
  const target::Target amx = Level("x86-64-v4", ",+avx512vnni,+amx-tile,+amx-int8");
  const double by_instruction = seconds({u8, s8}, vnni);
  EXPECT_LT(2 * by_instruction, seconds({u8, s8}, vnni, false));
  EXPECT_LT(1.5 * by_instruction, seconds({u8, s8}, v4));
  EXPECT_LT(by_instruction, seconds({s8, s8}, vnni));  // one of them changes its sign
  EXPECT_LT(seconds({s8, s8}, vnni), 2 * by_instruction);
  EXPECT_LT(seconds({s8, s8}, amx), by_instruction);
}

/// A loop for an instruction that the target does not have is a loop like others.
TEST(CodeEstimateTest, WithoutAnInstructionProductsAreSummedUpOneByOne) {
  const std::array<tensor::DType, 2> types = {tensor::DType::kUInt8, tensor::DType::kInt8};
  target::Target none = Level("x86-64-v4");
  none.features.clear();
  const double one_by_one = EstimateCodeTime(ProductOfBytes(types, false), none);
  EXPECT_NEAR(EstimateCodeTime(ProductOfBytes(types, true), none), one_by_one, 0.1 * one_by_one);
}

TEST(CodeEstimateTest, AFasterMachineIsNeverSlower) {
  for (const auto& [name, workload] : bayloom::testing::Catalogue()) {
    const tensor::Program program = tensor::Lower(workload);
    target::Target faster = OneCore();
    const double seconds = EstimateCodeTime(program, faster);
    faster.machine = target::NominalMachine(faster);
    faster.machine->division /= 2;
    faster.machine->transcendental /= 2;
    faster.machine->vector_load /= 2;
    for (target::MemoryLevel& level : faster.machine->levels) level.line.alone /= 2;
    EXPECT_LE(EstimateCodeTime(program, faster), seconds) << name;
  }
}

}  // namespace
}  // namespace bayloom::feature
