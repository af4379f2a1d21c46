#include "bayloom/model/segment_network.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bayloom/model/dense.h"

namespace bayloom {
namespace {

/// Columns are items.
DenseView<const float> View(std::span<const float> values, int rows) {
  return {values.data(), rows, static_cast<std::ptrdiff_t>(values.size()) / rows, rows};
}
DenseView<float> View(std::span<float> values, int rows) {
  return {values.data(), rows, static_cast<std::ptrdiff_t>(values.size()) / rows, rows};
}

std::vector<float> SumSegments(std::span<const float> rows, std::span<const int> segments,
                               int width) {
  std::vector<float> sums(segments.size() * width, 0.0f);
  const float* row = rows.data();
  for (size_t segment = 0; segment < segments.size(); ++segment) {
    float* sum = sums.data() + segment * width;
    for (int i = 0; i < segments[segment]; ++i, row += width) {
      for (int j = 0; j < width; ++j) sum[j] += row[j];
    }
  }
  return sums;
}

/// Gives every row what its segment has.
std::vector<float> SpreadSegments(std::span<const float> segment_values,
                                  std::span<const int> segments, int width) {
  std::vector<float> rows;
  for (size_t segment = 0; segment < segments.size(); ++segment) {
    const auto values = segment_values.subspan(segment * width, width);
    for (int i = 0; i < segments[segment]; ++i) {
      rows.insert(rows.end(), values.begin(), values.end());
    }
  }
  return rows;
}

/// The gradient before a ReLU, given that after it and what came out.
void ReverseRelu(std::span<const float> outputs, std::vector<float>& gradient) {
  for (size_t i = 0; i < gradient.size(); ++i) {
    if (outputs[i] <= 0) gradient[i] = 0;
  }
}

}  // namespace

SegmentNetwork::SegmentNetwork(const SegmentNetworkShape& shape, uint64_t seed) : shape_(shape) {
  RandomStream random(seed);
  const auto add_layer = [&](int inputs, int outputs) {
    const size_t weights = parameters_.size();
    const double scale = std::sqrt(2.0 / inputs);
    for (int i = 0; i < inputs * outputs; ++i) {
      parameters_.push_back(static_cast<float>(scale * random.Normal()));
    }
    layers_.push_back({inputs, outputs, weights, parameters_.size()});
    parameters_.resize(parameters_.size() + outputs, 0.0f);
  };
  for (int i = 0; i < shape.encoder_layers; ++i) {
    add_layer(i == 0 ? shape.inputs : shape.width, shape.width);
  }
  for (int i = 0; i < shape.residual_layers; ++i) add_layer(shape.width, shape.width);
  add_layer(shape.width, 1);
}

std::vector<float> SegmentNetwork::Embed(std::span<const float> rows, std::span<const int> segments,
                                         Tape* tape) const {
  if (tape) *tape = {.segments = {segments.begin(), segments.end()}, .inputs = {}, .outputs = {}};
  std::vector<float> values(rows.begin(), rows.end());
  for (size_t i = 0; i + 1 < layers_.size(); ++i) {
    if (static_cast<int>(i) == shape_.encoder_layers) {
      values = SumSegments(values, segments, shape_.width);
    }
    std::vector<float> out = Apply(layers_[i], values, /*relu=*/true);
    if (tape) {
      tape->inputs.push_back(values);
      tape->outputs.push_back(out);
    }
    if (IsEncoder(i)) {
      values = std::move(out);
    } else {
      for (size_t j = 0; j < values.size(); ++j) values[j] += out[j];
    }
  }
  if (shape_.residual_layers == 0) values = SumSegments(values, segments, shape_.width);
  if (tape) tape->inputs.push_back(values);
  return values;
}

std::vector<float> SegmentNetwork::Forward(std::span<const float> rows,
                                           std::span<const int> segments, Tape* tape) const {
  return Apply(layers_.back(), Embed(rows, segments, tape), /*relu=*/false);
}

std::vector<float> SegmentNetwork::Backward(const Tape& tape,
                                            std::span<const float> score_gradient) const {
  std::vector<float> parameter_gradient(parameters_.size(), 0.0f);
  std::vector<float> gradient = Reverse(layers_.back(), tape.inputs.back(), score_gradient,
                                        parameter_gradient, /*needs_input_gradient=*/true);
  for (size_t i = layers_.size() - 1; i-- > 0;) {
    if (static_cast<int>(i) + 1 == shape_.encoder_layers) {
      gradient = SpreadSegments(gradient, tape.segments, shape_.width);
    }
    std::vector<float> inner = gradient;
    ReverseRelu(tape.outputs[i], inner);
    std::vector<float> before =
        Reverse(layers_[i], tape.inputs[i], inner, parameter_gradient, i > 0);
    if (IsEncoder(i)) {
      gradient = std::move(before);
    } else {
      for (size_t j = 0; j < gradient.size(); ++j) gradient[j] += before[j];
    }
  }
  return parameter_gradient;
}

std::vector<float> SegmentNetwork::Apply(const Layer& layer, std::span<const float> inputs,
                                         bool relu) const {
  const size_t items = inputs.size() / layer.inputs;
  std::vector<float> outputs;
  outputs.reserve(items * layer.outputs);
  const auto bias = parameters_.begin() + static_cast<std::ptrdiff_t>(layer.biases);
  for (size_t i = 0; i < items; ++i) outputs.insert(outputs.end(), bias, bias + layer.outputs);
  const auto weights =
      std::span(parameters_)
          .subspan(layer.weights, static_cast<size_t>(layer.inputs) * layer.outputs);
  if (items > 0) {
    Dense().add_product(View(weights, layer.outputs), false, View(inputs, layer.inputs), false,
                        View(std::span(outputs), layer.outputs));
  }
  if (relu) {
    for (float& output : outputs) output = std::max(output, 0.0f);
  }
  return outputs;
}

std::vector<float> SegmentNetwork::Reverse(const Layer& layer, std::span<const float> inputs,
                                           std::span<const float> output_gradient,
                                           std::span<float> parameter_gradient,
                                           bool needs_input_gradient) const {
  const size_t size = static_cast<size_t>(layer.inputs) * layer.outputs;
  const std::span<float> bias = parameter_gradient.subspan(layer.biases, layer.outputs);
  for (size_t i = 0; i < output_gradient.size(); ++i) {
    bias[i % layer.outputs] += output_gradient[i];
  }
  std::vector<float> input_gradient(needs_input_gradient ? inputs.size() : 0, 0.0f);
  if (inputs.empty()) return input_gradient;
  Dense().add_product(View(output_gradient, layer.outputs), false, View(inputs, layer.inputs), true,
                      View(parameter_gradient.subspan(layer.weights, size), layer.outputs));
  if (needs_input_gradient) {
    Dense().add_product(View(std::span(parameters_).subspan(layer.weights, size), layer.outputs),
                        true, View(output_gradient, layer.outputs), false,
                        View(std::span(input_gradient), layer.inputs));
  }
  return input_gradient;
}

}  // namespace bayloom
