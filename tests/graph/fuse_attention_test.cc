// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "bayloom/graph/passes/passes.h"
#include "bayloom/sketch/design_space.h"
#include "tests/codegen/compiled.h"
#include "tests/graph/naive_attention.h"
#include "tests/graph/one_operator.h"
#include "tests/graph/pass_checks.h"

namespace bayloom::graph {
namespace {

using tensor::DType;
using tensor::Expr;
using tensor::HostTensor;
using tensor::Tensor;
using Exprs = GraphBuilder::Exprs;

enum class Mask { kNone, kAdded, kCausal, kChosen };

/// Attention in single nodes, as exporters write it. Queries, keys and values have their positions
/// before or behind their heads.
struct Decomposed {
  int64_t batch = 1, heads = 2, group = 1, queries = 20, keys = 24, size = 8, channels = 8;
  bool positions_first = false;
  Mask mask = Mask::kNone;

  std::vector<int64_t> Shape(int64_t count, int64_t positions, int64_t width) const {
    return positions_first ? std::vector<int64_t>{batch, positions, count, width}
                           : std::vector<int64_t>{batch, count, positions, width};
  }
  Expr At(const Tensor& x, const Expr& b, const Expr& h, const Expr& p, const Expr& c) const {
    return positions_first ? x(b, p, h, c) : x(b, h, p, c);
  }

  Tensor Masked(GraphBuilder& b, const Tensor& scores) const {
    const bool adds = mask == Mask::kAdded;
    Tensor added;
    if (adds) added = b.Input("mask", DType::kFloat32, {batch, 1, 1, keys});
    return b.Map("mask", scores.shape(), [&](const Exprs& s) {
      const Expr score = scores.At(s) * tensor::FloatLiteral(1 / std::sqrt(double(size)));
      const Expr &query = s[3], &key = s[4];
      if (adds) return score + added(s[0], Expr(0), Expr(0), key);
      if (mask == Mask::kNone) return score;
      return tensor::Select(key <= query, score,
                            tensor::FloatLiteral(mask == Mask::kCausal ? -1e4 : -INFINITY));
    });
  }
  Graph Build(bool scores_too = false) const {
    GraphBuilder b("attention");
    const Tensor q = b.Input("q", DType::kFloat32, Shape(heads * group, queries, size));
    const Tensor k = b.Input("k", DType::kFloat32, Shape(heads, keys, size));
    const Tensor v = b.Input("v", DType::kFloat32, Shape(heads, keys, channels));
    const std::vector<int64_t> rows = {batch, heads, group, queries};
    std::vector<int64_t> all = rows;
    all.push_back(keys);
    const Tensor products = b.Reduce(
        "matmul", all, {{"d", size}}, tensor::Reduction::kSum,
        [&](const Exprs& s, const Exprs& r) {
          return At(q, s[0], s[1] * Expr(group) + s[2], s[3], r[0]) * At(k, s[0], s[1], s[4], r[0]);
        },
        NodeKind::kMatmul);
    const Tensor x = Masked(b, products);
    const auto row = [](const Exprs& s) { return Exprs(s.begin(), s.end() - 1); };
    const auto reduce = [&](const char* op, const Tensor& of, tensor::Reduction reduction) {
      return b.Reduce(op, rows, {{"k", keys}}, reduction, [&](const Exprs& s, const Exprs& r) {
        return of(s[0], s[1], s[2], s[3], r[0]);
      });
    };
    const Tensor max = reduce("softmax.max", x, tensor::Reduction::kMax);
    const Tensor exp = b.Map("softmax.exp", all, [&](const Exprs& s) {
      return tensor::Unary(tensor::ExprOp::kExp, x.At(s) - max.At(row(s)));
    });
    const Tensor sum = reduce("softmax.sum", exp, tensor::Reduction::kSum);
    const Tensor weights =
        b.Map("softmax", all, [&](const Exprs& s) { return exp.At(s) / sum.At(row(s)); });
    const Tensor y = b.Reduce(
        "matmul", {batch, heads, group, queries, channels}, {{"t", keys}}, tensor::Reduction::kSum,
        [&](const Exprs& s, const Exprs& r) {
          return weights(s[0], s[1], s[2], s[3], r[0]) * At(v, s[0], s[1], r[0], s[4]);
        },
        NodeKind::kMatmul);
    const Tensor joined = b.Map("transpose", {batch, queries, heads, group, channels},
                                [&](const Exprs& s) { return y(s[0], s[2], s[3], s[1], s[4]); });
    std::vector<GraphOutput> outputs = {{"y", joined.id()}};
    if (scores_too) outputs.push_back({"weights", weights.id()});
    return b.Build(outputs);
  }
};

std::vector<Decomposed> Cases() {
  return {
      {},
      {.queries = 17, .keys = 19, .size = 5, .channels = 7},
      {.batch = 2, .group = 3, .queries = 24, .keys = 33, .mask = Mask::kAdded},
      {.queries = 32, .keys = 32, .positions_first = true, .mask = Mask::kCausal},
      {.batch = 2,
       .heads = 3,
       .queries = 21,
       .keys = 40,
       .channels = 20,
       .positions_first = true,
       .mask = Mask::kChosen},
  };
}

TaskGraph TasksOf(Graph graph) {
  Optimize(graph);
  return ExtractTasks(std::move(graph));
}

TEST(FuseAttention, OneTaskComputesTheSame) {
  for (const Decomposed& attention : Cases()) {
    const Graph graph = CheckedPass(Optimize, attention.Build());
    EXPECT_EQ(ExtractTasks(graph).calls.size(), 1u) << Print(graph);
  }
}

/// Programs of all spaces against the naive program, interpreted and compiled.
TEST(FuseAttention, RandomSchedulesComputeTheSame) {
  const target::Target target = codegen::HostTarget(2);
  for (const Decomposed& attention : Cases()) {
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
  Graph graph = Decomposed{}.Build(/*scores_too=*/true);
  Optimize(graph);
  EXPECT_GT(ExtractTasks(std::move(graph)).calls.size(), 1u);
}

TEST(FuseAttention, FewQueriesStayTasksOfTheirOwn) {
  EXPECT_GT(TasksOf(Decomposed{.queries = 1}.Build()).calls.size(), 1u);
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
