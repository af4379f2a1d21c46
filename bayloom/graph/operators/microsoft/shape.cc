// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Operators that differ from ONNX's in little but their spelling.
#include <fmt/format.h>

#include "bayloom/graph/operators/apply.h"
#include "bayloom/graph/operators/microsoft.h"

namespace bayloom::graph::microsoft {
namespace {

void ExpandDims(OperatorContext& context) {
  const int64_t axis = context.IntInput(1);
  context.SetOutput(0, ApplyOperator(context, "Unsqueeze",
                                     {context.Input(0), IntConstant(context, {axis}, {1})}));
}

void GatherND(OperatorContext& context) {
  context.SetOutput(0, ApplyOperator(context, "GatherND", {context.Input(0), context.Input(1)}));
}

/// [1, n] pads are accepted as well as [n].
void Pad(OperatorContext& context) {
  const tensor::Tensor pads = context.Input(1);
  const tensor::Tensor flat = context.builder().View(pads, {CheckedElementCount(pads.shape())});
  context.SetOutput(
      0, ApplyOperator(context, "Pad", {context.Input(0), flat, OptionalInput(context, 2)},
                       {{}, {"mode"}}));
}

void Range(OperatorContext& context) {
  const tensor::Tensor step =
      context.HasInput(2) ? context.Input(2) : Filled(context, 1, context.Input(0).dtype(), {});
  context.SetOutput(0, ApplyOperator(context, "Range", {context.Input(0), context.Input(1), step}));
}

void TorchEmbedding(OperatorContext& context) {
  context.SetOutput(0, ApplyOperator(context, "Gather", {context.Input(0), context.Input(1)}));
}

void Trilu(OperatorContext& context) {
  context.SetOutput(0,
                    ApplyOperator(context, "Trilu", {context.Input(0), OptionalInput(context, 1)},
                                  {{}, {"upper"}}));
}

/// Windows along an axis, which go to a new last axis.
void UnfoldTensor(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const int axis = context.Axis("dim", -1, Rank(x));
  const int64_t size = context.Int("size"), step = context.Int("step", 1);
  if (size < 1 || step < 1 || size > x.shape()[axis]) {
    context.Refuse(fmt::format("windows of {} in steps of {}", size, step));
  }
  std::vector<int64_t> shape = x.shape();
  shape[axis] = (shape[axis] - size) / step + 1;
  shape.push_back(size);
  context.SetOutput(0, context.builder().Map("unfold", shape, [&](const Exprs& s) {
    Exprs place(s.begin(), s.end() - 1);
    place[axis] = s[axis] * tensor::Expr(step) + s.back();
    return x.At(place);
  }));
}

/// Distances of all pairs of rows.
void CDist(OperatorContext& context) {
  const std::string metric = context.String("metric", "sqeuclidean");
  if (metric != "euclidean" && metric != "sqeuclidean") {
    context.RefuseAttribute("metric", metric, "has to be euclidean or sqeuclidean");
  }
  const tensor::Tensor a = context.Input(0), b = context.Input(1);
  if (Rank(a) != 2 || Rank(b) != 2 || a.shape()[1] != b.shape()[1]) {
    context.Refuse("the operands need rows of equal length");
  }
  const tensor::Tensor squares =
      context.builder().Reduce("cdist", {a.shape()[0], b.shape()[0]}, {{"k", a.shape()[1]}},
                               tensor::Reduction::kSum, [&](const Exprs& s, const Exprs& r) {
                                 const tensor::Expr difference = a(s[0], r[0]) - b(s[1], r[0]);
                                 return difference * difference;
                               });
  context.SetOutput(0, metric == "euclidean" ? ApplyOperator(context, "Sqrt", {squares}) : squares);
}

}  // namespace

std::span<const Operator> ShapeOperators() {
  static const Operator operators[] = {
      {"CDist", CDist, kDomain},       {"ExpandDims", ExpandDims, kDomain},
      {"GatherND", GatherND, kDomain}, {"Pad", Pad, kDomain},
      {"Range", Range, kDomain},       {"TorchEmbedding", TorchEmbedding, kDomain},
      {"Trilu", Trilu, kDomain},       {"UnfoldTensor", UnfoldTensor, kDomain},
  };
  return operators;
}

}  // namespace bayloom::graph::microsoft
