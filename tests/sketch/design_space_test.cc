// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/design_space.h"

#include <gtest/gtest.h>

#include <set>

#include "bayloom/tensor/interpreter.h"
#include "bayloom/tensor/operators.h"
#include "tests/sketch/same_result.h"
#include "tests/tensor/workloads.h"

namespace bayloom::sketch {
namespace {

target::Target WideTarget() {
  target::Target target;
  target.name = "test";
  target.cores = 2;
  target.vector_bytes = 64;
  return target;
}

std::vector<tensor::HostTensor> RandomArguments(const tensor::Workload& workload, uint64_t seed) {
  base::RandomStream random(seed);
  std::vector<tensor::HostTensor> arguments;
  for (tensor::BufferId id : workload.Parameters()) {
    const tensor::Buffer& buffer = workload.buffers[id];
    tensor::HostTensor tensor = tensor::HostTensor::Zeros(buffer.dtype, buffer.shape);
    for (int64_t i = 0; i < tensor.ElementCount(); ++i) {
      tensor.Set(i, static_cast<double>(random.UniformInt(9) - 4));
    }
    arguments.push_back(std::move(tensor));
  }
  return arguments;
}

TEST(SpaceGeneratorTest, EveryWorkloadHasAtLeastOneSpaceAndFewOfThem) {
  for (const auto& [name, workload] : testing::Catalogue()) {
    const SpaceGenerator generator(workload, WideTarget());
    EXPECT_GE(generator.spaces().size(), 1u) << name;
    EXPECT_LE(generator.spaces().size(), 10u) << name;
  }
}

TEST(SpaceGeneratorTest, SampledProgramsComputeWhatTheWorkloadSays) {
  for (const auto& [name, workload] : testing::Catalogue()) {
    const SpaceGenerator generator(workload, WideTarget());
    std::vector<tensor::HostTensor> expected = RandomArguments(workload, 11);
    std::vector<tensor::HostTensor> inputs = expected;
    tensor::Interpret(tensor::Lower(workload), expected);
    int valid = 0;
    for (int space = 0; space < static_cast<int>(generator.spaces().size()); ++space) {
      for (int seed = 0; seed < 8; ++seed) {
        const Result<Candidate> candidate = generator.Sample(space, base::RandomStream(seed));
        if (!candidate) continue;
        ++valid;
        const Status status = tensor::Validate(candidate->program);
        ASSERT_TRUE(status.ok()) << name << ": " << status.error().message;
        std::vector<tensor::HostTensor> actual = inputs;
        tensor::Interpret(candidate->program, actual);
        for (size_t a = 0; a < actual.size(); ++a) {
          for (int64_t i = 0; i < actual[a].ElementCount(); ++i) {
            const double want = expected[a].Get(i);
            ASSERT_NEAR(actual[a].Get(i), want, 1e-4 * (1 + std::abs(want)))
                << name << " space " << space << " seed " << seed << "\n"
                << tensor::Print(candidate->program);
          }
        }
      }
    }
    EXPECT_GT(valid, 0) << name;
  }
}

TEST(SpaceGeneratorTest, ReplayOfADecidedTraceIsTheSameCandidate) {
  const SpaceGenerator generator(tensor::MatmulWorkload(64, 48, 32), WideTarget());
  for (int space = 0; space < static_cast<int>(generator.spaces().size()); ++space) {
    const Result<Candidate> first = generator.Sample(space, base::RandomStream(3));
    ASSERT_TRUE(first.ok()) << first.error().message;
    EXPECT_EQ(generator.SpaceOf(first->trace), space);
    const Result<Candidate> again = generator.Replay(space, first->trace, base::RandomStream(99));
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(first->hash, again->hash);
  }
}

TEST(SpaceGeneratorTest, SamplingReachesManyPrograms) {
  const SpaceGenerator generator(tensor::MatmulWorkload(64, 64, 64), WideTarget());
  std::set<uint64_t> hashes;
  for (int seed = 0; seed < 100; ++seed) {
    const Result<Candidate> candidate = generator.Sample(0, base::RandomStream(seed));
    if (candidate) hashes.insert(candidate->hash);
  }
  EXPECT_GT(hashes.size(), 90u);
}

/// A depthwise convolution of 7x7 from and to images with channels first, or last.
tensor::Workload DepthwiseOf(bool channels_first) {
  constexpr int64_t kChannels = 8, kSize = 16;
  const std::vector<int64_t> first = {1, kChannels, kSize, kSize};
  const std::vector<int64_t> last = {1, kSize, kSize, kChannels};
  tensor::WorkloadBuilder b("depthwise");
  tensor::Tensor x = b.Input("x", channels_first ? first : last);
  if (channels_first) {
    x = b.Compute("there", last, [image = x](auto i) { return image(i[0], i[3], i[1], i[2]); });
  }
  tensor::Conv2dOptions options;
  options.pad_before = options.pad_after = {3, 3};
  const tensor::Tensor sums =
      tensor::DepthwiseConv2d(b, "conv", x, b.Constant("w", {7, 7, kChannels}), options);
  return b.Build({b.Compute("back", channels_first ? first : last, [&](auto i) {
    return channels_first ? sums(i[0], i[2], i[3], i[1])
                          : tensor::Relu(sums(i[0], i[1], i[2], i[3]));
  })});
}

/// Whether the lanes of the block's vectors are elements along this iterator.
bool IsVectorizedAlong(const tensor::Program& program, tensor::BlockId block, int iter) {
  for (tensor::LoopId loop : program.LoopsAround(tensor::NodeRef::Block(block))) {
    if (program.loops[loop].kind != tensor::LoopKind::kVectorized) continue;
    for (tensor::DigitId digit : program.loops[loop].digits) {
      if (program.blocks[block].bindings[iter].CoefficientOf(digit) != 0) return true;
    }
  }
  return false;
}

TEST(SpaceGeneratorTest, ImagesWithChannelsFirstHaveASpaceWithVectorsAlongTheirRows) {
  const SpaceGenerator first(DepthwiseOf(true), WideTarget());
  const SpaceGenerator last(DepthwiseOf(false), WideTarget());
  ASSERT_EQ(first.spaces().size(), last.spaces().size() + 1);
  int along_rows = 0, valid = 0;
  for (int seed = 0; seed < 40; ++seed) {
    const int space = static_cast<int>(first.spaces().size()) - 1;
    const Result<Candidate> candidate = first.Sample(space, base::RandomStream(seed));
    if (!candidate) continue;
    ++valid;
    const tensor::BlockId block = candidate->program.FindBlock("conv");
    along_rows += IsVectorizedAlong(candidate->program, block, 2);
    EXPECT_FALSE(IsVectorizedAlong(candidate->program, block, 3));
    if (seed < 4) ExpectSameResult(first.workload(), candidate->program);
  }
  EXPECT_GT(along_rows, valid / 10);
}

}  // namespace
}  // namespace bayloom::sketch
