// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/import/conformance.h"
#include "bayloom/graph/passes/passes.h"
#include "tests/graph/pass_checks.h"

namespace bayloom::graph {
namespace {

/// Images of 5 x 5 whose parts are put side by side along the channels.
class JoinSlicesTest : public ::testing::Test {
 protected:
  tensor::Tensor Conv(const tensor::Tensor& x, int64_t channels) {
    const auto in = x.shape()[3];
    return Convolve(b_, x, b_.Constant("w", RandomTensor({1, 1, in, channels}, ++seed_)));
  }

  tensor::Tensor Concat(const std::vector<tensor::Tensor>& parts) {
    std::vector<int64_t> shape = parts[0].shape();
    shape[3] = 0;
    for (const tensor::Tensor& part : parts) shape[3] += part.shape()[3];
    return b_.Map("concat", shape, [&](const auto& i) {
      int64_t start = shape[3];
      tensor::Expr value;
      for (size_t p = parts.size(); p-- > 0;) {
        const int64_t end = start;
        start -= parts[p].shape()[3];
        const tensor::Expr element = parts[p](i[0], i[1], i[2], i[3] - tensor::Expr(start));
        value =
            value.defined() ? tensor::Select(i[3] < tensor::Expr(end), element, value) : element;
      }
      return value;
    });
  }

  /// The graph after the pass. Interpreted and compiled it computes what it did before (up to
  /// rounding: products of several random layers are in the hundreds).
  Graph Joined(const std::vector<tensor::Tensor>& outputs) {
    std::vector<GraphOutput> named;
    for (size_t i = 0; i < outputs.size(); ++i) named.push_back({"y", outputs[i].id()});
    const Graph graph = CheckedPass(JoinSlices, b_.Build(named));
    const std::vector<tensor::HostTensor> inputs = RandomInputs(graph);
    const std::vector<tensor::HostTensor> expected = EvaluateGraph(graph, inputs);
    const TaskGraph tasks = ExtractTasks(graph);
    const std::vector<tensor::HostTensor> interpreted = InterpretTasks(tasks, inputs);
    const std::vector<tensor::HostTensor> compiled = RunCompiled(tasks, inputs);
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(Difference(interpreted[i], expected[i], 1e-4, 1e-3), "");
      EXPECT_EQ(Difference(compiled[i], expected[i], 1e-4, 1e-3), "");
    }
    return graph;
  }

  static int CountJoins(const Graph& graph) {
    int joins = 0;
    for (const Node& node : graph.nodes) joins += node.kind == NodeKind::kJoin;
    return joins;
  }

