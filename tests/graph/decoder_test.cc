// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "bayloom/codegen/runtime/bayloom_package.h"
#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/passes/passes.h"
#include "tests/graph/decoder_library.h"
#include "tests/graph/decoder_models.h"
#include "tests/graph/text_models.h"

namespace bayloom::graph {
namespace {

constexpr int64_t kMostPast = 20, kCapacity = kMostPast + 1, kRoom = kMostPast + 6;
const Symbol kHeld = {"p", 0, kMostPast};

TaskGraph TasksOf(const OpenModel& model, std::optional<tensor::DType> state_type = {}) {
  ImportOptions options = model.Options();
  options.state_type = state_type;
  if (model.symbols.size() == 1) options.dimensions["s"] = 1;
  options.state_room = kRoom;
  Graph graph = ImportText(model.text, model.opset, options);
  Optimize(graph);
  return ExtractTasks(std::move(graph));
}

TEST(Decoder, IsFoundWithWhatItsInputsAre) {
  const OpenModel model = DecoderModel({kHeld, {"s", 1, 6}});
  const TaskGraph tasks = TasksOf(model);
  const Result<Decoder> decoder = AsDecoder(tasks.graph);
  ASSERT_TRUE(decoder.ok()) << decoder.error().message;
  EXPECT_THAT(decoder->inputs, ::testing::ElementsAre(DecoderInput::kTokens, DecoderInput::kMask,
                                                      DecoderInput::kPositions, DecoderInput::kPast,
                                                      DecoderInput::kPast));
  EXPECT_EQ(decoder->words, kDecoderWords);
  EXPECT_EQ(decoder->Capacity(tasks.graph), kCapacity);
  EXPECT_EQ(decoder->StateBytes(tasks.graph, 9), 10 * 2 * 2 * 32 * 4);
}

/// No call reads the past, and what is added is computed in the state.
TEST(Decoder, CopiesNoPast) {
  const TaskGraph tasks = TasksOf(DecoderModel({kHeld, {"s", 1, 6}}));
  ASSERT_EQ(tasks.graph.states.size(), 2u);
  for (const State& state : tasks.graph.states) {
    EXPECT_EQ(tasks.graph.values[state.memory].shape, (std::vector<int64_t>{1, 2, kRoom, 32}));
    int writers = 0;
    for (const TaskCall& call : tasks.calls) {
      EXPECT_EQ(std::ranges::count(call.parameters, state.past), 0);
      writers += tasks.storage[call.parameters.back()].whole == state.memory ? 1 : 0;
    }
    EXPECT_EQ(writers, 1);
  }
}

TEST(Decoder, KeepsWhatGroupedAttentionHasSeen) {
  for (const OpenModel& model : OpenModels()) {
    if (model.name != "grouped_attention_behind_the_past") continue;
    EXPECT_EQ(TasksOf(model).graph.states.size(), 2u);
  }
}

/// The type is that of the model, or the one that is asked for; the interface has it, too.
TEST(Decoder, KeepsWhatItHasSeenInOneType) {
  using tensor::DType;
  const std::vector<Symbol> lengths = {kHeld, {"s", 1, 6}};
  const auto expect = [](const TaskGraph& tasks, DType type) {
    ASSERT_EQ(tasks.graph.states.size(), 2u);
    for (const State& state : tasks.graph.states) {
      for (const ValueId value : {state.past, state.present, state.memory}) {
        EXPECT_EQ(tasks.graph.values[value].dtype, type);
      }
    }
    EXPECT_TRUE(AsDecoder(tasks.graph).ok());
  };
  expect(TasksOf(DecoderModel(lengths)), DType::kFloat32);
  expect(TasksOf(DecoderModel(lengths), DType::kFloat16), DType::kFloat16);
  const OpenModel narrow = NarrowDecoderModel(lengths, "float16", "10");
  expect(TasksOf(narrow), DType::kFloat16);
  expect(TasksOf(narrow, DType::kBFloat16), DType::kBFloat16);
  expect(TasksOf(narrow, DType::kFloat32), DType::kFloat32);
  expect(TasksOf(NarrowDecoderModel(lengths, "bfloat16", "16")), DType::kBFloat16);
}

/// Levels of 8 bits have a scale for each row, in a state of its own. Where rows of a type are not
/// aligned, states have the next wider one.
TEST(Decoder, KeepsLevelsWithTheirScales) {
  using tensor::DType;
  const std::vector<Symbol> lengths = {kHeld, {"s", 1, 6}};
  const TaskGraph tasks = TasksOf(DecoderModel(lengths, 64), DType::kInt8);
  ASSERT_EQ(tasks.graph.states.size(), 4u);
  EXPECT_TRUE(AsDecoder(tasks.graph).ok());
  for (size_t s = 0; s < 4; ++s) {
    const Value& memory = tasks.graph.values[tasks.graph.states[s].memory];
    EXPECT_EQ(memory.dtype, s < 2 ? DType::kInt8 : DType::kFloat32);
    EXPECT_EQ(memory.shape,
              s < 2 ? (std::vector<int64_t>{1, 2, kRoom, 64}) : (std::vector<int64_t>{kRoom, 16}));
  }
  EXPECT_EQ(Decoder::StateBytes(tasks.graph, 9), 10 * 2 * (2 * 64 + 16 * 4));
  const auto expect = [&](int head, DType wanted, DType stored) {
    const TaskGraph other = TasksOf(DecoderModel(lengths, head), wanted);
    ASSERT_EQ(other.graph.states.size(), 2u) << head;
    for (const State& state : other.graph.states) {
      EXPECT_EQ(other.graph.values[state.memory].dtype, stored) << head;
    }
  };
  expect(32, DType::kInt8, DType::kFloat16);
  expect(16, DType::kInt8, DType::kFloat32);
  expect(16, DType::kFloat16, DType::kFloat32);
}

/// Of tables and constants a step reads a row a token, of states what they hold.
TEST(Decoder, SaysWhatAStepReads) {
  const TaskGraph tasks = TasksOf(DecoderModel({kHeld, {"s", 1, 6}}));
  const Decoder decoder = *AsDecoder(tasks.graph);
  const auto bytes = [&](int64_t past, int64_t count) {
    return Decoder::ConstantBytes(tasks.graph, *decoder.LengthsOf(tasks.graph, past, count));
  };
  EXPECT_EQ(bytes(9, 3) - bytes(9, 1), 2 * 64 * 4);
  EXPECT_EQ(bytes(9, 1), bytes(20, 1));
  EXPECT_GE(bytes(9, 1), (64 + 64 * 12) * 4);
  EXPECT_LT(bytes(9, 1), (3 * 64 + 64 * 12) * 4);
  EXPECT_EQ(Decoder::StateBytes(tasks.graph, 9, 3), 12 * 2 * 2 * 32 * 4);
  EXPECT_FALSE(decoder.LengthsOf(tasks.graph, kMostPast + 1, 1));
  EXPECT_FALSE(decoder.LengthsOf(tasks.graph, 0, 7));
}

TEST(Decoder, IsNoneWhereRowsBeginAnywhere) {
  const OpenModel model = {"narrow",
                           {kHeld, {"s", 1, 6}},
                           "g (float[1, p, 3] x, float[1, s, 3] y) => (float[1, t, 3] z) "
                           "{ z = Concat<axis = 1>(x, y) }"};
  const TaskGraph tasks = TasksOf(model);
  EXPECT_TRUE(tasks.graph.states.empty());
  EXPECT_FALSE(AsDecoder(tasks.graph).ok());
}

/// A library for one token and for 2 to 6 at once.
class DecoderSteps : public ::testing::Test {
 protected:
  explicit DecoderSteps(std::optional<tensor::DType> state_type = {}, int head = 32)
      : head_(head),
        tasks_{TasksOf(DecoderModel({kHeld}, head), state_type),
               TasksOf(DecoderModel({kHeld, {"s", 2, 6}}, head), state_type)} {}

