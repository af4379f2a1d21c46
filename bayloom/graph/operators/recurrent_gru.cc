// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// The cell of GRU. Gates are in the order update, reset, hidden.
#include "bayloom/graph/operators/recurrence.h"

namespace bayloom::graph {
namespace {

constexpr int kUpdateGate = 0, kResetGate = 1, kHiddenGate = 2;
constexpr int kGruGateFunction = 0, kGruHiddenFunction = 1;

bool ResetsAfterProduct(OperatorContext& context) {
  return context.Int("linear_before_reset", 0) != 0;
}

/// The recurrence's bias of the hidden gate is reset too, if that comes after its product.
std::optional<tensor::Tensor> GruProductBias(OperatorContext& context,
                                             const RecurrentDirection& direction) {
  if (!direction.input_bias || !ResetsAfterProduct(context)) return SumOfBiases(context, direction);
  const tensor::Tensor &input = *direction.input_bias, &recurrent = *direction.recurrent_bias;
  return context.builder().Map("bias", input.shape(), [&](const Exprs& place) {
    const tensor::Expr sum = input.At(place) + recurrent.At(place);
    return tensor::Select(place[0] < tensor::Expr(kHiddenGate * direction.width), sum,
                          input.At(place));
  });
}

/// The columns of one gate.
tensor::Expr GateOf(const tensor::Tensor& gates, int k, const RecurrentDirection& direction,
                    const Exprs& place) {
  return gates(place[0], place[1] + tensor::Expr(k * direction.width));
}

/// The state from the gates; `update` and `candidate` of an element.
tensor::Expr Blend(const RecurrentStep& step, const tensor::Expr& update,
                   const tensor::Expr& candidate, const Exprs& place) {
  const tensor::Expr fresh = (LiteralLike(1, update) - update) * candidate;
  if (step.state.empty()) return fresh;
  return step.Keep(fresh + update * step.state[0].At(place), 0, place);
}

/// One product for all gates, of which the reset gate scales the hidden gate's.
tensor::Tensor ResetAfter(OperatorContext& context, const RecurrentDirection& direction,
                          const RecurrentStep& step) {
  std::optional<tensor::Tensor> recurrent;
  if (!step.state.empty()) recurrent = direction.recurrent(step.state[0], 0, 3);
  const std::vector<int64_t> shape = {step.product.shape()[0], direction.width};
  return context.builder().Map("gru.hidden", shape, [&](const Exprs& place) {
    const auto gate = [&](int k) {
      const tensor::Expr input = GateOf(step.product, k, direction, place);
      return direction.Activate(
          kGruGateFunction, recurrent ? input + GateOf(*recurrent, k, direction, place) : input);
    };
    tensor::Expr hidden = GateOf(step.product, kHiddenGate, direction, place);
    tensor::Expr behind;
    if (recurrent) behind = GateOf(*recurrent, kHiddenGate, direction, place);
    if (direction.recurrent_bias) {
      const tensor::Expr bias =
          (*direction.recurrent_bias)(place[1] + tensor::Expr(kHiddenGate * direction.width));
      behind = behind.defined() ? behind + bias : bias;
    }
    if (behind.defined()) hidden = hidden + gate(kResetGate) * behind;
    return Blend(step, gate(kUpdateGate), direction.Activate(kGruHiddenFunction, hidden), place);
  });
}

/// The hidden gate's product is that of the state after the reset.
tensor::Tensor ResetBefore(OperatorContext& context, const RecurrentDirection& direction,
                           const RecurrentStep& step) {
  const tensor::Tensor gates = GatesOf(context, direction, step, 2);
  const std::vector<int64_t> shape = {gates.shape()[0], direction.width};
  std::optional<tensor::Tensor> recurrent;
  if (!step.state.empty()) {
    const tensor::Tensor reset = context.builder().Map("gru.reset", shape, [&](const Exprs& place) {
      const tensor::Expr gate = GateOf(gates, kResetGate, direction, place);
      return direction.Activate(kGruGateFunction, gate) * step.state[0].At(place);
    });
    recurrent = direction.recurrent(reset, kHiddenGate, 1);
  }
  return context.builder().Map("gru.hidden", shape, [&](const Exprs& place) {
    tensor::Expr hidden = GateOf(step.product, kHiddenGate, direction, place);
    if (recurrent) hidden = recurrent->At(place) + hidden;
    const tensor::Expr update =
        direction.Activate(kGruGateFunction, GateOf(gates, kUpdateGate, direction, place));
    return Blend(step, update, direction.Activate(kGruHiddenFunction, hidden), place);
  });
}

std::vector<tensor::Tensor> GruStep(OperatorContext& context, const RecurrentDirection& direction,
                                    const RecurrentStep& step) {
  return {ResetsAfterProduct(context) ? ResetAfter(context, direction, step)
                                      : ResetBefore(context, direction, step)};
}

}  // namespace

const RecurrentCell& GruCell() {
  static const auto* cell = new RecurrentCell{
      .gates = 3,
      .activations = {"Sigmoid", "Tanh"},
      .state_inputs = {5},
      .peephole_input = -1,
      .product_bias = GruProductBias,
      .step = GruStep,
  };
  return *cell;
}

}  // namespace bayloom::graph
