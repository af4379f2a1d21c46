// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/space/expression.h"

#include <algorithm>
#include <bit>

namespace bayloom::space {

int ExpressionGraph::Intern(Expression expression) {
  Key key(expression.operation, expression.operands, std::bit_cast<uint64_t>(expression.constant),
          expression.index);
  const auto [known, is_new] = known_.emplace(std::move(key), size());
  if (is_new) expressions_.push_back(std::move(expression));
  return known->second;
}

int ExpressionGraph::Constant(double value) {
  return Intern({.operation = Operation::kConstant, .operands = {}, .constant = value});
}

int ExpressionGraph::Read(const Term& term) {
  const auto [known, is_new] = known_terms_.emplace(term, static_cast<int>(terms_.size()));
  if (is_new) terms_.push_back(term);
  return Intern({.operation = Operation::kTerm, .operands = {}, .index = known->second});
}

int ExpressionGraph::Compute(Operation operation, std::vector<int> operands) {
  double values[3] = {0, 0, 0};
  bool constant = true;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Expression& operand = expressions_[operands[i]];
    constant = constant && operand.operation == Operation::kConstant;
    values[i] = operand.constant;
  }
  if (constant) return Constant(Apply(operation, values[0], values[1], values[2]));
  return Intern({.operation = operation, .operands = std::move(operands)});
}

int ExpressionGraph::IsIn(int operand, std::vector<double> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  const auto known = std::find(sets_.begin(), sets_.end(), values);
  const int set = static_cast<int>(known - sets_.begin());
  if (known == sets_.end()) sets_.push_back(std::move(values));
  if (expressions_[operand].operation == Operation::kConstant) {
    return Constant(LookUp(set, Interval::Point(expressions_[operand].constant)).low);
  }
  return Intern({.operation = Operation::kIn, .operands = {operand}, .index = set});
}

int ExpressionGraph::Call(std::vector<int> parameters, ConstraintFunction function) {
  std::vector<int> ranks;
  for (int p : parameters) ranks.push_back(Read({p, Term::Reading::kRank}));
  codes_.push_back({std::move(parameters), std::move(function)});
  return Intern({.operation = Operation::kCode,
                 .operands = std::move(ranks),
                 .index = static_cast<int>(codes_.size()) - 1});
}

int ExpressionGraph::IdOfText(const std::string& text) {
  return text_ids_.emplace(text, static_cast<int>(text_ids_.size())).first->second;
}

double ExpressionGraph::ReadTerm(int index, const Parameters& parameters, double coordinate) const {
  const Term& term = terms_[index];
  const Parameter& parameter = *parameters[term.parameter];
  switch (term.reading) {
    case Term::Reading::kNumber:
      return parameter.NumberAt(coordinate);
    case Term::Reading::kRank:
      return coordinate;
    case Term::Reading::kText:
      return text_ids_.at(std::get<std::string>(parameter.ValueAt(coordinate)));
    case Term::Reading::kElement:
    case Term::Reading::kPlace:
      break;
  }
  int64_t elements[kMaxElements];
  parameter.ElementsAt(coordinate, elements);
  if (term.reading == Term::Reading::kElement) return static_cast<double>(elements[term.element]);
  return static_cast<double>(
      std::find(elements, elements + parameter.ElementCount(), term.element) - elements);
}

Interval ExpressionGraph::LookUp(int set, const Interval& value) const {
  const std::vector<double>& members = sets_[set];
  if (value.low != value.low) return Interval::Point(0);
  const auto first = std::lower_bound(members.begin(), members.end(), value.low);
  if (first == members.end() || *first > value.high) return Interval::Point(0);
  return {value.IsPoint() ? 1.0 : 0.0, 1};
}

bool ExpressionGraph::RunCode(int code, const Parameters& parameters,
                              std::span<const double> coordinates) const {
  std::vector<Value> values;
  for (size_t i = 0; i < coordinates.size(); ++i) {
    values.push_back(parameters[codes_[code].parameters[i]]->ValueAt(coordinates[i]));
  }
  return codes_[code].function(values);
}

}  // namespace bayloom::space
