// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Losses of classifiers: how unlikely the right classes are.
#include <fmt/format.h>

#include "bayloom/graph/operators/helpers.h"

namespace bayloom::graph {
namespace {

/// Classes lie along axis 1 of the scores; labels have the scores' shape without it.
void CheckLabels(OperatorContext& context, const tensor::Tensor& scores,
                 const tensor::Tensor& labels) {
  std::vector<int64_t> expected = scores.shape();
  if (expected.size() < 2) context.Refuse("the scores need 2 dimensions at least");
  expected.erase(expected.begin() + 1);
  if (labels.shape() != expected) {
    context.Refuse(fmt::format("{} labels for {} scores", ToString(labels.dtype(), labels.shape()),
                               ToString(scores.dtype(), scores.shape())));
  }
}

/// The weight of each label's class; 0 where the label is to be ignored.
tensor::Tensor LabelWeights(OperatorContext& context, const tensor::Tensor& scores,
                            const tensor::Tensor& labels) {
  const int64_t classes = scores.shape()[1];
  const bool has_ignored = context.HasAttribute("ignore_index");
  const tensor::Expr ignored = has_ignored ? context.Int("ignore_index") : 0;
  const bool has_weights = context.HasInput(2);
  const tensor::Tensor weights = has_weights ? context.Input(2) : scores;
  if (has_weights && weights.shape() != std::vector<int64_t>{classes}) {
    context.Refuse("the weights need one element for each class");
  }
  const tensor::DType dtype = scores.dtype();
  return context.builder().Map("loss.weight", labels.shape(), [&](const Exprs& place) {
    const tensor::Expr label = tensor::Cast(tensor::DType::kInt64, labels.At(place));
    const tensor::Expr inside =
        tensor::Max(tensor::Min(label, tensor::Expr(classes - 1)), tensor::Expr(0));
    const tensor::Expr weight = has_weights ? weights(inside) : tensor::Literal(1, dtype);
    return has_ignored
               ? tensor::Select(tensor::Equal(label, ignored), tensor::Literal(0, dtype), weight)
               : weight;
  });
}

/// Minus the logarithm of each label's probability, weighted; then its mean, its sum, or itself.
tensor::Tensor LossOf(OperatorContext& context, const tensor::Tensor& log_probabilities,
                      const tensor::Tensor& labels) {
  const std::string reduction = context.String("reduction", "mean");
  if (reduction != "mean" && reduction != "sum" && reduction != "none") {
    context.RefuseAttribute("reduction", reduction, "has to be mean, sum or none");
  }
  CheckLabels(context, log_probabilities, labels);
  const tensor::Tensor weights = LabelWeights(context, log_probabilities, labels);
  const tensor::Expr last = log_probabilities.shape()[1] - 1;
  const tensor::Tensor loss =
      context.builder().Map("loss", labels.shape(), [&](const Exprs& place) {
        const tensor::Expr label = tensor::Cast(tensor::DType::kInt64, labels.At(place));
        Exprs index = place;
        index.insert(index.begin() + 1, tensor::Max(tensor::Min(label, last), tensor::Expr(0)));
        return -log_probabilities.At(index) * weights.At(place);
      });
  if (reduction == "none") return loss;
  const std::vector<int> axes = AllAxes(Rank(loss));
  const tensor::Tensor sum =
      ReduceAxes(context, "loss.sum", loss, axes, tensor::Reduction::kSum, Itself);
  if (reduction == "sum") return sum;
  const tensor::Tensor total =
      ReduceAxes(context, "loss.weights", weights, axes, tensor::Reduction::kSum, Itself);
  return Elementwise(context, "loss.mean", {sum, total},
                     [](const Exprs& e) { return e[0] / e[1]; });
}

void NegativeLogLikelihoodLoss(OperatorContext& context) {
  context.SetOutput(0, LossOf(context, context.Input(0), context.Input(1)));
}

void SoftmaxCrossEntropyLoss(OperatorContext& context) {
  const tensor::Tensor scores = context.Input(0), labels = context.Input(1);
  CheckLabels(context, scores, labels);
  const tensor::Tensor largest =
      ReduceAxes(context, "loss.max", scores, {1}, tensor::Reduction::kMax, Itself);
  const tensor::Tensor sum = ReduceAxesAt(
      context, "loss.exp", scores.shape(), {1}, tensor::Reduction::kSum, [&](const Exprs& s) {
        return tensor::Unary(tensor::ExprOp::kExp, scores.At(s) - largest.At(Without(s, {1})));
      });
  const tensor::Tensor log_probabilities =
      context.builder().Map("loss.log", scores.shape(), [&](const Exprs& s) {
        const Exprs row = Without(s, {1});
        return scores.At(s) - largest.At(row) - tensor::Unary(tensor::ExprOp::kLog, sum.At(row));
      });
  context.SetOutput(0, LossOf(context, log_probabilities, labels));
  context.SetOutput(1, log_probabilities);
}

}  // namespace

std::span<const Operator> LossOperators() {
  static const Operator operators[] = {
      {"NegativeLogLikelihoodLoss", NegativeLogLikelihoodLoss},
      {"SoftmaxCrossEntropyLoss", SoftmaxCrossEntropyLoss},
  };
  return operators;
}

}  // namespace bayloom::graph
