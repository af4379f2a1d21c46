// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// The cell of RNN: one gate, which is the state.
#include "bayloom/graph/operators/recurrence.h"

namespace bayloom::graph {
namespace {

std::vector<tensor::Tensor> RnnStep(OperatorContext& context, const RecurrentDirection& direction,
                                    const RecurrentStep& step) {
  const tensor::Tensor gates = GatesOf(context, direction, step, 1);
  return {context.builder().Map("rnn.hidden", gates.shape(), [&](const Exprs& place) {
    return step.Keep(direction.Activate(0, gates.At(place)), 0, place);
  })};
}

}  // namespace

const RecurrentCell& RnnCell() {
  static const auto* cell = new RecurrentCell{
      .gates = 1,
      .activations = {"Tanh"},
      .state_inputs = {5},
      .peephole_input = -1,
      .product_bias = SumOfBiases,
      .step = RnnStep,
  };
  return *cell;
}

}  // namespace bayloom::graph
