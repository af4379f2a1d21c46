// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/space/conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace bayloom::space {
namespace {

double StandInOf(const Parameter& parameter) {
  if (parameter.default_coordinate()) return *parameter.default_coordinate();
  return parameter.Cardinality() == kUncountable ? parameter.AtPosition(0) : 0;
}

/// Sorts conditions so that each comes after those of the parameters that it is on.
class Order {
 public:
  Order(const ExpressionGraph& graph, const ExpressionGraph::Parameters& parameters,
        std::span<const Conditions::Given> given)
      : parameters_(parameters), given_of_(parameters.size(), -1), state_(given.size()) {
    for (int g = 0; g < std::ssize(given); ++g) {
      given_of_[given[g].parameter] = g;
      std::vector<int>& on = on_.emplace_back();
      for (int expression : given[g].expressions) {
        for (int p : ParametersOf(graph, expression)) on.push_back(p);
      }
    }
    for (int g = 0; g < std::ssize(given) && circle_.empty(); ++g) Visit(given[g].parameter);
  }

  const std::vector<int>& sorted() const { return sorted_; }
  /// Names of parameters that depend on each other; empty if none do.
  const std::string& circle() const { return circle_; }

 private:
  enum class State : uint8_t { kNew, kOpen, kDone };

  void Visit(int parameter) {
    const int g = given_of_[parameter];
    if (g < 0 || state_[g] == State::kDone || !circle_.empty()) return;
    if (state_[g] == State::kOpen) {
      const auto first = std::ranges::find(path_, parameter);
      for (auto p = first; p != path_.end(); ++p) {
        circle_ += fmt::format("'{}' -> ", parameters_[*p]->name());
      }
      circle_ += fmt::format("'{}'", parameters_[parameter]->name());
      return;
    }
    state_[g] = State::kOpen;
    path_.push_back(parameter);
    for (int p : on_[g]) Visit(p);
    path_.pop_back();
    state_[g] = State::kDone;
    sorted_.push_back(g);
  }

  const ExpressionGraph::Parameters& parameters_;
  std::vector<int> given_of_;         ///< by parameter; -1: none
  std::vector<std::vector<int>> on_;  ///< by condition: the parameters that it names
  std::vector<State> state_;
  std::vector<int> path_;
  std::vector<int> sorted_;
  std::string circle_;
};

}  // namespace

Result<Conditions> Conditions::Make(ExpressionGraph& graph,
                                    const ExpressionGraph::Parameters& parameters,
                                    std::span<const Given> given) {
  Conditions conditions;
  if (given.empty()) return conditions;
  const Order order(graph, parameters, given);
  if (!order.circle().empty()) {
    return Error{fmt::format("conditions go round in a circle: {}", order.circle())};
  }
  conditions.place_.assign(parameters.size(), -1);
  conditions.is_governing_.assign(parameters.size(), false);
  for (int g : order.sorted()) {
    const Given& one = given[g];
    int active = -1;
    for (int expression : one.expressions) {
      for (int p : ParametersOf(graph, expression)) conditions.is_governing_[p] = true;
      const int guarded = conditions.Guard(graph, expression, false);
      active = active < 0 ? guarded : graph.Compute(Operation::kAnd, {active, guarded});
    }
    auto known = std::ranges::find(conditions.activities_, active, &Activity::expression);
    if (known == conditions.activities_.end()) {
      conditions.activities_.push_back({active, Constraint(graph, parameters, active)});
      known = std::prev(conditions.activities_.end());
    }
    conditions.place_[one.parameter] = static_cast<int>(conditions.conditional_.size());
    conditions.conditional_.push_back({one.parameter,
                                       static_cast<int>(known - conditions.activities_.begin()),
                                       StandInOf(*parameters[one.parameter]), one.text});
  }
  return conditions;
}

std::vector<int> Conditions::parameters() const {
  std::vector<int> parameters;
  for (const Conditional& conditional : conditional_) parameters.push_back(conditional.parameter);
  return parameters;
}

std::vector<int> Conditions::InactiveOf(std::span<const double> coordinates) const {
  std::vector<char> is_active(activities_.size());
  for (size_t a = 0; a < activities_.size(); ++a) {
    is_active[a] = activities_[a].holds.Holds(coordinates) ? 1 : 0;
  }
  std::vector<int> inactive;
  for (const Conditional& conditional : conditional_) {
    if (is_active[conditional.activity] == 0) inactive.push_back(conditional.parameter);
  }
  return inactive;
}

void Conditions::Settle(std::span<double> coordinates) const {
  for (int parameter : InactiveOf(coordinates)) coordinates[parameter] = StandIn(parameter);
}

bool Conditions::IsSettled(std::span<const double> coordinates) const {
  return std::ranges::all_of(InactiveOf(coordinates), [&](int parameter) {
    return coordinates[parameter] == StandIn(parameter);
  });
}

int Conditions::Relax(ExpressionGraph& graph, int constraint) const {
  return empty() ? constraint : Guard(graph, constraint, true);
}

int Conditions::Tie(ExpressionGraph& graph, int parameter) const {
  const int rank = graph.Read({parameter, Term::Reading::kRank});
  const int is_stand_in =
      graph.Compute(Operation::kEqual, {rank, graph.Constant(StandIn(parameter))});
  return graph.Compute(Operation::kOr, {ExpressionOf(parameter), is_stand_in});
}

/// The expression with every comparison having this value where one of its parameters is inactive,
/// under a negation the other one.
int Conditions::Guard(ExpressionGraph& graph, int expression, bool value_if_inactive) const {
  const Operation operation = graph[expression].operation;
  const bool is_logic =
      operation == Operation::kAnd || operation == Operation::kOr || operation == Operation::kNot;
  if (is_logic) {
    std::vector<int> operands = graph[expression].operands;
    const bool value = value_if_inactive != (operation == Operation::kNot);
    for (int& operand : operands) operand = Guard(graph, operand, value);
    return graph.Compute(operation, std::move(operands));
  }
  int guarded = expression;
  for (int parameter : ParametersOf(graph, expression)) {
    if (!IsConditional(parameter)) continue;
    const int active = ExpressionOf(parameter);
    guarded = value_if_inactive ? graph.Compute(Operation::kOr,
                                                {graph.Compute(Operation::kNot, {active}), guarded})
                                : graph.Compute(Operation::kAnd, {active, guarded});
  }
  return guarded;
}

}  // namespace bayloom::space
