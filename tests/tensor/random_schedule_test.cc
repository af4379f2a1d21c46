// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/tensor/random_schedule.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "bayloom/tensor/access.h"
#include "tests/tensor/awkward_workloads.h"

namespace bayloom::testing {
namespace {

/// BAYLOOM_FUZZ=n makes the tests n times as long.
int Effort() {
  const char* text = std::getenv("BAYLOOM_FUZZ");
  return text == nullptr ? 1 : std::max(1, std::atoi(text));
}

/// A marked loop still has independent iterations after any later step.
Status CheckMarks(const tensor::Program& program) {
  for (size_t i = 0; i < program.loops.size(); ++i) {
    const tensor::Loop& loop = program.loops[i];
    if (!loop.alive) continue;
    if (Status s = tensor::CheckKindOfLoop(program, static_cast<tensor::LoopId>(i)); !s) return s;
  }
  return Ok();
}

/// Float sums may be reassociated; everything else must come out the same.
double Tolerance(const tensor::Workload& workload) {
  double tolerance = 0;
  for (const tensor::Buffer& buffer : workload.buffers) {
    if (!tensor::IsFloat(buffer.dtype)) continue;
    const bool narrow =
        buffer.dtype == tensor::DType::kFloat16 || buffer.dtype == tensor::DType::kBFloat16;
    tolerance = std::max(tolerance, narrow ? 2e-2 : 2e-5);
  }
  return tolerance;
}

class RandomSchedules : public ::testing::TestWithParam<NamedWorkload> {};

TEST_P(RandomSchedules, ComputeWhatTheNaiveProgramComputes) {
  constexpr int kSchedules = 60;
  const tensor::Workload& workload = GetParam().workload;
  const tensor::Program naive = tensor::Lower(workload);
  std::vector<tensor::HostTensor> expected = RandomArguments(workload, 7);
  const std::vector<tensor::HostTensor> inputs = expected;
  tensor::Interpret(naive, expected);

  for (int i = 0; i < kSchedules * Effort(); ++i) {
    tensor::Program program = naive;
    const uint64_t seed = 1000 * i + workload.stages.size();
    RandomScheduler scheduler(program, seed);
    base::RandomStream length(seed);
    for (int64_t steps = 5 + length.UniformInt(60); steps > 0; --steps) scheduler.Step();
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + scheduler.history() +
                 tensor::Print(program));
    ASSERT_EQ(scheduler.history().find("REFUSED"), std::string::npos);
    const Status valid = tensor::Validate(program);
    ASSERT_TRUE(valid) << valid.error().message;
    const Status marks = CheckMarks(program);
    ASSERT_TRUE(marks) << marks.error().message;
    std::vector<tensor::HostTensor> actual = inputs;
    try {
      tensor::InterpretStrictly(program, actual);
    } catch (const std::logic_error& e) {
      FAIL() << e.what();
    }
    for (size_t a = 0; a < actual.size(); ++a) {
      ASSERT_LE(RelativeDifference(actual[a], expected[a]), Tolerance(workload));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Catalogue, RandomSchedules, ::testing::ValuesIn(Catalogue()),
                         [](const auto& named) { return named.param.name; });

INSTANTIATE_TEST_SUITE_P(AwkwardCatalogue, RandomSchedules, ::testing::ValuesIn(AwkwardCatalogue()),
                         [](const auto& named) { return named.param.name; });

/// A fuzzer that never gets a primitive applied proves nothing about it.
TEST(RandomScheduler, AppliesEveryPrimitive) {
  std::vector<int> applied(RandomScheduler::kPrimitiveCount);
  for (const NamedWorkload& named : Catalogue()) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      tensor::Program program = tensor::Lower(named.workload);
      RandomScheduler scheduler(program, seed);
      for (int step = 0; step < 40; ++step) scheduler.Step();
      for (size_t i = 0; i < applied.size(); ++i) applied[i] += scheduler.applied()[i];
    }
  }
  for (size_t i = 0; i < applied.size(); ++i) {
    EXPECT_GE(applied[i], 50) << RandomScheduler::kPrimitiveNames[i];
  }
}

}  // namespace
}  // namespace bayloom::testing
