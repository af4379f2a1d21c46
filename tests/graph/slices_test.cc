// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/import/conformance.h"
#include "bayloom/graph/passes/passes.h"
#include "tests/graph/pass_checks.h"

namespace bayloom::graph {
namespace {

/// Parts of tensors that are read where they lie.
class SlicesTest : public ::testing::Test {
 protected:
  /// The network, after checking that it computes what the graph says, interpreted and compiled.
  TaskGraph Checked(const std::vector<tensor::Tensor>& outputs) {
    std::vector<GraphOutput> named;
    for (size_t i = 0; i < outputs.size(); ++i) {
      named.push_back({"y" + std::to_string(i), outputs[i].id()});
    }
    const Graph graph = b_.Build(named);
    const std::vector<tensor::HostTensor> inputs = RandomInputs(graph);
    const std::vector<tensor::HostTensor> expected = EvaluateGraph(graph, inputs);
    TaskGraph network = ExtractTasks(CheckedPass([](Graph& g) { Optimize(g); }, graph));
    const std::vector<tensor::HostTensor> interpreted = InterpretTasks(network, inputs);
    const std::vector<tensor::HostTensor> compiled = RunCompiled(network, inputs);
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(Difference(interpreted[i], expected[i], 1e-4, 1e-4), "") << "output " << i;
      EXPECT_EQ(Difference(compiled[i], expected[i], 1e-4, 1e-4), "") << "output " << i;
    }
    return network;
  }

  tensor::Tensor Weights(int64_t rows, int64_t columns) {
    return b_.Constant("w", RandomTensor({rows, columns}, ++seed_));
  }

  GraphBuilder b_{"slices"};
  uint64_t seed_ = 0;
};

TEST_F(SlicesTest, OfInputsAndOfResultsAreReadInPlace) {
  const tensor::Tensor x = b_.Input("x", tensor::DType::kFloat32, {4, 16});
  const tensor::Tensor y = Multiply(b_, x, Weights(16, 32));
  const tensor::Tensor w = Weights(16, 32);
  const tensor::Tensor sum =
      b_.Map("add", {2, 32}, [&](const auto& i) { return b_.Rows(y, 0, 2).At(i); });
  const tensor::Tensor rows = b_.Rows(x, 2, 2), late = b_.Rows(y, 1, 2);
  const tensor::Tensor product = Multiply(b_, rows, w);
  const TaskGraph network = Checked(
      {b_.Map("add", {2, 32}, [&](const auto& i) { return product.At(i) + late.At(i); }), sum});
  for (const GraphTask& task : network.tasks) {
    EXPECT_EQ(task.workload.name.find("slice"), std::string::npos) << task.workload.name;
  }
}

TEST_F(SlicesTest, MayBeOutputs) {
  const tensor::Tensor x = b_.Input("x", tensor::DType::kFloat32, {4, 16});
  const tensor::Tensor y = Relu(b_, Multiply(b_, x, Weights(16, 32)));
  Checked({b_.Rows(y, 3, 1), b_.Rows(x, 1, 2), y, b_.View(b_.Rows(y, 1, 2), {64})});
}

TEST_F(SlicesTest, OfSlicesAndViewsAreSlicesOfTheWhole) {
  const tensor::Tensor x = b_.Input("x", tensor::DType::kFloat32, {8, 2, 16});
  const tensor::Tensor flat = b_.View(x, {16, 16});
  const tensor::Tensor middle = b_.Rows(flat, 4, 8);
  const tensor::Tensor inner = b_.Rows(b_.View(middle, {2, 4, 16}), 1, 1);
  const TaskGraph network = Checked({Multiply(b_, b_.View(inner, {4, 16}), Weights(16, 16))});
  EXPECT_EQ(network.calls.size(), 1u);
}

TEST_F(SlicesTest, OfConcatenationsAreThoseOfTheirMemory) {
  const tensor::Tensor x = b_.Input("x", tensor::DType::kFloat32, {2, 16});
  const tensor::Tensor a = Multiply(b_, x, Weights(16, 16)), c = Multiply(b_, x, Weights(16, 16));
  const tensor::Tensor joined = b_.Map("concat", {4, 16}, [&](const auto& i) {
    return tensor::Select(i[0] < tensor::Expr(2), a(i[0], i[1]), c(i[0] - tensor::Expr(2), i[1]));
  });
  Checked({Multiply(b_, b_.Rows(joined, 1, 2), Weights(16, 32)), Relu(b_, joined)});
}

/// Kernels may not read from there.
TEST_F(SlicesTest, ThatBeginAmidAVectorAreCopied) {
  const tensor::Tensor x = b_.Input("x", tensor::DType::kFloat32, {4, 5});
  Checked({Multiply(b_, b_.Rows(x, 1, 2), Weights(5, 16))});
}

TEST_F(SlicesTest, OfConstantsAreConstants) {
  const tensor::Tensor rows = b_.Rows(Weights(8, 16), 2, 3);
  ASSERT_NE(b_.ConstantOf(rows), nullptr);
  EXPECT_EQ(b_.ConstantOf(rows)->shape, (std::vector<int64_t>{3, 16}));
}

/// What lies in the arena until it is copied to an output is not overwritten by later steps.
TEST_F(SlicesTest, OutlastTheStepsAfterThem) {
  const tensor::Tensor x = b_.Input("x", tensor::DType::kFloat32, {4, 16});
  const tensor::Tensor early = Relu(b_, Multiply(b_, x, Weights(16, 16)));
  const tensor::Tensor part = b_.Rows(early, 2, 2);
  tensor::Tensor y = x;
  for (int layer = 0; layer < 6; ++layer) y = Multiply(b_, y, Weights(16, 16));
  Checked({part, y});
}

/// Parts that many nodes read, each at its own place, are the operands of one task.
TEST_F(SlicesTest, AreMadeWhereManyPartsAreRead) {
  const tensor::Tensor x = b_.Input("x", tensor::DType::kFloat32, {12, 3, 16});
  const tensor::Tensor w = Weights(16, 16);
  std::vector<tensor::Tensor> outputs;
  for (int k = 0; k < 12; ++k) {
    const tensor::Tensor part =
        b_.Map("gather", {3, 16}, [&](const auto& i) { return x(k, i[0], i[1]); });
    outputs.push_back(Multiply(b_, part, w));
  }
  const TaskGraph network = Checked(outputs);
  EXPECT_EQ(network.tasks.size(), 1u);
  EXPECT_EQ(network.calls.size(), 12u);
}

}  // namespace
}  // namespace bayloom::graph
