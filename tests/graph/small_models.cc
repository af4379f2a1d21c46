// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/graph/small_models.h"

#include <unistd.h>

#include <cmath>
#include <filesystem>

namespace bayloom::graph {
namespace {

using Ints = std::vector<int64_t>;

/// Layers for 12 x 12 images, each with other peculiarities.
class ConvolutionalNetwork {
 public:
  explicit ConvolutionalNetwork(int batch) : g_("small_cnn", 13, 5), batch_(batch) {}

  models::GraphBuilder Build() && {
    models::Value x = g_.Input("image", {batch_, 3, 12, 12});
    x = Relu(BatchNorm(Conv(x, 3, 8, 3, {.stride = 2, .pad = 1}), 8));
    x = g_.Node(
        "MaxPool", {x},
        {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{1, 1}}, {"pads", Ints{1, 1, 1, 1}}});
    const models::Value shortcut = BatchNorm(Conv(x, 8, 16, 1, {}), 16);
    models::Value y = Clip(BatchNorm(Conv(x, 8, 16, 3, {.pad = 1, .groups = 4}), 16));
    y = Relu(BatchNorm(Conv(y, 16, 16, 3, {.pad = 2, .groups = 16, .dilation = 2}), 16));
    y = BatchNorm(Conv(y, 16, 16, 1, {}), 16);
    x = Relu(g_.Node("Add", {y, shortcut}));
    const models::Value pooled =
        g_.Node("AveragePool", {x}, {{"kernel_shape", Ints{2, 2}}, {"pads", Ints{1, 1, 0, 0}}});
    x = g_.Node("Concat", {x, Swish(Conv(x, 16, 4, 3, {.pad = 1})), pooled},
                {{"axis", int64_t{1}}});
    x = Relu(BatchNorm(x, 36));  // before its convolution: nothing to fold it into
    x = Conv(x, 36, 6, 3, {.pad = 1});
    const models::Value flat = g_.Node("Flatten", {x});
    models::Value scores = g_.Node(
        "Gemm",
        {flat, g_.Weight("fc.weight", {10, 216}, 216, 1), g_.Uniform("fc.bias", {10}, -1, 1)},
        {{"transB", int64_t{1}}});
    const models::Value mean = g_.Node("Flatten", {g_.Node("GlobalAveragePool", {x})});
    scores = g_.Node("Concat", {scores, mean}, {{"axis", int64_t{1}}});
    g_.Output(g_.Node("Softmax", {scores}), {batch_, 16});
    g_.Output(x, {batch_, 6, 6, 6});
    return std::move(g_);
  }

 private:
  struct Options {
    int64_t stride = 1, pad = 0, groups = 1, dilation = 1;
  };

  std::string NextName() { return "w" + std::to_string(count_++); }

  models::Value Conv(const models::Value& x, int64_t in, int64_t out, int64_t kernel,
                     const Options& o) {
    const int64_t fan_in = in / o.groups * kernel * kernel;
    const models::Value w = g_.Weight(NextName(), {out, in / o.groups, kernel, kernel}, fan_in, 1);
    return g_.Node("Conv", {x, w, g_.Uniform(NextName(), {out}, -0.1F, 0.1F)},
                   {{"strides", Ints{o.stride, o.stride}},
                    {"pads", Ints{o.pad, o.pad, o.pad, o.pad}},
                    {"dilations", Ints{o.dilation, o.dilation}},
                    {"group", o.groups}});
  }

  models::Value BatchNorm(const models::Value& x, int64_t channels) {
    return g_.Node("BatchNormalization", {x, g_.Uniform(NextName(), {channels}, 0.5F, 1.5F),
                                          g_.Uniform(NextName(), {channels}, -1, 1),
                                          g_.Uniform(NextName(), {channels}, -1, 1),
                                          g_.Uniform(NextName(), {channels}, 0.5F, 1.5F)});
  }

  models::Value Relu(const models::Value& x) { return g_.Node("Relu", {x}); }
  models::Value Swish(const models::Value& x) {
    return g_.Node("Mul", {x, g_.Node("Sigmoid", {x})});
  }
  models::Value Clip(const models::Value& x) {
    return g_.Node("Clip", {x, g_.Constant(NextName(), {}, std::vector{0.0F}),
                            g_.Constant(NextName(), {}, std::vector{6.0F})});
  }

