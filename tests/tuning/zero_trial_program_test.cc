// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/zero_trial_program.h"

#include <gtest/gtest.h>

#include "bayloom/feature/code_estimate.h"
#include "bayloom/tensor/interpreter.h"
#include "bayloom/tensor/program.h"
#include "tests/tensor/workloads.h"
#include "tests/tuning/two_cores.h"

namespace bayloom::tuning {
namespace {

const ZeroTrialOptions kQuick = {.population = 48, .generations = 2, .seed = 3};

TEST(ZeroTrialProgramTest, ComputesWhatTheWorkloadSays) {
  base::ThreadPool pool;
  for (const auto& [name, workload] : bayloom::testing::Catalogue()) {
    const sketch::SpaceGenerator space(workload, TwoCores());
    const sketch::Candidate chosen = FastestByEstimate(space, {}, kQuick, pool);
    EXPECT_TRUE(tensor::Validate(chosen.program)) << name;
    std::vector<tensor::HostTensor> expected = bayloom::testing::RandomArguments(workload, 5);
    std::vector<tensor::HostTensor> actual = expected;
    tensor::Interpret(tensor::Lower(workload), expected);
    tensor::Interpret(chosen.program, actual);
    EXPECT_LT(bayloom::testing::RelativeDifference(actual.back(), expected.back()), 1e-4) << name;
  }
}

TEST(ZeroTrialProgramTest, IsNoSlowerThanThePlainOneByEstimate) {
  base::ThreadPool pool;
  for (const auto& [name, workload] : bayloom::testing::Catalogue()) {
    const sketch::SpaceGenerator space(workload, TwoCores());
    EXPECT_LE(
        feature::EstimateCodeTime(FastestByEstimate(space, {}, kQuick, pool).program, TwoCores()),
        feature::EstimateCodeTime(DefaultCandidate(space).program, TwoCores()))
        << name;
  }
}

TEST(ZeroTrialProgramTest, IsTheSameForASeedAndAnyNumberOfThreads) {
  const sketch::SpaceGenerator space(bayloom::testing::Catalogue().front().workload, TwoCores());
  base::ThreadPool one(1), three(3);
  const uint64_t hash = FastestByEstimate(space, {}, kQuick, one).hash;
  EXPECT_EQ(FastestByEstimate(space, {}, kQuick, one).hash, hash);
  EXPECT_EQ(FastestByEstimate(space, {}, kQuick, three).hash, hash);
}

TEST(ZeroTrialProgramTest, WithoutASearchThePlainProgramRemains) {
  base::ThreadPool pool(1);
  const sketch::SpaceGenerator space(bayloom::testing::Catalogue().front().workload, TwoCores());
  EXPECT_EQ(FastestByEstimate(space, {}, {.population = 0}, pool).hash,
            DefaultCandidate(space).hash);
}

TEST(ZeroTrialProgramTest, LentProgramsAreConsidered) {
  base::ThreadPool pool(1);
  const sketch::SpaceGenerator space(tensor::MatmulWorkload(96, 96, 96), TwoCores());
  const sketch::Candidate good =
      FastestByEstimate(space, {}, {.population = 256, .generations = 4}, pool);
  const sketch::Candidate adapted[] = {good};
  const sketch::Candidate chosen =
      FastestByEstimate(space, adapted, {.population = 1, .generations = 0}, pool);
  EXPECT_LE(feature::EstimateCodeTime(chosen.program, TwoCores()),
            feature::EstimateCodeTime(good.program, TwoCores()));
}

}  // namespace
}  // namespace bayloom::tuning
