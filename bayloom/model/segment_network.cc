// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/model/segment_network.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bayloom/model/dense.h"

namespace bayloom::model {
namespace {

/// Columns are items.
DenseView<const float> View(std::span<const float> values, int rows) {
  return {values.data(), rows, static_cast<std::ptrdiff_t>(values.size()) / rows, rows};
}
DenseView<float> View(std::span<float> values, int rows) {
  return {values.data(), rows, static_cast<std::ptrdiff_t>(values.size()) / rows, rows};
}

void SumSegments(std::span<const float> rows, std::span<const int> segments, int width,
                 std::vector<float>& sums) {
  sums.assign(segments.size() * width, 0.0f);
  const float* row = rows.data();
  float* sum = sums.data();
  for (const int count : segments) {
    for (int i = 0; i < count; ++i, row += width) {
      for (int j = 0; j < width; ++j) sum[j] += row[j];
    }
    sum += width;
  }
}

/// Gives every row what its segment has.
void SpreadSegments(std::span<const float> sums, std::span<const int> segments, int width,
                    std::vector<float>& rows) {
  rows.clear();
  const float* sum = sums.data();
  for (const int count : segments) {
    for (int i = 0; i < count; ++i) rows.insert(rows.end(), sum, sum + width);
    sum += width;
  }
}

void AddTo(std::vector<float>& sum, std::span<const float> values) {
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += values[i];
}

}  // namespace

SegmentNetwork::SegmentNetwork(const SegmentNetworkShape& shape, uint64_t seed) : shape_(shape) {
  base::RandomStream random(seed);
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

std::span<const float> SegmentNetwork::Embed(std::span<const float> rows,
                                             std::span<const int> segments, Tape& tape) const {
  const int encoder = shape_.encoder_layers, residual = shape_.residual_layers;
  tape.rows = rows;
  tape.segments.assign(segments.begin(), segments.end());
  tape.outputs.resize(encoder + residual);
  tape.sums.resize(residual + 1);
  for (int i = 0; i < encoder; ++i) {
    Apply(layers_[i], i == 0 ? rows : tape.outputs[i - 1], /*relu=*/true, tape.outputs[i]);
  }
  SumSegments(tape.outputs[encoder - 1], segments, shape_.width, tape.sums[0]);
  for (int i = 0; i < residual; ++i) {
    std::vector<float>& outputs = tape.outputs[encoder + i];
    Apply(layers_[encoder + i], tape.sums[i], /*relu=*/true, outputs);
    tape.sums[i + 1] = tape.sums[i];
    AddTo(tape.sums[i + 1], outputs);
  }
  return tape.sums.back();
}

std::vector<float> SegmentNetwork::Forward(std::span<const float> rows,
                                           std::span<const int> segments, Tape& tape) const {
  std::vector<float> scores;
  Apply(layers_.back(), Embed(rows, segments, tape), /*relu=*/false, scores);
  return scores;
}

std::span<const float> SegmentNetwork::Backward(Tape& tape,
                                                std::span<const float> score_gradient) const {
  const int encoder = shape_.encoder_layers, residual = shape_.residual_layers;
  tape.by_parameters.assign(parameters_.size(), 0.0f);
  tape.by_outputs.assign(score_gradient.begin(), score_gradient.end());
  Reverse(layers_.back(), tape.sums.back(), {}, /*wants_inputs=*/true, tape);
  std::vector<float>& by_sums = tape.by_sums;
  std::swap(by_sums, tape.by_inputs);
  for (int i = residual - 1; i >= 0; --i) {
    tape.by_outputs = by_sums;
    Reverse(layers_[encoder + i], tape.sums[i], tape.outputs[encoder + i], true, tape);
    AddTo(by_sums, tape.by_inputs);
  }
  SpreadSegments(by_sums, tape.segments, shape_.width, tape.by_outputs);
  for (int i = encoder - 1; i >= 0; --i) {
    Reverse(layers_[i], i == 0 ? tape.rows : tape.outputs[i - 1], tape.outputs[i], i > 0, tape);
    std::swap(tape.by_outputs, tape.by_inputs);
  }
  return tape.by_parameters;
}

void SegmentNetwork::Apply(const Layer& layer, std::span<const float> inputs, bool relu,
                           std::vector<float>& outputs) const {
  outputs.resize(inputs.size() / layer.inputs * layer.outputs);
  if (inputs.empty()) return;
  const size_t size = static_cast<size_t>(layer.inputs) * layer.outputs;
  Dense().forward_layer(View(std::span(parameters_).subspan(layer.weights, size), layer.outputs),
                        parameters_.data() + layer.biases, View(inputs, layer.inputs), relu,
                        View(std::span(outputs), layer.outputs));
}

void SegmentNetwork::Reverse(const Layer& layer, std::span<const float> inputs,
                             std::span<const float> outputs, bool wants_inputs, Tape& tape) const {
  const size_t size = static_cast<size_t>(layer.inputs) * layer.outputs;
  const std::span<float> by_parameters(tape.by_parameters);
  tape.by_inputs.resize(wants_inputs ? inputs.size() : 0);
  if (inputs.empty()) return;
  Dense().reverse_layer(
      View(std::span(parameters_).subspan(layer.weights, size), layer.outputs),
      View(inputs, layer.inputs), View(outputs, layer.outputs),
      View(std::span(tape.by_outputs), layer.outputs),
      View(by_parameters.subspan(layer.weights, size), layer.outputs),
      by_parameters.data() + layer.biases,
      View(wants_inputs ? std::span(tape.by_inputs) : std::span<float>(), layer.inputs));
}

}  // namespace bayloom::model
