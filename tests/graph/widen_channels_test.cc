// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "bayloom/graph/passes/passes.h"
#include "tests/graph/pass_checks.h"

namespace bayloom::graph {
namespace {

/// A product of `channels` columns with bias and activation behind it.
struct Layer {
  explicit Layer(int64_t channels)
      : x(b.Input("x", tensor::DType::kFloat32, {3, 4})),
        product(Multiply(b, x, b.Constant("w", RandomTensor({4, channels}, 1)))) {
    const tensor::Tensor bias = b.Constant("bias", RandomTensor({channels}, 2));
    active = Relu(b, b.Map("add", product.shape(),
                           [&](const auto& i) { return product.At(i) + bias(i[1]); }));
  }

  /// The sum over the channels, as something that reads them all.
  tensor::Tensor Sum() {
    return b.Reduce("sum", {3}, {{"c", active.shape()[1]}}, tensor::Reduction::kSum,
                    [&](const auto& s, const auto& r) { return active(s[0], r[0]); });
  }

  GraphBuilder b{"layer"};
  tensor::Tensor x, product, active;
};

std::vector<int64_t> ShapesOfMaps(const Graph& graph) {
  std::vector<int64_t> last;
  for (const Node& node : graph.nodes) last.push_back(graph.values[node.output()].shape.back());
  return last;
}

TEST(WidenChannels, FillsTheLastVectorOfAProductAndWhatFollowsIt) {
  Layer layer(61);
  const Graph graph = CheckedPass(WidenChannels, layer.b.Build({{"sum", layer.Sum().id()}}));
  EXPECT_EQ(ShapesOfMaps(graph), (std::vector<int64_t>{64, 64, 64, 3}));
}

TEST(WidenChannels, LeavesWholeVectorsAndFewChannelsAlone) {
  for (int64_t channels : {64, 40, 24, 3}) {
    Layer layer(channels);
    const Graph graph = CheckedPass(WidenChannels, layer.b.Build({{"sum", layer.Sum().id()}}));
    EXPECT_EQ(graph.values[graph.nodes[0].output()].shape.back(), channels);
  }
}

TEST(WidenChannels, LeavesWhatIsSeenAsAWholeAlone) {
  Layer output(61);
  const Graph as_output = CheckedPass(WidenChannels, output.b.Build({{"y", output.active.id()}}));
  EXPECT_EQ(as_output.values[as_output.nodes[0].output()].shape.back(), 61);

  Layer viewed(61);
  const tensor::Tensor view = viewed.b.View(viewed.active, {61, 3});
  const tensor::Tensor negated =
      viewed.b.Map("neg", {61, 3}, [&](const auto& i) { return -view.At(i); });
  const Graph as_view = CheckedPass(WidenChannels, viewed.b.Build({{"y", negated.id()}}));
  EXPECT_EQ(as_view.values[as_view.nodes[0].output()].shape.back(), 61);
}

TEST(WidenChannels, LeavesAloneWhatJoinsWithOtherValues) {
  Layer layer(61);
  const tensor::Tensor other = layer.b.Input("other", tensor::DType::kFloat32, {3, 61});
  layer.active =
      layer.b.Map("add", {3, 61}, [&](const auto& i) { return layer.active.At(i) + other.At(i); });
  const Graph graph = CheckedPass(WidenChannels, layer.b.Build({{"sum", layer.Sum().id()}}));
  EXPECT_EQ(graph.values[graph.nodes[0].output()].shape.back(), 61);
}

}  // namespace
}  // namespace bayloom::graph
