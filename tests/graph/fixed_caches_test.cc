// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Decoders whose caches have a fixed size.
#include "bayloom/graph/fixed_caches.h"

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

using tensor::HostTensor;

constexpr int64_t kCacheRows = 16;

/// How the rows of a step's tokens come into a cache, x being the new ones.
struct Form {
  std::string name;
  std::string update;  ///< from past_C and x to present_C
  int opset = 18;
  std::string place = "int64[s] cache_position";
  /// Of the queries, [1, s, 1]: where the last key is that they see.
  std::string last = "pos = Reshape(cache_position, to_column)";
  std::string attend = {};  ///< from q, present_key and present_value to z; empty: products
};

void PrintTo(const Form& form, std::ostream* out) { *out << form.name; }

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

const char kProducts[] =
    "r = Transpose<perm = [0, 1, 3, 2]>(present_key) a = MatMul(q, r) "
    "l = LessOrEqual(keys, pos) i = Where(l, a, low) j = Softmax<axis = -1>(i) "
    "z = MatMul(j, present_value)";

std::string ModelText(const Form& form, const std::string& attend = kProducts) {
  const std::string cache = "float[1, 2, 16, 32] ";
  std::string text = "g (int64[1, s] input_ids, " + form.place + ", " + cache + "past_key, " +
                     cache + "past_value) => (float[1, s, 12] logits, " + cache + "present_key, " +
                     cache + "present_value) <float[12, 64] table = {" + SomeNumbers(12 * 64) +
                     "}, float[64, 12] head = {" + SomeNumbers(64 * 12) +
                     "}, int64[4] heads = {0, 0, 2, 32}, int64[3] rows = {0, 0, 64}, "
                     "int64[3] to_column = {1, -1, 1}, int64[4] to_rows = {1, 1, -1, 1}, "
                     "int64[1] one = {1}, int64[1] minus = {-1}, float small = {0.1}, "
                     "int64[1, 2, 1, 1] zeros = {0, 0}, int64[1, 2, 1, 1] head_index = {0, 1}, "
                     "int64[1, 1, 16] keys = {";
  for (int k = 0; k < kCacheRows; ++k) text += (k > 0 ? "," : "") + std::to_string(k);
  text += "}, float low = {-3e38}> { x0 = Gather(table, input_ids) " + form.last +
          " f = Cast<to = 1>(pos) w = Mul(f, small) y = Add(x0, w) h = Reshape(y, heads) "
          "q = Transpose<perm = [0, 2, 1, 3]>(h) v = Tanh(q) ";
  for (const auto& [cache_name, fresh] : {std::pair("key", "q"), std::pair("value", "v")}) {
    std::string update = Replaced(form.update, "_C", std::string("_") + cache_name);
    text += Replaced(update, "(x)", std::string("(") + fresh + ")") + " ";
    text = Replaced(text, ", x)", std::string(", ") + fresh + ")");
    text = Replaced(text, ", x,", std::string(", ") + fresh + ",");
  }
  return text + (form.attend.empty() ? attend : form.attend) +
         " b = Transpose<perm = [0, 2, 1, 3]>(z) g1 = Reshape(b, rows) logits = MatMul(g1, head) }";
}

std::vector<Form> Forms() {
  return {
      {"rows_first",
       "r_C = Transpose<perm = [2, 0, 1, 3]>(past_C) n_C = Transpose<perm = [2, 0, 1, 3]>(x) "
       "i_C = Unsqueeze(cache_position, minus) s_C = ScatterND(r_C, i_C, n_C) "
       "present_C = Transpose<perm = [1, 2, 0, 3]>(s_C)"},
      {"elements",
       "d_C = Shape(x) e_C = Reshape(cache_position, to_rows) i_C = Expand(e_C, d_C) "
       "present_C = ScatterElements<axis = 2>(past_C, i_C, x)"},
      {"tuples",
       "e_C = Reshape(cache_position, to_rows) t_C = Mul(e_C, zeros) a_C = Add(t_C, zeros) "
       "b_C = Add(t_C, head_index) c_C = Add(e_C, zeros) i_C = Concat<axis = 3>(a_C, b_C, c_C) "
       "present_C = ScatterND(past_C, i_C, x)"},
      {"tensor_scatter", "present_C = TensorScatter(past_C, x, write_indices)", 24,
       "int64[1] write_indices, int64[1] nonpad_kv_seqlen, int64[1, s] position_ids",
       "pos = Reshape(position_ids, to_column)",
       "z = Attention<is_causal = 1>(q, present_key, present_value, , , , nonpad_kv_seqlen)"},
      {"circular", "present_C = TensorScatter<mode = \"circular\">(past_C, x, write_indices)", 24,
       "int64[1] write_indices, int64[1] nonpad_kv_seqlen, int64[1, s] position_ids",
       "pos = Reshape(position_ids, to_column)",
       "z = Attention<is_causal = 1>(q, present_key, present_value, , , , nonpad_kv_seqlen)"},
  };
}

ImportOptions With(int64_t tokens) {
  ImportOptions options;
  options.dimensions["s"] = tokens;
  return options;
}

Graph Fixed(const Form& form, int64_t tokens) {
  return ImportText(ModelText(form), form.opset, With(tokens));
}

TaskGraph Grown(const Form& form, int64_t tokens) {
  Result<Graph> graph = GrowCaches(Fixed(form, tokens));
  if (!graph) ADD_FAILURE() << graph.error().message;
  Optimize(*graph);
  return ExtractTasks(*std::move(graph));
}

