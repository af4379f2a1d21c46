// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Decoders with states that a step replaces, and with inputs that are the same in all steps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bayloom/codegen/runtime/bayloom_package.h"
#include "bayloom/graph/decoder.h"
#include "bayloom/graph/decoder/replaced_states.h"
#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/passes/passes.h"
#include "tests/graph/decoder_library.h"
#include "tests/graph/decoder_models.h"
#include "tests/graph/text_models.h"

namespace bayloom::graph {
namespace {

using tensor::DType;
using tensor::HostTensor;

/// One token: a state that decays, and one that is shifted, as convolutions have it.
std::string RecurrentText(const std::string& before, const std::string& after) {
  return "g (int64[1, 1] input_ids, float[1, 8] past_" + before +
         ", float[1, 8, 3] past_window) => "
         "(float[1, 1, 12] logits, float[1, 8] " +
         after +
         ", float[1, 8, 3] present_window) "
         "<float[12, 8] table = {" +
         SomeNumbers(12 * 8) + "}, float[8, 12] head = {" + SomeNumbers(8 * 12) +
         "}, float half = {0.5}, int64[3] column = {1, 8, 1}, "
         "int64[2] row = {1, 8}, int64[1] one = {1}, int64[1] end = {9}, int64[1] two = {2}> { "
         "x = Gather(table, input_ids) c = Reshape(x, column) "
         "k = Slice(past_window, one, end, two) present_window = Concat<axis = 2>(k, c) "
         "w = ReduceSum<keepdims = 0>(present_window, two) m = Mul(past_" +
         before + ", half) " + after + " = Add(m, w) t = Tanh(" + after +
         ") y = MatMul(t, head) "
         "logits = Unsqueeze(y, one) }";
}

TaskGraph Tasks(const std::string& text, const ImportOptions& options = {}) {
  Graph graph = ImportText(text, 14, options);
  Optimize(graph);
  return ExtractTasks(std::move(graph));
}

TEST(DecoderStates, AreFoundByTheirNamesOrTheirOrder) {
  for (const char* after : {"present_h", "h_out", "anything"}) {
    const TaskGraph tasks = Tasks(RecurrentText("h", after));
    const Result<Decoder> decoder = AsDecoder(tasks.graph);
    ASSERT_TRUE(decoder.ok()) << decoder.error().message;
    EXPECT_THAT(decoder->next, ::testing::ElementsAre(-1, 1, 2)) << after;
    EXPECT_EQ(decoder->InputBytes(tasks.graph, DecoderInput::kReplaced), (8 + 24) * 4);
    EXPECT_EQ(decoder->Capacity(tasks.graph), std::numeric_limits<int64_t>::max());
  }
}

TEST(DecoderStates, HaveOneNameOnBothSides) {
  EXPECT_EQ(StateName("past_key_values.3.conv_state"), StateName("present.3.conv_state"));
  EXPECT_EQ(StateName("past_key_values.3.key"), StateName("present.3.key"));
  EXPECT_EQ(StateName("state0"), StateName("state0_out"));
  EXPECT_EQ(StateName("cache_params.past.ssm.1"), StateName("cache_params.present.ssm.1"));
  EXPECT_NE(StateName("past_conv.1"), StateName("present_conv.2"));
  EXPECT_NE(StateName("past_conv.1"), StateName("present_ssm.1"));
}

TEST(DecoderStates, AreNoneInOtherNetworks) {
  EXPECT_FALSE(AsDecoder(Tasks("g (int64[1, 4] ids) => (float[1, 4, 3] logits) <float[5, 3] t = {" +
                               SomeNumbers(15) + "}> { logits = Gather(t, ids) }")
                             .graph)
                   .ok());
  EXPECT_FALSE(AsDecoder(Tasks("g (float[1, 4] x, float[1, 4] y) => (float[1, 4] z) "
                               "{ z = Add(x, y) }")
                             .graph)
                   .ok());
  // A detector of speech, whose integer is the rate of samples.
  EXPECT_FALSE(AsDecoder(Tasks("g (float[1, 8] x, float[1, 8] state, int64[1] rate) => "
                               "(float[1, 8] y, float[1, 8] state_out) "
                               "{ state_out = Add(x, state) y = Tanh(state_out) }")
                             .graph)
                   .ok());
}

/// What the model computes step by step.
class Reference {
 public:
  explicit Reference(const Graph& graph) : graph_(graph) {
    for (const ValueId input : graph.inputs) {
      inputs_.push_back(HostTensor::Zeros(graph.values[input].dtype, graph.values[input].shape));
    }
  }
  std::vector<float> Step(int64_t token) {
    inputs_[0].SetInt(0, token);
    std::vector<HostTensor> outputs = EvaluateGraph(graph_, inputs_);
    std::vector<float> logits;
    for (int64_t w = 0; w < kDecoderWords; ++w)
      logits.push_back(static_cast<float>(outputs[0].Get(w)));
    for (size_t i = 1; i < outputs.size(); ++i) inputs_[i] = std::move(outputs[i]);
    return logits;
  }
  std::vector<float> Steps(const std::vector<int64_t>& tokens) {
    std::vector<float> logits;
    for (const int64_t token : tokens) logits = Step(token);
    return logits;
  }

