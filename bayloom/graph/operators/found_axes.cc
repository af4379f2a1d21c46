// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/operators/found_axes.h"

#include <algorithm>

namespace bayloom::graph {
namespace {

using tensor::Expr;

/// A shape of `rank` dimensions, and the same without the axes.
class Correspondence {
 public:
  Correspondence(const Exprs& axes, int64_t rank) : rank_(rank), fewer_(rank - std::ssize(axes)) {
    Expr before = 0;  // axes before a dimension
    for (int64_t d = 0; d < rank; ++d) {
      is_axis_.push_back(IsAmong(axes, d, rank));
      numbers_.push_back(Expr(d) - before);
      before = before + tensor::Select(is_axis_.back(), Expr(1), Expr(0));
    }
  }

  int64_t fewer() const { return fewer_; }
  const Expr& is_axis(int64_t d) const { return is_axis_[static_cast<size_t>(d)]; }

  /// Of what dimensions have, what the one has that is number `s` without the axes.
  Expr Remaining(int64_t s, const Exprs& of_dimensions) const {
    Expr own = of_dimensions.back();
    for (int64_t d = rank_ - 1; d-- > 0;) {
      own = tensor::Select(IsSame(d, s), of_dimensions[static_cast<size_t>(d)], own);
    }
    return own;
  }

  /// Of what remaining dimensions have, what dimension d has; `otherwise` if it is an axis.
  Expr Whole(int64_t d, const Exprs& of_remaining, const Expr& otherwise) const {
    Expr own = otherwise;
    for (int64_t s = 0; s < fewer_; ++s) {
      own = tensor::Select(IsSame(d, s), of_remaining[static_cast<size_t>(s)], own);
    }
    return own;
  }

 private:
  Expr IsSame(int64_t d, int64_t s) const {
    return !is_axis(d) && tensor::Equal(numbers_[static_cast<size_t>(d)], Expr(s));
  }

  int64_t rank_, fewer_;
  Exprs is_axis_, numbers_;  // the latter of dimensions that are no axes
};

Exprs Extents(const tensor::Tensor& x) { return {x.shape().begin(), x.shape().end()}; }

/// The lengths of output 0; each is at most the largest extent of x, unless the model says it.
std::vector<int64_t> FindShape(OperatorContext& context, const tensor::Tensor& x,
                               const Exprs& lengths) {
  std::optional<int64_t> bound;
  if (!context.StatedShape(0)) {
    bound = 1;
    for (int64_t extent : x.shape()) bound = std::max(*bound, extent);
  }
  std::vector<int64_t> shape;
  for (const Expr& length : lengths) {
    const tensor::Tensor count =
        context.builder().Map("length", {}, [&](const Exprs&) { return length; });
    shape.push_back(context.FindLength(count, 0, static_cast<int>(shape.size()), bound));
  }
  return shape;
}

void CheckCount(OperatorContext& context, const Exprs& axes, int64_t rank) {
  if (std::ssize(axes) > rank) context.Refuse("there are more axes than dimensions");
}

/// The same elements, if a view of x has as many of them; else those at the indices.
tensor::Tensor Seen(OperatorContext& context, const tensor::Tensor& x,
                    const std::vector<int64_t>& shape,
                    const std::function<Exprs(const Exprs&)>& indices) {
  if (context.StatedShape(0)) {
    if (CheckedElementCount(shape) == CheckedElementCount(x.shape())) {
      return context.builder().View(x, shape);
    }
  }
  return context.builder().Map(context.label() + ".axes", shape, [&](const Exprs& place) {
    Exprs index = indices(place);
    for (size_t d = 0; d < index.size(); ++d) index[d] = ClampedIndex(index[d], x.shape()[d]);
    return x.At(index);
  });
}

}  // namespace

bool HasFoundAxes(OperatorContext& context, int input) {
  return context.HasInput(input) && context.ConstantInput(input) == nullptr &&
         CheckedElementCount(context.Input(input).shape()) > 0;
}

std::vector<int64_t> KnownAxes(OperatorContext& context, int input) {
  if (CheckedElementCount(context.Input(input).shape()) == 0) return {};
  return context.IntsInput(input);
}

Expr IsAmong(const Exprs& axes, int64_t d, int64_t rank) {
  Expr is_own = tensor::BoolLiteral(false);
  for (const Expr& axis : axes) {
    is_own = is_own || tensor::Equal(axis, Expr(d)) || tensor::Equal(axis, Expr(d - rank));
  }
  return is_own;
}

tensor::Tensor ReduceFoundAxes(OperatorContext& context, const std::string& op,
                               const std::vector<int64_t>& shape, const Exprs& axes,
                               tensor::Reduction reduction,
                               const std::function<Expr(const Exprs&)>& term) {
  const int64_t rank = std::ssize(shape);
  CheckCount(context, axes, rank);
  tensor::Tensor reduced = context.builder().Map(op + ".terms", shape, term);
  for (int d = 0; d < rank; ++d) {
    const tensor::Tensor along = ReduceAxes(context, op, reduced, {d}, reduction, Itself);
    reduced = context.builder().Map(op + ".axis", shape, [&](const Exprs& place) {
      return tensor::Select(IsAmong(axes, d, rank), along.At(Without(place, {d})),
                            reduced.At(place));
    });
  }
  return reduced;
}

tensor::Tensor ShortenFoundAxes(OperatorContext& context, const tensor::Tensor& x,
                                const Exprs& axes) {
  const int64_t rank = Rank(x);
  Exprs lengths = Extents(x);
  for (int64_t d = 0; d < rank; ++d) {
    Expr& length = lengths[static_cast<size_t>(d)];
    length = tensor::Select(IsAmong(axes, d, rank), Expr(1), length);
  }
  return Seen(context, x, FindShape(context, x, lengths), [](const Exprs& place) { return place; });
}

tensor::Tensor SqueezeFoundAxes(OperatorContext& context, const tensor::Tensor& x,
                                const Exprs& axes) {
  CheckCount(context, axes, Rank(x));
  const Correspondence dimensions(axes, Rank(x));
  Exprs lengths;
  for (int64_t s = 0; s < dimensions.fewer(); ++s) {
    lengths.push_back(dimensions.Remaining(s, Extents(x)));
  }
  return Seen(context, x, FindShape(context, x, lengths), [&](const Exprs& place) {
    Exprs index;
    for (int64_t d = 0; d < Rank(x); ++d) index.push_back(dimensions.Whole(d, place, 0));
    return index;
  });
}

tensor::Tensor UnsqueezeFoundAxes(OperatorContext& context, const tensor::Tensor& x,
                                  const Exprs& axes) {
  const int64_t rank = Rank(x) + std::ssize(axes);
  const Correspondence dimensions(axes, rank);
  Exprs lengths;
  for (int64_t d = 0; d < rank; ++d) lengths.push_back(dimensions.Whole(d, Extents(x), 1));
  return Seen(context, x, FindShape(context, x, lengths), [&](const Exprs& place) {
    Exprs index;
    for (int64_t s = 0; s < Rank(x); ++s) index.push_back(dimensions.Remaining(s, place));
    return index;
  });
}

}  // namespace bayloom::graph
