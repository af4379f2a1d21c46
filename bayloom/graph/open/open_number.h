// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "bayloom/graph/open/length_fit.h"
#include "bayloom/graph/open/size_table.h"

namespace bayloom::graph {

/// A number in an expression that follows the lengths: a length, or one divided by it.
struct OpenNumber {
  Length length;
  bool is_reciprocal = false;
  tensor::DType dtype = tensor::DType::kInt64;
};

/// Where literals of one type, one per point of the fit, come from; nullopt if it is neither.
std::optional<OpenNumber> FitNumber(LengthFit& fit, std::span<const tensor::Expr> literals);

/// The number in an expression.
tensor::Expr ToExpr(const OpenNumber& number, SizeTable& sizes);

/// The length that an expression is: a sum or difference of sizes and numbers.
std::optional<Length> LengthOf(const Graph& graph, const tensor::Expr& e);

/// The expression with other nodes in place of literals.
tensor::Expr ReplaceLiterals(
    const tensor::Expr& e,
    const std::unordered_map<const tensor::ExprNode*, tensor::Expr>& replacements);

}  // namespace bayloom::graph
