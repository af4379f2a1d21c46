// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/space/constraint.h"

#include <algorithm>
#include <array>
#include <set>

namespace bayloom::space {
namespace {

constexpr int64_t kSmallDomain = 1024;

/// An expression and what it is computed from, operands first.
std::vector<int> Needed(const ExpressionGraph& graph, int expression) {
  std::vector<bool> needed(expression + 1);
  needed[expression] = true;
  std::vector<int> list;
  for (int e = expression; e >= 0; --e) {
    if (!needed[e]) continue;
    list.push_back(e);
    for (int operand : graph[e].operands) needed[operand] = true;
  }
  std::reverse(list.begin(), list.end());
  return list;
}

}  // namespace

std::vector<int> ParametersOf(const ExpressionGraph& graph, int expression) {
  std::vector<int> parameters;
  for (int e : Needed(graph, expression)) {
    if (graph[e].operation == Operation::kTerm) {
      parameters.push_back(graph.term(graph[e].index).parameter);
    }
  }
  std::sort(parameters.begin(), parameters.end());
  parameters.erase(std::unique(parameters.begin(), parameters.end()), parameters.end());
  return parameters;
}

std::vector<int> ComparedQuantities(const ExpressionGraph& graph,
                                    std::span<const int> constraints) {
  std::set<int> quantities;
  for (int constraint : constraints) {
    for (int e : Needed(graph, constraint)) {
      const Operation operation = graph[e].operation;
      if (operation != Operation::kLess && operation != Operation::kLessEqual) continue;
      for (int operand : graph[e].operands) {
        if (ParametersOf(graph, operand).size() > 1) quantities.insert(operand);
      }
    }
  }
  return {quantities.begin(), quantities.end()};
}

Constraint::Constraint(const ExpressionGraph& graph, const ExpressionGraph::Parameters& parameters,
                       int expression)
    : graph_(&graph), owners_(&parameters), bound_(ParametersOf(graph, expression)) {
  const std::vector<int> needed = Needed(graph, expression);
  for (int e : needed) {
    Step step{
        .operation = graph[e].operation, .index = graph[e].index, .constant = graph[e].constant};
    if (step.operation == Operation::kTerm) {
      step.parameter = graph.term(step.index).parameter;
      const int64_t count = parameters[step.parameter]->Cardinality();
      for (double rank = 0; count <= kSmallDomain && rank < static_cast<double>(count); ++rank) {
        step.table.push_back(graph.ReadTerm(step.index, parameters, rank));
      }
    }
    for (size_t i = 0; i < graph[e].operands.size(); ++i) {
      const auto found = std::lower_bound(needed.begin(), needed.end(), graph[e].operands[i]);
      const int operand = static_cast<int>(found - needed.begin());
      if (i < 3) step.operands[i] = operand;
      if (step.operation == Operation::kCode) step.more.push_back(operand);
    }
    steps_.push_back(std::move(step));
  }
}

double Constraint::Run(const Step& step, std::span<const double> coordinates,
                       std::span<const double> values) const {
  switch (step.operation) {
    case Operation::kConstant:
      return step.constant;
    case Operation::kTerm: {
      const double coordinate = coordinates[step.parameter];
      return step.table.empty() ? graph_->ReadTerm(step.index, *owners_, coordinate)
                                : step.table[static_cast<size_t>(coordinate)];
    }
    case Operation::kIn:
      return graph_->LookUp(step.index, Interval::Point(values[step.operands[0]])).low;
    case Operation::kCode: {
      std::vector<double> ranks;
      for (int operand : step.more) ranks.push_back(values[operand]);
      return graph_->RunCode(step.index, *owners_, ranks);
    }
    default:
      return Apply(step.operation, values[step.operands[0]], values[step.operands[1]],
                   values[step.operands[2]]);
  }
}

double Constraint::Compute(std::span<const double> coordinates) const {
  std::array<double, 64> few;
  std::vector<double> many(steps_.size() > few.size() ? steps_.size() : 0);
  const std::span<double> values = many.empty() ? std::span<double>(few) : std::span<double>(many);
  for (size_t i = 0; i < steps_.size(); ++i) values[i] = Run(steps_[i], coordinates, values);
  return values[steps_.size() - 1];
}

}  // namespace bayloom::space