  int Step(void* model, const std::vector<int64_t>& ids) {
    return library_.Step(model, ids, logits_);
  }
  size_t Length(void* model) const { return library_.Length(model); }
  int Rewind(void* model, size_t length) const { return library_.Rewind(model, length); }

  /// The last row of what the model computes of all tokens at once.
  std::vector<float> Expected(const std::vector<int64_t>& ids) const {
    const auto count = static_cast<int64_t>(ids.size());
    const Graph fixed = DecoderModel({kHeld, {"s", 1, kCapacity}}, head_).Fixed({0, count});
    std::vector<tensor::HostTensor> inputs;
    for (const ValueId input : fixed.inputs) {
      inputs.push_back(
          tensor::HostTensor::Zeros(fixed.values[input].dtype, fixed.values[input].shape));
    }
    for (int64_t i = 0; i < count; ++i) {
      inputs[0].SetInt(i, ids[static_cast<size_t>(i)]);
      inputs[1].SetInt(i, 1);
      inputs[2].SetInt(i, i);
    }
    const tensor::HostTensor logits = EvaluateGraph(fixed, inputs)[0];
    std::vector<float> last;
    for (int64_t w = 0; w < kDecoderWords; ++w) {
      last.push_back(static_cast<float>(logits.Get((count - 1) * kDecoderWords + w)));
    }
    return last;
  }