 private:
  const Graph& graph_;
  std::vector<HostTensor> inputs_;
};

class ReplacedStates : public ::testing::Test {
 protected:
  std::vector<float> Expected(const std::vector<int64_t>& tokens) {
    return Reference(tasks_.graph).Steps(tokens);
  }
  auto IsNear(const std::vector<float>& expected) {
    return ::testing::Pointwise(::testing::FloatNear(1e-4F), expected);
  }
  std::vector<float> Logits() const { return {logits_, logits_ + kDecoderWords}; }

  const TaskGraph tasks_ = Tasks(RecurrentText("h", "present_h"));
  const DecoderLibrary library_{{&tasks_}};
  void* const model_ = library_.NewModel();
  void* const other_ = library_.NewModel();
  float logits_[kDecoderWords];
};

TEST_F(ReplacedStates, AreThoseOfTheStepBefore) {
  Reference reference(tasks_.graph);
  int64_t token = 3;
  for (int i = 0; i < 300; ++i) {
    ASSERT_EQ(library_.Step(model_, {token}, logits_), BAYLOOM_OK);
    const std::vector<float> expected = reference.Step(token);
    ASSERT_THAT(Logits(), IsNear(expected)) << i;
    token = (std::ranges::max_element(expected) - expected.begin() + i) % kDecoderWords;
  }
  EXPECT_EQ(library_.Length(model_), 300u);
}

TEST_F(ReplacedStates, BeginAgainButDoNotGoBack) {
  ASSERT_EQ(library_.Step(model_, {1, 2, 3}, logits_), BAYLOOM_OK);
  EXPECT_THAT(Logits(), IsNear(Expected({1, 2, 3})));
  EXPECT_EQ(library_.Rewind(model_, 2), BAYLOOM_ERROR_REWIND);
  EXPECT_EQ(library_.Rewind(model_, 4), BAYLOOM_ERROR_LENGTH);
  EXPECT_EQ(library_.Rewind(model_, 3), BAYLOOM_OK);
  ASSERT_EQ(library_.Step(model_, {4}, logits_), BAYLOOM_OK);
  EXPECT_THAT(Logits(), IsNear(Expected({1, 2, 3, 4})));
  ASSERT_EQ(library_.Rewind(model_, 0), BAYLOOM_OK);
  ASSERT_EQ(library_.Step(model_, {5, 6}, logits_), BAYLOOM_OK);
  EXPECT_THAT(Logits(), IsNear(Expected({5, 6})));
}

TEST_F(ReplacedStates, AreCopied) {
  ASSERT_EQ(library_.Step(model_, {1, 2, 3}, logits_), BAYLOOM_OK);
  ASSERT_EQ(library_.Copy(model_, other_), BAYLOOM_OK);
  ASSERT_EQ(library_.Step(model_, {7}, logits_), BAYLOOM_OK);
  EXPECT_THAT(Logits(), IsNear(Expected({1, 2, 3, 7})));
  ASSERT_EQ(library_.Step(other_, {8}, logits_), BAYLOOM_OK);
  EXPECT_THAT(Logits(), IsNear(Expected({1, 2, 3, 8})));
}

/// A run's states are those of the steps that follow, whether its buffers are aligned or not.
TEST_F(ReplacedStates, FollowARun) {
  using RunFunction = int (*)(void*, const bayloom_input*, int, const bayloom_output*, int);
  const int64_t token[] = {9};
  for (const int shift : {0, 1}) {
    alignas(64) float h[32] = {}, window[32] = {}, next[32], next_window[32];
    const bayloom_input inputs[] = {
        {token, 8, nullptr}, {h + shift, 32, nullptr}, {window + shift, 96, nullptr}};
    const bayloom_output outputs[] = {{logits_, sizeof(logits_), nullptr},
                                      {next + shift, 32, nullptr},
                                      {next_window + shift, 96, nullptr}};
    ASSERT_EQ(library_.Function<RunFunction>("net_run")(model_, inputs, 3, outputs, 3), 0);
    ASSERT_EQ(library_.Step(model_, {10}, logits_), BAYLOOM_OK);
    EXPECT_THAT(Logits(), IsNear(Expected({9, 10}))) << shift;
  }
}

/// Cross attention over what an encoder gives for `e` frames, and a state that a step replaces.
const char kCrossHead[] =
    "g (int64[1, 1] input_ids, float[1, e, 8] encoder_hidden_states, "
    "int64[1, e] encoder_attention_mask, float[1, 8] past_h) => "
    "(float[1, 1, 12] logits, float[1, 8] present_h) ";

std::string CrossText() {
  return std::string(kCrossHead) + "<float[12, 8] table = {" + SomeNumbers(12 * 8) +
         "}, float[8, 12] head = {" + SomeNumbers(8 * 12) +
         "}, float half = {0.5}, float low = {-1e30}, int64[1] one = {1}> { "
         "x = Gather(table, input_ids) k = Transpose<perm = [0, 2, 1]>(encoder_hidden_states) "
         "a = MatMul(x, k) u = Unsqueeze(encoder_attention_mask, one) b = Cast<to = 9>(u) "
         "i = Where(b, a, low) j = Softmax<axis = -1>(i) z = MatMul(j, encoder_hidden_states) "
         "q = Squeeze(z, one) m = Mul(past_h, half) present_h = Add(m, q) "
         "t = Unsqueeze(present_h, one) n = Tanh(t) logits = MatMul(n, head) }";
}

constexpr int64_t kFrames = 8;

class HeldInputs : public ::testing::TestWithParam<bool> {
 protected:
  static ImportOptions Options() {
    ImportOptions options;
    if (GetParam()) options.symbols = {{"e", 1, kFrames}};
    if (!GetParam()) options.dimensions["e"] = kFrames;
    return options;
  }

