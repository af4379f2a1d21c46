// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/graph/operators/operator.h"

namespace bayloom::graph {

/// How many dimensions `x` has.
int Rank(const tensor::Tensor& x);

/// What a reduction without a function of its own reduces: the elements themselves.
tensor::Expr Itself(const tensor::Expr& x);

/// The shape that the shapes broadcast to (NumPy's rule: aligned at the right, extents of 1 give
/// way); refuses when they do not fit.
std::vector<int64_t> BroadcastShape(const OperatorContext& context,
                                    const std::vector<std::vector<int64_t>>& shapes);
/// The element of `tensor` that belongs to a place of a shape it broadcasts to.
tensor::Expr BroadcastAt(const tensor::Tensor& tensor, const Exprs& place);

/// The tensor's only element as a literal; undefined if it has more, or is known at run time only.
tensor::Expr KnownScalar(OperatorContext& context, const tensor::Tensor& tensor);

/// One element per place of the shape that the tensors broadcast to, from their elements there.
/// Known scalars are literals.
tensor::Tensor Elementwise(OperatorContext& context, const std::string& op,
                           const std::vector<tensor::Tensor>& tensors,
                           const std::function<tensor::Expr(const Exprs&)>& function);
tensor::Tensor Elementwise(OperatorContext& context, const std::string& op, const tensor::Tensor& a,
                           const std::function<tensor::Expr(const tensor::Expr&)>& function);

/// An index that may be out of range limited to it. What depends on data has to be, also where a
/// condition on other data says when it is used.
tensor::Expr ClampedIndex(const tensor::Expr& index, int64_t extent);
/// A data-dependent index: negative ones count from the end, those out of range are clamped.
tensor::Expr WrappedIndex(const tensor::Expr& index, int64_t extent);

/// The integers of an input that is a list, element by element.
Exprs ElementsOf(OperatorContext& context, int input);

/// The one element of an input: a number where it is known, else what computes it; refuses more.
tensor::Expr ScalarInput(OperatorContext& context, int input);

/// A literal of the expression's type.
tensor::Expr LiteralLike(double value, const tensor::Expr& like);
/// log(1 + exp(x)) without overflow.
tensor::Expr Softplus(const tensor::Expr& x);
/// Conversion as ONNX's Cast does it: to bool means unequal to zero.
tensor::Expr ConvertTo(tensor::DType dtype, const tensor::Expr& x);
tensor::Tensor ConvertTo(OperatorContext& context, tensor::DType dtype, const tensor::Tensor& x);

/// A float that is a whole number as an integer of the type, limited to its range.
tensor::Expr Saturated(const tensor::Expr& rounded, tensor::DType dtype);

/// Combines over the axes, which the result does not have any more.
tensor::Tensor ReduceAxes(OperatorContext& context, const std::string& op, const tensor::Tensor& x,
                          const std::vector<int>& axes, tensor::Reduction reduction,
                          const std::function<tensor::Expr(const tensor::Expr&)>& term);
/// As above, where the term also depends on where in the full shape it stands.
tensor::Tensor ReduceAxesAt(OperatorContext& context, const std::string& op,
                            const std::vector<int64_t>& shape, const std::vector<int>& axes,
                            tensor::Reduction reduction,
                            const std::function<tensor::Expr(const Exprs&)>& term);
/// The shape with the axes set to 1, or left out.
std::vector<int64_t> ReducedShape(const std::vector<int64_t>& shape, const std::vector<int>& axes,
                                  bool keep);
/// `place` without the axes: where a reduction's result over `axes` belongs.
Exprs Without(const Exprs& place, const std::vector<int>& axes);
/// Elements before the axis, along it and behind it: what kernels of the library call outer, n and
/// inner.
std::vector<int64_t> LinesAlong(const std::vector<int64_t>& shape, int axis);
bool Contains(const std::vector<int>& axes, int axis);
std::vector<int> AllAxes(int rank);

/// 64-bit integers as a constant of the graph, or numbers of any type.
tensor::Tensor IntConstant(OperatorContext& context, const std::vector<int64_t>& values,
                           std::vector<int64_t> shape);

/// `x` with `low[d]` elements before and `high[d]` after, all of them `fill`.
tensor::Tensor PadWith(OperatorContext& context, const tensor::Tensor& x,
                       const std::vector<int64_t>& low, const std::vector<int64_t>& high,
                       const tensor::Expr& fill);
/// The axes of `x` reordered: axis d of the result is axis permutation[d] of x.
tensor::Tensor Permute(OperatorContext& context, const tensor::Tensor& x,
                       const std::vector<int>& permutation);
/// The place that is as far from the end of `count` elements as `place` is from their beginning;
/// the first one beyond the end, where a tensor of an open dimension has memory.
tensor::Expr CountDown(int64_t count, const tensor::Expr& place);
/// The tensors side by side along an axis: equal in type and in all other extents.
tensor::Tensor Concatenate(OperatorContext& context, const std::vector<tensor::Tensor>& parts,
                           int axis);
/// The same along the first axis for any number of parts, as concatenations of concatenations;
/// only that many rows of them, where `rows` says it.
tensor::Tensor ConcatenateRows(OperatorContext& context, std::vector<tensor::Tensor> parts,
                               std::optional<int64_t> rows = std::nullopt);
/// a * b; of integers of less than 32 bits as int32.
tensor::Expr WideProduct(const tensor::Expr& a, const tensor::Expr& b);
/// A kMatmul node: out[batch..., m, n] = sum over k of a(batch, m, k) * b(batch, k, n), products as
/// WideProduct. Batch axes broadcast.
tensor::Tensor Contract(OperatorContext& context, const tensor::Tensor& a, const tensor::Tensor& b);

/// Where along the axis the extreme is, the first or the last of equal ones; NaN is more extreme
/// than all numbers. The result has no `axis`.
tensor::Tensor ArgExtreme(OperatorContext& context, const tensor::Tensor& x, int axis, bool maximum,
                          bool last_index);

}  // namespace bayloom::graph
