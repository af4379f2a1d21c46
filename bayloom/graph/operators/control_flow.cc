// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/operators/control_flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "bayloom/graph/import.h"

namespace bayloom::graph {

void CheckCondition(OperatorContext& context, const tensor::Tensor& condition) {
  if (condition.dtype() == tensor::DType::kBool && CheckedElementCount(condition.shape()) == 1) {
    return;
  }
  context.Refuse("the condition has to be one bool, not " +
                 ToString(condition.dtype(), condition.shape()));
}

tensor::Tensor Choose(OperatorContext& context, const tensor::Tensor& condition,
                      const tensor::Tensor& then, const tensor::Tensor& otherwise) {
  if (then.id() == otherwise.id()) return then;
  const tensor::Tensor chosen = context.builder().View(condition, {});
  return context.builder().Map(context.label(), then.shape(), [&](const Exprs& place) {
    return tensor::Select(chosen.At({}), then.At(place), otherwise.At(place));
  });
}

tensor::Tensor PartOf(OperatorContext& context, const tensor::Tensor& x, int64_t at) {
  const std::vector<int64_t> shape(x.shape().begin() + 1, x.shape().end());
  return context.builder().View(context.builder().Rows(x, at, 1), shape);
}

tensor::Tensor TensorOf(OperatorContext& context, const NamedValue& value) {
  if (!value.tensor) context.Refuse("what is scanned is a sequence");
  return *value.tensor;
}

tensor::Tensor Stack(OperatorContext& context, std::vector<tensor::Tensor> parts, int64_t count) {
  const tensor::Tensor first = parts.at(0);
  std::vector<int64_t> shape = first.shape();
  for (tensor::Tensor& part : parts) {
    if (part.shape() != shape || part.dtype() != first.dtype()) {
      context.Refuse(fmt::format("iterations give {} and {}", ToString(first.dtype(), shape),
                                 ToString(part.dtype(), part.shape())));
    }
    if (shape.empty()) part = context.builder().View(part, {1});
  }
  const int64_t rows = count * parts[0].shape()[0];
  shape.insert(shape.begin(), count);
  return context.builder().View(ConcatenateRows(context, std::move(parts), rows), shape);
}

NamedValue StackValues(OperatorContext& context, const std::vector<NamedValue>& parts,
                       int64_t count) {
  std::vector<tensor::Tensor> tensors;
  for (const NamedValue& part : parts) tensors.push_back(TensorOf(context, part));
  const bool is_one_type =
      std::ranges::all_of(parts, [&](const NamedValue& p) { return p.type == parts[0].type; });
  return {.tensor = Stack(context, std::move(tensors), count),
          .type = is_one_type ? parts[0].type : 0};
}

NamedValue ValueAt(OperatorContext& context, const std::vector<NamedValue>& values, int64_t at) {
  const NamedValue stack = StackValues(context, values, at + 1);
  const tensor::Tensor value = context.builder().Map(
      context.label() + ".last", TensorOf(context, values[0]).shape(), [&](const Exprs& place) {
        Exprs index = place;
        index.insert(index.begin(), tensor::Expr(at));
        return stack.tensor->At(index);
      });
  return {.tensor = value, .type = stack.type};
}

NamedValue ReverseParts(OperatorContext& context, const NamedValue& x) {
  const tensor::Tensor& parts = *x.tensor;
  const tensor::Tensor reversed =
      context.builder().Map(context.label() + ".reverse", parts.shape(), [&](const Exprs& place) {
        Exprs index = place;
        index[0] = CountDown(parts.shape()[0], place[0]);
        return parts.At(index);
      });
  return {.tensor = reversed, .type = x.type};
}

tensor::Tensor EmptyStack(OperatorContext& context, const tensor::Tensor& part) {
  std::vector<int64_t> shape = part.shape();
  shape.insert(shape.begin(), 0);
  return context.builder().Constant("empty", tensor::HostTensor::Zeros(part.dtype(), shape));
}

tensor::Tensor MoveAxis(OperatorContext& context, const tensor::Tensor& x, int from, int to) {
  if (from == to) return x;
  std::vector<int> axes(x.shape().size());
  std::iota(axes.begin(), axes.end(), 0);
  axes.erase(axes.begin() + from);
  axes.insert(axes.begin() + to, from);
  return Permute(context, x, axes);
}

std::span<const Operator> ControlFlowOperators() {
  static const Operator operators[] = {
      {"If", ImportIf},
      {"Loop", ImportLoop},
      {"Scan", ImportScan},
  };
  return operators;
}

}  // namespace bayloom::graph
