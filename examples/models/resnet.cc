// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "examples/models/layers.h"
#include "examples/models/models.h"

namespace bayloom::models {
namespace {

constexpr double kBranchScale = 0.3;

Value Relu(GraphBuilder& g, const Value& x) { return g.Node("Relu", {x}); }

/// relu(branch + x), with a 1 x 1 projection of x where its shape differs.
Value JoinResidual(GraphBuilder& g, const std::string& name, const Value& branch, const Value& x,
                   int64_t in, int64_t out, int64_t stride) {
  const bool project = in != out || stride != 1;
  const Value shortcut =
      project ? ConvBn(g, name + ".downsample", x, {in, out, 1, stride}, kAfterRelu) : x;
  return Relu(g, g.Node("Add", {branch, shortcut}));
}

Value BasicBlock(GraphBuilder& g, const std::string& name, const Value& x, int64_t in,
                 int64_t width, int64_t stride) {
  Value y = Relu(g, ConvBn(g, name + ".conv1", x, {in, width, 3, stride, 1}, kAfterRelu));
  y = ConvBn(g, name + ".conv2", y, {width, width, 3, 1, 1}, kAfterRelu, kBranchScale);
  return JoinResidual(g, name, y, x, in, width, stride);
}

Value Bottleneck(GraphBuilder& g, const std::string& name, const Value& x, int64_t in,
                 int64_t width, int64_t stride) {
  Value y = Relu(g, ConvBn(g, name + ".conv1", x, {in, width}, kAfterRelu));
  y = Relu(g, ConvBn(g, name + ".conv2", y, {width, width, 3, stride, 1}, kAfterRelu));
  y = ConvBn(g, name + ".conv3", y, {width, 4 * width}, kAfterRelu, kBranchScale);
  return JoinResidual(g, name, y, x, in, 4 * width, stride);
}

GraphBuilder ResNet(const std::string& name, uint64_t seed, const int (&blocks)[4],
                    decltype(BasicBlock)* block, int64_t expansion) {
  GraphBuilder g(name, 13, seed);
  Value x = g.Input("input", {1, 3, 224, 224});
  x = Relu(g, ConvBn(g, "conv1", x, {3, 64, 7, 2, 3}, kAfterLinear));
  x = MaxPool(g, x, 3, 2, 1);
  int64_t in = 64;
  for (int stage = 0; stage < 4; ++stage) {
    const int64_t width = int64_t{64} << stage;
    for (int i = 0; i < blocks[stage]; ++i) {
      const std::string label = "layer" + std::to_string(stage + 1) + "." + std::to_string(i);
      x = block(g, label, x, in, width, stage > 0 && i == 0 ? 2 : 1);
      in = expansion * width;
    }
  }
  Classify(g, "fc", x, in);
  return g;
}

}  // namespace

GraphBuilder ResNet18(uint64_t seed) {
  return ResNet("resnet18", seed, {2, 2, 2, 2}, BasicBlock, 1);
}

GraphBuilder ResNet50(uint64_t seed) {
  return ResNet("resnet50", seed, {3, 4, 6, 3}, Bottleneck, 4);
}

}  // namespace bayloom::models
