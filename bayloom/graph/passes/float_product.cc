// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/passes/float_product.h"

#include "bayloom/graph/passes/rewriting.h"

namespace bayloom::graph {
namespace {

bool IsFloatLoad(const tensor::Expr& e) {
  return e->op == tensor::ExprOp::kLoad && e->dtype == tensor::DType::kFloat32;
}

std::optional<FloatFactor> AsFloatFactor(const tensor::Expr& e) {
  if (IsFloatLoad(e)) return FloatFactor{e};
  const bool is_padded = e->op == tensor::ExprOp::kSelect && IsFloatLoad(e->operands[1]) &&
                         e->operands[2]->op == tensor::ExprOp::kFloat &&
                         LoadsOf(e->operands[0]).empty();
  if (!is_padded) return std::nullopt;
  return FloatFactor{e->operands[1], e->operands[0], e->operands[2]};
}

}  // namespace

tensor::Expr FloatFactor::Reading(ValueId value, tensor::DType dtype) const {
  tensor::Expr element = tensor::Load(value, dtype, load->operands);
  if (condition.defined()) {
    element = tensor::Select(condition, element, tensor::Cast(dtype, padding));
  }
  return tensor::Cast(tensor::DType::kFloat32, element);
}

std::optional<std::array<FloatFactor, 2>> AsFloatProduct(const Node& node) {
  const bool adds_up = IsAnchor(node) && node.stage.reduction == tensor::Reduction::kSum &&
                       node.stage.value->op == tensor::ExprOp::kMul;
  if (!adds_up) return std::nullopt;
  std::optional<FloatFactor> a = AsFloatFactor(node.stage.value->operands[0]);
  std::optional<FloatFactor> b = AsFloatFactor(node.stage.value->operands[1]);
  if (!a || !b) return std::nullopt;
  return std::array{*std::move(a), *std::move(b)};
}

}  // namespace bayloom::graph
