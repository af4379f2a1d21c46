// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "bayloom/codegen/library.h"
#include "bayloom/tensor/program.h"
#include "tests/codegen/compiled.h"
#include "tests/tensor/library_calls.h"

namespace bayloom::codegen {
namespace {

using bayloom::testing::SampleCall;

void ExpectCompiled(const SampleCall& sample) {
  const tensor::Program program = tensor::Lower(sample.workload);
  ASSERT_TRUE(tensor::Validate(program));
  bayloom::testing::ExpectMatchesInterpreter(program, sample.arguments,
                                             tensor::Print(sample.workload));
}

TEST(LibraryCalls, ComputeWhatTheInterpreterComputes) {
  base::RandomStream random(1);
  for (int s = 0; s < 250; ++s) {
    ExpectCompiled(testing::RandomCall(random));
    if (HasFatalFailure()) return;
  }
}

/// Large enough to be divided among threads, to select in several turns and to sort deeply.
TEST(LibraryCalls, LargeOnesOnSeveralThreads) {
  bayloom_set_threads(3);
  base::RandomStream random(2);
  constexpr tensor::DType kFloat = tensor::DType::kFloat32;
  ExpectCompiled(testing::SampleTopK(kFloat, 7, 9000, 1, 50, true, random));
  ExpectCompiled(testing::SampleTopK(kFloat, 2, 700, 40, 700, false, random));
  ExpectCompiled(testing::SampleTopK(tensor::DType::kFloat16, 1, 40000, 1, 300, false, random));
  ExpectCompiled(testing::SampleArgExtreme(kFloat, 3, 20000, 1, true, true, random));
  ExpectCompiled(testing::SampleArgExtreme(kFloat, 2, 130, 300, false, false, random));
  ExpectCompiled(testing::SampleScan(kFloat, 3, 150, 300, false, true, true, random));
  ExpectCompiled(testing::SampleScan(kFloat, 60, 900, 1, false, false, false, random));
  ExpectCompiled(testing::SampleScatterRows(kFloat, 0, 700, {9, 11}, 200, random));
  ExpectCompiled(testing::SampleScatterRows(kFloat, 1, 700, {9, 11}, 200, random));
  ExpectCompiled(testing::SampleScatterElements(kFloat, 0, 0, {80, 500}, {90, 499}, random));
  ExpectCompiled(testing::SampleScatterElements(kFloat, 4, 1, {300, 90}, {299, 200}, random));
  bayloom_set_threads(0);
}

/// Ascending, descending and organ-pipe rows, where naive choices of pivots take quadratic time.
TEST(LibraryCalls, SortedRowsAreSortedQuickly) {
  base::RandomStream random(3);
  constexpr int64_t kElements = 30000;
  for (const bool largest : {false, true}) {
    SampleCall sample =
        testing::SampleTopK(tensor::DType::kInt32, 3, kElements, 1, kElements, largest, random);
    for (int64_t i = 0; i < kElements; ++i) {
      sample.arguments[0].SetInt(i, i);
      sample.arguments[0].SetInt(kElements + i, -i);
      sample.arguments[0].SetInt(2 * kElements + i, std::min(i, kElements - i));
    }
    ExpectCompiled(sample);
  }
}

TEST(LibraryCalls, EveryKernelIsInTheRuntime) {
  for (const RuntimeKernel& kernel : RuntimeKernels()) {
    EXPECT_EQ(KernelOf(kernel.kernel).symbol, kernel.symbol);
    EXPECT_NE(kernel.function, nullptr);
  }
}

}  // namespace
}  // namespace bayloom::codegen
