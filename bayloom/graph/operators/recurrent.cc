// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// The recurrent operators, and those with float weights.
#include <fmt/format.h>

#include <map>
#include <memory>

#include "bayloom/graph/operators/recurrence.h"

namespace bayloom::graph {
namespace {

/// Weights [directions, gates * hidden, inner] of some gates as a right operand.
tensor::Tensor GateMatrix(OperatorContext& context, const GateWeights& weights, int first,
                          int gates) {
  const tensor::Tensor w = context.Input(weights.input);
  const int64_t hidden = weights.hidden, width = weights.width, inner = w.shape()[2];
  const tensor::Tensor packed =
      context.builder().Map("pack", {weights.inner, gates, width}, [&](const Exprs& place) {
        const tensor::Expr row = (place[1] + tensor::Expr(first)) * tensor::Expr(hidden) + place[2];
        const tensor::Expr element = w(weights.direction, row, place[0]);
        if (hidden == width && inner == weights.inner) return element;
        return tensor::Select(place[2] < tensor::Expr(hidden) && place[0] < tensor::Expr(inner),
                              element, LiteralLike(0, element));
      });
  return context.builder().View(packed, {weights.inner, gates * width});
}

GateProduct FloatGateProduct(OperatorContext& context, const GateWeights& weights) {
  // Packed once, for all steps.
  auto packed = std::make_shared<std::map<std::pair<int, int>, tensor::Tensor>>();
  return [&context, weights, packed](const tensor::Tensor& a, int first, int gates) {
    const auto [known, is_new] = packed->try_emplace({first, gates});
    if (is_new) known->second = GateMatrix(context, weights, first, gates);
    return Contract(context, a, known->second);
  };
}

template <const RecurrentCell& (*Cell)()>
void ImportFloat(OperatorContext& context) {
  const std::vector<int64_t> x = context.Input(0).shape(), recurrent = context.Input(2).shape();
  if (recurrent.size() != 3 || x.size() != 3) context.Refuse("inputs 0 and 2 need 3 dimensions");
  const int64_t hidden = HiddenSize(context, recurrent[2]);
  const int64_t directions = context.String("direction", "forward") == "bidirectional" ? 2 : 1;
  CheckInputShape(context, 1, {directions, Cell().gates * hidden, x[2]});
  CheckInputShape(context, 2, {directions, Cell().gates * hidden, hidden});
  ImportRecurrent(context, Cell(), hidden, FloatGateProduct);
}

}  // namespace

std::span<const Operator> RecurrentOperators() {
  static const Operator operators[] = {
      {"DynamicQuantizeLSTM", ImportDynamicQuantizeLstm, "com.microsoft"},
      {"GRU", ImportFloat<GruCell>},
      {"LSTM", ImportFloat<LstmCell>},
      {"RNN", ImportFloat<RnnCell>},
  };
  return operators;
}

}  // namespace bayloom::graph
