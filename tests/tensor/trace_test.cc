// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

namespace bayloom::tensor {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;

Trace SmallTrace() {
  Trace trace;
  trace.Append({InstructionKind::kGetBlock, {}, {}, {}, "conv", {0}}, std::nullopt);
  trace.Append({InstructionKind::kGetLoops, {0}, {}, {}, "", {1, 2}}, std::nullopt);
  trace.Append({InstructionKind::kSamplePerfectTile, {1}, {2, 64}, {}, "", {3, 4}},
               Decision{{4, 8}});
  trace.Append({InstructionKind::kSplit, {1, 3, 4}, {}, {}, "", {5, 6}}, std::nullopt);
  trace.Append({InstructionKind::kSampleCategorical, {}, {0, 16}, {0.25, 0.75}, "", {7}},
               std::nullopt);
  trace.Append({InstructionKind::kAnnotate, {0, 7}, {}, {}, "unroll", {}}, std::nullopt);
  return trace;
}

TEST(TraceTest, PrintsOneLinePerStep) {
  EXPECT_EQ(SmallTrace().Print(),
            "b0 = get_block(\"conv\")\n"
            "l1, l2 = get_loops(b0)\n"
            "v3, v4 = sample_perfect_tile(l1, 2, 64)  # 4 x 8\n"
            "l5, l6 = split(l1, v3, v4)\n"
            "v7 = sample_categorical(0, 16)\n"
            "annotate(\"unroll\", b0, v7)\n");
}

TEST(TraceTest, JsonRoundTrip) {
  const Trace trace = SmallTrace();
  const Result<Trace> read = Trace::FromJson(Json::parse(trace.ToJson().dump()));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->Print(), trace.Print());
  EXPECT_EQ(read->SpaceHash(), trace.SpaceHash());
  EXPECT_EQ(read->decisions(), trace.decisions());
  EXPECT_EQ(read->ToJson(), trace.ToJson());
  EXPECT_EQ(read->instructions()[4].weights, trace.instructions()[4].weights);
}

TEST(TraceTest, FromJsonRefusesWhatIsNoTrace) {
  const auto refusal = [](const std::string& text) {
    const Result<Trace> trace = Trace::FromJson(Json::parse(text));
    return trace ? "accepted" : trace.error().message;
  };
  EXPECT_THAT(refusal("[]"), HasSubstr("an object with an array \"steps\""));
  EXPECT_THAT(refusal(R"({"steps": 3})"), HasSubstr("an object with an array \"steps\""));
  EXPECT_THAT(refusal(R"({"steps": [7]})"), HasSubstr("step 0: a step must be an object"));
  EXPECT_THAT(refusal(R"({"steps": [{}]})"), HasSubstr("string \"op\""));
  EXPECT_THAT(refusal(R"({"steps": [{"op": "destroy"}]})"), HasSubstr("unknown operation"));
  EXPECT_THAT(refusal(R"({"steps": [{"op": "get_block", "text": 1}]})"),
              HasSubstr("\"text\" must be a string"));
  EXPECT_THAT(refusal(R"({"steps": [{"op": "get_block", "out": [0.5]}]})"),
              HasSubstr("must be arrays of numbers"));
  EXPECT_THAT(refusal(R"({"steps": [{"op": "get_block", "out": [99999999999999]}]})"),
              HasSubstr("must be arrays of numbers"));
  EXPECT_THAT(refusal(R"({"steps": [{"op": "get_block", "out": 0}]})"),
              HasSubstr("must be arrays of numbers"));
  EXPECT_THAT(refusal(R"({"steps": [{"op": "get_block", "out": [1]}]})"),
              HasSubstr("the next variables"));
  EXPECT_THAT(refusal(R"({"steps": [{"op": "get_block", "out": []}]})"),
              HasSubstr("wrong number of outputs"));
  EXPECT_THAT(refusal(R"({"steps": [{"op": "get_loops", "in": [0], "out": []}]})"),
              HasSubstr("not of the kinds it takes"));
  EXPECT_THAT(refusal(R"({"steps": [{"op": "get_block", "out": [0], "decision": [1]}]})"),
              HasSubstr("takes no decision"));
  const std::string block = R"({"steps": [{"op": "get_block", "out": [0]}, )";
  EXPECT_THAT(refusal(block + R"({"op": "parallelize", "in": [0]}]})"),
              HasSubstr("step 1: malformed parallelize step"));
  EXPECT_THAT(refusal(block + R"({"op": "set_scope", "in": [0], "attributes": [7]}]})"),
              HasSubstr("unknown storage scope"));
  EXPECT_THAT(refusal(block + R"({"op": "cache_read", "in": [0], "attributes": [7]}]})"),
              HasSubstr("wrong number of literal arguments"));
  EXPECT_THAT(refusal(block + R"({"op": "annotate", "in": [0], "attributes": [1, 2]}]})"),
              HasSubstr("exactly one value"));
  EXPECT_THAT(
      refusal(R"({"steps": [{"op": "sample_categorical", "attributes": [1], "out": [0]}]})"),
      HasSubstr("as many probabilities as candidates"));
  EXPECT_THAT(refusal(R"({"steps": [{"op": "sample_categorical", "attributes": [1, 2],
                                    "weights": [0, 0], "out": [0]}]})"),
              HasSubstr("bad probabilities"));
  EXPECT_THAT(refusal(R"({"steps": [{"op": "sample_categorical", "attributes": [1],
                                    "weights": [-1], "out": [0]}]})"),
              HasSubstr("bad probabilities"));
  const std::string loop = block + R"({"op": "get_loops", "in": [0], "out": [1]}, )";
  EXPECT_THAT(refusal(loop + R"({"op": "bind", "in": [1], "attributes": [99]}]})"),
              HasSubstr("unknown kind of loop"));
  EXPECT_THAT(refusal(loop + R"({"op": "split", "in": [1], "out": []}]})"),
              HasSubstr("either all variables or all literal"));
  EXPECT_THAT(refusal(loop + R"({"op": "split", "in": [1], "attributes": [2, 3], "out": [2]}]})"),
              HasSubstr("wrong number of outputs"));
  EXPECT_THAT(refusal(loop + R"({"op": "sample_perfect_tile", "in": [1],
                                "attributes": [1000000000, 64], "out": [2]}]})"),
              HasSubstr("bad number of parts"));
  EXPECT_THAT(refusal(loop + R"({"op": "sample_perfect_tile", "in": [1], "attributes": [2, 64],
                                "out": [2, 3], "decision": [1, 2, 3]}]})"),
              HasSubstr("decision has the wrong length"));
}

