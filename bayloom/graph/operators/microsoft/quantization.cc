// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Operators on quantized tensors: dequantized, computed, quantized again.
#include "bayloom/graph/operators/quantization.h"

#include <fmt/format.h>

#include "bayloom/graph/operators/apply.h"
#include "bayloom/graph/operators/microsoft.h"

namespace bayloom::graph::microsoft {
namespace {

/// Inputs `first` (quantized), `first + 1` (scale) and `first + 2` (zero point) as a float tensor.
tensor::Tensor Dequantized(OperatorContext& context, int first) {
  return ApplyOperator(
      context, "DequantizeLinear",
      {context.Input(first), context.Input(first + 1), OptionalInput(context, first + 2)});
}

/// Quantizes with the scale and zero point of inputs `scale` and `scale + 1`; without a zero point
/// the type is that of `like`.
tensor::Tensor Quantized(OperatorContext& context, const tensor::Tensor& y, int scale,
                         const tensor::Tensor& like) {
  const std::optional<tensor::Tensor> zero = OptionalInput(context, scale + 1);
  return ApplyOperator(
      context, "QuantizeLinear",
      {y, context.Input(scale), zero ? *zero : Filled(context, 0, like.dtype(), {})});
}

void BinaryQuantized(OperatorContext& context, const std::string& name) {
  const tensor::Tensor y =
      ApplyOperator(context, name, {Dequantized(context, 0), Dequantized(context, 3)});
  context.SetOutput(0, Quantized(context, y, 6, context.Input(0)));
}
void QLinearAdd(OperatorContext& context) { BinaryQuantized(context, "Add"); }
void QLinearMul(OperatorContext& context) { BinaryQuantized(context, "Mul"); }

void UnaryQuantized(OperatorContext& context, const std::string& name,
                    const Attributes& attributes = {}) {
  const tensor::Tensor y = ApplyOperator(context, name, {Dequantized(context, 0)}, attributes);
  context.SetOutput(0, Quantized(context, y, 3, context.Input(0)));
}
void QLinearSigmoid(OperatorContext& context) { UnaryQuantized(context, "Sigmoid"); }
void QLinearLeakyRelu(OperatorContext& context) {
  UnaryQuantized(context, "LeakyRelu", {{}, {"alpha"}});
}
void QLinearReduceMean(OperatorContext& context) {
  UnaryQuantized(context, "ReduceMean", {{}, {"axes", "keepdims"}});
}

/// Before operator set 13 of the Softmax it stands for, all axes from `axis` on are one.
void QLinearSoftmax(OperatorContext& context) {
  tensor::Tensor x = Dequantized(context, 0);
  const std::vector<int64_t> shape = x.shape();
  int axis = context.Axis("axis", -1, Rank(x));
  if (context.Int("opset") < 13) {
    const std::vector<int64_t> rows(shape.begin(), shape.begin() + axis);
    const std::vector<int64_t> row(shape.begin() + axis, shape.end());
    x = context.builder().View(x, {CheckedElementCount(rows), CheckedElementCount(row)});
    axis = 1;
  }
  const tensor::Tensor y = ApplyOperator(context, "Softmax", {x}, {{{"axis", int64_t{axis}}}});
  context.SetOutput(0, Quantized(context, context.builder().View(y, shape), 3, context.Input(0)));
}

/// A pool of the dequantized image, whose channels may be the last axis.
void PoolQuantized(OperatorContext& context, const std::string& name,
                   const Attributes& attributes) {
  tensor::Tensor x = Dequantized(context, 0);
  const bool channels_last = context.Int("channels_last", 0) != 0;
  if (Rank(x) < 3) context.Refuse("the input needs 3 dimensions at least");
  if (channels_last) {
    const std::vector<int> order = ChannelsFirst(Rank(x));
    x = ApplyOperator(context, "Transpose", {x},
                      {{{"perm", std::vector<int64_t>(order.begin(), order.end())}}});
  }
  const tensor::Tensor y = ApplyOperator(context, name, {x}, attributes);
  const tensor::Tensor levels = Quantized(context, y, 3, context.Input(0));
  context.SetOutput(0,
                    channels_last ? Permute(context, levels, ChannelsLast(Rank(levels))) : levels);
}
void QLinearGlobalAveragePool(OperatorContext& context) {
  PoolQuantized(context, "GlobalAveragePool", {});
}
void QLinearAveragePool(OperatorContext& context) {
  PoolQuantized(
      context, "AveragePool",
      {{}, {"auto_pad", "ceil_mode", "count_include_pad", "kernel_shape", "pads", "strides"}});
}

void QLinearWhere(OperatorContext& context) {
  const tensor::Tensor y = ApplyOperator(
      context, "Where", {context.Input(0), Dequantized(context, 1), Dequantized(context, 4)});
  context.SetOutput(0, Quantized(context, y, 7, context.Input(1)));
}

void QLinearConcat(OperatorContext& context) {
  std::vector<std::optional<tensor::Tensor>> parts;
  if (context.input_count() < 5 || context.input_count() % 3 != 2) {
    context.Refuse("needs a scale, a zero point and triples of tensor, scale and zero point");
  }
  for (int i = 2; i < context.input_count(); i += 3) parts.push_back(Dequantized(context, i));
  const tensor::Tensor y = ApplyOperator(context, "Concat", parts, {{}, {"axis"}});
  context.SetOutput(0, Quantized(context, y, 0, context.Input(2)));
}

/// Without an axis one scale holds for all.
void DequantizeLinear(OperatorContext& context) {
  context.SetOutput(0,
                    ApplyOperator(context, "DequantizeLinear",
                                  {context.Input(0), context.Input(1), OptionalInput(context, 2)},
                                  {{}, {"axis"}}));
}
void QuantizeLinear(OperatorContext& context) {
  context.SetOutput(0,
                    ApplyOperator(context, "QuantizeLinear",
                                  {context.Input(0), context.Input(1), OptionalInput(context, 2)},
                                  {{}, {"axis"}}));
}

/// Products of the integers without their zero points, as int32.
void MulInteger(OperatorContext& context) {
  const tensor::Tensor a = WithoutZeroPoint(context, context.Input(0), 1, 0);
  const tensor::Tensor b = WithoutZeroPoint(context, context.Input(2), 3, 0);
  context.SetOutput(0, ApplyOperator(context, "Mul", {a, b}));
}

void ReduceSumInteger(OperatorContext& context) {
  const tensor::Tensor x = ConvertTo(context, tensor::DType::kInt32, context.Input(0));
  std::vector<int64_t> axes = context.Ints("axes");
  const int64_t count = static_cast<int64_t>(axes.size());
  context.SetOutput(0, ApplyOperator(context, "ReduceSum", {x, IntConstant(context, axes, {count})},
                                     {{}, {"keepdims"}}));
}

}  // namespace

std::span<const Operator> QuantizationOperators() {
  static const Operator operators[] = {
      {"DequantizeLinear", DequantizeLinear, kDomain},
      {"MulInteger", MulInteger, kDomain},
      {"QLinearAdd", QLinearAdd, kDomain},
      {"QLinearAveragePool", QLinearAveragePool, kDomain},
      {"QLinearConcat", QLinearConcat, kDomain},
      {"QLinearGlobalAveragePool", QLinearGlobalAveragePool, kDomain},
      {"QLinearLeakyRelu", QLinearLeakyRelu, kDomain},
      {"QLinearMul", QLinearMul, kDomain},
      {"QLinearReduceMean", QLinearReduceMean, kDomain},
      {"QLinearSigmoid", QLinearSigmoid, kDomain},
      {"QLinearSoftmax", QLinearSoftmax, kDomain},
      {"QLinearWhere", QLinearWhere, kDomain},
      {"QuantizeLinear", QuantizeLinear, kDomain},
      {"ReduceSumInteger", ReduceSumInteger, kDomain},
  };
  return operators;
}

}  // namespace bayloom::graph::microsoft
