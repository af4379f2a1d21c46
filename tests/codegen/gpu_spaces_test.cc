// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/gpu/gpu_spaces.h"

#include <gmock/gmock.h>

#include <ctime>

#include "bayloom/base/clock.h"
#include "bayloom/codegen/gpu/assemble.h"
#include "bayloom/feature/gpu_estimate.h"
#include "bayloom/tensor/operator_shorthand.h"
#include "bayloom/tensor/workload_name.h"
#include "tests/codegen/gpu_run.h"
#include "tests/effort.h"
#include "tests/tensor/workloads.h"

namespace bayloom::testing {
namespace {

class GpuSpacesOf : public ::testing::TestWithParam<NamedWorkload> {};

/// Drawn, mutated and crossed candidates keep the limits, can be compiled, and are right.
TEST_P(GpuSpacesOf, CandidatesAreValidAndRight) {
  const tensor::Workload& workload = GetParam().workload;
  const sketch::GpuSpaces spaces(workload, Hopper());
  ASSERT_FALSE(spaces.spaces().empty());
  const std::vector<tensor::HostTensor> inputs = RandomArguments(workload, 7);
  std::vector<tensor::HostTensor> expected = inputs;
  tensor::Interpret(tensor::Lower(workload), expected);
  int made = 0, valid = 0;
  const auto expect_right = [&](int space, const Result<sketch::Candidate>& candidate) {
    ++made;
    if (!candidate) return;
    SCOPED_TRACE(tensor::Print(candidate->program));
    const Status kept = spaces.CheckDecisions(space, candidate->trace);
    EXPECT_TRUE(kept) << kept.error().message;
    const Status sound = tensor::Validate(candidate->program);
    ASSERT_TRUE(sound) << sound.error().message;
    const auto stand_in = codegen::StandIn::Compile(candidate->program, Hopper());
    ASSERT_TRUE(stand_in) << stand_in.error().message;
    ++valid;
    std::vector<tensor::HostTensor> actual = inputs;
    const Status done = RunOnStandIn(candidate->program, *stand_in, actual);
    ASSERT_TRUE(done) << done.error().message;
    ASSERT_EQ(CountWrong(candidate->program, actual, expected), 0);
  };
  for (int space = 0; space < static_cast<int>(spaces.spaces().size()); ++space) {
    for (int i = 0; i < Effort(); ++i) {
      const auto seed = static_cast<uint64_t>(4 * (17 * i + space));
      const auto stream = [&](uint64_t number) { return base::RandomStream(seed + number); };
      const auto a = spaces.Sample(space, stream(0)), b = spaces.Sample(space, stream(1));
      expect_right(space, a);
      if (!a || !b) continue;
      expect_right(space, spaces.Cross(space, a->trace, b->trace, stream(2)));
      if (const auto mutant = spaces.Mutate(space, b->trace, stream(3))) {
        expect_right(space, mutant);
      }
      if (HasFailure()) return;
    }
  }
  RecordProperty("made", made);
  RecordProperty("valid", valid);
  EXPECT_EQ(valid, made);
}

INSTANTIATE_TEST_SUITE_P(Catalogue, GpuSpacesOf, ::testing::ValuesIn(Catalogue()),
                         [](const auto& named) { return named.param.name; });

TEST(GpuSpaces, ProductsHaveStagesTilesAndSharedReductions) {
  const sketch::GpuSpaces spaces(tensor::MatmulWorkload(64, 64, 256), Hopper());
  ASSERT_EQ(spaces.spaces().size(), 4U);
  const auto staged = spaces.Sample(0, base::RandomStream(1));
  ASSERT_TRUE(staged) << staged.error().message;
  const std::string text = tensor::Print(staged->program);
  EXPECT_THAT(text, ::testing::HasSubstr("shared a.shared"));
  EXPECT_THAT(text, ::testing::HasSubstr("cooperative for"));
  const auto shared = spaces.Sample(2, base::RandomStream(1));
  ASSERT_TRUE(shared) << shared.error().message;
  EXPECT_THAT(tensor::Print(shared->program), ::testing::HasSubstr("thread_reduce for"));
}

TEST(GpuSpaces, LimitsAreKnownConstraints) {
  target::GpuLimits small = Hopper();
  small.max_shared_bytes = 2048;
  small.max_threads = 64;
  const tensor::Workload workload = tensor::MatmulWorkload(64, 64, 64);
  const sketch::GpuSpaces wide(workload, Hopper()), narrow(workload, small);
  int refused = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const auto candidate = wide.Sample(0, base::RandomStream(seed));
    ASSERT_TRUE(candidate);
    const Status kept = narrow.CheckDecisions(0, candidate->trace);
    refused += !kept;
    EXPECT_EQ(codegen::CompileToPtx(candidate->program, small, "f").ok(), kept.ok());
    const auto within = narrow.Sample(0, base::RandomStream(seed));
    ASSERT_TRUE(within);
    const auto compiled = codegen::CompileToPtx(within->program, small, "f");
    ASSERT_TRUE(compiled) << compiled.error().message;
    EXPECT_LE(compiled->launches[0].shared_bytes, 2048);
    EXPECT_LE(compiled->launches[0].threads, 64);
    EXPECT_GE(compiled->launches[0].threads, 32);
  }
  EXPECT_GT(refused, 10);
}

/// Strides between a thread's elements must not spread its accumulators over more than registers.
TEST(GpuSpaces, DrawsOfLargeProductsCanBeCompiled) {
  const sketch::GpuSpaces spaces(tensor::MatmulWorkload(512, 512, 512), Hopper());
  for (uint64_t seed = 0; seed < 25; ++seed) {
    const auto candidate = spaces.Sample(seed % 2, base::RandomStream(1000 + seed));
    ASSERT_TRUE(candidate) << candidate.error().message;
    const auto compiled = codegen::CompileToPtx(candidate->program, Hopper(), "f");
    ASSERT_TRUE(compiled) << compiled.error().message << tensor::Print(candidate->program);
    EXPECT_EQ(compiled->ptx.find("__local_depot"), std::string::npos);
  }
}

/// Operators of networks, as bayloom tune draws them.
std::vector<tensor::Workload> LargeOperators() {
  return {tensor::ParseOperator("matmul:512,512,512"),
          tensor::ParseOperator("conv2d:56x56x64,64,3x3,pad=1"),
          tensor::ParseOperator("conv2d:7x7x320,1280,1x1"),
          tensor::ParseOperator("matmul:1,1000,1280")};
}

TEST(GpuSpaces, DrawsOfLargeOperatorsAssemble) {
  if (!codegen::HasAssembler()) GTEST_SKIP() << "there is no ptxas in PATH";
  int drawn = 0, valid = 0, assembled = 0, spilling = 0, refused = 0;
  double seconds = 0;
  std::vector<double> ratios;  // of estimated to assembled registers
  for (const tensor::Workload& workload : LargeOperators()) {
    const sketch::GpuSpaces spaces(workload, Hopper());
    const size_t count = spaces.spaces().size();
    for (size_t i = 0; i < 2 * static_cast<size_t>(Effort()); ++i) {
      ++drawn;
      const auto candidate =
          spaces.Sample(static_cast<int>(i % count), base::RandomStream(500 + i));
      if (!candidate) continue;
      ++valid;
      SCOPED_TRACE(tensor::Print(candidate->program));
      const double begin = base::MonotonicSeconds();
      const auto compiled = codegen::CompileToPtx(candidate->program, Hopper(), "f");
      ASSERT_TRUE(compiled) << compiled.error().message;
      const auto made = codegen::Assemble(compiled->ptx, "sm_90");
      ASSERT_TRUE(made) << made.error().message;
      seconds += base::MonotonicSeconds() - begin;
      ++assembled;
      const auto estimates =
          feature::EstimateGpuKernels(candidate->program, *target::TypicalGpu(90));
      ASSERT_EQ(estimates.size(), made->kernels.size());
      int64_t spilled = 0, registers = 0;
      for (size_t k = 0; k < made->kernels.size(); ++k) {
        EXPECT_EQ(estimates[k].blocks, compiled->launches[k].blocks);
        EXPECT_EQ(estimates[k].threads, compiled->launches[k].threads);
        ratios.push_back(estimates[k].registers / made->kernels[k].registers);
        spilled = std::max(spilled, made->kernels[k].spill_bytes);
        const int64_t threads = (compiled->launches[k].threads + 31) / 32 * 32;
        registers = std::max(registers, threads * made->kernels[k].registers);
      }
      spilling += spilled > 0;
      refused += spilled > 128;
      EXPECT_LE(registers, 65536);
    }
  }
  RecordProperty("drawn", drawn);
  RecordProperty("valid", valid);
  RecordProperty("assembled", assembled);
  RecordProperty("spilling", spilling);
  RecordProperty("spilling_more_than_128_bytes", refused);
  RecordProperty("ms_each", std::to_string(1e3 * seconds / assembled));
  std::ranges::sort(ratios);
  for (const int percent : {10, 50, 90}) {
    RecordProperty("registers_estimated_" + std::to_string(percent),
                   std::to_string(ratios[ratios.size() * static_cast<size_t>(percent) / 100]));
  }
  EXPECT_EQ(valid, drawn);
  EXPECT_EQ(assembled, valid);
}

/// Where the limits are not known, as in other tuners, nearly all draws exceed one of them.
/// How many a second of processor time is recorded, not tested.
TEST(GpuSpaces, DrawsOfLargeOperatorsAreCounted) {
  const int count = 50 * Effort();
  for (const tensor::Workload& workload : LargeOperators()) {
    const sketch::GpuSpaces spaces(workload, Hopper());
    const std::clock_t begin = std::clock();
    int valid = 0;
    for (int i = 0; i < count; ++i) {
      valid += spaces.Sample(0, base::RandomStream(static_cast<uint64_t>(i))).ok();
    }
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    EXPECT_EQ(valid, count);
    RecordProperty(tensor::NameOf(workload), std::to_string(count / seconds));
  }
}

TEST(GpuSpaces, WithoutKnownLimitsMostDrawsAreRefused) {
  const tensor::Workload workload = tensor::ParseOperator("conv2d:7x7x320,1280,1x1");
  const sketch::GpuSpaces known(workload, Hopper()), unknown(workload, Hopper(), false);
  const int draws = 100 * Effort();
  int valid = 0, valid_unknown = 0;
  for (int i = 0; i < draws; ++i) {
    const auto seed = static_cast<uint64_t>(i);
    valid += known.Sample(0, base::RandomStream(seed)).ok();
    const auto drawn = unknown.Sample(0, base::RandomStream(seed));
    valid_unknown += drawn.ok();
    EXPECT_TRUE(!drawn || known.CheckDecisions(0, drawn->trace));
  }
  EXPECT_EQ(valid, draws);
  EXPECT_LT(valid_unknown, draws / 5);
  RecordProperty("valid_without_known_limits", valid_unknown);
}

TEST(GpuSpaces, DrawsAreDecidedByTheSeed) {
  const sketch::GpuSpaces spaces(tensor::Conv2dWorkload(ConvShape(14, 16, 32, 3, 1)), Hopper());
  const auto a = spaces.Sample(0, base::RandomStream(4)),
             b = spaces.Sample(0, base::RandomStream(4));
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->hash, b->hash);
  EXPECT_NE(a->hash, spaces.Sample(0, base::RandomStream(5))->hash);
}

}  // namespace
}  // namespace bayloom::testing
