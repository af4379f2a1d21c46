// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "bayloom/graph/passes/passes.h"
#include "tests/graph/decomposed_attention.h"
#include "tests/graph/naive_attention.h"
#include "tests/graph/one_operator.h"
#include "tests/graph/pass_checks.h"

namespace bayloom::graph {
namespace {

constexpr double kLowestFloat = std::numeric_limits<float>::lowest();

/// How many terms a graph's matrix products sum up.
int64_t ProductTerms(const Graph& graph) {
  int64_t terms = 0;
  for (const Node& node : graph.nodes) {
    if (node.kind != NodeKind::kMatmul) continue;
    int64_t points = 1;
    for (const tensor::Iter& iter : node.stage.iters) points *= iter.extent;
    terms += points;
  }
  return terms;
}

/// How much of the products is left after the pass, which must compute the same.
double ShareLeft(const DecomposedAttention& attention) {
  const Graph graph = attention.Build();
  return static_cast<double>(ProductTerms(CheckedPass(SplitCausalAttention, graph))) /
         static_cast<double>(ProductTerms(graph));
}

DecomposedAttention Long(AttentionMask mask, double hidden = -INFINITY) {
  return {.heads = 1,
          .queries = 512,
          .keys = 512,
          .size = 4,
          .channels = 4,
          .mask = mask,
          .hidden = hidden};
}

TEST(SplitCausalAttention, TwoBlocksLeaveAQuarterOut) {
  using enum AttentionMask;
  for (const AttentionMask mask : {kCausal, kConstant, kAddedConstant, kCausalAndAdded}) {
    EXPECT_DOUBLE_EQ(ShareLeft(Long(mask)), 0.75) << static_cast<int>(mask);
  }
}

TEST(SplitCausalAttention, TheLowestFloatHidesAsWell) {
  using enum AttentionMask;
  for (const AttentionMask mask : {kCausal, kConstant, kAddedConstant}) {
    EXPECT_DOUBLE_EQ(ShareLeft(Long(mask, kLowestFloat)), 0.75) << static_cast<int>(mask);
  }
}

/// A row that another mask hides wholly averages over all of its keys, not over those of a block.
TEST(SplitCausalAttention, WhatOtherMasksMayHideStays) {
  EXPECT_DOUBLE_EQ(ShareLeft(Long(AttentionMask::kCausalAndAdded, kLowestFloat)), 1);
}

TEST(SplitCausalAttention, ScoresThatLeaveSomeWeightStay) {
  EXPECT_DOUBLE_EQ(ShareLeft(Long(AttentionMask::kCausal, -10)), 1);
  EXPECT_DOUBLE_EQ(ShareLeft(Long(AttentionMask::kAddedConstant, -10)), 1);
  EXPECT_DOUBLE_EQ(ShareLeft(Long(AttentionMask::kAdded)), 1);
  EXPECT_DOUBLE_EQ(ShareLeft(Long(AttentionMask::kNone)), 1);
}

TEST(SplitCausalAttention, ShortSequencesStayWhole) {
  DecomposedAttention attention = Long(AttentionMask::kCausal);
  attention.queries = attention.keys = 511;
  EXPECT_DOUBLE_EQ(ShareLeft(attention), 1);
}

/// Odd extents, several heads and batches; keys before the window are left out, too.
TEST(SplitCausalAttention, WindowsLeaveOutBothSides) {
  const DecomposedAttention attention = {.batch = 2,
                                         .heads = 2,
                                         .group = 2,
                                         .queries = 777,
                                         .keys = 777,
                                         .size = 3,
                                         .channels = 5,
                                         .positions_first = true,
                                         .mask = AttentionMask::kWindow,
                                         .window = 50};
  // Three blocks of about 259 queries see about 259 + 50 keys.
  EXPECT_NEAR(ShareLeft(attention), (259 + 50) / 777.0, 0.03);
}

/// More keys than queries see.
TEST(SplitCausalAttention, TheRestOfTheNetworkComputesTheSame) {
  for (const bool positions_first : {false, true}) {
    DecomposedAttention attention = Long(AttentionMask::kCausal);
    attention.heads = 2;
    attention.queries = 530;
    attention.keys = 700;
    attention.positions_first = positions_first;
    const Graph graph = CheckedPass([](Graph& g) { Optimize(g); }, attention.Build());
    EXPECT_GE(ExtractTasks(graph).calls.size(), 2u);
  }
}

/// The operator compiled, against its definition.
TEST(SplitCausalAttention, CompiledItIsRight) {
  const tensor::HostTensor q = RandomTensor({1, 2, 520, 8}, 1), k = RandomTensor({1, 2, 520, 8}, 2),
                           v = RandomTensor({1, 2, 520, 8}, 3);
  NaiveAttention naive{q, k, v, 1 / std::sqrt(8.0)};
  naive.bias = [](int64_t, int64_t, int64_t i, int64_t j) { return j <= i ? 0 : kHidden; };
  const OneOperator model = {.op = "Attention",
                             .inputs = {q, k, v},
                             .attributes = {{"is_causal", int64_t{1}}},
                             .opset = 23};
  ExpectClose(RunOperator(model)[0], naive.Outputs(), 1e-4);
}

}  // namespace
}  // namespace bayloom::graph
