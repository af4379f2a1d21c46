// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/operators/helpers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "bayloom/tensor/scalar.h"

namespace bayloom::graph {

int Rank(const tensor::Tensor& x) { return static_cast<int>(x.shape().size()); }

tensor::Expr Itself(const tensor::Expr& x) { return x; }

std::vector<int64_t> BroadcastShape(const OperatorContext& context,
                                    const std::vector<std::vector<int64_t>>& shapes) {
  std::vector<int64_t> result;
  for (const std::vector<int64_t>& shape : shapes) {
    if (shape.size() > result.size())
      result.insert(result.begin(), shape.size() - result.size(), 1);
    for (size_t d = 0; d < shape.size(); ++d) {
      int64_t& extent = result[result.size() - shape.size() + d];
      if (extent != shape[d] && extent != 1 && shape[d] != 1) {
        context.Refuse(fmt::format("shapes [{}] and [{}] do not broadcast", fmt::join(result, ", "),
                                   fmt::join(shape, ", ")));
      }
      if (extent == 1) extent = shape[d];
    }
  }
  return result;
}

tensor::Expr BroadcastAt(const tensor::Tensor& tensor, const Exprs& place) {
  Exprs index;
  const size_t skipped = place.size() - tensor.shape().size();
  for (size_t d = 0; d < tensor.shape().size(); ++d) {
    index.push_back(tensor.shape()[d] == 1 ? tensor::Expr(0) : place[skipped + d]);
  }
  return tensor.At(std::move(index));
}

tensor::Expr KnownScalar(OperatorContext& context, const tensor::Tensor& tensor) {
  const tensor::HostTensor* data = context.builder().ConstantOf(tensor);
  if (!data || data->ElementCount() != 1) return {};
  if (!tensor::IsFloat(data->dtype)) return tensor::IntLiteral(data->GetInt(0), data->dtype);
  return tensor::FloatLiteral(data->Get(0), data->dtype);
}

tensor::Tensor Elementwise(OperatorContext& context, const std::string& op,
                           const std::vector<tensor::Tensor>& tensors,
                           const std::function<tensor::Expr(const Exprs&)>& function) {
  std::vector<std::vector<int64_t>> shapes;
  Exprs scalars;
  for (const tensor::Tensor& tensor : tensors) {
    shapes.push_back(tensor.shape());
    scalars.push_back(KnownScalar(context, tensor));
  }
  const bool is_folded = std::ranges::all_of(scalars, &tensor::Expr::defined);
  for (size_t i = 0; i < scalars.size(); ++i) {
    const bool is_float = scalars[i].defined() && scalars[i]->op == tensor::ExprOp::kFloat;
    if (is_float && !context.builder().MayWriteScalar(i, scalars[i]->float_value, is_folded)) {
      scalars[i] = {};
    }
  }
  return context.builder().Map(op, BroadcastShape(context, shapes), [&](const Exprs& place) {
    Exprs elements;
    for (size_t i = 0; i < tensors.size(); ++i) {
      elements.push_back(scalars[i].defined() ? scalars[i] : BroadcastAt(tensors[i], place));
    }
    return function(elements);
  });
}

tensor::Tensor Elementwise(OperatorContext& context, const std::string& op, const tensor::Tensor& a,
                           const std::function<tensor::Expr(const tensor::Expr&)>& function) {
  return context.builder().Map(op, a.shape(),
                               [&](const Exprs& place) { return function(a.At(place)); });
}

tensor::Expr ClampedIndex(const tensor::Expr& index, int64_t extent) {
  return tensor::Max(tensor::Min(index, tensor::Expr(extent - 1)), tensor::Expr(0));
}

tensor::Expr WrappedIndex(const tensor::Expr& index, int64_t extent) {
  const tensor::Expr wide = tensor::Cast(tensor::DType::kInt64, index);
  const tensor::Expr wrapped =
      tensor::Select(wide < tensor::Expr(0), wide + tensor::Expr(extent), wide);
  return tensor::Max(tensor::Min(wrapped, tensor::Expr(extent - 1)), tensor::Expr(0));
}

Exprs ElementsOf(OperatorContext& context, int input) {
  const tensor::Tensor list = context.Input(input);
  if (Rank(list) != 1 || !tensor::IsInteger(list.dtype())) {
    context.Refuse(fmt::format("input {} has to be a list of integers", input));
  }
  Exprs elements;
  for (int64_t i = 0; i < list.shape()[0]; ++i) {
    elements.push_back(tensor::Cast(tensor::DType::kInt64, context.builder().ElementOf(list, {i})));
  }
  return elements;
}

tensor::Expr ScalarInput(OperatorContext& context, int input) {
  const tensor::Tensor x = context.Input(input);
  if (CheckedElementCount(x.shape()) != 1) {
    context.Refuse(fmt::format("input {} has to be one number", input));
  }
  return context.builder().ElementOf(x, std::vector<int64_t>(x.shape().size(), 0));
}

tensor::Expr LiteralLike(double value, const tensor::Expr& like) {
  return tensor::Literal(value, like->dtype);
}

tensor::Expr Softplus(const tensor::Expr& x) {
  const tensor::Expr rest =
      tensor::Unary(tensor::ExprOp::kExp, -tensor::Unary(tensor::ExprOp::kAbs, x));
  return tensor::Max(x, LiteralLike(0, x)) +
         tensor::Unary(tensor::ExprOp::kLog, LiteralLike(1, x) + rest);
}

tensor::Expr ConvertTo(tensor::DType dtype, const tensor::Expr& x) {
  if (dtype == tensor::DType::kBool && x->dtype != tensor::DType::kBool)
    return !tensor::Equal(x, LiteralLike(0, x));
  return tensor::Cast(dtype, x);
}

tensor::Tensor ConvertTo(OperatorContext& context, tensor::DType dtype, const tensor::Tensor& x) {
  if (x.dtype() == dtype) return x;
  return Elementwise(context, "cast", x,
                     [&](const tensor::Expr& e) { return ConvertTo(dtype, e); });
}

tensor::Expr Saturated(const tensor::Expr& rounded, tensor::DType dtype) {
  const auto bound = [&](tensor::Reduction extreme) {
    const int64_t limit = tensor::NeutralElement(extreme, dtype)->int_value;
    return LiteralLike(tensor::IntToFloat(dtype, limit), rounded);
  };
  return tensor::Cast(dtype, tensor::Min(tensor::Max(rounded, bound(tensor::Reduction::kMax)),
                                         bound(tensor::Reduction::kMin)));
}

std::vector<int64_t> LinesAlong(const std::vector<int64_t>& shape, int axis) {
  const auto at = shape.begin() + axis;
  return {CheckedElementCount({shape.begin(), at}), *at,
          CheckedElementCount({at + 1, shape.end()})};
}

bool Contains(const std::vector<int>& axes, int axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

std::vector<int> AllAxes(int rank) {
  std::vector<int> axes;
  for (int d = 0; d < rank; ++d) axes.push_back(d);
  return axes;
}

std::vector<int64_t> ReducedShape(const std::vector<int64_t>& shape, const std::vector<int>& axes,
                                  bool keep) {
  std::vector<int64_t> reduced;
  for (size_t d = 0; d < shape.size(); ++d) {
    const bool gone = Contains(axes, static_cast<int>(d));
    if (!gone || keep) reduced.push_back(gone ? 1 : shape[d]);
  }
  return reduced;
}

Exprs Without(const Exprs& place, const std::vector<int>& axes) {
  Exprs rest;
  for (size_t d = 0; d < place.size(); ++d) {
    if (!Contains(axes, static_cast<int>(d))) rest.push_back(place[d]);
  }
  return rest;
}

tensor::Tensor ReduceAxesAt(OperatorContext& context, const std::string& op,
                            const std::vector<int64_t>& shape, const std::vector<int>& axes,
                            tensor::Reduction reduction,
                            const std::function<tensor::Expr(const Exprs&)>& term) {
  if (axes.empty()) return context.builder().Map(op, shape, term);
  std::vector<GraphBuilder::Axis> reduced;
  for (int axis : axes) reduced.push_back({fmt::format("r{}", axis), shape[axis]});
  return context.builder().Reduce(op, ReducedShape(shape, axes, false), std::move(reduced),
                                  reduction, [&](const Exprs& kept, const Exprs& over) {
                                    Exprs place;
                                    size_t next_kept = 0, next_over = 0;
                                    for (size_t d = 0; d < shape.size(); ++d) {
                                      const bool gone = Contains(axes, static_cast<int>(d));
                                      place.push_back(gone ? over[next_over++] : kept[next_kept++]);
                                    }
                                    return term(place);
                                  });
}

tensor::Tensor ReduceAxes(OperatorContext& context, const std::string& op, const tensor::Tensor& x,
                          const std::vector<int>& axes, tensor::Reduction reduction,
                          const std::function<tensor::Expr(const tensor::Expr&)>& term) {
  return ReduceAxesAt(context, op, x.shape(), axes, reduction,
                      [&](const Exprs& place) { return term(x.At(place)); });
}

tensor::Tensor IntConstant(OperatorContext& context, const std::vector<int64_t>& values,
                           std::vector<int64_t> shape) {
  tensor::HostTensor tensor{tensor::DType::kInt64, std::move(shape),
                            std::vector<std::byte>(values.size() * 8)};
  if (!values.empty()) std::memcpy(tensor.data.data(), values.data(), tensor.data.size());
  return context.builder().Constant(context.label(), std::move(tensor));
}

tensor::Tensor PadWith(OperatorContext& context, const tensor::Tensor& x,
                       const std::vector<int64_t>& low, const std::vector<int64_t>& high,
                       const tensor::Expr& fill) {
  std::vector<int64_t> shape = x.shape();
  bool unchanged = true;
  for (size_t d = 0; d < shape.size(); ++d) {
    shape[d] += low[d] + high[d];
    unchanged &= low[d] == 0 && high[d] == 0;
  }
  if (unchanged) return x;
  if (CheckedElementCount(x.shape()) == 0) {
    return context.builder().Map("pad", shape, [&](const Exprs&) { return fill; });
  }
  return context.builder().Map("pad", shape, [&](const Exprs& place) {
    tensor::Expr inside = tensor::BoolLiteral(true);
    Exprs index;
    for (size_t d = 0; d < place.size(); ++d) {
      index.push_back(place[d] - low[d]);
      if (low[d] > 0) inside = inside && tensor::Expr(low[d]) <= place[d];
      if (high[d] > 0) inside = inside && place[d] < tensor::Expr(x.shape()[d] + low[d]);
    }
    return tensor::Select(inside, x.At(index), fill);
  });
}

tensor::Tensor Permute(OperatorContext& context, const tensor::Tensor& x,
                       const std::vector<int>& permutation) {
  std::vector<int64_t> shape;
  for (int axis : permutation) shape.push_back(x.shape()[axis]);
  return context.builder().Map("transpose", shape, [&](const Exprs& place) {
    Exprs index(place.size());
    for (size_t d = 0; d < place.size(); ++d) index[permutation[d]] = place[d];
    return x.At(index);
  });
}

tensor::Expr CountDown(int64_t count, const tensor::Expr& place) {
  return tensor::Max(tensor::Expr(count - 1) - place, tensor::Expr(0));
}

namespace {

/// The concatenation, of which the axis is to be `extent` long.
tensor::Tensor ConcatenateTo(OperatorContext& context, const std::vector<tensor::Tensor>& parts,
                             int axis, int64_t extent) {
  std::vector<int64_t> shape = parts[0].shape();
  int64_t all = 0;
  for (const tensor::Tensor& part : parts) all += part.shape()[axis];
  shape[axis] = extent;
  return context.builder().Map("concat", shape, [&](const Exprs& place) {
    int64_t end = all;
    tensor::Expr value;
    for (size_t p = parts.size(); p-- > 0;) {
      const int64_t start = end - parts[p].shape()[axis];
      Exprs index = place;
      index[axis] = index[axis] - tensor::Expr(start);
      const tensor::Expr element = parts[p].At(index);
      value = value.defined() ? tensor::Select(place[axis] < tensor::Expr(end), element, value)
                              : element;
      end = start;
    }
    return value;
  });
}

}  // namespace

tensor::Tensor Concatenate(OperatorContext& context, const std::vector<tensor::Tensor>& parts,
                           int axis) {
  if (parts.size() == 1) return parts[0];
  int64_t extent = 0;
  for (const tensor::Tensor& part : parts) extent += part.shape()[axis];
  return ConcatenateTo(context, parts, axis, extent);
}

tensor::Tensor ConcatenateRows(OperatorContext& context, std::vector<tensor::Tensor> parts,
                               std::optional<int64_t> rows) {
  constexpr size_t kPartsTogether = 16;
  if (parts.size() == 1 && rows && *rows != parts[0].shape()[0]) {
    return ConcatenateTo(context, parts, 0, *rows);
  }
  while (parts.size() > 1) {
    if (rows && parts.size() <= kPartsTogether) return ConcatenateTo(context, parts, 0, *rows);
    std::vector<tensor::Tensor> wholes;
    for (size_t first = 0; first < parts.size(); first += kPartsTogether) {
      const size_t end = std::min(parts.size(), first + kPartsTogether);
      wholes.push_back(Concatenate(context, {parts.begin() + first, parts.begin() + end}, 0));
    }
    parts = std::move(wholes);
  }
  return parts.at(0);
}

tensor::Expr WideProduct(const tensor::Expr& a, const tensor::Expr& b) {
  const auto widened = [](const tensor::Expr& e) {
    const bool narrow = tensor::IsInteger(e->dtype) && tensor::ByteSize(e->dtype) < 4;
    return narrow ? tensor::Cast(tensor::DType::kInt32, e) : e;
  };
  return widened(a) * widened(b);
}

tensor::Tensor Contract(OperatorContext& context, const tensor::Tensor& a,
                        const tensor::Tensor& b) {
  const auto batch = [](const tensor::Tensor& t) {
    return std::vector<int64_t>(t.shape().begin(), t.shape().end() - 2);
  };
  const auto at = [](const tensor::Tensor& t, const Exprs& place, const tensor::Expr& row,
                     const tensor::Expr& column) {
    const size_t batch_rank = t.shape().size() - 2;
    const size_t skipped = place.size() - 2 - batch_rank;
    Exprs index;
    for (size_t d = 0; d < batch_rank; ++d) {
      index.push_back(t.shape()[d] == 1 ? tensor::Expr(0) : place[skipped + d]);
    }
    index.push_back(row);
    index.push_back(column);
    return t.At(index);
  };
  const int64_t m = a.shape()[a.shape().size() - 2], k = a.shape().back();
  const int64_t n = b.shape().back();
  if (b.shape()[b.shape().size() - 2] != k) {
    context.Refuse(fmt::format("{} and {} cannot be multiplied", ToString(a.dtype(), a.shape()),
                               ToString(b.dtype(), b.shape())));
  }
  std::vector<int64_t> shape = BroadcastShape(context, {batch(a), batch(b)});
  shape.insert(shape.end(), {m, n});
  return context.builder().Reduce(
      "matmul", shape, {{"k", k}}, tensor::Reduction::kSum,
      [&](const Exprs& place, const Exprs& over) {
        return WideProduct(at(a, place, place[place.size() - 2], over[0]),
                           at(b, place, over[0], place.back()));
      },
      NodeKind::kMatmul);
}

tensor::Tensor ArgExtreme(OperatorContext& context, const tensor::Tensor& x, int axis, bool maximum,
                          bool last_index) {
  if (x.dtype() == tensor::DType::kBool) context.Refuse("bool has no order");
  std::vector<int64_t> numbers = LinesAlong(x.shape(), axis);
  numbers.insert(numbers.end(), {maximum, last_index});
  return context.builder().Call(context.label(), ReducedShape(x.shape(), {axis}, false),
                                tensor::DType::kInt64, tensor::LibraryKernel::kArgExtreme, {x},
                                numbers);
}

}  // namespace bayloom::graph
