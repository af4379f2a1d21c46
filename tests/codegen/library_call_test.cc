// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

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

/// Kernels that find rows: as many as the reference, and those; no others are written.
TEST(LibraryCalls, FindTheRowsThatTheReferenceFinds) {
  base::RandomStream random(4);
  constexpr int64_t kUntouched = 0x5a5a5a5a5a5a5a5a;
  int beyond = 0, none = 0;
  for (int s = 0; s < 600; ++s) {
    const tensor::LibraryKernel kernels[] = {tensor::LibraryKernel::kNonZero,
                                             tensor::LibraryKernel::kUnique,
                                             tensor::LibraryKernel::kNonMaxSuppression};
    const SampleCall sample = testing::SampleFinding(kernels[s % 3], random);
    const tensor::LibraryCall call = sample.call();
    std::vector<const tensor::HostTensor*> operands;
    std::vector<void*> tensors;
    for (size_t i = 0; i + 1 < sample.arguments.size(); ++i) {
      operands.push_back(&sample.arguments[i]);
      tensors.push_back(const_cast<std::byte*>(sample.arguments[i].data.data()));
    }
    const tensor::HostTensor& shaped = sample.arguments.back();
    const tensor::HostTensor expected = tensor::Evaluate(call, operands, shaped.shape);
    std::vector<int64_t> result(static_cast<size_t>(shaped.ElementCount()) + 8, kUntouched);
    tensors.push_back(result.data());
    std::vector<int64_t> numbers = {static_cast<int64_t>(operands[0]->dtype)};
    numbers.insert(numbers.end(), call.numbers.begin(), call.numbers.end());
    std::vector<int64_t> workspace(4096);
    KernelOf(call.kernel).function(tensors.data(), numbers.data(), workspace.data());
    const int64_t columns = shaped.shape.size() == 1 ? 1 : shaped.shape[1];
    const int64_t capacity = shaped.shape[0] - 1, count = expected.GetInt(0);
    ASSERT_EQ(result[0], count);
    beyond += count > capacity;
    none += count == 0;
    const bool is_unique = call.kernel == tensor::LibraryKernel::kUnique;
    const int64_t length = is_unique ? operands[1]->GetInt(0) : 0;
    for (int64_t row = 1; row <= capacity; ++row) {
      for (int64_t c = 0; c < columns; ++c) {
        const bool is_there = is_unique && c == 2 ? row <= length : row <= count;
        const int64_t at = row * columns + c;
        if (!is_there) continue;
        ASSERT_EQ(result[at], expected.GetInt(at)) << s << ", " << row << ", " << c;
      }
    }
    for (size_t at = static_cast<size_t>(shaped.ElementCount()); at < result.size(); ++at) {
      ASSERT_EQ(result[at], kUntouched);
    }
  }
  EXPECT_GT(beyond, 20);
  EXPECT_GT(none, 20);
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

/// The sums along the rows of x[n, inner], in double precision.
std::vector<double> SumsOverRows(const tensor::HostTensor& x, int64_t n, int64_t inner,
                                 bool exclusive, bool reverse) {
  std::vector<double> sums(n * inner);
  for (int64_t c = 0; c < inner; ++c) {
    double sum = 0;
    for (int64_t step = 0; step < n; ++step) {
      const int64_t at = (reverse ? n - 1 - step : step) * inner + c;
      const double before = sum;
      sum += x.Get(at);
      sums[at] = exclusive ? before : sum;
    }
  }
  return sums;
}

void ExpectSumsOverRows(const tensor::HostTensor& x, bool exclusive, bool reverse,
                        double tolerance) {
  const int64_t n = x.shape[0], inner = x.shape[1];
  base::RandomStream random(4);
  SampleCall sample =
      testing::SampleScan(tensor::DType::kFloat32, 1, n, inner, false, exclusive, reverse, random);
  std::copy(x.data.begin(), x.data.end(), sample.arguments[0].data.begin());
  testing::RunCompiled(tensor::Lower(sample.workload), sample.arguments);
  const std::vector<double> expected = SumsOverRows(x, n, inner, exclusive, reverse);
  for (int64_t i = 0; i < n * inner; ++i) {
    const auto exact = static_cast<float>(expected[i]);
    const double actual = sample.arguments[1].Get(i);
    if (std::isinf(exact)) {
      ASSERT_EQ(actual, exact) << "element " << i;
    } else {
      ASSERT_LE(std::abs(actual - exact), tolerance * std::abs(exact)) << "element " << i;
    }
  }
}

/// Added up one by one in float, 0.1 is wrong by 1e-4 and more after so many rows.
TEST(LibraryCalls, LongSumsOverRowsAreAsGoodAsDoubles) {
  tensor::HostTensor x = tensor::HostTensor::Zeros(tensor::DType::kFloat32, {20000, 3});
  for (int64_t i = 0; i < x.ElementCount(); ++i) x.Set(i, 0.1 * static_cast<double>(1 + i % 3));
  for (bool reverse : {false, true}) {
    ExpectSumsOverRows(x, /*exclusive=*/false, reverse, 4e-7);
    ExpectSumsOverRows(x, /*exclusive=*/true, reverse, 4e-7);
  }
}

/// Sums go beyond float's largest number and come back, within 16 rows and from one 16 to another.
TEST(LibraryCalls, SumsOverRowsComeBackFromInfinity) {
  for (int64_t first : {0, 3, 15, 16, 30}) {
    tensor::HostTensor x = tensor::HostTensor::Zeros(tensor::DType::kFloat32, {50, 70});
    for (int64_t i = 0; i < x.ElementCount(); ++i) {
      const int64_t row = i / 70 - first;
      x.Set(i, row == 0 ? -3e38 : row == 2 || row == 3 || row == 5 ? 3e38 : row == 9 ? -6e37 : 0);
    }
    for (bool reverse : {false, true}) {
      ExpectSumsOverRows(x, /*exclusive=*/false, reverse, 4e-7);
      ExpectSumsOverRows(x, /*exclusive=*/true, reverse, 4e-7);
    }
  }
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
