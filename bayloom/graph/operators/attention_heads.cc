// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/operators/attention_heads.h"

#include <fmt/format.h>

#include <limits>

#include "bayloom/graph/operators/apply.h"

namespace bayloom::graph {
namespace {

using tensor::DType;
using tensor::Expr;
using tensor::ExprOp;

/// Scores as they are computed: [batch, heads of the keys, query heads of each, queries, keys],
/// so that every index is affine; without the third axis where it is 1.
struct ScoreAxes {
  int64_t batch, shared, group, queries, keys;

  bool grouped() const { return group > 1; }
  std::vector<int64_t> Shape(int64_t last) const {
    return grouped() ? std::vector<int64_t>{batch, shared, group, queries, last}
                     : std::vector<int64_t>{batch, shared, queries, last};
  }
  Expr Head(const Exprs& s) const { return grouped() ? s[1] * Expr(group) + s[2] : s[1]; }
  const Expr& Query(const Exprs& s) const { return s[s.size() - 2]; }
  ScorePlace Place(const Exprs& s) const { return {s[0], Head(s), Query(s), s.back()}; }
};

ScoreAxes CheckHeads(OperatorContext& context, const Heads& q, const Heads& k, const Heads& v) {
  const bool fits = q.batch() == k.batch() && k.batch() == v.batch() && q.size() == k.size() &&
                    k.count() == v.count() && k.positions() == v.positions() && k.count() > 0 &&
                    q.count() % k.count() == 0;
  if (!fits) {
    const auto text = [](const Heads& h) {
      return fmt::format("{} heads of {} positions by {}", h.count(), h.positions(), h.size());
    };
    context.Refuse(fmt::format("queries ({}), keys ({}) and values ({}) do not fit together",
                               text(q), text(k), text(v)));
  }
  return {q.batch(), k.count(), q.count() / k.count(), q.positions(), k.positions()};
}

tensor::Tensor Products(OperatorContext& context, const Heads& q, const Heads& k,
                        const ScoreAxes& axes) {
  return context.builder().Reduce(
      "attention.scores", axes.Shape(axes.keys), {{"d", q.size()}}, tensor::Reduction::kSum,
      [&](const Exprs& s, const Exprs& r) {
        return q.At(s[0], axes.Head(s), axes.Query(s), r[0]) * k.At(s[0], s[1], s.back(), r[0]);
      },
      NodeKind::kMatmul);
}

/// Scores with biases; minus infinity where a key is not seen.
tensor::Tensor Biased(OperatorContext& context, const tensor::Tensor& scores, const ScoreAxes& axes,
                      const AttentionOptions& options) {
  if (options.biases.empty() && options.conditions.empty()) return scores;
  return context.builder().Map("attention.masked", scores.shape(), [&](const Exprs& s) {
    const ScorePlace place = axes.Place(s);
    Expr score = scores.At(s);
    for (const ScoreTerm& bias : options.biases) {
      score = score + tensor::Cast(score->dtype, bias(place));
    }
    Expr seen = tensor::BoolLiteral(true);
    for (const ScoreTerm& condition : options.conditions) seen = seen && condition(place);
    if (options.conditions.empty()) return score;
    return tensor::Select(seen, score,
                          LiteralLike(-std::numeric_limits<double>::infinity(), score));
  });
}

/// A softmax in whose denominator a further logit per head takes part.
tensor::Tensor SoftmaxWithSink(OperatorContext& context, const tensor::Tensor& x,
                               const ScoreAxes& axes, const AttentionOptions& options) {
  const int last = Rank(x) - 1;
  const tensor::Tensor max =
      ReduceAxes(context, "softmax.max", x, {last}, tensor::Reduction::kMax, Itself);
  const auto sink = [&](const Exprs& row) {
    if (options.zero_sink) return tensor::Literal(0, x.dtype());
    const Expr head = axes.grouped() ? row[1] * Expr(axes.group) + row[2] : row[1];
    return tensor::Cast(x.dtype(), (*options.sink)(head));
  };
  const tensor::Tensor top = context.builder().Map(
      "softmax.top", max.shape(), [&](const Exprs& row) { return Max(max.At(row), sink(row)); });
  const tensor::Tensor exp = context.builder().Map("softmax.exp", x.shape(), [&](const Exprs& s) {
    return tensor::Unary(ExprOp::kExp, x.At(s) - top.At(Without(s, {last})));
  });
  const tensor::Tensor sum =
      ReduceAxes(context, "softmax.sum", exp, {last}, tensor::Reduction::kSum, Itself);
  return context.builder().Map("softmax", x.shape(), [&](const Exprs& s) {
    const Exprs row = Without(s, {last});
    return exp.At(s) / (sum.At(row) + tensor::Unary(ExprOp::kExp, sink(row) - top.At(row)));
  });
}

/// A query that sees no key has the probability 0 everywhere: minus infinity gives 0, but the
/// softmax itself is of finite numbers.
tensor::Tensor Probabilities(OperatorContext& context, const tensor::Tensor& scores,
                             const ScoreAxes& axes, const AttentionOptions& options) {
  const bool narrow = scores.dtype() == DType::kFloat16 || scores.dtype() == DType::kBFloat16;
  const DType type = options.softmax.value_or(narrow ? DType::kFloat32 : scores.dtype());
  const tensor::Tensor wide = ConvertTo(context, type, scores);
  const bool masked = !options.biases.empty() || !options.conditions.empty();
  const double least = type == DType::kFloat16 ? -65504.0 : -std::numeric_limits<float>::max();
  const tensor::Tensor finite =
      masked ? Elementwise(context, "attention.finite", wide,
                           [&](const Expr& e) { return tensor::Max(e, LiteralLike(least, e)); })
             : wide;
  tensor::Tensor y = options.sink || options.zero_sink
                         ? SoftmaxWithSink(context, finite, axes, options)
                         : ApplyOperator(context, "Softmax", {finite}, {{{"axis", int64_t{-1}}}});
  if (masked) {
    y = Elementwise(context, "attention.probabilities", {wide, y}, [&](const Exprs& e) {
      return tensor::Select(e[0] < LiteralLike(least, e[0]), LiteralLike(0, e[1]), e[1]);
    });
  }
  return ConvertTo(context, scores.dtype(), y);
}

tensor::Tensor WeightedValues(OperatorContext& context, const tensor::Tensor& probabilities,
                              const Heads& v, const ScoreAxes& axes) {
  const tensor::Tensor y = context.builder().Reduce(
      "attention", axes.Shape(v.size()), {{"t", axes.keys}}, tensor::Reduction::kSum,
      [&](const Exprs& s, const Exprs& r) {
        Exprs place(s.begin(), s.end() - 1);
        place.push_back(r[0]);
        return probabilities.At(place) * v.At(s[0], s[1], r[0], s.back());
      },
      NodeKind::kMatmul);
  return context.builder().View(y, {axes.batch, axes.shared * axes.group, axes.queries, v.size()});
}

}  // namespace

Heads SplitHeads(OperatorContext& context, const tensor::Tensor& x, int64_t heads) {
  if (Rank(x) != 3 || heads < 1 || x.shape()[2] % heads != 0) {
    context.Refuse(fmt::format("{} does not hold {} heads", ToString(x.dtype(), x.shape()), heads));
  }
  const std::vector<int64_t> shape = {x.shape()[0], x.shape()[1], heads, x.shape()[2] / heads};
  return {context.builder().View(x, shape), true};
}

Heads AsHeads(OperatorContext& context, const tensor::Tensor& x) {
  if (Rank(x) != 4) {
    context.Refuse(
        fmt::format("{} is not [batch, heads, positions, size]", ToString(x.dtype(), x.shape())));
  }
  return {x, false};
}

tensor::Tensor HeadsFirst(OperatorContext& context, const Heads& x) {
  return x.positions_first ? Permute(context, x.data, {0, 2, 1, 3}) : x.data;
}

Heads Append(OperatorContext& context, const std::optional<tensor::Tensor>& past, const Heads& x) {
  if (!past) return x;
  return AsHeads(context, ApplyOperator(context, "Concat", {*past, HeadsFirst(context, x)},
                                        {{{"axis", int64_t{2}}}}));
}

AttentionResult ComputeAttention(OperatorContext& context, const Heads& q, const Heads& k,
                                 const Heads& v, const AttentionOptions& options) {
  const ScoreAxes axes = CheckHeads(context, q, k, v);
  const auto as_scores = [&](const tensor::Tensor& x) {
    return context.builder().View(x, {axes.batch, q.count(), axes.queries, axes.keys});
  };
  const tensor::Tensor scores =
      Elementwise(context, "attention.scale", Products(context, q, k, axes),
                  [&](const Expr& e) { return e * LiteralLike(options.scale, e); });
  tensor::Tensor capped = scores;
  if (options.softcap > 0) {
    capped = Elementwise(context, "attention.softcap", scores, [&](const Expr& e) {
      const Expr cap = LiteralLike(options.softcap, e);
      return cap * tensor::Unary(ExprOp::kTanh, e / cap);
    });
  }
  const tensor::Tensor biased = Biased(context, capped, axes, options);
  const tensor::Tensor probabilities = Probabilities(context, biased, axes, options);
  const tensor::Tensor output = WeightedValues(context, probabilities, v, axes);
  return {as_scores(scores),
          as_scores(capped),
          as_scores(biased),
          as_scores(probabilities),
          {output, false}};
}

tensor::Tensor JoinHeads(OperatorContext& context, const Heads& x) {
  const tensor::Tensor rows = x.positions_first ? x.data : Permute(context, x.data, {0, 2, 1, 3});
  return context.builder().View(rows, {x.batch(), x.positions(), x.count() * x.size()});
}

ScoreTerm CausalCondition(int64_t offset) {
  return [offset](const ScorePlace& at) { return at.key <= at.query + Expr(offset); };
}

Expr MaskAt(const tensor::Tensor& mask, const ScorePlace& at) {
  return BroadcastAt(mask, {at.batch, at.head, at.query, at.key});
}

void CheckMask(OperatorContext& context, const tensor::Tensor& mask, const Heads& q,
               const Heads& k) {
  const std::vector<int64_t> scores = {q.batch(), q.count(), q.positions(), k.positions()};
  if (Rank(mask) > 4 || BroadcastShape(context, {mask.shape(), scores}) != scores) {
    context.Refuse(fmt::format("the mask {} does not broadcast to {}",
                               ToString(mask.dtype(), mask.shape()),
                               ToString(mask.dtype(), scores)));
  }
}

Heads Rotate(OperatorContext& context, const Heads& x, const Rotation& rotation) {
  const int64_t rotated = rotation.rotated == 0 ? x.size() : rotation.rotated;
  const int64_t half = rotated / 2;
  if (rotated < 2 || rotated % 2 != 0 || rotated > x.size() || rotation.cosines.shape().empty() ||
      rotation.cosines.shape().back() < half ||
      rotation.sines.shape() != rotation.cosines.shape()) {
    context.Refuse(fmt::format("{} of {} channels cannot be rotated with {}", rotated, x.size(),
                               ToString(rotation.cosines.dtype(), rotation.cosines.shape())));
  }
  const tensor::Tensor y = context.builder().Map("rotate", x.data.shape(), [&](const Exprs& s) {
    const Expr& head = s[x.positions_first ? 2 : 1];
    const Expr& position = s[x.positions_first ? 1 : 2];
    const Expr& channel = s[3];
    const auto element = [&](const Expr& c) { return x.At(s[0], head, position, c); };
    const Expr pair =
        rotation.interleaved ? tensor::FloorDiv(channel, 2) : tensor::FloorMod(channel, Expr(half));
    const Expr second = rotation.interleaved ? tensor::Equal(tensor::FloorMod(channel, 2), 1)
                                             : Expr(half) <= channel;
    const Expr distance = rotation.interleaved ? Expr(1) : Expr(half);
    Exprs row = rotation.row(s[0], position);
    row.push_back(pair);
    const DType type = x.data.dtype();
    const Expr cosine = tensor::Cast(type, rotation.cosines.At(row));
    const Expr sine = tensor::Cast(type, rotation.sines.At(row));
    // Of neighbouring channels both partners are neighbours, too: values are chosen, not indices.
    const Expr partner = tensor::Select(second, element(channel - distance) * sine,
                                        -(element(channel + distance) * sine));
    const Expr turned = element(channel) * cosine + partner;
    if (rotated == x.size()) return turned;
    return tensor::Select(channel < Expr(rotated), turned, element(channel));
  });
  return {y, x.positions_first};
}

}  // namespace bayloom::graph