TEST(TraceTest, AppendThrowsOnProgrammingErrors) {
  Trace trace = SmallTrace();
  EXPECT_THROW(trace.Append({InstructionKind::kGetBlock, {}, {}, {}, "x", {0}}, std::nullopt),
               std::invalid_argument);
  EXPECT_THROW(trace.Append({InstructionKind::kFuse, {0}, {}, {}, "", {8}}, std::nullopt),
               std::invalid_argument);
  EXPECT_THROW(trace.WithDecision(2, {{1}}), std::invalid_argument);
  EXPECT_THROW(trace.WithDecision(0, {{1}}), std::invalid_argument);
  EXPECT_THROW(trace.WithDecision(60, {{1}}), std::out_of_range);
  EXPECT_THROW(trace.WithDecisions({}), std::invalid_argument);
  EXPECT_EQ(trace.Print(), SmallTrace().Print());
}

TEST(TraceTest, CopiesAreIndependent) {
  const Trace original = SmallTrace();
  Trace copy = original;
  copy.Append({InstructionKind::kGetBlock, {}, {}, {}, "relu", {8}}, std::nullopt);
  EXPECT_EQ(original.instructions().size(), 6u);
  EXPECT_EQ(copy.instructions().size(), 7u);
  EXPECT_EQ(copy.variable_count(), 9);
  EXPECT_EQ(original.variable_count(), 8);
  const Trace changed = original.WithDecision(2, {{2, 16}});
  EXPECT_EQ(original.decisions()[2]->values, (std::vector<int64_t>{4, 8}));
  EXPECT_EQ(changed.decisions()[2]->values, (std::vector<int64_t>{2, 16}));
  EXPECT_EQ(&changed.instructions(), &original.instructions());  // shared
}

TEST(TraceTest, SpaceHashIsBlindToDecisionsOnly) {
  const Trace trace = SmallTrace();
  EXPECT_EQ(trace.SpaceHash(), trace.WithoutDecisions().SpaceHash());
  EXPECT_EQ(trace.SpaceHash(), trace.WithDecision(4, {{1}}).SpaceHash());
  Trace longer = trace;
  longer.Append({InstructionKind::kVectorize, {6}, {}, {}, "", {}}, std::nullopt);
  EXPECT_NE(trace.SpaceHash(), longer.SpaceHash());
  Trace other = trace;
  other.Append({InstructionKind::kUnroll, {6}, {}, {}, "", {}}, std::nullopt);
  EXPECT_NE(longer.SpaceHash(), other.SpaceHash());
}

TEST(TraceTest, EveryInstructionHasAName) {
  std::set<std::string> names;
  for (int kind = 0; kind <= static_cast<int>(InstructionKind::kPadProduct); ++kind) {
    names.insert(ToString(static_cast<InstructionKind>(kind)));
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(InstructionKind::kPadProduct) + 1);
  EXPECT_FALSE(names.contains(""));
}

}  // namespace
}  // namespace bayloom::tensor
