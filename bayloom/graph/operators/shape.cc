// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Operators that only concern shapes: views of the same elements, and questions about shapes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "bayloom/graph/operators/helpers.h"
#include "bayloom/graph/operators/repeated.h"

namespace bayloom::graph {
namespace {

void Identity(OperatorContext& context) { context.SetOutput(0, context.InputValue(0)); }

/// 0 copies the input's extent (unless allowzero), one -1 takes what remains.
void Reshape(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  std::vector<int64_t> shape = context.opset() < 5 ? context.Ints("shape") : context.IntsInput(1);
  const bool allow_zero = context.Int("allowzero", 0) != 0;
  int64_t known = 1;
  std::optional<size_t> open;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0 && !allow_zero) {
      if (d >= x.shape().size()) context.Refuse("shape copies an extent that the input lacks");
      shape[d] = x.shape()[d];
    }
    if (shape[d] == -1) {
      if (open) context.Refuse("shape has more than one -1");
      open = d;
      continue;
    }
    known = CheckedElementCount({known, shape[d]});
  }
  const int64_t elements = CheckedElementCount(x.shape());
  if (open) {
    if (known == 0 || elements % known != 0) {
      context.Refuse(
          fmt::format("{} elements do not divide into [{}]", elements, fmt::join(shape, ", ")));
    }
    shape[*open] = elements / known;
  }
  const tensor::Tensor shaped = context.builder().View(x, shape);
  NoteReshaped(context, x, shaped);
  context.SetOutput(0, shaped);
}

void Flatten(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  int64_t axis = context.Int("axis", 1);
  if (axis < -Rank(x) || axis > Rank(x)) {
    context.RefuseAttribute("axis", fmt::format("{}", axis),
                            fmt::format("the input has {} dimensions", Rank(x)));
  }
  if (axis < 0) axis += Rank(x);
  const std::vector<int64_t> outer(x.shape().begin(), x.shape().begin() + axis);
  const std::vector<int64_t> inner(x.shape().begin() + axis, x.shape().end());
  context.SetOutput(
      0, context.builder().View(x, {CheckedElementCount(outer), CheckedElementCount(inner)}));
}

std::vector<int64_t> AxesArgument(OperatorContext& context) {
  return context.HasInput(1) ? context.IntsInput(1) : context.Ints("axes");
}

void Squeeze(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const std::vector<int64_t> given = AxesArgument(context);
  std::vector<int> axes = context.CheckAxes(given, Rank(x));
  std::vector<int64_t> shape;
  for (int d = 0; d < Rank(x); ++d) {
    const bool squeezed = given.empty() ? x.shape()[d] == 1 : Contains(axes, d);
    if (squeezed && x.shape()[d] != 1) {
      context.Refuse(fmt::format("axis {} has the extent {}, not 1", d, x.shape()[d]));
    }
    if (!squeezed) shape.push_back(x.shape()[d]);
  }
  context.SetOutput(0, context.builder().View(x, shape));
}

void Unsqueeze(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const std::vector<int64_t> given = AxesArgument(context);
  const int rank = Rank(x) + static_cast<int>(given.size());
  const std::vector<int> axes = context.CheckAxes(given, rank);
  std::vector<int64_t> shape;
  for (int d = 0, next = 0; d < rank; ++d) {
    shape.push_back(Contains(axes, d) ? 1 : x.shape()[next++]);
  }
  context.SetOutput(0, context.builder().View(x, shape));
}

void Shape(OperatorContext& context) {
  const std::vector<int64_t> shape = context.Input(0).shape();
  const int64_t rank = static_cast<int64_t>(shape.size());
  const auto bound = [&](int64_t at) {
    return std::clamp(at < 0 ? at + rank : at, int64_t{0}, rank);
  };
  const int64_t start = bound(context.Int("start", 0));
  const int64_t end = std::max(start, bound(context.Int("end", rank)));
  const std::vector<int64_t> part(shape.begin() + start, shape.begin() + end);
  context.SetOutput(0, IntConstant(context, part, {end - start}));
}

void Size(OperatorContext& context) {
  const int64_t elements = CheckedElementCount(context.Input(0).shape());
  context.SetOutput(0, IntConstant(context, {elements}, {}));
}

/// In inference nothing is dropped.
void Dropout(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  if (context.HasInput(2)) {
    const double training = context.NumberInput(2);
    const double ratio = context.HasInput(1) ? context.NumberInput(1) : 0.5;
    if (training != 0 && ratio != 0) {
      context.Refuse("training_mode is set: random dropping is not supported");
    }
  }
  context.SetOutput(0, x);
  if (context.WantsOutput(1)) {
    context.SetOutput(1, context.builder().Map("mask", x.shape(), [](const Exprs&) {
      return tensor::BoolLiteral(true);
    }));
  }
}

}  // namespace

std::span<const Operator> ShapeOperators() {
  static const Operator operators[] = {
      {"Dropout", Dropout}, {"Flatten", Flatten}, {"Identity", Identity}, {"Reshape", Reshape},
      {"Shape", Shape},     {"Size", Size},       {"Squeeze", Squeeze},   {"Unsqueeze", Unsqueeze},
  };
  return operators;
}

}  // namespace bayloom::graph
