// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "bayloom/tensor/schedule.h"
#include "tests/tensor/awkward_workloads.h"

namespace bayloom::testing {
namespace {

/// Writes a random trace with sampling steps: tiles loops of blocks that are chosen at random and
/// places blocks where the trace's own random choices say.
class RandomTracer {
 public:
  RandomTracer(const tensor::Workload& workload, uint64_t seed)
      : schedule_(workload, seed), random_(seed + 1) {}

  tensor::Schedule Write() {
    for (int i = 0; i < 6; ++i) {
      const std::vector<tensor::BlockId> blocks = schedule_.program().BlocksInOrder();
      const tensor::BlockId id = blocks[Below(blocks.size())];
      const Result<tensor::BlockVar> block =
          schedule_.GetBlock(schedule_.program().blocks[id].name);
      switch (Below(5)) {
        case 0:
          Place(*block);
          break;
        case 1:
          Ignore(schedule_.CacheWrite(*block, tensor::StorageScope::kLocal));
          break;
        case 2:
          Ignore(schedule_.CacheRead(*block, 0, tensor::StorageScope::kGlobal));
          break;
        default:
          Tile(*block);
      }
    }
    return std::move(schedule_);
  }

 private:
  size_t Below(size_t bound) { return random_.UniformInt(static_cast<int64_t>(bound)); }

  template <typename T>
  static void Ignore(const Result<T>&) {}

  void Place(tensor::BlockVar block) {
    if (const Result<tensor::LoopVar> place = schedule_.SampleComputeLocation(block)) {
      Ignore(schedule_.ComputeAt(block, *place));
    }
  }

  void Tile(tensor::BlockVar block) {
    const Result<std::vector<tensor::LoopVar>> loops = schedule_.GetLoops(block);
    if (!loops || loops->empty()) return;
    std::vector<tensor::LoopVar> order;
    for (size_t first = Below(loops->size()); first < loops->size() && order.size() < 6; ++first) {
      const Result<std::vector<tensor::ValueVar>> tile =
          schedule_.SamplePerfectTile((*loops)[first], 2, 1 << 20);
      if (!tile) continue;
      const Result<std::vector<tensor::LoopVar>> parts = schedule_.Split((*loops)[first], *tile);
      if (parts) order.insert(order.end(), parts->begin(), parts->end());
    }
    random_.Shuffle(order);
    if (order.empty()) return;
    Ignore(schedule_.Reorder(order));
    const Result<tensor::ValueVar> steps = schedule_.SampleCategorical({0, 16, 64}, {1, 1, 1});
    Ignore(schedule_.AnnotateUnroll(order[0], *steps));
    if (Below(2) == 0) Ignore(schedule_.Parallelize(order[0]));
    if (Below(2) == 0) Ignore(schedule_.DecomposeReduction(block, order.back()));
    if (Below(2) == 0) Ignore(schedule_.Fuse({order[0], order[1]}));
  }

  tensor::Schedule schedule_;
  base::RandomStream random_;
};

tensor::Decision RandomDecision(const tensor::Instruction& step, base::RandomStream& random) {
  tensor::Decision decision;
  const size_t count =
      step.kind == tensor::InstructionKind::kSamplePerfectTile ? step.attributes[0] : 1;
  for (size_t i = 0; i < count; ++i) decision.values.push_back(random.UniformInt(10) - 2);
  return decision;
}

class RandomTraces : public ::testing::TestWithParam<NamedWorkload> {};

TEST_P(RandomTraces, SurviveJsonReplayTheSameAndStayCorrectWhenDecisionsChange) {
  const tensor::Workload& workload = GetParam().workload;
  std::vector<tensor::HostTensor> expected = RandomArguments(workload, 3);
  const std::vector<tensor::HostTensor> inputs = expected;
  tensor::Interpret(tensor::Lower(workload), expected);
  for (uint64_t seed = 0; seed < 12; ++seed) {
    const tensor::Schedule original = RandomTracer(workload, seed).Write();
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + original.trace().Print());
    const Result<tensor::Trace> read =
        tensor::Trace::FromJson(nlohmann::json::parse(original.trace().ToJson().dump()));
    ASSERT_TRUE(read) << read.error().message;
    const Result<tensor::Schedule> replayed =
        tensor::Replay(workload, *read, base::RandomStream(seed));
    ASSERT_TRUE(replayed) << replayed.error().message;
    ASSERT_EQ(replayed->program().StructuralHash(), original.program().StructuralHash());

    base::RandomStream random(seed);
    const std::vector<int> steps = read->SamplingSteps();
    for (int i = 0; i < 4 && !steps.empty(); ++i) {
      const int step = steps[random.UniformInt(static_cast<int64_t>(steps.size()))];
      const tensor::Trace changed =
          read->WithDecision(step, RandomDecision(read->instructions()[step], random));
      const Result<tensor::Schedule> mutant = tensor::Replay(workload, changed, random.Fork());
      if (!mutant) continue;  // a later step does not apply any more
      const Status valid = tensor::Validate(mutant->program());
      ASSERT_TRUE(valid) << valid.error().message;
      std::vector<tensor::HostTensor> actual = inputs;
      tensor::InterpretStrictly(mutant->program(), actual);
      for (size_t a = 0; a < actual.size(); ++a) {
        const bool narrow = actual[a].dtype == tensor::DType::kFloat16 ||
                            actual[a].dtype == tensor::DType::kBFloat16;
        ASSERT_LE(RelativeDifference(actual[a], expected[a]), narrow ? 2e-2 : 2e-5);
      }
      // What was repaired stays as it is when replayed again.
      const Result<tensor::Schedule> again =
          tensor::Replay(workload, mutant->trace(), base::RandomStream(0));
      ASSERT_TRUE(again) << again.error().message;
      ASSERT_EQ(again->trace().decisions(), mutant->trace().decisions());
      ASSERT_EQ(again->program().StructuralHash(), mutant->program().StructuralHash());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Catalogue, RandomTraces, ::testing::ValuesIn(Catalogue()),
                         [](const auto& named) { return named.param.name; });

INSTANTIATE_TEST_SUITE_P(AwkwardCatalogue, RandomTraces, ::testing::ValuesIn(AwkwardCatalogue()),
                         [](const auto& named) { return named.param.name; });

}  // namespace
}  // namespace bayloom::testing
