// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// The cell of LSTM. Gates are in the order input, output, forget, cell; peepholes too.
#include "bayloom/graph/operators/recurrence.h"

namespace bayloom::graph {
namespace {

constexpr int kInputGate = 0, kOutputGate = 1, kForgetGate = 2, kCellGate = 3;
constexpr int kLstmGateFunction = 0, kLstmCellFunction = 1, kLstmHiddenFunction = 2;
constexpr int kHiddenState = 0, kCellState = 1;

std::vector<tensor::Tensor> LstmStep(OperatorContext& context, const RecurrentDirection& direction,
                                     const RecurrentStep& step) {
  const tensor::Tensor gates = GatesOf(context, direction, step, 4);
  const bool couples = context.Int("input_forget", 0) != 0;
  const std::vector<int64_t> shape = {gates.shape()[0], direction.width};
  /// Gate `k` that sees the cell's state; where that is undefined it is zero.
  const auto gate = [&](int k, const Exprs& place, const tensor::Expr& cell) {
    const tensor::Expr column = place[1] + tensor::Expr(k * direction.width);
    tensor::Expr sum = gates(place[0], column);
    if (direction.peepholes && cell.defined()) sum = sum + (*direction.peepholes)(column)*cell;
    return direction.Activate(kLstmGateFunction, sum);
  };
  const tensor::Tensor cell = context.builder().Map("lstm.cell", shape, [&](const Exprs& place) {
    const tensor::Expr column = place[1] + tensor::Expr(kCellGate * direction.width);
    const tensor::Expr candidate = direction.Activate(kLstmCellFunction, gates(place[0], column));
    if (step.state.empty()) return gate(kInputGate, place, {}) * candidate;
    const tensor::Expr before = step.state[kCellState].At(place);
    const tensor::Expr input = gate(kInputGate, place, before);
    const tensor::Expr forget =
        couples ? LiteralLike(1, input) - input : gate(kForgetGate, place, before);
    return step.Keep(forget * before + input * candidate, kCellState, place);
  });
  const tensor::Tensor hidden =
      context.builder().Map("lstm.hidden", shape, [&](const Exprs& place) {
        const tensor::Expr now = cell.At(place);
        const tensor::Expr output =
            gate(kOutputGate, place, now) * direction.activations[kLstmHiddenFunction](now);
        return step.Keep(output, kHiddenState, place);
      });
  return {hidden, cell};
}

}  // namespace

const RecurrentCell& LstmCell() {
  static const auto* cell = new RecurrentCell{
      .gates = 4,
      .activations = {"Sigmoid", "Tanh", "Tanh"},
      .state_inputs = {5, 6},
      .peephole_input = 7,
      .product_bias = SumOfBiases,
      .step = LstmStep,
  };
  return *cell;
}

}  // namespace bayloom::graph
