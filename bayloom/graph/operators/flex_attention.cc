// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// FlexAttention: attention whose scores and probabilities graphs of the model modify.
#include <fmt/format.h>

#include <cmath>

#include "bayloom/graph/operators/apply.h"
#include "bayloom/graph/operators/attention_heads.h"
#include "bayloom/graph/operators/small_rounding.h"

namespace bayloom::graph {
namespace {

/// The type of the softmax: at least float32, in which the graph has narrower floats.
tensor::DType SoftmaxType(OperatorContext& context, const tensor::Tensor& q) {
  const int64_t precision = context.Int("softmax_precision", 0);
  if (precision == 0) return q.dtype();
  const tensor::DType type = ElementTypeFromOnnx(precision).dtype;
  if (!tensor::IsFloat(type)) context.Refuse("softmax_precision is no float type");
  return type == tensor::DType::kFloat64 ? type : tensor::DType::kFloat32;
}

/// The graph's result for `x`, of the same shape and type.
tensor::Tensor Modified(OperatorContext& context, const char* attribute, const tensor::Tensor& x) {
  if (!context.HasAttribute(attribute)) return x;
  const std::vector<tensor::Tensor> results = context.TensorSubgraph(attribute, {x});
  if (results.size() != 1 || results[0].shape() != x.shape()) {
    context.Refuse(fmt::format("{} has to return one tensor of the scores' shape", attribute));
  }
  return ConvertTo(context, x.dtype(), results[0]);
}

/// Heads of queries that share keys and values are positions of one head: no copies are needed.
void FlexAttention(OperatorContext& context) {
  const Heads q = AsHeads(context, context.Input(0)), k = AsHeads(context, context.Input(1)),
              v = AsHeads(context, context.Input(2));
  const bool fits = k.count() > 0 && q.count() % k.count() == 0 && k.count() == v.count() &&
                    q.size() == k.size() && k.positions() == v.positions() &&
                    q.batch() == k.batch() && k.batch() == v.batch();
  if (!fits) context.Refuse("query, key and value do not fit each other");
  GraphBuilder& builder = context.builder();
  const double scale =
      context.Float("scale", static_cast<float>(1 / std::sqrt(static_cast<double>(q.size()))));
  const int64_t rows = q.count() / k.count() * q.positions();
  const tensor::Tensor queries = builder.View(q.data, {q.batch(), k.count(), rows, q.size()});
  const tensor::Tensor products =
      Contract(context, queries, Permute(context, k.data, {0, 1, 3, 2}));
  const tensor::DType type = SoftmaxType(context, q.data);
  const tensor::Tensor scaled = Elementwise(
      context, "flexattention.scale", products,
      [&](const tensor::Expr& e) { return tensor::Cast(type, e * LiteralLike(scale, e)); });
  const std::vector<int64_t> shape = {q.batch(), q.count(), q.positions(), k.positions()};
  const tensor::Tensor scores = Modified(context, "score_mod", builder.View(scaled, shape));
  const tensor::Tensor softmax =
      ApplyOperator(context, "Softmax", {scores}, {{{"axis", int64_t{-1}}}});
  const tensor::Tensor weights = builder.View(Modified(context, "prob_mod", softmax),
                                              {q.batch(), k.count(), rows, k.positions()});
  const tensor::Tensor output = Contract(context, weights, ConvertTo(context, type, v.data));
  context.SetOutput(
      0, ConvertTo(context, v.data.dtype(),
                   builder.View(output, {q.batch(), q.count(), q.positions(), v.size()})));
}

}  // namespace

std::span<const Operator> FlexAttentionOperators() {
  static const Operator operators[] = {{"FlexAttention", FlexAttention, "ai.onnx.preview"}};
  return operators;
}

}  // namespace bayloom::graph
