// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Decoders whose tokens see the last few tokens only.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bayloom/codegen/runtime/bayloom_package.h"
#include "bayloom/graph/decoder.h"
#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/passes/passes.h"
#include "tests/graph/decoder_library.h"
#include "tests/graph/decoder_models.h"
#include "tests/graph/text_models.h"

namespace bayloom::graph {
namespace {

constexpr int64_t kWindow = 5;

/// DecoderModel with a window; `queries` are where the queries are among the keys.
OpenModel WindowModel(std::vector<Symbol> symbols, const std::string& queries) {
  OpenModel model = DecoderModel(std::move(symbols));
  const auto replace = [&](const std::string& from, const std::string& to) {
    model.text.replace(model.text.find(from), from.size(), to);
  };
  replace("int64 zero = {0}", "int64 zero = {0}, int64[1] side = {1}, int64 window = {5}");
  replace("q = Unsqueeze(position_ids, outer) l = LessOrEqual(e, q)",
          queries + " w0 = Sub(q, window) w1 = Less(w0, e) w2 = LessOrEqual(e, q) l = And(w1, w2)");
  return model;
}

const char kBySizes[] =
    "s0 = Shape(input_ids) s1 = Gather(s0, one) s2 = Sub(n, s1) s3 = Range(s2, n, one) "
    "q = Unsqueeze(s3, side)";

TaskGraph WindowTasks(const OpenModel& model) {
  ImportOptions options = model.Options();
  if (model.symbols.size() == 1) options.dimensions["s"] = 1;
  options.state_room = 18;
  Graph graph = ImportText(model.text, model.opset, options);
  Optimize(graph);
  return ExtractTasks(std::move(graph));
}

const std::vector<Symbol> kLengths = {{"p", 0, 12}, {"s", 1, 6}};

TEST(SlidingWindow, IsFoundInMasksThatCountFromTheFirstRow) {
  const TaskGraph tasks = WindowTasks(WindowModel(kLengths, kBySizes));
  EXPECT_EQ(tasks.graph.window, kWindow);
  const Result<Decoder> decoder = AsDecoder(tasks.graph);
  ASSERT_TRUE(decoder.ok()) << decoder.error().message;
  EXPECT_EQ(decoder->window, kWindow);
  EXPECT_EQ(decoder->Capacity(tasks.graph), std::numeric_limits<int64_t>::max());
}

TEST(SlidingWindow, IsNoneWhereAShortPastDoesNotHoldIt) {
  const TaskGraph tasks = WindowTasks(WindowModel({{"p", 0, 3}, {"s", 1, 6}}, kBySizes));
  EXPECT_EQ(AsDecoder(tasks.graph)->window, 0);
  EXPECT_EQ(AsDecoder(tasks.graph)->Capacity(tasks.graph), 4);
}

TEST(SlidingWindow, IsNoneOfOtherMasks) {
  EXPECT_EQ(WindowTasks(DecoderModel(kLengths)).graph.window, 0);
  // Keys are counted from the first row, queries from the first token.
  EXPECT_EQ(WindowTasks(WindowModel(kLengths, "q = Unsqueeze(position_ids, outer)")).graph.window,
            0);
}

TEST(SlidingWindow, IsNoneWhereAnglesFollowThePast) {
  OpenModel model = WindowModel(kLengths, kBySizes);
  const std::string before = "f = Cast<to = 1>(position_ids)";
  const std::string after =
      "a0 = Shape(input_ids) a1 = Gather(a0, one) a2 = Shape(attention_mask) a3 = Gather(a2, one) "
      "a4 = Sub(a3, a1) a5 = Range(a4, a3, one) a6 = Unsqueeze(a5, rows0) f = Cast<to = 1>(a6)";
  model.text.replace(model.text.find(before), before.size(), after);
  model.text.replace(model.text.find("int64 zero = {0}"), 16,
                     "int64 zero = {0}, int64[1] rows0 = {0}");
  EXPECT_EQ(WindowTasks(model).graph.window, 0);
}

class SlidingSteps : public ::testing::Test {
 protected:
  /// The last row of what the model computes of all tokens at once.
  static std::vector<float> Expected(const std::vector<int64_t>& ids) {
    const auto count = static_cast<int64_t>(ids.size());
    const Graph fixed = WindowModel({{"p", 0, 12}, {"s", 1, 99}}, kBySizes).Fixed({0, count});
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
  void Take(void* model, const std::vector<int64_t>& ids) {
    ASSERT_EQ(library_.Step(model, ids, logits_), BAYLOOM_OK);
  }
  void ExpectLogitsOf(const std::vector<int64_t>& ids) {
    ASSERT_THAT(logits_, ::testing::Pointwise(::testing::FloatNear(2e-4F), Expected(ids)))
        << ids.size();
  }
  static int64_t Token(size_t i) { return static_cast<int64_t>(7 * i + i / 5) % kDecoderWords; }

  const TaskGraph tasks_[2] = {WindowTasks(WindowModel({kLengths[0]}, kBySizes)),
                               WindowTasks(WindowModel({kLengths[0], {"s", 2, 6}}, kBySizes))};
  const DecoderLibrary library_{{&tasks_[0], &tasks_[1]}};
  void* const model_ = library_.NewModel();
  float logits_[kDecoderWords];
};

TEST_F(SlidingSteps, GiveWhatAllTokensGiveAtOnce) {
  std::vector<int64_t> seen;
  while (seen.size() < 70) {
    std::vector<int64_t> ids;
    for (size_t i = 0; i <= seen.size() % 9; ++i) ids.push_back(Token(seen.size() + i));
    Take(model_, ids);
    seen.insert(seen.end(), ids.begin(), ids.end());
    ExpectLogitsOf(seen);
    EXPECT_EQ(library_.Length(model_), seen.size());
  }
}

TEST_F(SlidingSteps, GoBackAsFarAsTheirRowsReach) {
  std::vector<int64_t> seen;
  for (size_t i = 0; i < 40; ++i) seen.push_back(Token(i));
  Take(model_, seen);
  void* const other = library_.NewModel();
  ASSERT_EQ(library_.Copy(model_, other), BAYLOOM_OK);
  EXPECT_EQ(library_.Rewind(model_, 10), BAYLOOM_ERROR_REWIND);
  EXPECT_EQ(library_.Rewind(model_, 41), BAYLOOM_ERROR_LENGTH);
  size_t length = 39;
  while (library_.Rewind(model_, length) == BAYLOOM_OK) {
    seen.resize(length);
    seen.push_back(2);
    Take(model_, {2});
    ExpectLogitsOf(seen);
    --length;
  }
  EXPECT_GE(length, 20u);
  ASSERT_EQ(library_.Rewind(model_, 0), BAYLOOM_OK);
  Take(model_, {1, 2});
  ExpectLogitsOf({1, 2});
  seen.clear();
  for (size_t i = 0; i < 40; ++i) seen.push_back(Token(i));
  seen.push_back(3);
  Take(other, {3});
  ExpectLogitsOf(seen);
}

}  // namespace
}  // namespace bayloom::graph
