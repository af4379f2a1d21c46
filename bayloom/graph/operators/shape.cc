// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Operators that only concern shapes: views of the same elements, and questions about shapes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "bayloom/graph/operators/found_axes.h"
#include "bayloom/graph/operators/helpers.h"
#include "bayloom/graph/operators/repeated.h"

namespace bayloom::graph {
namespace {

void Identity(OperatorContext& context) { context.SetOutput(0, context.InputValue(0)); }

/// The elements of x in row-major order under another shape, which may have fewer.
tensor::Tensor Rearranged(OperatorContext& context, const tensor::Tensor& x,
                          const std::vector<int64_t>& shape) {
  const int64_t elements = CheckedElementCount(x.shape());
  return context.builder().Map("reshape", shape, [&](const Exprs& place) {
    tensor::Expr number = 0;
    for (size_t d = 0; d < shape.size(); ++d) {
      number = number * tensor::Expr(shape[d]) + place[d];
    }
    number = ClampedIndex(number, elements);
    Exprs index(x.shape().size());
    for (size_t d = index.size(); d-- > 0;) {
      const tensor::Expr extent = x.shape()[d];
      index[d] = d == 0 ? number : tensor::FloorMod(number, extent);
      number = tensor::FloorDiv(number, extent);
    }
    return x.At(index);
  });
}

/// To a shape that is known when the network runs, or in part.
void FoundReshape(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0), wanted = context.Input(1);
  if (Rank(wanted) != 1 || wanted.dtype() != tensor::DType::kInt64) {
    context.Refuse("the shape is no list of 64-bit integers");
  }
  const bool allow_zero = context.Int("allowzero", 0) != 0;
  const tensor::Expr one = 1, elements = CheckedElementCount(x.shape());
  Exprs lengths;
  tensor::Expr known = 1;
  CheckedElementCount(std::vector<int64_t>(static_cast<size_t>(wanted.shape()[0]), 1));
  for (int64_t d = 0; d < wanted.shape()[0]; ++d) {
    const tensor::Expr given = context.builder().ElementOf(wanted, {d});
    const tensor::Expr copied = d < Rank(x) ? x.shape()[static_cast<size_t>(d)] : int64_t{0};
    if (given->op == tensor::ExprOp::kInt) {
      lengths.push_back(given->int_value == 0 && !allow_zero ? copied : given);
    } else {
      lengths.push_back(allow_zero
                            ? given
                            : tensor::Select(tensor::Equal(given, tensor::Expr(0)), copied, given));
    }
    known = known * tensor::Select(lengths.back() < tensor::Expr(0), one, lengths.back());
  }
  std::vector<int64_t> shape;
  for (size_t d = 0; d < lengths.size(); ++d) {
    const bool is_known = lengths[d]->op == tensor::ExprOp::kInt && lengths[d]->int_value >= 0;
    if (is_known) {
      shape.push_back(lengths[d]->int_value);
      continue;
    }
    const tensor::Tensor count = context.builder().Map("length", {}, [&](const Exprs&) {
      return tensor::Select(lengths[d] < tensor::Expr(0),
                            tensor::FloorDiv(elements, tensor::Max(known, one)), lengths[d]);
    });
    shape.push_back(context.FindLength(count, 0, static_cast<int>(d)));
  }
  const bool is_view = !context.builder().compares_lengths() &&
                       CheckedElementCount(shape) == CheckedElementCount(x.shape());
  context.SetOutput(0, is_view ? context.builder().View(x, shape) : Rearranged(context, x, shape));
}

/// 0 copies the input's extent (unless allowzero), one -1 takes what remains.
void Reshape(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  if (context.opset() >= 5 && !context.ConstantInput(1)) return FoundReshape(context);
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
  return context.HasInput(1) ? KnownAxes(context, 1) : context.Ints("axes");
}

void Squeeze(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  if (HasFoundAxes(context, 1)) {
    return context.SetOutput(0, SqueezeFoundAxes(context, x, ElementsOf(context, 1)));
  }
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
  if (HasFoundAxes(context, 1)) {
    return context.SetOutput(0, UnsqueezeFoundAxes(context, x, ElementsOf(context, 1)));
  }
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

}  // namespace

std::span<const Operator> ShapeOperators() {
  static const Operator operators[] = {
      {"Flatten", Flatten}, {"Identity", Identity}, {"Reshape", Reshape},     {"Shape", Shape},
      {"Size", Size},       {"Squeeze", Squeeze},   {"Unsqueeze", Unsqueeze},
  };
  return operators;
}

}  // namespace bayloom::graph
