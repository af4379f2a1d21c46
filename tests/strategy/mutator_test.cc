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
#include "tests/tensor/pooled_convolutions.h"
#include "tests/tensor/product_chains.h"
#include "tests/tensor/window_chains.h"

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

/// Tiles whose innermost factor exceeds its maximum.
int TilesBeyondTheirMaximum(const tensor::Trace& trace) {
  int count = 0;
  for (int step : trace.SamplingSteps()) {
    const tensor::Instruction& instruction = trace.instructions()[step];
    if (instruction.kind != tensor::InstructionKind::kSamplePerfectTile) continue;
    count += trace.decisions()[step]->values.back() > instruction.attributes[1];
  }
  return count;
}

struct RepairCounts {
  int children = 0;
  int repaired = 0;  ///< of these: with more decisions changed than the mutated one
};

/// Chains of mutations, each of the program before: no tile exceeds its maximum.
RepairCounts CheckMutationsKeepMaxima(const tensor::Workload& workload) {
  const sketch::SpaceGenerator generator(workload, SimulatedTarget());
  const std::vector<WeightedMutator> mutators = MutatorsFor(generator);
  std::vector<double> weights;
  for (const WeightedMutator& m : mutators) weights.push_back(m.weight);
  base::RandomStream random(11);
  RepairCounts counts;
  for (int space = 0; space < static_cast<int>(generator.spaces().size()); ++space) {
    Result<sketch::Candidate> parent = generator.Sample(space, random.Fork());
    for (int i = 0; i < 400 && parent; ++i) {
      const std::optional<tensor::Trace> trace =
          mutators[random.Weighted(weights)].mutator->Mutate(*parent, random);
      if (!trace) continue;
      Result<sketch::Candidate> child = generator.Replay(space, *trace, random.Fork());
      if (!child) continue;
      EXPECT_EQ(TilesBeyondTheirMaximum(child->trace), 0) << child->trace.Print();
      ++counts.children;
      counts.repaired += !ChangedSteps(*trace, child->trace).empty();
      parent = std::move(child);
    }
  }
  return counts;
}

TEST(MutatorTest, RepairedTilesKeepTheirMaxima) {
  // Extents with many divisors: a tile that is mutated changes the extents of those within it.
  const std::vector<tensor::Workload> dependent = {
      testing::WindowChainWorkload({.height = 12, .width = 48}),
      testing::WindowChainWorkload({.height = 9, .width = 62, .pad = 0, .pools = true}),
      testing::PooledConvolutionWorkload({.height = 48, .width = 46, .filters = 240}),
      testing::ProductChainWorkload(/*rows=*/84)};
  for (const tensor::Workload& workload : dependent) {
    SCOPED_TRACE(workload.name);
    EXPECT_GT(CheckMutationsKeepMaxima(workload).repaired, 20);
  }
  const std::vector<tensor::Workload> others = {ConvolutionWorkload(),
                                                tensor::MatmulWorkload(24, 60, 36),
                                                tensor::MatmulWorkload(197, 48, 64)};
  for (const tensor::Workload& workload : others) {
    SCOPED_TRACE(workload.name);
    EXPECT_GT(CheckMutationsKeepMaxima(workload).children, 200);
  }
}

/// A program that was measured when repair knew no maxima is replayed as it was.
TEST(MutatorTest, RecordedTilesBeyondTheirMaximumAreReplayedAsTheyWere) {
  const tensor::Workload workload = testing::WindowChainWorkload({.height = 12, .width = 46});
  const sketch::SpaceGenerator generator(workload, SimulatedTarget());
  base::RandomStream random(2);
  int beyond = 0;
  for (int i = 0; i < 60; ++i) {
    const Result<sketch::Candidate> candidate = generator.Sample(0, random.Fork());
    ASSERT_TRUE(candidate);
    for (int step : candidate->trace.SamplingSteps()) {
      const tensor::Instruction& instruction = candidate->trace.instructions()[step];
      if (instruction.kind != tensor::InstructionKind::kSamplePerfectTile) continue;
      const std::vector<int64_t>& tile = candidate->trace.decisions()[step]->values;
      std::vector<int64_t> whole(tile.size(), 1);
      whole.back() = std::accumulate(tile.begin(), tile.end(), int64_t{1}, std::multiplies<>());
      if (whole.back() <= instruction.attributes[1]) continue;
      const tensor::Trace recorded = candidate->trace.WithDecision(step, {whole});
      const Result<sketch::Candidate> replayed = generator.Replay(0, recorded, random.Fork());
      if (!replayed) continue;
      EXPECT_EQ(replayed->trace.decisions()[step]->values, whole);
      ++beyond;
    }
  }
  EXPECT_GT(beyond, 0);
}

}  // namespace
}  // namespace bayloom::strategy
