// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "examples/models/layers.h"

namespace bayloom::models {
namespace {

Value Conv(GraphBuilder& g, const std::string& name, const Value& x, int64_t per_group, int64_t out,
           int64_t groups, const Window& w, double gain, bool with_bias) {
  std::vector<Value> inputs = {x};
  inputs.push_back(g.Weight(name + ".weight", {out, per_group, w.rows, w.columns},
                            per_group * w.rows * w.columns, gain));
  if (with_bias) inputs.push_back(g.Uniform(name + ".bias", {out}, -0.1F, 0.1F));
  return g.Node(
      "Conv", inputs,
      {{"kernel_shape", std::vector{w.rows, w.columns}},
       {"strides", std::vector{w.stride, w.stride}},
       {"pads", std::vector{w.row_padding, w.column_padding, w.row_padding, w.column_padding}},
       {"dilations", std::vector<int64_t>{1, 1}},
       {"group", groups}});
}

Value SquareConv(GraphBuilder& g, const std::string& name, const Value& x, const Convolution& c,
                 double gain, bool with_bias) {
  const Window window{c.kernel, c.kernel, c.stride, c.padding, c.padding};
  return Conv(g, name, x, c.in / c.groups, c.out, c.groups, window, gain, with_bias);
}

Value Normalize(GraphBuilder& g, const std::string& name, const Value& x, int64_t channels,
                float scale) {
  return g.Node("BatchNormalization",
                {x, g.Uniform(name + ".weight", {channels}, 0.8F * scale, 1.2F * scale),
                 g.Uniform(name + ".bias", {channels}, -0.2F * scale, 0.2F * scale),
                 g.Uniform(name + ".running_mean", {channels}, -0.2F, 0.2F),
                 g.Uniform(name + ".running_var", {channels}, 0.7F, 1.3F)},
                {{"epsilon", 1e-5F}, {"momentum", 0.9F}});
}

}  // namespace

Value BareConv(GraphBuilder& g, const std::string& name, const Value& x, const Convolution& shape,
               double gain) {
  return SquareConv(g, name, x, shape, gain, false);
}

Value ConvBn(GraphBuilder& g, const std::string& name, const Value& x, const Convolution& shape,
             double gain, double scale) {
  const Value y = SquareConv(g, name, x, shape, gain, false);
  return Normalize(g, name + ".bn", y, shape.out, static_cast<float>(scale));
}

Value WindowConvBn(GraphBuilder& g, const std::string& name, const Value& x, int64_t in,
                   int64_t out, const Window& window, double gain) {
  return Normalize(g, name + ".bn", Conv(g, name, x, in, out, 1, window, gain, false), out, 1);
}

Value BnRelu(GraphBuilder& g, const std::string& name, const Value& x, int64_t channels) {
  return g.Node("Relu", {Normalize(g, name, x, channels, 1)});
}

Value ConvRelu(GraphBuilder& g, const std::string& name, const Value& x, const Convolution& shape,
               double gain) {
  return g.Node("Relu", {SquareConv(g, name, x, shape, gain, true)});
}

Value MaxPool(GraphBuilder& g, const Value& x, int64_t kernel, int64_t stride, int64_t padding) {
  return g.Node("MaxPool", {x},
                {{"kernel_shape", std::vector{kernel, kernel}},
                 {"strides", std::vector{stride, stride}},
                 {"pads", std::vector<int64_t>(4, padding)}});
}

Value AveragePool(GraphBuilder& g, const Value& x, int64_t kernel, int64_t stride,
                  int64_t padding) {
  return g.Node("AveragePool", {x},
                {{"kernel_shape", std::vector{kernel, kernel}},
                 {"strides", std::vector{stride, stride}},
                 {"pads", std::vector<int64_t>(4, padding)}});
}

Value FullyConnected(GraphBuilder& g, const std::string& name, const Value& x, int64_t in,
                     int64_t out, double gain) {
  return g.Node("Gemm",
                {x, g.Weight(name + ".weight", {out, in}, in, gain),
                 g.Uniform(name + ".bias", {out}, -0.1F, 0.1F)},
                {{"transB", int64_t{1}}});
}

void Classify(GraphBuilder& g, const std::string& name, const Value& x, int64_t channels) {
  const Value mean = g.Node("GlobalAveragePool", {x});
  const Value row = g.Node("Flatten", {mean}, {{"axis", int64_t{1}}});
  g.Output(FullyConnected(g, name, row, channels, 1000, kAfterRelu), {1, 1000});
}

Value Dense(GraphBuilder& g, const std::string& name, const Value& x, int64_t in, int64_t out) {
  const Value product =
      g.Node("MatMul", {x, g.Weight(name + ".weight", {in, out}, in, kAfterLinear)});
  return g.Node("Add", {product, g.Uniform(name + ".bias", {out}, -0.1F, 0.1F)});
}

Value SplitHeads(GraphBuilder& g, const Value& x, const Value& shape) {
  return g.Node("Transpose", {g.Node("Reshape", {x, shape})},
                {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
}

Value JoinHeads(GraphBuilder& g, const Value& x, const Value& shape) {
  const Value rows = g.Node("Transpose", {x}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
  return g.Node("Reshape", {rows, shape});
}

}  // namespace bayloom::models