class FixedCaches : public ::testing::TestWithParam<Form> {
 protected:
  /// What the model computes of these tokens, one after the other.
  static std::vector<float> Expected(const std::vector<int64_t>& tokens) {
    const Graph graph = Fixed(GetParam(), 1);
    std::vector<HostTensor> inputs, outputs;
    for (const ValueId input : graph.inputs) {
      inputs.push_back(HostTensor::Zeros(graph.values[input].dtype, graph.values[input].shape));
    }
    const size_t caches = inputs.size() - 2;
    for (size_t i = 0; i < tokens.size(); ++i) {
      inputs[0].SetInt(0, tokens[i]);
      for (size_t place = 1; place < caches; ++place) {
        const bool is_total = graph.values[graph.inputs[place]].name == "nonpad_kv_seqlen";
        inputs[place].SetInt(0, static_cast<int64_t>(i) + (is_total ? 1 : 0));
      }
      outputs = EvaluateGraph(graph, inputs);
      for (size_t c = 0; c < 2; ++c) inputs[caches + c] = outputs[1 + c];
    }
    std::vector<float> logits;
    for (int64_t w = 0; w < kDecoderWords; ++w)
      logits.push_back(static_cast<float>(outputs[0].Get(w)));
    return logits;
  }
  void ExpectLogitsOf(const std::vector<int64_t>& tokens) {
    EXPECT_THAT(logits_, ::testing::Pointwise(::testing::FloatNear(1e-4F), Expected(tokens)));
  }

  const TaskGraph one_ = Grown(GetParam(), 1), three_ = Grown(GetParam(), 3);
  const DecoderLibrary library_{{&one_, &three_}};
  void* const model_ = library_.NewModel();
  float logits_[kDecoderWords];
};

TEST_P(FixedCaches, AreStatesThatGrow) {
  const Result<Decoder> decoder = AsDecoder(one_.graph);
  ASSERT_TRUE(decoder.ok()) << decoder.error().message;
  EXPECT_EQ(one_.graph.states.size(), 2u);
  EXPECT_EQ(decoder->Capacity(one_.graph), kCacheRows);
  EXPECT_EQ(decoder->StateBytes(one_.graph, 4), 5 * 2 * 2 * 32 * 4);
}

TEST_P(FixedCaches, HoldAsManyTokensAsTheyHaveRows) {
  std::vector<int64_t> seen = {3, 11, 0, 7, 7, 1, 5};
  ASSERT_EQ(library_.Step(model_, seen, logits_), BAYLOOM_OK);
  ExpectLogitsOf(seen);
  while (static_cast<int64_t>(seen.size()) < kCacheRows) {
    seen.push_back(static_cast<int64_t>(5 * seen.size()) % kDecoderWords);
    ASSERT_EQ(library_.Step(model_, {seen.back()}, logits_), BAYLOOM_OK);
    ExpectLogitsOf(seen);
  }
  EXPECT_EQ(library_.Step(model_, {1}, logits_), BAYLOOM_ERROR_FULL);
}

TEST_P(FixedCaches, GoBackAndAreCopied) {
  ASSERT_EQ(library_.Step(model_, {1, 2, 3, 4, 5}, logits_), BAYLOOM_OK);
  void* const other = library_.NewModel();
  ASSERT_EQ(library_.Copy(model_, other), BAYLOOM_OK);
  ASSERT_EQ(library_.Rewind(model_, 2), BAYLOOM_OK);
  ASSERT_EQ(library_.Step(model_, {9, 8}, logits_), BAYLOOM_OK);
  ExpectLogitsOf({1, 2, 9, 8});
  ASSERT_EQ(library_.Step(other, {6}, logits_), BAYLOOM_OK);
  ExpectLogitsOf({1, 2, 3, 4, 5, 6});
}

INSTANTIATE_TEST_SUITE_P(Forms, FixedCaches, ::testing::ValuesIn(Forms()),
                         [](const auto& form) { return form.param.name; });

std::string ReasonAgainst(const std::string& text) {
  const Result<Graph> grown = GrowCaches(ImportText(text, 18, With(1)));
  return grown.ok() ? "none" : grown.error().message;
}

TEST(GrowCaches, RefusesWhereRowsBehindTheLastTokenCount) {
  std::string sees_all = ModelText(Forms()[0]);
  sees_all = Replaced(sees_all, "LessOrEqual(keys, pos)", "LessOrEqual(pos, keys)");
  EXPECT_THAT(ReasonAgainst(sees_all), ::testing::HasSubstr("does not hide rows behind"));
  std::string one_more = ModelText(Forms()[0]);
  one_more = Replaced(one_more, "LessOrEqual(keys, pos)", "LessOrEqual(keys, next)");
  one_more = Replaced(one_more, "f = Cast", "next = Add(pos, one) f = Cast");
  EXPECT_THAT(ReasonAgainst(one_more), ::testing::HasSubstr("does not hide rows behind"));
}

/// As accelerators that know no scattering have it.
TEST(GrowCaches, TakesARowThatIsChosenByItsPosition) {
  const Form form = {"chosen",
                     "o_C = Equal(row_keys, cache_position) present_C = Where(o_C, x, past_C)"};
  const std::string text =
      Replaced(ModelText(form), "f = Cast", "row_keys = Reshape(keys, to_rows) f = Cast");
  EXPECT_EQ(ReasonAgainst(text), "none");
}

TEST(GrowCaches, RefusesRowsThatAreWrittenElsewhere) {
  const std::string text = Replaced(ModelText(Forms()[0]), "Unsqueeze(cache_position, minus)",
                                    "Unsqueeze(later, minus)");
  EXPECT_EQ(ReasonAgainst(Replaced(text, "f = Cast", "later = Add(cache_position, one) f = Cast")),
            "");
}

}  // namespace
}  // namespace bayloom::graph
