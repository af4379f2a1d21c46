// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bayloom/graph/import/wide_floats.h"
#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/passes/rewriting.h"
#include "bayloom/graph/precision_choice.h"
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

TaskGraph TasksOf(Graph graph, const Precision& precision = {}) {
  Optimize(graph, precision);
  return ExtractTasks(std::move(graph));
}

/// The workload of a network's only task that multiplies.
tensor::Workload AttentionIn(const TaskGraph& network) {
  const auto multiplies = [](const GraphTask& task) { return task.workload.stages.size() > 3; };
  EXPECT_EQ(std::ranges::count_if(network.tasks, multiplies), 1) << Print(network.graph);
  return std::ranges::find_if(network.tasks, multiplies)->workload;
}

/// In a program of each design space.
std::vector<int64_t> TensorizedLoops(const tensor::Workload& workload,
                                     const target::Target& target) {
  const sketch::SpaceGenerator generator(workload, target);
  std::vector<int64_t> counts;
  for (int space = 0; space < static_cast<int>(generator.spaces().size()); ++space) {
    const auto candidate = generator.Sample(space, base::RandomStream(1));
    if (!candidate) continue;
    const auto tensorized = [](const tensor::Loop& loop) {
      return loop.alive && loop.kind == tensor::LoopKind::kTensorized;
    };
    counts.push_back(std::ranges::count_if(candidate->program.loops, tensorized));
  }
  return counts;
}

TEST(FuseAttention, OneTaskComputesTheSame) {
  for (const DecomposedAttention& attention : Cases()) {
    const Graph graph = CheckedPass([](Graph& g) { Optimize(g); }, attention.Build());
    EXPECT_EQ(ExtractTasks(graph).calls.size(), 1u) << Print(graph);
  }
}

/// Programs of all spaces against the naive program, interpreted and compiled. Where weights are
/// rounded, a sum in another order may round to the neighbour.
void CheckRandomSchedules(DType dtype, double tolerance) {
  const target::Target target = codegen::HostTarget(2);
  for (const DecomposedAttention& attention : Cases()) {
    const tensor::Workload workload = AttentionIn(TasksOf(attention.Build(), {dtype}));
    const sketch::SpaceGenerator generator(workload, target);
    const tensor::Program naive = tensor::Lower(workload);
    std::vector<HostTensor> inputs;
    for (tensor::BufferId id : naive.Parameters()) {
      const tensor::Buffer& buffer = naive.buffers[id];
      const HostTensor wide = RandomTensor(buffer.shape, 5 + static_cast<uint64_t>(id));
      inputs.push_back(buffer.dtype == wide.dtype ? wide : NarrowFloats(wide, buffer.dtype));
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
        bayloom::testing::ExpectClose(actual.back(), expected.back(), tolerance, "compiled");
        ASSERT_FALSE(::testing::Test::HasFatalFailure());
        if (seed > 0) continue;
        actual = inputs;
        tensor::Interpret(candidate->program, actual);
        bayloom::testing::ExpectClose(actual.back(), expected.back(), tolerance, "interpreted");
        ASSERT_FALSE(::testing::Test::HasFatalFailure());
      }
    }
    EXPECT_GE(valid, 8);
  }
}

TEST(FuseAttention, RandomSchedulesComputeTheSame) { CheckRandomSchedules(DType::kFloat32, 1e-5); }
TEST(FuseAttention, RandomSchedulesInBFloatComputeTheSame) {
  CheckRandomSchedules(DType::kBFloat16, 2e-3);
}

/// Factors are rounded once; sums, and all between the products, stay in float32.
TEST(FuseAttention, NarrowProductsAreCloseToWideOnes) {
  for (const auto& [dtype, bound] :
       {std::pair(DType::kBFloat16, 1.5e-2), std::pair(DType::kFloat16, 2e-3)}) {
    for (const DecomposedAttention& attention : Cases()) {
      const Graph graph = attention.Build();
      const std::vector<HostTensor> inputs = RandomInputs(graph);
      const HostTensor expected = RunCompiled(TasksOf(graph), inputs)[0];
      const TaskGraph narrow = TasksOf(graph, {dtype});
      int products = 0;
      for (const Node& node : narrow.graph.nodes) {
        if (!IsAnchor(node)) continue;
        ++products;
        EXPECT_EQ(narrow.graph.values[node.output()].dtype, DType::kFloat32);
        for (ValueId operand : OperandsOf(node)) {
          EXPECT_EQ(narrow.graph.values[operand].dtype, dtype) << Print(narrow.graph);
        }
      }
      EXPECT_EQ(products, 2);
      const HostTensor actual = RunCompiled(narrow, inputs)[0];
      double largest = 0, error = 0;
      for (int64_t i = 0; i < expected.ElementCount(); ++i) {
        largest = std::max(largest, std::abs(expected.Get(i)));
        error = std::max(error, std::abs(actual.Get(i) - expected.Get(i)));
      }
      EXPECT_LE(error, bound * largest);
      EXPECT_GT(error, 0) << "nothing was rounded";
    }
  }
}

/// Neighbouring terms of both sums lie next to each other, so that instructions take them.
TEST(FuseAttention, BFloatProductsAreSummedUpInPairs) {
  target::Target target = codegen::HostTarget(1);
  target.vector_bytes = 64;
  target.features = "+avx512f,+avx512bf16,+avx512vl";
  const tensor::Workload even =
      AttentionIn(TasksOf(DecomposedAttention{.keys = 32}.Build(), {DType::kBFloat16}));
  EXPECT_EQ(TensorizedLoops(even, target), std::vector<int64_t>(4, 2));
  // Queries and keys of five elements have no pairs; weights and values have.
  const tensor::Workload odd =
      AttentionIn(TasksOf(DecomposedAttention{.keys = 32, .size = 5}.Build(), {DType::kBFloat16}));
  EXPECT_EQ(TensorizedLoops(odd, target), std::vector<int64_t>(4, 1));
}

TEST(FuseAttention, ProductsHaveErrorsOfTheirOwn) {
  Graph graph = DecomposedAttention{.size = 16}.Build();
  Simplify(graph);
  const std::vector<double> errors = ProductErrors(graph, {.dtype = DType::kBFloat16});
  EXPECT_EQ(std::ranges::count_if(errors, [](double e) { return 1e-5 < e && e < 1e-2; }), 2);
  const PrecisionChoice none =
      ChoosePrecision(graph, {.dtype = DType::kBFloat16, .tolerance = 1e-12});
  EXPECT_EQ(none.kept.size(), 2u);
}

TEST(FuseAttention, ProductsWhoseScoresAreSeenStayTasksOfTheirOwn) {
  Graph graph = DecomposedAttention{}.Build(/*scores_too=*/true);
  Optimize(graph);
  EXPECT_GT(ExtractTasks(std::move(graph)).calls.size(), 1u);
}

TEST(FuseAttention, LayersWithANormalizationBetweenStayTasksOfTheirOwn) {
  ModelWriter model;
  const std::string x = model.Input(DType::kFloat32, {32, 16});
  const std::string hidden = model.Node("MatMul", {x, model.Constant(RandomTensor({16, 64}, 1))});
  model.Output(model.Node(
      "MatMul", {model.Node("Softmax", {hidden}), model.Constant(RandomTensor({64, 48}, 2))}));
  EXPECT_GT(TasksOf(model.Import()).calls.size(), 1u);
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