  GraphBuilder b_{"joined"};
  tensor::Tensor x_ = b_.Input("x", tensor::DType::kFloat32, {2, 5, 5, 3});
  uint64_t seed_ = 0;
};

TEST_F(JoinSlicesTest, PartsAreComputedInPlace) {
  const tensor::Tensor whole = Concat({Conv(x_, 16), Relu(b_, Conv(x_, 32)), Conv(x_, 5)});
  const Graph graph = Joined({Conv(whole, 4)});
  EXPECT_EQ(CountJoins(graph), 1);
  EXPECT_EQ(ExtractTasks(graph).calls.size(), 4u);
}

TEST_F(JoinSlicesTest, PartsMayHaveOtherReaders) {
  const tensor::Tensor part = Conv(x_, 16), other = Conv(part, 16);
  EXPECT_EQ(CountJoins(Joined({Conv(Concat({part, other}), 4), Relu(b_, part)})), 1);
}

TEST_F(JoinSlicesTest, ConcatenationsLieInConcatenations) {
  const tensor::Tensor first = Concat({Conv(x_, 16), Conv(x_, 16)});
  const tensor::Tensor second = Concat({first, Conv(first, 16)});
  const Graph graph = Joined({Conv(Concat({Conv(second, 32), second}), 4)});
  EXPECT_EQ(CountJoins(graph), 3);
  const std::vector<SlicePlace> places = SlicePlaces(graph);
  const ValueId whole = graph.nodes[graph.nodes.size() - 2].output();
  int slices = 0;
  for (const SlicePlace& place : places) slices += place.whole == whole;
  EXPECT_EQ(slices, 6) << "four results of convolutions and two concatenations";
}

TEST_F(JoinSlicesTest, ADenseBlockIsOneTensor) {
  std::vector<tensor::Tensor> features = {Conv(x_, 16)};
  for (int layer = 0; layer < 3; ++layer) {
    features.push_back(Conv(layer == 0 ? features[0] : Concat(features), 16));
  }
  const Graph graph = Joined({Conv(Concat(features), 4)});
  EXPECT_EQ(CountJoins(graph), 3);
  EXPECT_EQ(ExtractTasks(graph).calls.size(), 5u) << "convolutions only";
}

TEST_F(JoinSlicesTest, WhatIsNotComputedHereOrWantedElsewhereIsCopied) {
  const tensor::Tensor image = b_.Input("image", tensor::DType::kFloat32, {2, 5, 5, 16});
  const tensor::Tensor output = Conv(x_, 16), shared = Conv(x_, 16), viewed = Conv(x_, 16);
  const tensor::Tensor large = Conv(x_, 128);
  const tensor::Tensor view = b_.View(viewed, {50, 16});
  const tensor::Tensor whole = Concat({large, image, output, shared, shared, viewed});
  const Graph graph = Joined({Conv(whole, 4), output,
                              b_.Map("neg", {50, 16}, [&](const auto& i) { return -view.At(i); })});
  EXPECT_EQ(CountJoins(graph), 1);
  int copies = 0;
  for (const Node& node : graph.nodes) copies += node.op == "copy";
  EXPECT_EQ(copies, 4);
}

TEST_F(JoinSlicesTest, AnOutputOfTheGraphIsPutTogetherToo) {
  EXPECT_EQ(CountJoins(Joined({Concat({Conv(x_, 16), Conv(x_, 16)})})), 1);
}

TEST_F(JoinSlicesTest, PartsThatWouldBeginAmidAVectorAreCopied) {
  EXPECT_EQ(CountJoins(Joined({Conv(Concat({Conv(x_, 6), Conv(x_, 16)}), 4)})), 0);
}

TEST_F(JoinSlicesTest, InputsAreNotWorthIt) {
  const tensor::Tensor image = b_.Input("image", tensor::DType::kFloat32, {2, 5, 5, 32});
  EXPECT_EQ(CountJoins(Joined({Conv(Concat({image, Conv(x_, 16)}), 4)})), 0);
}

TEST_F(JoinSlicesTest, OtherSelectionsAreNoConcatenations) {
  const tensor::Tensor a = Conv(x_, 16), c = Conv(x_, 16);
  const auto select = [&](int64_t bound, int64_t start) {
    return b_.Map("select", {2, 5, 5, 32}, [&](const auto& i) {
      return tensor::Select(i[3] < tensor::Expr(bound), a.At(i),
                            c(i[0], i[1], i[2], i[3] - tensor::Expr(start)));
    });
  };
  const tensor::Tensor swapped = b_.Map("select", {2, 5, 5, 32}, [&](const auto& i) {
    return tensor::Select(i[3] < tensor::Expr(16), a(i[0], i[2], i[1], i[3]),
                          c(i[0], i[1], i[2], i[3] - tensor::Expr(16)));
  });
  const tensor::Tensor joined = select(16, 16);
  const Graph graph = b_.Build({{"a", swapped.id()}, {"b", joined.id()}});
  EXPECT_FALSE(AsConcatenation(graph, graph.nodes[2]).has_value());
  EXPECT_TRUE(AsConcatenation(graph, graph.nodes[3]).has_value());
  EXPECT_FALSE(AsConcatenation(graph, graph.nodes[0]).has_value());
}

}  // namespace
}  // namespace bayloom::graph
