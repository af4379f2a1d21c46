// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "bayloom/graph/evaluate.h"
#include "tests/graph/host_tensors.h"
#include "tests/graph/text_models.h"

namespace bayloom::graph {
namespace {

using ::testing::HasSubstr;
using Doubles = std::vector<double>;

Doubles FirstOutput(const std::string& graph, const std::vector<tensor::HostTensor>& inputs) {
  return Values(EvaluateGraph(ImportText(graph, 17), inputs)[0]);
}

std::string Refusal(const std::string& graph) {
  try {
    ImportText(graph, 17);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Sequences, AreBuiltAndTakenApart) {
  const std::string graph = R"(g (float[2] x, float[2] y) => (float[N] z) {
    one = Constant <value = int64 {1}> ()
    last = Constant <value = int64 {-1}> ()
    empty = SequenceEmpty ()
    s1 = SequenceInsert (empty, x)
    s2 = SequenceInsert (s1, y)
    s3 = SequenceConstruct (y, x, y)
    s4 = SequenceErase (s3, one)
    a = SequenceAt (s2, last)
    b = SequenceAt (s4, one)
    sum = Add (a, b)
    s5 = SequenceInsert (s2, sum, one)
    z = ConcatFromSequence <axis = 0> (s5)
  })";
  EXPECT_EQ(FirstOutput(graph, {FloatVector({1, 2}), FloatVector({3, 4})}),
            (Doubles{1, 2, 6, 8, 3, 4}));
}

TEST(Sequences, OfPartsOfATensor) {
  const std::string graph = R"(g (float[5] x) => (float[N] z) {
    two = Constant <value = int64 {2}> ()
    parts = SplitToSequence <axis = 0> (x, two)
    n = SequenceLength (parts)
    last = SequenceAt (parts, two)
    size = Cast <to = 1> (n)
    z = Mul (last, size)
  })";
  EXPECT_EQ(FirstOutput(graph, {FloatVector({1, 2, 3, 4, 5})}), (Doubles{15}));
}

TEST(Sequences, AreStackedAlongANewAxis) {
  const std::string graph = R"(g (float[2] x, float[2] y) => (float[N, M] z) {
    s = SequenceConstruct (x, y)
    z = ConcatFromSequence <axis = 1, new_axis = 1> (s)
  })";
  EXPECT_EQ(FirstOutput(graph, {FloatVector({1, 2}), FloatVector({3, 4})}), (Doubles{1, 3, 2, 4}));
}

TEST(Sequences, GrowInLoops) {
  const std::string graph = R"(g (float[2] x) => (float[N] z) {
    count = Constant <value = int64 {3}> ()
    true = Constant <value = bool {1}> ()
    empty = SequenceEmpty ()
    last, all = Loop (count, true, x, empty) <body = b (int64 i, bool c, float[2] v, float[N] s)
        => (bool d, float[2] w, float[N] t) {
      d = Identity (c)
      w = Add (v, v)
      t = SequenceInsert (s, w)
    }>
    z = ConcatFromSequence <axis = 0> (all)
  })";
  EXPECT_EQ(FirstOutput(graph, {FloatVector({1, -1})}), (Doubles{2, -2, 4, -4, 8, -8}));
}

TEST(Sequences, PositionsHaveToBeThere) {
  const std::string graph = R"(g (float[2] x) => (float[2] z) {
    three = Constant <value = int64 {3}> ()
    s = SequenceConstruct (x, x)
    z = SequenceAt (s, three)
  })";
  EXPECT_THAT(Refusal(graph), HasSubstr("position 3 of 2"));
}

TEST(Sequences, AreNoOutputsAndNoTensors) {
  EXPECT_THAT(Refusal("g (float[2] x) => (float[N] s) { s = SequenceConstruct (x, x) }"),
              HasSubstr("'s' is a sequence; only tensors are supported"));
  EXPECT_THAT(Refusal(R"(g (float[2] x) => (float[2] z) {
                        s = SequenceConstruct (x, x)
                        z = Relu (s)
                      })"),
              HasSubstr("seq(tensor(float))"));
}

}  // namespace
}  // namespace bayloom::graph