  models::GraphBuilder g_;
  int64_t batch_;
  int count_ = 0;
};

class Transformer {
 public:
  explicit Transformer(int batch) : g_("small_transformer", 13, 6), batch_(batch) {}

  models::GraphBuilder Build() && {
    const models::Value ids = g_.IndexInput("ids", {batch_, kLength});
    models::Value x = g_.Node("Gather", {g_.Weight("embedding", {50, kWidth}, 1, 1), ids});
    x = LayerNorm(g_.Node("Add", {x, g_.Weight("positions", {1, kLength, kWidth}, 1, 1)}));
    x = LayerNorm(g_.Node("Add", {Attention(x), x}));
    x = g_.Node("Add", {Dense(Gelu(Dense(x, kWidth, 20)), 20, kWidth), x});
    g_.Output(x, {batch_, kLength, kWidth});
    return std::move(g_);
  }

 private:
  static constexpr int64_t kLength = 6, kWidth = 8, kHeads = 2;

  std::string NextName() { return "t" + std::to_string(count_++); }
  models::Value Scalar(float value) { return g_.Constant(NextName(), {}, std::vector{value}); }
  models::Value Shape(const Ints& shape) {
    return g_.Constant(NextName(), {static_cast<int64_t>(shape.size())}, shape);
  }

  models::Value Dense(const models::Value& x, int64_t in, int64_t out) {
    const models::Value product = g_.Node("MatMul", {x, g_.Weight(NextName(), {in, out}, in, 1)});
    return g_.Node("Add", {product, g_.Uniform(NextName(), {out}, -1, 1)});
  }

  models::Value LayerNorm(const models::Value& x) {
    const std::vector<models::Attribute> last = {{"axes", Ints{-1}}};
    const models::Value centered = g_.Node("Sub", {x, g_.Node("ReduceMean", {x}, last)});
    const models::Value variance =
        g_.Node("ReduceMean", {g_.Node("Pow", {centered, Scalar(2)})}, last);
    const models::Value deviation = g_.Node("Sqrt", {g_.Node("Add", {variance, Scalar(1e-5F)})});
    return g_.Node("Mul", {g_.Node("Div", {centered, deviation}),
                           g_.Uniform(NextName(), {kWidth}, 0.5F, 1.5F)});
  }

  models::Value Gelu(const models::Value& x) {
    const models::Value erf = g_.Node("Erf", {g_.Node("Div", {x, Scalar(std::sqrt(2.0F))})});
    return g_.Node("Mul", {g_.Node("Mul", {x, g_.Node("Add", {erf, Scalar(1)})}), Scalar(0.5F)});
  }

  models::Value Heads(const models::Value& x, const Ints& permutation) {
    const models::Value split = g_.Node(
        "Reshape", {Dense(x, kWidth, kWidth), Shape({batch_, kLength, kHeads, kWidth / kHeads})});
    return g_.Node("Transpose", {split}, {{"perm", permutation}});
  }

  models::Value Attention(const models::Value& x) {
    const models::Value query = Heads(x, {0, 2, 1, 3}), key = Heads(x, {0, 2, 3, 1});
    const models::Value scores = g_.Node("Div", {g_.Node("MatMul", {query, key}), Scalar(2)});
    const models::Value mixed = g_.Node(
        "MatMul", {g_.Node("Softmax", {scores}, {{"axis", int64_t{-1}}}), Heads(x, {0, 2, 1, 3})});
    const models::Value rows = g_.Node("Transpose", {mixed}, {{"perm", Ints{0, 2, 1, 3}}});
    return Dense(g_.Node("Reshape", {rows, Shape({batch_, kLength, kWidth})}), kWidth, kWidth);
  }

  models::GraphBuilder g_;
  int64_t batch_;
  int count_ = 0;
};

}  // namespace

SmallModel::SmallModel(const std::string& name, models::GraphBuilder builder)
    : path_((std::filesystem::temp_directory_path() /
             ("bayloom_test_" + std::to_string(getpid()) + "_" + name + ".onnx"))
                .string()) {
  builder.Save(path_);
}

SmallModel::~SmallModel() {
  if (!path_.empty()) std::filesystem::remove(path_);
}

SmallModel SmallConvolutionalNetwork(int batch) {
  return SmallModel("cnn", ConvolutionalNetwork(batch).Build());
}

SmallModel SmallTransformer(int batch) {
  return SmallModel("transformer", Transformer(batch).Build());
}

}  // namespace bayloom::graph
