// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/library_call.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bayloom/feature/code_estimate.h"
#include "bayloom/feature/program_features.h"
#include "bayloom/feature/time_estimate.h"
#include "bayloom/target/target.h"
#include "tests/tensor/library_calls.h"

namespace bayloom::feature {
namespace {

TEST(LibraryCallFeatures, AreNumbers) {
  const target::MachineModel machine = target::NominalMachine(target::Target());
  base::RandomStream random(1);
  for (int s = 0; s < 100; ++s) {
    const tensor::Program program = tensor::Lower(testing::RandomCall(random).workload);
    const FeatureMatrix features = ExtractFeatures(program);
    EXPECT_EQ(features.rows, 1);
    for (float value : features.values) EXPECT_TRUE(std::isfinite(value));
    EXPECT_GT(EstimateTime(program, machine), 0);
    EXPECT_GT(EstimateCodeTime(program, target::Target()), 0);
  }
}

TEST(LibraryCallFeatures, LargerCallsTakeLonger) {
  const target::MachineModel machine = target::NominalMachine(target::Target());
  base::RandomStream random(2);
  double before = 0;
  for (const int64_t n : {10, 100, 1000}) {
    const tensor::Program program = tensor::Lower(
        testing::SampleTopK(tensor::DType::kFloat32, 3, n, 1, 5, true, random).workload);
    EXPECT_GT(EstimateTime(program, machine), before);
    before = EstimateTime(program, machine);
  }
}

}  // namespace
}  // namespace bayloom::feature
