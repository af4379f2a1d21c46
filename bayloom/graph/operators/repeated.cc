// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/operators/repeated.h"

#include <algorithm>

#include "bayloom/graph/operators/scaled_sum.h"

namespace bayloom::graph {
namespace {

using Extents = std::vector<int64_t>;

/// The shape with `axis` divided into heads and copies.
Extents WithCopiesApart(Extents shape, const RepeatedFloats& repeated) {
  shape[repeated.axis] /= repeated.count;
  shape.insert(shape.begin() + repeated.axis + 1, repeated.count);
  return shape;
}

}  // namespace

void NoteExpanded(OperatorContext& context, const tensor::Tensor& x,
                  const tensor::Tensor& expanded) {
  if (Rank(x) != Rank(expanded)) return;
  const auto [from, to] = std::ranges::mismatch(x.shape(), expanded.shape());
  const auto axis = static_cast<int>(from - x.shape().begin());
  const bool is_one_axis = std::equal(from + 1, x.shape().end(), to + 1);
  if (axis == 0 || *from != 1 || !is_one_axis) return;
  Extents shape = x.shape();
  shape.erase(shape.begin() + axis);
  context.builder().known_floats().Note(
      expanded, RepeatedFloats{context.builder().View(x, shape), axis - 1, *to, true});
}

void NoteReshaped(OperatorContext& context, const tensor::Tensor& x, const tensor::Tensor& shaped) {
  const RepeatedFloats* known = context.builder().known_floats().FindRepeated(x);
  if (!known || !known->apart) return;
  RepeatedFloats merged = *known;
  merged.apart = false;
  Extents shape = x.shape();
  shape[merged.axis] *= merged.count;
  shape.erase(shape.begin() + merged.axis + 1);
  if (shape == shaped.shape()) context.builder().known_floats().Note(shaped, std::move(merged));
}

void NotePermuted(OperatorContext& context, const tensor::Tensor& x, const std::vector<int>& axes,
                  const tensor::Tensor& permuted) {
  const RepeatedFloats* known = context.builder().known_floats().FindRepeated(x);
  if (!known || known->apart) return;
  const auto axis = static_cast<int>(std::ranges::find(axes, known->axis) - axes.begin());
  RepeatedFloats moved{Permute(context, known->source, axes), axis, known->count, false};
  context.builder().known_floats().Note(permuted, std::move(moved));
}

std::optional<tensor::Tensor> ProductWithRepeated(OperatorContext& context, const tensor::Tensor& a,
                                                  const tensor::Tensor& b) {
  const RepeatedFloats* known = context.builder().known_floats().FindRepeated(b);
  const int rank = Rank(b);
  if (!known || known->apart || known->axis >= rank - 2 || Rank(a) != rank ||
      a.shape()[known->axis] != b.shape()[known->axis]) {
    return std::nullopt;
  }
  const RepeatedFloats repeated = *known;
  GraphBuilder& builder = context.builder();
  Extents shape = repeated.source.shape();
  shape.insert(shape.begin() + repeated.axis + 1, 1);
  const tensor::Tensor product =
      Contract(context, builder.View(a, WithCopiesApart(a.shape(), repeated)),
               builder.View(repeated.source, shape));
  shape = product.shape();
  shape[repeated.axis] *= repeated.count;
  shape.erase(shape.begin() + repeated.axis + 1);
  return builder.View(product, shape);
}

}  // namespace bayloom::graph