  int Set(int input, const void* data, size_t bytes, const std::vector<size_t>& dims) {
    const bayloom_input value = {data, bytes, dims.data()};
    return library_.Function<int (*)(void*, int, const bayloom_input*)>("net_set")(model_, input,
                                                                                   &value);
  }
  /// So many frames, of which the first is hidden.
  void SetFrames(size_t count, double seed) {
    frames_.clear();
    for (size_t i = 0; i < count * 8; ++i) {
      frames_.push_back(static_cast<float>(std::sin(seed + 1.3 * static_cast<double>(i))));
    }
    mask_.assign(count, 1);
    mask_[0] = count == 1 ? 1 : 0;
    ASSERT_EQ(Set(1, frames_.data(), frames_.size() * 4, {1, count, 8}), BAYLOOM_OK);
    ASSERT_EQ(Set(2, mask_.data(), mask_.size() * 8, {1, count}), BAYLOOM_OK);
  }
  void ExpectLogitsOf(const std::vector<int64_t>& tokens) {
    ImportOptions options;
    options.dimensions["e"] = static_cast<int64_t>(mask_.size());
    const Graph fixed = ImportText(CrossText(), 14, options);
    std::vector<HostTensor> inputs;
    for (const ValueId input : fixed.inputs) {
      inputs.push_back(HostTensor::Zeros(fixed.values[input].dtype, fixed.values[input].shape));
    }
    for (size_t i = 0; i < frames_.size(); ++i) inputs[1].Set(static_cast<int64_t>(i), frames_[i]);
    for (size_t i = 0; i < mask_.size(); ++i) inputs[2].SetInt(static_cast<int64_t>(i), mask_[i]);
    std::vector<HostTensor> outputs;
    for (const int64_t token : tokens) {
      inputs[0].SetInt(0, token);
      outputs = EvaluateGraph(fixed, inputs);
      inputs[3] = outputs[1];
    }
    for (int64_t w = 0; w < kDecoderWords; ++w) ASSERT_NEAR(logits_[w], outputs[0].Get(w), 1e-4);
  }

