// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bayloom/base/random.h"

namespace bayloom::model {

struct SegmentNetworkShape {
  int inputs = 0;
  int width = 256;
  int encoder_layers = 2;
  int residual_layers = 2;
};

/// A neural network that gives one number for a segment of any number of rows, in any order
/// they come: every row passes the same encoder, the codes of a segment are summed, and the sum
/// passes residual layers and a linear one.
///
///     code(row)  = relu(W2 relu(W1 row + b1) + b2)
///     z          = sum over rows of code;  z <- z + relu(Wi z + bi) for each residual layer
///     score      = w z + b
///
/// (The cost model of TenSet, Zheng et al. 2021, and MetaSchedule.) Rows are row-major; segments
/// are numbers of consecutive rows.
class SegmentNetwork {
 public:
  /// Weights are drawn by He et al. 2015.
  SegmentNetwork(const SegmentNetworkShape& shape, uint64_t seed);

  const SegmentNetworkShape& shape() const { return shape_; }
  /// All weights and biases; changing them changes the network.
  std::span<float> parameters() { return parameters_; }
  std::span<const float> parameters() const { return parameters_; }

  /// What Backward needs to know of a call of Forward, and memory that serves call after call.
  struct Tape {
    std::span<const float> rows;  ///< not owned; valid until Backward
    std::vector<int> segments;
    std::vector<std::vector<float>> outputs;  ///< per layer but the last, after the ReLU
    std::vector<std::vector<float>> sums;     ///< what enters each layer after the encoder
    std::vector<float> by_outputs, by_inputs, by_sums, by_parameters;  ///< derivatives
  };
  /// A score per segment.
  std::vector<float> Forward(std::span<const float> rows, std::span<const int> segments,
                             Tape& tape) const;
  /// The last values before the score, shape().width per segment; valid as long as the tape.
  std::span<const float> Embed(std::span<const float> rows, std::span<const int> segments,
                               Tape& tape) const;

  /// The gradient of a loss by each parameter, given the loss's by each score; valid as long as
  /// the tape.
  std::span<const float> Backward(Tape& tape, std::span<const float> score_gradient) const;

 private:
  struct Layer {
    int inputs, outputs;
    size_t weights, biases;  ///< where they begin among the parameters
  };
  void Apply(const Layer& layer, std::span<const float> inputs, bool relu,
             std::vector<float>& outputs) const;
  /// From `by_outputs` to `by_parameters` and, if wanted, `by_inputs` of the tape. `outputs` are
  /// those of a ReLU, or none.
  void Reverse(const Layer& layer, std::span<const float> inputs, std::span<const float> outputs,
               bool wants_inputs, Tape& tape) const;

  SegmentNetworkShape shape_;
  std::vector<Layer> layers_;  ///< encoder, residual, last
  std::vector<float> parameters_;
};

}  // namespace bayloom::model
