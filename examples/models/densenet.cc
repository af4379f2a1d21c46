// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "examples/models/layers.h"
#include "examples/models/models.h"

namespace bayloom::models {
namespace {

constexpr int64_t kGrowth = 32;
constexpr int kLayers[] = {6, 12, 24, 16};  ///< per block of DenseNet-121

/// Normalization and activation come before the convolution.
Value BnReluConv(GraphBuilder& g, const std::string& name, const Value& x,
                 const Convolution& shape) {
  return BareConv(g, name, BnRelu(g, name + ".bn", x, shape.in), shape, kAfterRelu);
}

/// Every layer sees the results of all layers before it, side by side.
Value DenseBlock(GraphBuilder& g, const std::string& name, const Value& x, int64_t in, int layers) {
  std::vector<Value> features = {x};
  for (int i = 0; i < layers; ++i) {
    const std::string layer = name + ".layer" + std::to_string(i + 1);
    const Value all = i == 0 ? x : g.Node("Concat", features, {{"axis", int64_t{1}}});
    const Value narrow = BnReluConv(g, layer + ".conv1", all, {in + i * kGrowth, 4 * kGrowth});
    features.push_back(BnReluConv(g, layer + ".conv2", narrow, {4 * kGrowth, kGrowth, 3, 1, 1}));
  }
  return g.Node("Concat", features, {{"axis", int64_t{1}}});
}

}  // namespace

GraphBuilder DenseNet121(uint64_t seed) {
  GraphBuilder g("densenet121", 13, seed);
  Value x = g.Input("input", {1, 3, 224, 224});
  int64_t channels = 2 * kGrowth;
  x = g.Node("Relu", {ConvBn(g, "stem", x, {3, channels, 7, 2, 3}, kAfterLinear)});
  x = MaxPool(g, x, 3, 2, 1);
  for (int block = 0; block < 4; ++block) {
    const std::string name = "block" + std::to_string(block + 1);
    x = DenseBlock(g, name, x, channels, kLayers[block]);
    channels += kLayers[block] * kGrowth;
    if (block == 3) break;
    x = BnReluConv(g, name + ".transition", x, {channels, channels / 2});
    x = AveragePool(g, x, 2, 2);
    channels /= 2;
  }
  Classify(g, "classifier", BnRelu(g, "last.bn", x, channels), channels);
  return g;
}

}  // namespace bayloom::models
