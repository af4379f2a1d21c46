// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Matrix products and other contractions.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "bayloom/graph/operators/matrix_product.h"
#include "bayloom/graph/operators/packed_weights.h"
#include "bayloom/graph/operators/repeated.h"

namespace bayloom::graph {
namespace {

int64_t Product(const std::vector<int64_t>& extents) { return CheckedElementCount(extents); }

}  // namespace

tensor::Tensor MatrixProduct(OperatorContext& context, tensor::Tensor a, tensor::Tensor b) {
  GraphBuilder& builder = context.builder();
  if (a.shape().empty() || b.shape().empty()) context.Refuse("a scalar cannot be multiplied");
  const bool row = a.shape().size() == 1, column = b.shape().size() == 1;
  if (row) a = builder.View(a, {1, a.shape()[0]});
  if (column) b = builder.View(b, {b.shape()[0], 1});

  const std::vector<int64_t> a_batch(a.shape().begin(), a.shape().end() - 2);
  const std::vector<int64_t> b_batch(b.shape().begin(), b.shape().end() - 2);
  std::vector<int64_t> shape = BroadcastShape(context, {a_batch, b_batch});
  const int64_t m = a.shape()[a.shape().size() - 2], k = a.shape().back(), n = b.shape().back();
  const int64_t b_rows = b.shape()[b.shape().size() - 2];
  // Rows of several batches are no tensor of rows where both numbers are open.
  const bool joins_batches = !builder.compares_lengths() || Product(a_batch) == 1;
  if (Product(b_batch) == 1 && shape == a_batch && joins_batches) {
    a = builder.View(a, {Product(a_batch) * m, k});
    b = builder.View(b, {b_rows, n});
  }
  const tensor::Tensor product = Contract(context, a, b);
  if (!row) shape.push_back(m);
  if (!column) shape.push_back(n);
  return builder.View(product, shape);
}

namespace {

void MatMul(OperatorContext& context) {
  if (const auto y = ProductWithBlocks(context, context.Input(0), context.Input(1), 0)) {
    return context.SetOutput(0, *y);
  }
  if (const auto y = ProductWithRepeated(context, context.Input(0), context.Input(1))) {
    return context.SetOutput(0, *y);
  }
  context.SetOutput(0, MatrixProduct(context, context.Input(0), context.Input(1)));
}

/// alpha * a' * b' + beta * c, where ' transposes if asked to.
void Gemm(OperatorContext& context) {
  const tensor::Tensor a = context.Input(0), b = context.Input(1);
  const bool transpose_a = context.Int("transA", 0) != 0,
             transpose_b = context.Int("transB", 0) != 0;
  if (a.shape().size() != 2 || b.shape().size() != 2) context.Refuse("operands need 2 dimensions");
  const int64_t m = a.shape()[transpose_a], k = a.shape()[!transpose_a];
  const int64_t n = b.shape()[!transpose_b];
  if (b.shape()[transpose_b] != k) {
    context.Refuse(fmt::format("inner extents {} and {} differ", k, b.shape()[transpose_b]));
  }
  const auto packed = transpose_a ? std::nullopt : ProductWithBlocks(context, a, b, transpose_b);
  tensor::Tensor y = packed ? *packed
                            : context.builder().Reduce(
                                  "gemm", {m, n}, {{"k", k}}, tensor::Reduction::kSum,
                                  [&](const Exprs& s, const Exprs& r) {
                                    return (transpose_a ? a(r[0], s[0]) : a(s[0], r[0])) *
                                           (transpose_b ? b(s[1], r[0]) : b(r[0], s[1]));
                                  },
                                  NodeKind::kMatmul);
  const double alpha = context.Float("alpha", 1.0f), beta = context.Float("beta", 1.0f);
  if (alpha != 1) {
    y = Elementwise(context, "gemm.scale", y,
                    [&](const tensor::Expr& e) { return e * LiteralLike(alpha, e); });
  }
  if (context.HasInput(2) && beta != 0) {
    y = Elementwise(context, "gemm.bias", {y, context.Input(2)}, [&](const Exprs& e) {
      return e[0] + (beta == 1 ? e[1] : e[1] * LiteralLike(beta, e[1]));
    });
    if (y.shape() != std::vector<int64_t>{m, n})
      context.Refuse("c does not broadcast to the result");
  }
  context.SetOutput(0, y);
}

/// An equation's term as one label per axis; axes under "..." are '0', '1', ... from the right.
std::string AxisLabels(OperatorContext& context, const std::string& term, int rank) {
  const size_t dots = term.find("...");
  std::string labels = term;
  if (dots != std::string::npos) {
    const int covered = rank - (static_cast<int>(term.size()) - 3);
    if (covered < 0 || covered > 10) context.Refuse("the equation does not fit an input");
    std::string under;
    for (int d = covered - 1; d >= 0; --d) under += static_cast<char>('0' + d);
    labels.replace(dots, 3, under);
  }
  const bool letters = std::all_of(labels.begin(), labels.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  });
  if (static_cast<int>(labels.size()) != rank || !letters) {
    context.Refuse("attribute equation does not fit the inputs");
  }
  return labels;
}

struct Equation {
  std::vector<std::string> inputs;
  std::string output;
  bool explicit_output = false;
};

Equation ParseEquation(std::string text) {
  std::erase(text, ' ');
  Equation equation;
  const size_t arrow = text.find("->");
  equation.explicit_output = arrow != std::string::npos;
  if (equation.explicit_output) equation.output = text.substr(arrow + 2);
  std::string left = text.substr(0, arrow);
  for (size_t comma; (comma = left.find(',')) != std::string::npos; left = left.substr(comma + 1)) {
    equation.inputs.push_back(left.substr(0, comma));
  }
  equation.inputs.push_back(left);
  return equation;
}

/// Without "->": broadcast axes first, then the labels that occur once, in alphabetical order.
std::string ImplicitOutput(const std::vector<std::string>& inputs) {
  std::map<char, int> occurrences;
  for (const std::string& labels : inputs) {
    for (char c : labels) ++occurrences[c];
  }
  std::string broadcast, once;
  for (const auto& [label, count] : occurrences) {
    if (label <= '9') broadcast.insert(broadcast.begin(), label);
    if (label > '9' && count == 1) once += label;
  }
  return broadcast + once;
}

void Einsum(OperatorContext& context) {
  const std::vector<tensor::Tensor> operands = context.Inputs();
  Equation equation = ParseEquation(context.String("equation"));
  if (equation.inputs.size() != operands.size()) {
    context.Refuse("attribute equation names another number of inputs");
  }
  std::map<char, int64_t> extents;
  size_t covered = 0;
  for (size_t k = 0; k < operands.size(); ++k) {
    const std::vector<int64_t>& shape = operands[k].shape();
    std::string& labels = equation.inputs[k];
    labels = AxisLabels(context, labels, static_cast<int>(shape.size()));
    size_t dots = 0;
    for (size_t d = 0; d < labels.size(); ++d) {
      dots += labels[d] <= '9';
      int64_t& extent = extents.emplace(labels[d], 1).first->second;
      if (extent != 1 && shape[d] != 1 && extent != shape[d]) {
        context.Refuse(
            fmt::format("extents {} and {} of axis {} differ", extent, shape[d], labels[d]));
      }
      if (extent == 1) extent = shape[d];
    }
    covered = std::max(covered, dots);
  }
  std::string output = ImplicitOutput(equation.inputs);
  if (equation.explicit_output) {
    const bool dots = equation.output.find("...") != std::string::npos;
    const int rank =
        static_cast<int>(equation.output.size() - (dots ? 3 : 0) + (dots ? covered : 0));
    output = AxisLabels(context, equation.output, rank);
  }
  std::vector<int64_t> shape;
  for (char label : output) {
    const bool repeated = std::count(output.begin(), output.end(), label) > 1;
    if (!extents.contains(label) || repeated) context.Refuse("attribute equation has a bad output");
    shape.push_back(extents[label]);
  }
  std::string summed;
  std::vector<GraphBuilder::Axis> axes;
  for (const auto& [label, extent] : extents) {
    if (output.find(label) != std::string::npos) continue;
    summed += label;
    axes.push_back({std::string(1, label), extent});
  }
  const NodeKind kind = operands.size() > 1 ? NodeKind::kMatmul : NodeKind::kReduce;
  context.SetOutput(
      0, context.builder().Reduce(
             "einsum", shape, axes, tensor::Reduction::kSum,
             [&](const Exprs& s, const Exprs& r) {
               tensor::Expr product;
               for (size_t k = 0; k < operands.size(); ++k) {
                 Exprs index;
                 for (size_t d = 0; d < equation.inputs[k].size(); ++d) {
                   const char label = equation.inputs[k][d];
                   const size_t at = output.find(label);
                   const tensor::Expr place =
                       at != std::string::npos ? s[at] : r[summed.find(label)];
                   index.push_back(operands[k].shape()[d] == 1 ? tensor::Expr(0) : place);
                 }
                 const tensor::Expr element = operands[k].At(index);
                 product = product.defined() ? product * element : element;
               }
               return product;
             },
             kind));
}

}  // namespace

std::span<const Operator> MatmulOperators() {
  static const Operator operators[] = {
      {"Einsum", Einsum},
      {"Gemm", Gemm},
      {"MatMul", MatMul},
  };
  return operators;
}

}  // namespace bayloom::graph
