// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/feature/code_estimate.h"

#include <gtest/gtest.h>

#include "bayloom/target/target.h"
#include "bayloom/tensor/operators.h"
#include "bayloom/tensor/primitives.h"
#include "tests/tensor/workloads.h"

namespace bayloom::feature {
namespace {

target::MachineModel OneCore() {
  target::Target target;
  target.cores = 1;
  return target::NominalMachine(target);
}

double EstimateOf(const tensor::Program& program) { return EstimateCodeTime(program, OneCore()); }

std::vector<tensor::LoopId> LoopsOf(const tensor::Program& program, const std::string& block) {
  return program.LoopsAround(tensor::NodeRef::Block(program.FindBlock(block)));
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
    const double seconds = EstimateOf(tensor::Lower(workload));
    EXPECT_GT(seconds, 0) << name;
    EXPECT_LT(seconds, 1) << name;
  }
}

TEST(CodeEstimateTest, SumsOfSeveralRowsAtATimeHideTheLatency) {
  const tensor::Program alone = tensor::Lower(RowSums(false));
  tensor::Program parallel = alone;  // a job sums up one row
  EXPECT_TRUE(tensor::Parallelize(parallel, LoopsOf(parallel, "sum")[0]));
  EXPECT_LT(EstimateOf(alone), 0.5 * EstimateOf(parallel));
}

TEST(CodeEstimateTest, WhatDoesNotChangeAlongASumIsComputedOnce) {
  const double divided = EstimateOf(tensor::Lower(RowSums(true)));
  EXPECT_LT(divided, EstimateOf(tensor::Lower(RowSums(false))) + 512 * 64 * OneCore().division / 4);
}

TEST(CodeEstimateTest, GatheredElementsCostMoreThanRegisters) {
  EXPECT_GT(EstimateOf(Copied(true)), 2 * EstimateOf(Copied(false)));
}

TEST(CodeEstimateTest, AFasterMachineIsNeverSlower) {
  for (const auto& [name, workload] : bayloom::testing::Catalogue()) {
    const tensor::Program program = tensor::Lower(workload);
    target::MachineModel faster = OneCore();
    const double seconds = EstimateCodeTime(program, faster);
    faster.division /= 2;
    faster.transcendental /= 2;
    faster.vector_load /= 2;
    for (target::MemoryLevel& level : faster.levels) level.line.alone /= 2;
    EXPECT_LE(EstimateCodeTime(program, faster), seconds) << name;
  }
}

}  // namespace
}  // namespace bayloom::feature