  void ExpectLogitsOf(const std::vector<int64_t>& ids, double tolerance = 1e-5) {
    const std::vector<float> expected = Expected(ids);
    for (size_t w = 0; w < expected.size(); ++w) {
      ASSERT_NEAR(logits_[w], expected[w], tolerance * (1 + std::abs(expected[w]))) << ids.size();
    }
  }

  const int head_;  // columns of one
  const TaskGraph tasks_[2];
  const std::vector<int64_t> text_ = {3, 11, 0, 7, 7, 1, 5, 2,  9, 10, 4,
                                      6, 8,  3, 3, 0, 1, 2, 11, 5, 9};
  const DecoderLibrary library_{{&tasks_[0], &tasks_[1]}};
  void* const models_[2] = {library_.NewModel(), library_.NewModel()};
  float logits_[kDecoderWords];
};

TEST_F(DecoderSteps, StepsGiveWhatAllTokensGiveAtOnce) {
  std::vector<int64_t> seen;
  for (const int64_t token : text_) {
    seen.push_back(token);
    ASSERT_EQ(Step(models_[0], {token}), BAYLOOM_OK);
    EXPECT_EQ(Length(models_[0]), seen.size());
    ExpectLogitsOf(seen);
  }
  EXPECT_EQ(seen.size(), kCapacity);
}

class NarrowDecoderSteps : public DecoderSteps,
                           public ::testing::WithParamInterface<tensor::DType> {
 protected:
  NarrowDecoderSteps() : DecoderSteps(GetParam(), 64) {}
};

TEST_P(NarrowDecoderSteps, IsRightButForTheRounding) {
  const double tolerance = GetParam() == tensor::DType::kFloat16 ? 4e-3 : 4e-2;
  std::vector<int64_t> seen(text_.begin(), text_.begin() + 6);
  ASSERT_EQ(Step(models_[0], seen), BAYLOOM_OK);
  for (size_t i = seen.size(); i < text_.size(); ++i) {
    seen.push_back(text_[i]);
    ASSERT_EQ(Step(models_[0], {text_[i]}), BAYLOOM_OK);
    ExpectLogitsOf(seen, tolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, NarrowDecoderSteps,
                         ::testing::Values(tensor::DType::kFloat16, tensor::DType::kBFloat16,
                                           tensor::DType::kInt8),
                         [](const auto& type) { return tensor::ToString(type.param); });

TEST_F(DecoderSteps, LongStepsAreTakenInParts) {
  for (const size_t count : {1u, 2u, 6u, 7u, 13u, 20u}) {
    const std::vector<int64_t> ids(text_.begin(), text_.begin() + static_cast<ptrdiff_t>(count));
    ASSERT_EQ(Rewind(models_[0], 0), BAYLOOM_OK);
    ASSERT_EQ(Step(models_[0], ids), BAYLOOM_OK);
    ExpectLogitsOf(ids);
  }
}

TEST_F(DecoderSteps, GoesBackAndCopies) {
  ASSERT_EQ(Step(models_[0], {1, 2, 3, 4, 5}), BAYLOOM_OK);
  const auto copy = library_.Function<int (*)(void*, void*)>("net_copy");
  ASSERT_EQ(copy(models_[0], models_[1]), BAYLOOM_OK);
  ASSERT_EQ(Rewind(models_[0], 2), BAYLOOM_OK);
  ASSERT_EQ(Step(models_[0], {9, 8}), BAYLOOM_OK);
  ExpectLogitsOf({1, 2, 9, 8});
  EXPECT_EQ(Length(models_[1]), 5u);
  ASSERT_EQ(Step(models_[1], {6}), BAYLOOM_OK);
  ExpectLogitsOf({1, 2, 3, 4, 5, 6});
  EXPECT_EQ(copy(models_[1], models_[1]), BAYLOOM_OK);
  EXPECT_EQ(Length(models_[1]), 6u);
}

TEST_F(DecoderSteps, RefusesWithoutEffect) {
  ASSERT_EQ(Step(models_[0], {1, 2, 3}), BAYLOOM_OK);
  EXPECT_EQ(Step(models_[0], {kDecoderWords}), BAYLOOM_ERROR_TOKEN);
  EXPECT_EQ(Step(models_[0], {0, -1}), BAYLOOM_ERROR_TOKEN);
  EXPECT_EQ(Step(models_[0], {}), BAYLOOM_ERROR_NULL);
  EXPECT_EQ(Step(nullptr, {1}), BAYLOOM_ERROR_NULL);
  EXPECT_EQ(Step(models_[0], std::vector<int64_t>(kCapacity - 2)), BAYLOOM_ERROR_FULL);
  EXPECT_EQ(Rewind(models_[0], 4), BAYLOOM_ERROR_LENGTH);
  EXPECT_EQ(Rewind(nullptr, 0), BAYLOOM_ERROR_NULL);
  EXPECT_EQ(Length(models_[0]), 3u);
  ASSERT_EQ(Step(models_[0], {4}), BAYLOOM_OK);
  ExpectLogitsOf({1, 2, 3, 4});
  ASSERT_EQ(Step(models_[0], std::vector<int64_t>(kCapacity - 4)), BAYLOOM_OK);
  EXPECT_EQ(Step(models_[0], {1}), BAYLOOM_ERROR_FULL);
}

TEST_F(DecoderSteps, HoldsAfterManyStepsWhatItHeldAtFirst) {
  ASSERT_EQ(Step(models_[0], {5, 6, 7}), BAYLOOM_OK);
  for (int i = 0; i < 3000; ++i) {
    if (Length(models_[0]) == kCapacity) {
      ASSERT_EQ(Rewind(models_[0], 3), BAYLOOM_OK);
    }
    ASSERT_EQ(Step(models_[0], {i % kDecoderWords}), BAYLOOM_OK);
  }
  ASSERT_EQ(Rewind(models_[0], 3), BAYLOOM_OK);
  ASSERT_EQ(Step(models_[0], {8}), BAYLOOM_OK);
  ExpectLogitsOf({5, 6, 7, 8});
}

/// Calls meet in one model: each has its effect, or none and a code that says so.
TEST_F(DecoderSteps, IsBusyForOthersInACall) {
  using StepFunction = int (*)(void*, const int64_t*, size_t, float*);
  const auto step = library_.Function<StepFunction>("net_step");
  const auto take = [&](int64_t token) {
    for (int i = 0; i < 200; ++i) {
      const int code = step(models_[0], &token, 1, nullptr);
      EXPECT_THAT(code, ::testing::AnyOf(BAYLOOM_OK, BAYLOOM_ERROR_BUSY, BAYLOOM_ERROR_FULL));
      if (code != BAYLOOM_ERROR_FULL) continue;
      EXPECT_THAT(Rewind(models_[0], 0), ::testing::AnyOf(BAYLOOM_OK, BAYLOOM_ERROR_BUSY));
    }
  };
  {
    const std::jthread other([&] { take(3); });
    take(7);
  }
  ASSERT_EQ(Rewind(models_[0], 0), BAYLOOM_OK);
  ASSERT_EQ(Step(models_[0], {1, 2, 3}), BAYLOOM_OK);
  ExpectLogitsOf({1, 2, 3});
}

/// A run gives the model the past that the caller has, and the tokens of the run.
TEST_F(DecoderSteps, StepsFollowARun) {
  const int64_t ids[] = {4, 5}, ones[] = {1, 1}, positions[] = {0, 1};
  const size_t row[] = {1, 2}, empty[] = {1, 2, 0, 32};
  const float nothing = 0;
  float logits[2 * kDecoderWords], present[2][2 * 2 * 32];
  const bayloom_input inputs[] = {{ids, sizeof(ids), row},
                                  {ones, sizeof(ones), row},
                                  {positions, sizeof(positions), row},
                                  {&nothing, 0, empty},
                                  {&nothing, 0, empty}};
  const bayloom_output outputs[] = {{logits, sizeof(logits), nullptr},
                                    {present[0], sizeof(present[0]), nullptr},
                                    {present[1], sizeof(present[1]), nullptr}};
  using RunFunction = int (*)(void*, const bayloom_input*, int, const bayloom_output*, int);
  ASSERT_EQ(library_.Function<RunFunction>("net_run")(models_[0], inputs, 5, outputs, 3),
            BAYLOOM_OK);
  EXPECT_EQ(Length(models_[0]), 2u);
  ASSERT_EQ(Step(models_[0], {6}), BAYLOOM_OK);
  ExpectLogitsOf({4, 5, 6});
}

}  // namespace
}  // namespace bayloom::graph
