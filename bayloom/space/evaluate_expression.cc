// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/space/evaluate_expression.h"

#include <cmath>
#include <memory>
#include <vector>

#include "bayloom/space/constraint.h"
#include "bayloom/space/constraint_parser.h"
#include "bayloom/space/parameter.h"

namespace bayloom::space {
namespace {

/// A parameter that can only have this value.
std::unique_ptr<Parameter> Fixed(const std::string& name, const Value& value) {
  if (const auto* whole = std::get_if<int64_t>(&value)) {
    return MakeOrdinal(name, std::vector<double>{static_cast<double>(*whole)});
  }
  if (const auto* real = std::get_if<double>(&value)) {
    return MakeOrdinal(name, std::vector<double>{*real});
  }
  if (const auto* text = std::get_if<std::string>(&value)) return MakeCategorical(name, {*text});
  return nullptr;  // lists are no operands
}

}  // namespace

Result<double> EvaluateExpression(std::string_view text,
                                  const std::map<std::string, Value>& values) {
  ExpressionGraph::Parameters parameters;
  for (const auto& [name, value] : values) {
    if (auto parameter = Fixed(name, value)) parameters.push_back(std::move(parameter));
  }
  ExpressionGraph graph;
  const Result<int> expression = ParseArithmetic(text, parameters, graph);
  if (!expression) return expression.error();
  const std::vector<double> coordinates(parameters.size(), 0);
  const double value = Constraint(graph, parameters, *expression).Compute(coordinates);
  if (std::isfinite(value)) return value;
  return Error{"'" + std::string(text) + "' has no value"};
}

}  // namespace bayloom::space
