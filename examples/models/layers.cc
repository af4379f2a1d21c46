#include "examples/models/layers.h"

namespace bayloom::models {
namespace {

Value Conv(GraphBuilder& g, const std::string& name, std::vector<Value> inputs,
           const Convolution& c, double gain, bool with_bias) {
  const int64_t per_group = c.in / c.groups;
  inputs.push_back(g.Weight(name + ".weight", {c.out, per_group, c.kernel, c.kernel},
                            per_group * c.kernel * c.kernel, gain));
  if (with_bias) inputs.push_back(g.Uniform(name + ".bias", {c.out}, -0.1F, 0.1F));
  return g.Node("Conv", inputs,
                {{"kernel_shape", std::vector{c.kernel, c.kernel}},
                 {"strides", std::vector{c.stride, c.stride}},
                 {"pads", std::vector<int64_t>(4, c.padding)},
                 {"dilations", std::vector<int64_t>{1, 1}},
                 {"group", c.groups}});
}

}  // namespace

Value ConvBn(GraphBuilder& g, const std::string& name, const Value& x, const Convolution& shape,
             double gain, double scale) {
  const Value y = Conv(g, name, {x}, shape, gain, false);
  const std::string bn = name + ".bn";
  const auto s = static_cast<float>(scale);
  return g.Node("BatchNormalization",
                {y, g.Uniform(bn + ".weight", {shape.out}, 0.8F * s, 1.2F * s),
                 g.Uniform(bn + ".bias", {shape.out}, -0.2F * s, 0.2F * s),
                 g.Uniform(bn + ".running_mean", {shape.out}, -0.2F, 0.2F),
                 g.Uniform(bn + ".running_var", {shape.out}, 0.7F, 1.3F)},
                {{"epsilon", 1e-5F}, {"momentum", 0.9F}});
}

Value ConvRelu(GraphBuilder& g, const std::string& name, const Value& x, const Convolution& shape,
               double gain) {
  return g.Node("Relu", {Conv(g, name, {x}, shape, gain, true)});
}

Value MaxPool(GraphBuilder& g, const Value& x, int64_t kernel, int64_t stride, int64_t padding) {
  return g.Node("MaxPool", {x},
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
