// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/graph/decomposed_attention.h"

#include <cmath>

namespace bayloom::graph {

using tensor::DType;
using tensor::Expr;
using tensor::Tensor;
using Exprs = GraphBuilder::Exprs;

std::vector<int64_t> DecomposedAttention::Shape(int64_t count, int64_t positions,
                                                int64_t width) const {
  return positions_first ? std::vector<int64_t>{batch, positions, count, width}
                         : std::vector<int64_t>{batch, count, positions, width};
}

Expr DecomposedAttention::At(const Tensor& x, const Expr& b, const Expr& h, const Expr& p,
                             const Expr& c) const {
  return positions_first ? x(b, p, h, c) : x(b, h, p, c);
}

Tensor DecomposedAttention::ConstantMask(GraphBuilder& b) const {
  const bool is_bool = mask == AttentionMask::kConstant;
  tensor::HostTensor data =
      tensor::HostTensor::Zeros(is_bool ? DType::kBool : DType::kFloat32, {queries, keys});
  for (int64_t q = 0; q < queries; ++q) {
    for (int64_t k = 0; k < keys; ++k) {
      const bool visible = k <= q;
      data.Set(q * keys + k, is_bool ? (visible ? 1 : 0) : (visible ? 0 : hidden));
    }
  }
  return b.Constant("seen", std::move(data));
}

Tensor DecomposedAttention::Masked(GraphBuilder& b, const Tensor& scores) const {
  const bool adds = mask == AttentionMask::kAdded || mask == AttentionMask::kCausalAndAdded;
  const bool is_constant =
      mask == AttentionMask::kConstant || mask == AttentionMask::kAddedConstant;
  Tensor added, constant;
  if (adds) added = b.Input("mask", DType::kFloat32, {batch, 1, 1, keys});
  if (is_constant) constant = ConstantMask(b);
  return b.Map("mask", scores.shape(), [&](const Exprs& s) {
    Expr score = scores.At(s) * tensor::FloatLiteral(1 / std::sqrt(double(size)));
    const Expr &query = s[3], &key = s[4], low = tensor::FloatLiteral(hidden);
    if (adds) score = score + added(s[0], Expr(0), Expr(0), key);
    switch (mask) {
      case AttentionMask::kNone:
      case AttentionMask::kAdded:
        break;
      case AttentionMask::kCausal:
      case AttentionMask::kCausalAndAdded:
        return tensor::Select(key <= query, score, low);
      case AttentionMask::kWindow:
        return tensor::Select(key <= query && query < key + Expr(window), score, low);
      case AttentionMask::kConstant:
        return tensor::Select(constant(query, key), score, low);
      case AttentionMask::kAddedConstant:
        return score + constant(query, key);
    }
    return score;
  });
}

Graph DecomposedAttention::Build(bool with_weights) const {
  GraphBuilder b("attention");
  const Tensor q = b.Input("q", DType::kFloat32, Shape(heads * group, queries, size));
  const Tensor k = b.Input("k", DType::kFloat32, Shape(heads, keys, size));
  const Tensor v = b.Input("v", DType::kFloat32, Shape(heads, keys, channels));
  const std::vector<int64_t> rows = {batch, heads, group, queries};
  std::vector<int64_t> all = rows;
  all.push_back(keys);
  const Tensor products = b.Reduce(
      "matmul", all, {{"d", size}}, tensor::Reduction::kSum,
      [&](const Exprs& s, const Exprs& r) {
        return At(q, s[0], s[1] * Expr(group) + s[2], s[3], r[0]) * At(k, s[0], s[1], s[4], r[0]);
      },
      NodeKind::kMatmul);
  const Tensor x = Masked(b, products);
  const auto row = [](const Exprs& s) { return Exprs(s.begin(), s.end() - 1); };
  const auto reduce = [&](const char* op, const Tensor& of, tensor::Reduction reduction) {
    return b.Reduce(op, rows, {{"k", keys}}, reduction, [&](const Exprs& s, const Exprs& r) {
      return of(s[0], s[1], s[2], s[3], r[0]);
    });
  };
  const Tensor max = reduce("softmax.max", x, tensor::Reduction::kMax);
  const Tensor exp = b.Map("softmax.exp", all, [&](const Exprs& s) {
    return tensor::Unary(tensor::ExprOp::kExp, x.At(s) - max.At(row(s)));
  });
  const Tensor sum = reduce("softmax.sum", exp, tensor::Reduction::kSum);
  const Tensor weights =
      b.Map("softmax", all, [&](const Exprs& s) { return exp.At(s) / sum.At(row(s)); });
  const Tensor y = b.Reduce(
      "matmul", {batch, heads, group, queries, channels}, {{"t", keys}}, tensor::Reduction::kSum,
      [&](const Exprs& s, const Exprs& r) {
        return weights(s[0], s[1], s[2], s[3], r[0]) * At(v, s[0], s[1], r[0], s[4]);
      },
      NodeKind::kMatmul);
  const Tensor joined = b.Map("transpose", {batch, queries, heads, group, channels},
                              [&](const Exprs& s) { return y(s[0], s[2], s[3], s[1], s[4]); });
  std::vector<GraphOutput> outputs = {{"y", joined.id()}};
  if (with_weights) outputs.push_back({"weights", weights.id()});
  return b.Build(outputs);
}

}  // namespace bayloom::graph