  const TaskGraph tasks_ = Tasks(CrossText(), Options());
  const DecoderLibrary library_{{&tasks_}};
  void* const model_ = library_.NewModel();
  std::vector<float> frames_;
  std::vector<int64_t> mask_;
  float logits_[kDecoderWords];
};

TEST_P(HeldInputs, AreFound) {
  const Result<Decoder> decoder = AsDecoder(tasks_.graph);
  ASSERT_TRUE(decoder.ok()) << decoder.error().message;
  EXPECT_THAT(decoder->inputs,
              ::testing::ElementsAre(DecoderInput::kTokens, DecoderInput::kHeld,
                                     DecoderInput::kHeld, DecoderInput::kReplaced));
  EXPECT_EQ(decoder->InputBytes(tasks_.graph, DecoderInput::kHeld), kFrames * (8 * 4 + 8));
}

TEST_P(HeldInputs, AreReadInAllSteps) {
  SetFrames(kFrames, 0.1);
  std::vector<int64_t> seen;
  for (const int64_t token : {3, 1, 4, 1, 5, 9, 2, 6}) {
    seen.push_back(token);
    ASSERT_EQ(library_.Step(model_, {token}, logits_), BAYLOOM_OK);
    ExpectLogitsOf(seen);
  }
  SetFrames(GetParam() ? 3 : kFrames, 0.7);
  EXPECT_EQ(library_.Length(model_), 0u);
  ASSERT_EQ(library_.Step(model_, {3, 4}, logits_), BAYLOOM_OK);
  ExpectLogitsOf({3, 4});
}

TEST_P(HeldInputs, AreCopied) {
  SetFrames(kFrames, 0.1);
  ASSERT_EQ(library_.Step(model_, {3}, logits_), BAYLOOM_OK);
  void* const other = library_.NewModel();
  ASSERT_EQ(library_.Copy(model_, other), BAYLOOM_OK);
  ASSERT_EQ(library_.Step(other, {4}, logits_), BAYLOOM_OK);
  ExpectLogitsOf({3, 4});
}

TEST_P(HeldInputs, HaveToBeGivenAndToFit) {
  EXPECT_EQ(library_.Step(model_, {3}, logits_), BAYLOOM_ERROR_UNSET);
  const std::vector<float> many((kFrames + 1) * 8);
  EXPECT_EQ(Set(0, many.data(), 8, {1, 1}), BAYLOOM_ERROR_COUNT);
  EXPECT_EQ(Set(9, many.data(), 8, {1, 1}), BAYLOOM_ERROR_COUNT);
  EXPECT_EQ(Set(1, many.data(), many.size() * 4, {1, kFrames + 1, 8}), BAYLOOM_ERROR_SIZE);
  EXPECT_EQ(Set(1, many.data(), kFrames * 32, {1, kFrames, 9}), BAYLOOM_ERROR_SIZE);
  EXPECT_EQ(Set(1, nullptr, kFrames * 32, {1, kFrames, 8}), BAYLOOM_ERROR_NULL);
  SetFrames(kFrames, 0.1);
  ASSERT_EQ(Set(2, mask_.data(), 8 * 4, {1, 4}), BAYLOOM_OK);
  EXPECT_EQ(library_.Step(model_, {3}, logits_), BAYLOOM_ERROR_SIZE);
  SetFrames(kFrames, 0.1);
  EXPECT_EQ(library_.Step(model_, {3}, logits_), BAYLOOM_OK);
}

INSTANTIATE_TEST_SUITE_P(Lengths, HeldInputs, ::testing::Bool(),
                         [](const auto& open) { return open.param ? "Open" : "Fixed"; });

}  // namespace
}  // namespace bayloom::graph
