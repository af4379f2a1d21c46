// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Which operators of floats can be imported on integers.
#include <algorithm>
#include <array>
#include <map>

#include "bayloom/graph/operators/integer_operators.h"
#include "bayloom/graph/operators/scaled_sum.h"

namespace bayloom::graph {
namespace {

/// Operators that only choose elements of their first input: bytes instead of floats do as well.
constexpr std::array<std::string_view, 13> kMoves = {
    "DepthToSpace", "Expand", "Flatten", "Gather", "Identity",  "Reshape",  "Slice",
    "SpaceToDepth", "Split",  "Squeeze", "Tile",   "Transpose", "Unsqueeze"};

/// The same for the greatest of elements: dequantization keeps their order.
bool IsPoolOfMaxima(const OperatorContext& context, std::string_view name) {
  return name == "MaxPool" && !context.WantsOutput(1);
}

/// What of the nearest elements makes a larger image.
bool IsNearestResize(OperatorContext& context, std::string_view name) {
  return name == "Resize" && context.String("mode", "nearest") == "nearest" &&
         context.String("coordinate_transformation_mode", "half_pixel") != "tf_crop_and_resize";
}

bool Moves(OperatorContext& context, std::string_view name) {
  return std::ranges::find(kMoves, name) != kMoves.end() || IsPoolOfMaxima(context, name) ||
         IsNearestResize(context, name);
}

/// Imports the operator on the bytes of its first input, whose scale and zero point its outputs
/// have, too.
bool MoveOnIntegers(const Operator& op, OperatorContext& context) {
  if (!Moves(context, op.name)) return false;
  const std::optional<ScaledSum> sum = SumInput(context, 0);
  if (!sum || sum->terms.size() != 1 || sum->offset) return false;
  const ScaledTerm& term = sum->terms[0];
  if (!term.IsOfBytes() || !term.IsUniform() || term.integers.shape() != sum->shape) return false;
  std::vector<std::optional<tensor::Tensor>> inputs = {term.integers};
  for (int i = 1; i < context.input_count(); ++i) {
    inputs.push_back(context.HasInput(i) ? std::optional(context.Input(i)) : std::nullopt);
  }
  OperatorContext on_bytes(context.builder(), context.node(), context.opset(), std::move(inputs),
                           nullptr);
  op.import(on_bytes);
  for (size_t i = 0; i < on_bytes.outputs().size(); ++i) {
    const std::optional<tensor::Tensor>& moved = on_bytes.outputs()[i];
    if (!moved) continue;
    ScaledSum result = *sum;
    result.shape = moved->shape();
    result.terms[0].integers = *moved;
    context.SetOutput(static_cast<int>(i), WriteFloats(context, "dequantize", std::move(result)));
  }
  return true;
}

/// Notes what a concatenation consists of: it can be quantized part by part.
void NoteJoin(OperatorContext& context) {
  const std::vector<tensor::Tensor> parts = context.Inputs();
  KnownFloats& known = context.builder().known_floats();
  const bool any = std::ranges::any_of(parts, [&](const tensor::Tensor& part) {
    return known.FindSum(part) || known.FindJoined(part);
  });
  const tensor::Tensor& joined = *context.outputs()[0];
  if (!any || parts.size() < 2) return;
  known.Note(joined, JoinedFloats{parts, context.Axis("axis", std::nullopt, Rank(joined))});
}

using ImportFunction = bool (*)(OperatorContext&);

ImportFunction FindImportOnIntegers(std::string_view name) {
  static const std::map<std::string_view, ImportFunction> table = {
      {"Add", AddOnIntegers},       {"AveragePool", AveragePoolOnIntegers},
      {"Clip", ClipOnIntegers},     {"Conv", ConvOnIntegers},
      {"Gemm", GemmOnIntegers},     {"GlobalAveragePool", GlobalAveragePoolOnIntegers},
      {"MatMul", MatMulOnIntegers}, {"Mul", MulOnIntegers},
      {"Relu", ReluOnIntegers},
  };
  const auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace

void ImportOnIntegersOrFloats(const Operator& op, OperatorContext& context) {
  if (!op.domain.empty()) return op.import(context);
  const ImportFunction import = FindImportOnIntegers(op.name);
  if ((import && import(context)) || MoveOnIntegers(op, context)) return;
  op.import(context);
  if (op.name == "Concat") NoteJoin(context);
}

}  // namespace bayloom::graph
