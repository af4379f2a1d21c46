// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <string>

#include "examples/models/layers.h"
#include "examples/models/models.h"

namespace bayloom::models {
namespace {

using Ints = std::vector<int64_t>;

struct Recurrent {
  std::string op;  ///< LSTM or GRU
  int64_t inputs;
  int64_t hidden;
  int64_t directions = 1;
};

/// A recurrent layer over [steps, 1, inputs], initialized as PyTorch does it. `states`: the
/// initial ones, or none. Its outputs: of all steps [steps, directions, 1, hidden], and the last
/// states.
std::vector<Value> Layer(GraphBuilder& g, const std::string& name, const Value& x,
                         const Recurrent& shape, const std::vector<Value>& states = {}) {
  const int64_t gates = shape.op == "LSTM" ? 4 : 3, rows = gates * shape.hidden;
  const auto bound = static_cast<float>(1 / std::sqrt(static_cast<double>(shape.hidden)));
  const auto parameter = [&](const std::string& part, const Shape& extents) {
    return g.Uniform(name + "." + part, extents, -bound, bound);
  };
  std::vector<Value> inputs = {x, parameter("W", {shape.directions, rows, shape.inputs}),
                               parameter("R", {shape.directions, rows, shape.hidden}),
                               parameter("B", {shape.directions, 2 * rows}), ""};
  inputs.insert(inputs.end(), states.begin(), states.end());
  std::vector<Attribute> attributes = {
      {"hidden_size", shape.hidden},
      {"direction", std::string(shape.directions == 2 ? "bidirectional" : "forward")}};
  if (shape.op == "GRU") attributes.push_back({"linear_before_reset", int64_t{1}});
  return g.Node(shape.op, inputs, attributes, shape.op == "LSTM" ? 3 : 2);
}

/// [steps, directions, 1, hidden] to [steps, 1, directions * hidden].
Value JoinDirections(GraphBuilder& g, const Value& x, int64_t steps, int64_t width) {
  const Value last = g.Node("Transpose", {x}, {{"perm", Ints{0, 2, 1, 3}}});
  return g.Node("Reshape",
                {last, g.Constant("shape_of_" + x, {3}, std::vector<int64_t>{steps, 1, width})});
}

Value SignalConv(GraphBuilder& g, const std::string& name, const Value& x, int64_t in, int64_t out,
                 int64_t stride) {
  const Value y =
      g.Node("Conv",
             {x, g.Weight(name + ".weight", {out, in, 3}, 3 * in, kAfterRelu),
              g.Uniform(name + ".bias", {out}, -0.1F, 0.1F)},
             {{"kernel_shape", Ints{3}}, {"pads", Ints{1, 1}}, {"strides", Ints{stride}}});
  return g.Node("Relu", {y});
}

/// The magnitudes of a short-time Fourier transform with learnt windows: 129 of 124 frames.
Value Spectrum(GraphBuilder& g, const Value& samples) {
  const Value parts = g.Node("Conv", {samples, g.Weight("window", {258, 1, 256}, 256, 1)},
                             {{"kernel_shape", Ints{256}}, {"strides", Ints{128}}});
  const auto halves = g.Node("Split", {parts, g.Constant("halves", {2}, Ints{129, 129})},
                             {{"axis", int64_t{1}}}, 2);
  const Value real = g.Node("Mul", {halves[0], halves[0]});
  const Value imaginary = g.Node("Mul", {halves[1], halves[1]});
  return g.Node("Sqrt", {g.Node("Add", {real, imaginary})});
}

}  // namespace

GraphBuilder VoiceDetector(uint64_t seed) {
  GraphBuilder g("voice_detector", 14, seed);
  constexpr int64_t kSteps = 31, kHidden = 128;
  Value x = Spectrum(g, g.Input("samples", {1, 1, 16000}));
  const std::vector<Value> states = {g.Input("h", {1, 1, kHidden}), g.Input("c", {1, 1, kHidden})};
  x = SignalConv(g, "encoder.0", x, 129, 128, 1);
  x = SignalConv(g, "encoder.1", x, 128, 64, 2);
  x = SignalConv(g, "encoder.2", x, 64, 64, 2);
  x = SignalConv(g, "encoder.3", x, 64, 128, 1);
  x = g.Node("Transpose", {x}, {{"perm", Ints{2, 0, 1}}});
  const std::vector<Value> y = Layer(g, "lstm", x, {"LSTM", 128, kHidden}, states);
  x = g.Node("Relu", {JoinDirections(g, y[0], kSteps, kHidden)});
  g.Output(g.Node("Sigmoid", {Dense(g, "decoder", x, kHidden, 1)}), {kSteps, 1, 1});
  g.Output(y[1], {1, 1, kHidden});
  g.Output(y[2], {1, 1, kHidden});
  return g;
}

GraphBuilder KeywordSpotter(uint64_t seed) {
  GraphBuilder g("keyword_spotter", 14, seed);
  constexpr int64_t kSteps = 100, kHidden = 128;
  const Value features = g.Input("features", {1, kSteps, 40});
  Value x = g.Node("Transpose", {features}, {{"perm", Ints{1, 0, 2}}});
  const std::vector<Value> first = Layer(g, "gru.0", x, {"GRU", 40, kHidden});
  x = JoinDirections(g, first[0], kSteps, kHidden);
  const Value last = Layer(g, "gru.1", x, {"GRU", kHidden, kHidden})[1];
  const Value row = g.Node("Reshape", {last, g.Constant("row", {2}, Ints{1, kHidden})});
  const Value scores = FullyConnected(g, "classifier", row, kHidden, 12, kAfterLinear);
  g.Output(g.Node("Softmax", {scores}), {1, 12});
  return g;
}

GraphBuilder SequenceTagger(uint64_t seed) {
  GraphBuilder g("sequence_tagger", 14, seed);
  constexpr int64_t kSteps = 128, kWidth = 256, kHidden = 256;
  const Value ids = g.IndexInput("tokens", {kSteps, 1});
  Value x = g.Node("Gather", {g.Weight("embedding", {8192, kWidth}, 1, 1), ids});
  for (int64_t layer = 0; layer < 2; ++layer) {
    const int64_t inputs = layer == 0 ? kWidth : 2 * kHidden;
    const Recurrent shape{"LSTM", inputs, kHidden, 2};
    const Value y = Layer(g, "lstm." + std::to_string(layer), x, shape)[0];
    x = JoinDirections(g, y, kSteps, 2 * kHidden);
  }
  g.Output(Dense(g, "tags", x, 2 * kHidden, 20), {kSteps, 1, 20});
  return g;
}

}  // namespace bayloom::models
