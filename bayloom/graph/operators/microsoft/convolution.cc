// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Convolutions and pools with activations, residuals or channels last.
#include <fmt/format.h>

#include "bayloom/graph/operators/apply.h"
#include "bayloom/graph/operators/microsoft.h"

namespace bayloom::graph::microsoft {
namespace {

const Attributes& WindowAttributes() {
  static const Attributes attributes{
      {}, {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"}};
  return attributes;
}

/// conv(x, w) + b + z, then the activation.
void ConvWithActivation(OperatorContext& context, bool channels_last) {
  tensor::Tensor x = context.Input(0);
  if (Rank(x) < 3) context.Refuse("the input needs 3 dimensions at least");
  if (channels_last) x = Permute(context, x, ChannelsFirst(Rank(x)));
  tensor::Tensor y = ApplyOperator(
      context, "Conv", {x, context.Input(1), OptionalInput(context, 2)}, WindowAttributes());
  if (channels_last) y = Permute(context, y, ChannelsLast(Rank(y)));
  const std::vector<int64_t> shape = y.shape();
  if (context.HasInput(3)) y = ApplyOperator(context, "Add", {y, context.Input(3)});
  if (y.shape() != shape) context.Refuse("the residual has more elements than the result");
  context.SetOutput(0, Activate(context, y, context.String("activation", ""),
                                context.Floats("activation_params")));
}

void FusedConv(OperatorContext& context) { ConvWithActivation(context, false); }
void NhwcConv(OperatorContext& context) { ConvWithActivation(context, true); }

void NhwcMaxPool(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  if (Rank(x) < 3) context.Refuse("the input needs 3 dimensions at least");
  const tensor::Tensor y = ApplyOperator(
      context, "MaxPool", {Permute(context, x, ChannelsFirst(Rank(x)))},
      {{}, {"auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads", "strides"}});
  context.SetOutput(0, Permute(context, y, ChannelsLast(Rank(x))));
}

void QLinearConv(OperatorContext& context) {
  const bool channels_last = context.Int("channels_last", 0) != 0;
  std::vector<std::optional<tensor::Tensor>> inputs;
  for (int i = 0; i < context.input_count(); ++i) inputs.push_back(OptionalInput(context, i));
  const int rank = Rank(context.Input(0));
  if (rank < 3) context.Refuse("the input needs 3 dimensions at least");
  if (channels_last) inputs[0] = Permute(context, context.Input(0), ChannelsFirst(rank));
  const tensor::Tensor y = ApplyOperator(context, "QLinearConv", inputs, WindowAttributes());
  context.SetOutput(0, channels_last ? Permute(context, y, ChannelsLast(rank)) : y);
}

}  // namespace

std::span<const Operator> ConvolutionOperators() {
  static const Operator operators[] = {
      {"FusedConv", FusedConv, kDomain},     {"NhwcConv", NhwcConv, kDomain},
      {"NhwcFusedConv", NhwcConv, kDomain},  {"NhwcMaxPool", NhwcMaxPool, kDomain},
      {"QLinearConv", QLinearConv, kDomain},
  };
  return operators;
}

}  // namespace bayloom::graph::microsoft
