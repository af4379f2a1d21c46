// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "bayloom/graph/passes/passes.h"
#include "bayloom/sketch/design_space.h"
#include "tests/codegen/compiled.h"
#include "tests/graph/decomposed_attention.h"
#include "tests/graph/naive_attention.h"
#include "tests/graph/one_operator.h"
#include "tests/graph/pass_checks.h"

namespace bayloom::graph {
namespace {

using tensor::DType;
using tensor::HostTensor;

std::vector<DecomposedAttention> Cases() {
  return {
      {},
      {.queries = 17, .keys = 19, .size = 5, .channels = 7},
      {.batch = 2, .group = 3, .queries = 24, .keys = 33, .mask = AttentionMask::kAdded},
      {.queries = 32,
       .keys = 32,
       .positions_first = true,
       .mask = AttentionMask::kCausal,
       .hidden = -1e4},
      {.batch = 2,
       .heads = 3,
       .queries = 21,
       .keys = 40,
       .channels = 20,
       .positions_first = true,
       .mask = AttentionMask::kCausal},
  };
}

TaskGraph TasksOf(Graph graph) {
  Optimize(graph);
  return ExtractTasks(std::move(graph));
}

TEST(FuseAttention, OneTaskComputesTheSame) {
  for (const DecomposedAttention& attention : Cases()) {
    const Graph graph = CheckedPass([](Graph& g) { Optimize(g); }, attention.Build());
    EXPECT_EQ(ExtractTasks(graph).calls.size(), 1u) << Print(graph);
  }
}

/// Programs of all spaces against the naive program, interpreted and compiled.
TEST(FuseAttention, RandomSchedulesComputeTheSame) {
  const target::Target target = codegen::HostTarget(2);
  for (const DecomposedAttention& attention : Cases()) {
    const tensor::Workload workload = TasksOf(attention.Build()).tasks.front().workload;
    const sketch::SpaceGenerator generator(workload, target);
    const tensor::Program naive = tensor::Lower(workload);
    std::vector<HostTensor> inputs;
    for (tensor::BufferId id : naive.Parameters()) {
      inputs.push_back(RandomTensor(naive.buffers[id].shape, 5 + static_cast<uint64_t>(id)));
    }
    std::vector<HostTensor> expected = inputs;
    tensor::Interpret(naive, expected);
    int valid = 0;
    for (int space = 0; space < static_cast<int>(generator.spaces().size()); ++space) {
      for (uint64_t seed = 0; seed < 4; ++seed) {
        const auto candidate = generator.Sample(space, base::RandomStream(seed));
        if (!candidate) continue;
        ++valid;
        SCOPED_TRACE(tensor::Print(candidate->program));
        const Status status = tensor::Validate(candidate->program);
        ASSERT_TRUE(status.ok()) << status.error().message;
        std::vector<HostTensor> actual = inputs;
        bayloom::testing::RunCompiled(candidate->program, actual, target);
        bayloom::testing::ExpectClose(actual.back(), expected.back(), 1e-5, "compiled");
        ASSERT_FALSE(HasFatalFailure());
        if (seed > 0) continue;
        actual = inputs;
        tensor::Interpret(candidate->program, actual);
        bayloom::testing::ExpectClose(actual.back(), expected.back(), 1e-5, "interpreted");
        ASSERT_FALSE(HasFatalFailure());
      }
    }
    EXPECT_GE(valid, 8);
  }
}

TEST(FuseAttention, ProductsWhoseScoresAreSeenStayTasksOfTheirOwn) {
  Graph graph = DecomposedAttention{}.Build(/*scores_too=*/true);
  Optimize(graph);
  EXPECT_GT(ExtractTasks(std::move(graph)).calls.size(), 1u);
}

TEST(FuseAttention, FewQueriesStayTasksOfTheirOwn) {
  EXPECT_GT(TasksOf(DecomposedAttention{.queries = 1}.Build()).calls.size(), 1u);
}

// --- The operator, against its definition --------------------------------------------------------

class FusedAttentionTest : public ::testing::Test {
 protected:
  void ExpectNaive(const OneOperator& model) {
    ExpectClose(RunOperator(model)[0], naive_.Outputs(), 1e-4);
  }

  HostTensor q_ = RandomTensor({2, 4, 21, 8}, 1), k_ = RandomTensor({2, 2, 37, 8}, 2);
  HostTensor v_ = RandomTensor({2, 2, 37, 12}, 3);
  NaiveAttention naive_{q_, k_, v_, 1 / std::sqrt(8.0)};
};

TEST_F(FusedAttentionTest, SharesKeysAmongHeads) {
  ExpectNaive({.op = "Attention", .inputs = {q_, k_, v_}, .opset = 23});
}

TEST_F(FusedAttentionTest, HidesLaterKeys) {
  naive_.bias = [](int64_t, int64_t, int64_t i, int64_t j) { return j <= i ? 0 : kHidden; };
  ExpectNaive({.op = "Attention",
               .inputs = {q_, k_, v_},
               .attributes = {{"is_causal", int64_t{1}}},
               .opset = 23});
}

TEST_F(FusedAttentionTest, QueriesThatSeeNothingGiveZeros) {
  HostTensor mask = RandomIntegers(DType::kBool, {21, 37}, 0, 2, 4);
  for (int64_t j = 0; j < 37; ++j) mask.SetInt(5 * 37 + j, 0);
  naive_.bias = [&](int64_t, int64_t, int64_t i, int64_t j) {
    return mask.GetInt(i * 37 + j) ? 0 : kHidden;
  };
  ExpectNaive({.op = "Attention", .inputs = {q_, k_, v_, mask}, .opset = 23});
}

/// All scores of a row at the lowest float: padding must take no part in the average.
TEST_F(FusedAttentionTest, RowsOfLowestScoresAverageTheirValues) {
  HostTensor mask = RandomTensor({21, 37}, 6);
  for (int64_t j = 0; j < 37; ++j) mask.Set(3 * 37 + j, std::numeric_limits<float>::lowest());
  naive_.bias = [&](int64_t, int64_t, int64_t i, int64_t j) {
    return i == 3 ? -1e30 : mask.Get(i * 37 + j);
  };
  ExpectNaive({.op = "Attention", .inputs = {q_, k_, v_, mask}, .opset = 23});
}

TEST_F(FusedAttentionTest, LargeScoresDoNotOverflow) {
  for (int64_t i = 0; i < q_.ElementCount(); ++i) q_.Set(i, 1e4 * q_.Get(i));
  ExpectNaive({.op = "Attention", .inputs = {q_, k_, v_}, .opset = 23});
  for (int64_t i = 0; i < q_.ElementCount(); ++i) q_.Set(i, -1e-6 * q_.Get(i));
  naive_.bias = [](int64_t, int64_t, int64_t, int64_t) { return -1e3; };
  const HostTensor mask = Floats({1}, {-1e3});
  ExpectNaive({.op = "Attention", .inputs = {q_, k_, v_, mask}, .opset = 23});
}

}  // namespace
}  // namespace bayloom::graph
