// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/graph/operators/activations.h"

namespace bayloom::graph {

/// What LSTM, GRU and RNN share.
///
/// The product of the whole sequence with the input's weights is computed at once. The steps are
/// unrolled; equal steps are calls of the same tasks: each reads its rows of that product where
/// they lie, and its output is written where the sequence of outputs wants it. For both, states
/// are rounded up from the hidden size to whole cache lines (`width`); what is beyond the hidden
/// size never reaches an output.

/// `a` [rows, inner] times the weights of a range of gates: [rows, gates * width].
using GateProduct = std::function<tensor::Tensor(const tensor::Tensor& a, int first, int gates)>;

/// The parameters of one direction. Vectors are [gates * width].
struct RecurrentDirection {
  int64_t width = 0;
  GateProduct input;      ///< with the input's weights
  GateProduct recurrent;  ///< with the recurrence's weights; `a` is [batch, width]
  std::optional<tensor::Tensor> input_bias, recurrent_bias, peepholes;
  std::vector<NamedActivation> activations;
  std::optional<double> clip;

  /// Activation function `k` of x within the bounds of `clip`.
  tensor::Expr Activate(int k, const tensor::Expr& x) const;
};

/// What one step reads.
struct RecurrentStep {
  tensor::Tensor product;              ///< [batch, gates * width]: the input's part of the gates
  std::vector<tensor::Tensor> state;   ///< [batch, width] each; empty: all zero
  std::optional<tensor::Tensor> mask;  ///< [batch, width]: 0 where the sequence has ended

  /// `next` where the sequence goes on, elsewhere the element of state `k`.
  tensor::Expr Keep(const tensor::Expr& next, size_t k, const Exprs& place) const;
};

/// One of the operators.
struct RecurrentCell {
  int gates;
  std::vector<std::string> activations;  ///< a direction's default ones
  std::vector<int> state_inputs;         ///< numbers of the inputs with the initial states
  int peephole_input;                    ///< the number of that input, -1: there is none
  /// Which part of the bias is added to the input's product.
  std::optional<tensor::Tensor> (*product_bias)(OperatorContext& context,
                                                const RecurrentDirection& direction);
  /// The state after a step; its first tensor is the step's output.
  std::vector<tensor::Tensor> (*step)(OperatorContext& context, const RecurrentDirection& direction,
                                      const RecurrentStep& step);
};

/// Weights of one direction: an input of the operator.
struct GateWeights {
  int input;  ///< its number
  int direction;
  int64_t hidden;
  int64_t width;
  int64_t inner;  ///< the extent of what is multiplied: `hidden` rounded up, or the input's
};
using GateProductMaker = std::function<GateProduct(OperatorContext&, const GateWeights&)>;

/// Writes the nodes of the operator and sets its outputs: the outputs of all steps, and the last
/// states. `product` makes the products with the weights, inputs 1 and 2.
void ImportRecurrent(OperatorContext& context, const RecurrentCell& cell, int64_t hidden,
                     const GateProductMaker& product);

/// The hidden size by the attribute; if it is absent, `otherwise`.
int64_t HiddenSize(OperatorContext& context, int64_t otherwise);

/// Refuses an input of another shape.
void CheckInputShape(OperatorContext& context, int input, const std::vector<int64_t>& expected);

/// Of a vector [directions, rows * hidden]: rows `first` to `first + rows` of a direction, each
/// with zeros up to `width`, side by side: [rows * width].
tensor::Tensor GateVector(OperatorContext& context, const tensor::Tensor& x, int direction,
                          int first, int rows, int64_t hidden, int64_t width);

/// The sum of a direction's biases.
std::optional<tensor::Tensor> SumOfBiases(OperatorContext& context,
                                          const RecurrentDirection& direction);

/// The gates of a step: the recurrence's part, of gates 0 to `gates`, and the input's.
tensor::Tensor GatesOf(OperatorContext& context, const RecurrentDirection& direction,
                       const RecurrentStep& step, int gates);

// The operators' cells, one file each.
const RecurrentCell& GruCell();
const RecurrentCell& LstmCell();
const RecurrentCell& RnnCell();

void ImportDynamicQuantizeLstm(OperatorContext& context);

}  // namespace bayloom::graph
