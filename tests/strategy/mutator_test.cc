// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/strategy/mutator.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "tests/strategy/search_fixture.h"

namespace bayloom::strategy {
namespace {

/// Steps whose decisions differ.
std::vector<int> ChangedSteps(const tensor::Trace& a, const tensor::Trace& b) {
  std::vector<int> steps;
  for (int step : a.SamplingSteps()) {
    if (a.decisions()[step] != b.decisions()[step]) steps.push_back(step);
  }
  return steps;
}

/// Calls `check` with random candidates of a few workloads.
void ForRandomCandidates(
    int count,
    const std::function<void(const sketch::SpaceGenerator&, const sketch::Candidate&)>& check) {
  for (const tensor::Workload& workload :
       {ConvolutionWorkload(), tensor::MatmulWorkload(24, 60, 36),
        tensor::BatchMatmulWorkload(2, 7, 16, 30)}) {
    const sketch::SpaceGenerator generator(workload, SimulatedTarget());
    base::RandomStream random(1);
    const int64_t spaces = static_cast<int64_t>(generator.spaces().size());
    ASSERT_GT(spaces, 0);
    for (int i = 0; i < count; ++i) {
      Result<sketch::Candidate> candidate =
          generator.Sample(static_cast<int>(random.UniformInt(spaces)), random.Fork());
      if (candidate) check(generator, *candidate);
    }
  }
}

using MakeMutator = std::function<std::unique_ptr<Mutator>(const tensor::Workload&)>;
using CheckDecision = std::function<void(const tensor::Instruction&, const tensor::Decision& before,
                                         const tensor::Decision& after)>;

/// Applies a mutator many times: every time exactly one decision changes, at a step of the given
/// kind, and `check` holds of it. Returns how many mutated traces became a valid program other
/// than their parent.
int CheckMutator(const MakeMutator& make, tensor::InstructionKind kind,
                 const CheckDecision& check) {
  int useful = 0;
  ForRandomCandidates(20, [&](const sketch::SpaceGenerator& generator,
                              const sketch::Candidate& parent) {
    const std::unique_ptr<Mutator> mutator = make(generator.workload());
    base::RandomStream random(parent.hash);
    for (int i = 0; i < 5; ++i) {
      const std::optional<tensor::Trace> mutated = mutator->Mutate(parent, random);
      if (!mutated) continue;
      ASSERT_EQ(mutated->SpaceHash(), parent.trace.SpaceHash());
      const std::vector<int> changed = ChangedSteps(parent.trace, *mutated);
      ASSERT_EQ(changed.size(), 1u);
      const tensor::Instruction& instruction = parent.trace.instructions()[changed[0]];
      ASSERT_EQ(instruction.kind, kind);
      check(instruction, *parent.trace.decisions()[changed[0]], *mutated->decisions()[changed[0]]);
      Result<sketch::Candidate> child = generator.Replay(parent.space, *mutated, random.Fork());
      if (!child) continue;
      const Status valid = tensor::Validate(child->program);
      ASSERT_TRUE(valid) << valid.error().message;
      useful += child->hash != parent.hash;
    }
  });
  return useful;
}

TEST(MutatorTest, TileMovesADivisorWithinTheInnermostBound) {
  const int useful = CheckMutator(
      [](const tensor::Workload&) { return MakeTileMutator(); },
      tensor::InstructionKind::kSamplePerfectTile,
      [](const tensor::Instruction& tile, const tensor::Decision& before,
         const tensor::Decision& after) {
        auto product = [](const tensor::Decision& d) {
          return std::accumulate(d.values.begin(), d.values.end(), int64_t{1}, std::multiplies<>());
        };
        EXPECT_EQ(product(after), product(before));
        EXPECT_LE(after.values.back(), tile.attributes[1]);
        int grown = 0, shrunk = 0;
        for (size_t i = 0; i < before.values.size(); ++i) {
          grown += after.values[i] > before.values[i];
          shrunk += after.values[i] < before.values[i];
        }
        EXPECT_EQ(grown, 1);
        EXPECT_EQ(shrunk, 1);
      });
  EXPECT_GT(useful, 200);
}

TEST(MutatorTest, TileDrawsEveryLegalMoveAndNoOther) {
  tensor::WorkloadBuilder b("relu");
  const tensor::Tensor x = b.Input("x", {8});
  tensor::Schedule schedule(b.Build({tensor::Map(b, "y", x, tensor::Relu)}), /*seed=*/1);
  const tensor::Decision start{{4, 2}};
  const tensor::LoopVar loop = (*schedule.GetLoops(*schedule.GetBlock("y")))[0];
  ASSERT_TRUE(schedule.SamplePerfectTile(loop, /*parts=*/2, /*max_innermost=*/4, &start));
  const sketch::Candidate parent{schedule.trace(), schedule.program(), 0, 0};
  const int step = parent.trace.SamplingSteps()[0];
  base::RandomStream random(3);
  std::map<std::vector<int64_t>, int> drawn;
  for (int i = 0; i < 1000; ++i) {
    ++drawn[MakeTileMutator()->Mutate(parent, random)->decisions()[step]->values];
  }
  // Inwards only a 2 fits, outwards a 2 is all there is; one half each.
  ASSERT_EQ(drawn.size(), 2u);
  EXPECT_NEAR((drawn[{2, 4}]), 500, 80);
  EXPECT_NEAR((drawn[{8, 1}]), 500, 80);
}

TEST(MutatorTest, CategoricalMutatorsPickAnotherChoiceOfTheirOwnDecision) {
  const auto check = [](const tensor::Instruction& choice, const tensor::Decision& before,
                        const tensor::Decision& after) {
    EXPECT_NE(after, before);
    EXPECT_GE(after.values[0], 0);
    EXPECT_LT(after.values[0], static_cast<int64_t>(choice.attributes.size()));
  };
  EXPECT_GT(CheckMutator([](const tensor::Workload&) { return MakeUnrollMutator(); },
                         tensor::InstructionKind::kSampleCategorical, check),
            50);
  EXPECT_GT(CheckMutator([](const tensor::Workload&) { return MakeParallelMutator(); },
                         tensor::InstructionKind::kSampleCategorical, check),
            50);
  ForRandomCandidates(5, [&](const sketch::SpaceGenerator&, const sketch::Candidate& parent) {
    base::RandomStream random(7);
    const std::optional<tensor::Trace> unroll = MakeUnrollMutator()->Mutate(parent, random);
    const std::optional<tensor::Trace> parallel = MakeParallelMutator()->Mutate(parent, random);
    ASSERT_TRUE(unroll && parallel);
    EXPECT_NE(ChangedSteps(parent.trace, *unroll), ChangedSteps(parent.trace, *parallel));
  });
}

TEST(MutatorTest, ComputeLocationPicksAnotherLegalPlace) {
  std::set<std::vector<int64_t>> places;
  const int useful = CheckMutator(
      [](const tensor::Workload& workload) { return MakeComputeLocationMutator(workload); },
      tensor::InstructionKind::kSampleComputeLocation,
      [&](const tensor::Instruction&, const tensor::Decision& before,
          const tensor::Decision& after) {
        EXPECT_NE(after, before);
        places.insert(after.values);
      });
  EXPECT_GT(useful, 10);
  EXPECT_GT(places.size(), 3u);
}

TEST(MutatorTest, MutatedLocationsAreReplayedAsDecided) {
  const sketch::SpaceGenerator generator(ConvolutionWorkload(), SimulatedTarget());
  const std::unique_ptr<Mutator> mutator = MakeComputeLocationMutator(generator.workload());
  base::RandomStream random(5);
  int mutated = 0;
  for (int i = 0; i < 50; ++i) {
    const int space = i % static_cast<int>(generator.spaces().size());
    Result<sketch::Candidate> parent = generator.Sample(space, random.Fork());
    if (!parent) continue;
    const std::optional<tensor::Trace> trace = mutator->Mutate(*parent, random);
    if (!trace) continue;
    Result<sketch::Candidate> child = generator.Replay(space, *trace, random.Fork());
    if (!child) continue;
    const int step = ChangedSteps(parent->trace, *trace)[0];
    EXPECT_EQ(child->trace.decisions()[step], trace->decisions()[step]);
    ++mutated;
  }
  EXPECT_GT(mutated, 10);
}

}  // namespace
}  // namespace bayloom::strategy
