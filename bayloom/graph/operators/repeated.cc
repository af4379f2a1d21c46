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
  if (!known || known->apart || known->axis >= rank - 2 || Rank(a) != rank) return std::nullopt;
  const bool has_same_batch = std::equal(a.shape().begin(), a.shape().end() - 2, b.shape().begin());
  if (!has_same_batch || a.shape().back() != b.shape()[rank - 2]) return std::nullopt;
  const RepeatedFloats repeated = *known;
  GraphBuilder& builder = context.builder();
  const tensor::Tensor rows = builder.View(a, WithCopiesApart(a.shape(), repeated));
  Extents shape = WithCopiesApart(b.shape(), repeated);
  const int64_t terms = a.shape().back();
  shape[shape.size() - 2] = a.shape()[rank - 2];
  const tensor::Tensor product = builder.Reduce(
      "matmul", shape, {{"k", terms}}, tensor::Reduction::kSum,
      [&](const Exprs& s, const Exprs& r) {
        Exprs at = s, of_source = s;
        at.back() = r[0];
        of_source.erase(of_source.begin() + repeated.axis + 1);
        of_source[of_source.size() - 2] = r[0];
        return WideProduct(rows.At(at), repeated.source.At(of_source));
      },
      NodeKind::kMatmul);
  shape[repeated.axis] *= repeated.count;
  shape.erase(shape.begin() + repeated.axis + 1);
  return builder.View(product, shape);
}

}  // namespace bayloom::graph
