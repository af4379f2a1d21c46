// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Tensors made from nothing: constants and regular sequences.
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "bayloom/graph/import/onnx_tensor.h"
#include "bayloom/graph/operators/helpers.h"

namespace bayloom::graph {
namespace {

tensor::HostTensor FromFloats(const std::vector<float>& values, std::vector<int64_t> shape) {
  tensor::HostTensor tensor{tensor::DType::kFloat32, std::move(shape),
                            std::vector<std::byte>(values.size() * 4)};
  if (!values.empty()) std::memcpy(tensor.data.data(), values.data(), tensor.data.size());
  return tensor;
}

void ConstantOperator(OperatorContext& context) {
  if (context.HasAttribute("value_int")) {
    return context.SetOutput(0, IntConstant(context, {context.Int("value_int")}, {}));
  }
  if (context.HasAttribute("value_ints")) {
    const std::vector<int64_t> values = context.Ints("value_ints");
    return context.SetOutput(0,
                             IntConstant(context, values, {static_cast<int64_t>(values.size())}));
  }
  tensor::HostTensor tensor;
  const SmallType* small = nullptr;
  if (context.HasAttribute("value_float")) {
    tensor = FromFloats({context.Float("value_float")}, {});
  } else if (context.HasAttribute("value_floats")) {
    const std::vector<float> values = context.Floats("value_floats");
    tensor = FromFloats(values, {static_cast<int64_t>(values.size())});
  } else {
    tensor = context.TensorAttribute("value");
    small = context.SmallTypeOfAttribute("value");
  }
  context.SetOutput(0, context.builder().Constant("constant", std::move(tensor)), small);
}

void ConstantOfShape(OperatorContext& context) {
  const std::vector<int64_t> shape = context.LengthsInput(0);
  tensor::Expr value = tensor::FloatLiteral(0);
  const SmallType* small = nullptr;
  if (context.HasAttribute("value")) {
    small = context.SmallTypeOfAttribute("value");
    const tensor::HostTensor tensor = context.TensorAttribute("value");
    if (tensor.ElementCount() != 1) context.Refuse("attribute value has to have one element");
    value = tensor::IsFloat(tensor.dtype) ? tensor::Literal(tensor.Get(0), tensor.dtype)
                                          : tensor::IntLiteral(tensor.GetInt(0), tensor.dtype);
  }
  context.SetOutput(
      0, context.builder().Map("constantofshape", shape, [&](const Exprs&) { return value; }),
      small);
}

/// From a start to a limit that are known when the network runs.
void FoundRange(OperatorContext& context) {
  const tensor::DType dtype = context.Input(0).dtype(), wide = tensor::DType::kFloat64;
  const tensor::Expr start = ScalarInput(context, 0), limit = ScalarInput(context, 1),
                     delta = ScalarInput(context, 2);
  const bool counts = start->op == tensor::ExprOp::kInt && start->int_value == 0 &&
                      delta->op == tensor::ExprOp::kInt && delta->int_value == 1;
  const tensor::Tensor count = context.builder().Map("range.count", {}, [&](const Exprs&) {
    if (counts) {
      return tensor::Max(tensor::Cast(tensor::DType::kInt64, limit), tensor::Expr(0));
    }
    const tensor::Expr distance = tensor::Cast(wide, limit) - tensor::Cast(wide, start);
    const tensor::Expr steps =
        tensor::Unary(tensor::ExprOp::kCeil, distance / tensor::Cast(wide, delta));
    return tensor::Max(tensor::Cast(tensor::DType::kInt64, steps), tensor::Expr(0));
  });
  const int64_t length = context.FindLength(count, 0, 0, context.BoundOfLast(0));
  context.SetOutput(0, context.builder().Map("range", {length}, [&](const Exprs& place) {
    return start + tensor::Cast(dtype, place[0]) * delta;
  }));
}

void Range(OperatorContext& context) {
  const tensor::DType dtype = context.Input(0).dtype();
  for (int k = 0; k < 3; ++k) {
    if (!context.ConstantInput(k)) return FoundRange(context);
  }
  double bounds[3];
  for (int k = 0; k < 3; ++k) bounds[k] = context.NumberInput(k);
  const double steps = std::ceil((bounds[1] - bounds[0]) / bounds[2]);
  if (!std::isfinite(steps) || steps > 0x1p40) {
    context.Refuse(
        fmt::format("a range from {} to {} in steps of {}", bounds[0], bounds[1], bounds[2]));
  }
  const int64_t count = steps > 0 ? static_cast<int64_t>(steps) : 0;
  const bool is_half = tensor::IsFloat(dtype) && tensor::ByteSize(dtype) == 2;
  const bool is_wide = is_half && context.Int("stash_type", 1) == 1;
  const tensor::DType computed = is_wide ? tensor::DType::kFloat32 : dtype;
  context.SetOutput(0, context.builder().Map("range", {count}, [&](const Exprs& place) {
    return tensor::Cast(
        dtype, tensor::Literal(bounds[0], computed) +
                   tensor::Cast(computed, place[0]) * tensor::Literal(bounds[2], computed));
  }));
}

void EyeLike(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  if (x.shape().size() != 2) context.Refuse("the input needs 2 dimensions");
  tensor::DType dtype = x.dtype();
  if (context.HasAttribute("dtype")) {
    const int64_t type = context.Int("dtype");
    dtype = DTypeFromOnnx(type > 0 && type < 1000 ? static_cast<int>(type) : 0);
  }
  const int64_t k = context.Int("k", 0);
  if (std::abs(static_cast<double>(k)) > 0x1p41) context.Refuse("a diagonal outside the matrix");
  context.SetOutput(0, context.builder().Map("eyelike", x.shape(), [&](const Exprs& place) {
    return tensor::Select(tensor::Equal(place[0] + tensor::Expr(k), place[1]),
                          tensor::Literal(1, dtype), tensor::Literal(0, dtype));
  }));
}

}  // namespace

std::span<const Operator> GenerationOperators() {
  static const Operator operators[] = {
      {"Constant", ConstantOperator},
      {"ConstantOfShape", ConstantOfShape},
      {"EyeLike", EyeLike},
      {"Range", Range},
  };
  return operators;
}

}  // namespace bayloom::graph
