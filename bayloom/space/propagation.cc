// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/space/propagation.h"

#include <algorithm>
#include <cmath>

namespace bayloom::space {
namespace {

/// Intervals that shrink step by step could take for ever; what they leave is looked at later.
constexpr int kMaxRounds = 8;
/// Domains without order are read value by value up to here.
constexpr double kMaxListed = 4096;
/// And their values are tried one by one up to here.
constexpr double kMaxTried = 64;

bool IsSame(const NumberSet& a, const NumberSet& b) {
  return a.low == b.low && a.high == b.high && a.modulus == b.modulus && a.dividend == b.dividend &&
         a.list == b.list;
}

/// Between the coordinates of a parameter and what its set holds.
double Offset(const Parameter& parameter) {
  return parameter.kind() == ParameterKind::kInteger ? parameter.NumberAt(0) : 0;
}

double Size(const Parameter& parameter) { return static_cast<double>(parameter.Cardinality()); }

}  // namespace

Propagation::Propagation(const ExpressionGraph& graph,
                         const ExpressionGraph::Parameters& parameters,
                         std::span<const int> members, std::span<const int> constraints)
    : graph_(graph), parameters_(parameters), members_(members.begin(), members.end()) {
  std::vector<bool> needed(static_cast<size_t>(graph.size()));
  for (int constraint : constraints) needed[constraint] = true;
  for (int e = graph.size() - 1; e >= 0; --e) {
    if (!needed[e]) continue;
    for (int operand : graph[e].operands) needed[operand] = true;
  }
  std::vector<int> place(static_cast<size_t>(graph.size()));
  for (int e = 0; e < graph.size(); ++e) {
    if (!needed[e]) continue;
    Node node;
    node.operation = graph[e].operation;
    node.index = graph[e].index;
    node.constant = graph[e].constant;
    for (int operand : graph[e].operands) node.operands.push_back(place[operand]);
    node.is_comparison =
        (node.operation >= Operation::kEqual && node.operation <= Operation::kLessEqual) ||
        node.operation == Operation::kIn;
    node.is_truth = node.is_comparison || node.operation == Operation::kCode ||
                    (node.operation >= Operation::kAnd && node.operation <= Operation::kNot);
    if (node.operation == Operation::kTerm) AddTerm(node);
    place[e] = static_cast<int>(nodes_.size());
    nodes_.push_back(std::move(node));
  }
  for (int constraint : constraints) nodes_[place[constraint]].is_root = true;
}

void Propagation::AddTerm(Node& node) {
  const Term& term = graph_.term(node.index);
  const Parameter& parameter = *parameters_[term.parameter];
  node.member = static_cast<int>(std::find(members_.begin(), members_.end(), term.parameter) -
                                 members_.begin());
  const bool is_number = term.reading == Term::Reading::kNumber;
  const bool is_whole = parameter.kind() == ParameterKind::kInteger;
  const bool is_real = parameter.kind() == ParameterKind::kReal;
  node.is_shifted = term.reading == Term::Reading::kRank || (is_number && (is_whole || is_real));
  if (node.is_shifted) {
    node.shift = is_number ? 0 : -Offset(parameter);
    return;
  }
  node.is_ordered = is_number && parameter.kind() == ParameterKind::kOrdinal;
  if (node.is_ordered || Size(parameter) > kMaxListed) return;
  double low = NumberSet::kInfinity, high = -low;
  bool whole = true;
  for (double c = 0; c < Size(parameter); ++c) {
    const double value = graph_.ReadTerm(node.index, parameters_, c);
    low = std::min(low, value);
    high = std::max(high, value);
    whole = whole && value == std::floor(value);
  }
  node.all = NumberSet::Between(low, high, whole);
}

std::vector<NumberSet> Propagation::Domains() const {
  std::vector<NumberSet> domains;
  for (int p : members_) {
    const Parameter& parameter = *parameters_[p];
    const bool is_real = parameter.Cardinality() == kUncountable;
    domains.push_back(
        is_real
            ? NumberSet::Between(parameter.AtPosition(0), parameter.AtPosition(1), false)
            : NumberSet::Between(Offset(parameter), Offset(parameter) + Size(parameter) - 1, true));
  }
  return domains;
}

double Propagation::CoordinateOf(int member, double number) const {
  return number - Offset(*parameters_[members_[member]]);
}

double Propagation::NumberOf(int member, double coordinate) const {
  return coordinate + Offset(*parameters_[members_[member]]);
}

bool Propagation::Narrow(std::span<NumberSet> numbers) const {
  std::vector<Known> known(nodes_.size());
  std::vector<NumberSet> before;
  for (int round = 0; round < kMaxRounds; ++round) {
    before.assign(numbers.begin(), numbers.end());
    if (!ComputeSets(numbers, known) || !NarrowSets(known, numbers)) return false;
    if (std::equal(before.begin(), before.end(), numbers.begin(), IsSame)) break;
  }
  return true;
}

/// Keeps of each expression's set what its operands can give.
bool Propagation::ComputeSets(std::span<const NumberSet> numbers, std::span<Known> known) const {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const NumberSet computed = Forward(nodes_[i], known, numbers);
    if (!known[i].has_value && !nodes_[i].is_truth) {
      known[i].set = computed;
    } else if (!known[i].set.Intersect(computed)) {
      return false;
    }
    if (nodes_[i].is_root && !known[i].set.Intersect(NumberSet::Point(1))) return false;
  }
  return true;
}

/// Hands down what is known of expressions, from the constraints to the terms. What may turn out to
/// have no value says nothing about its operands.
bool Propagation::NarrowSets(std::span<Known> known, std::span<NumberSet> numbers) const {
  for (size_t i = nodes_.size(); i-- > 0;) {
    const Node& node = nodes_[i];
    const NumberSet& own = known[i].set;
    if (node.operation == Operation::kTerm) {
      if (known[i].has_value && !NarrowTerm(node, own, numbers[node.member])) return false;
      continue;
    }
    const bool is_narrowing = node.is_truth ? own.IsPoint() : known[i].has_value;
    if (!is_narrowing || node.operands.empty() || node.operation == Operation::kCode) continue;
    if (node.is_comparison && !own.IsTrue()) continue;
    RequireValues(node, known);
    if (node.operation == Operation::kIn) {
      const std::vector<double>& list = graph_.members(node.index);
      if (list.empty()) return false;
      NumberSet listed = NumberSet::Between(list.front(), list.back(), false);
      listed.list = &list;
      if (!known[node.operands[0]].set.Intersect(listed)) return false;
      continue;
    }
    NumberSet operands[3] = {NumberSet::Point(0), NumberSet::Point(0), NumberSet::Point(0)};
    for (size_t k = 0; k < node.operands.size(); ++k) operands[k] = known[node.operands[k]].set;
    if (!NarrowOperands(node.operation, own, operands[0], operands[1], operands[2])) return false;
    for (size_t k = 0; k < node.operands.size(); ++k) {
      if (!known[node.operands[k]].set.Intersect(operands[k])) return false;
    }
  }
  return true;
}

/// An expression with a value has operands with values, but for what a selection leaves out.
void Propagation::RequireValues(const Node& node, std::span<Known> known) const {
  for (size_t k = 0; k < node.operands.size(); ++k) {
    if (node.operation == Operation::kSelect && k > 0) {
      const NumberSet& condition = known[node.operands[0]].set;
      if (!(k == 1 ? condition.IsTrue() : condition.IsFalse())) continue;
    }
    known[node.operands[k]].has_value = true;
  }
}

NumberSet Propagation::Forward(const Node& node, std::span<const Known> known,
                               std::span<const NumberSet> numbers) const {
  if (node.operation == Operation::kConstant) return NumberSet::Point(node.constant);
  if (node.operation == Operation::kTerm) return ReadTerm(node, numbers[node.member]);
  if (node.operation == Operation::kCode) return CallCode(node, known);
  const NumberSet& first = known[node.operands[0]].set;
  if (node.operation == Operation::kIn) {
    const Interval found = graph_.LookUp(node.index, {first.low, first.high});
    return NumberSet::Between(found.low, found.high, true);
  }
  const auto operand = [&](size_t k) {
    return k < node.operands.size() ? known[node.operands[k]].set : NumberSet::Point(0);
  };
  const NumberSet second = operand(1), third = operand(2);
  if (first.IsPoint() && second.IsPoint() && third.IsPoint()) {
    return NumberSet::Point(Apply(node.operation, first.low, second.low, third.low));
  }
  if (first.IsNan() || second.IsNan() || third.IsNan()) return {};
  return ForwardSet(node.operation, first, second, third);
}

NumberSet Propagation::CallCode(const Node& node, std::span<const Known> known) const {
  std::vector<double> ranks;
  for (int operand : node.operands) {
    if (!known[operand].set.IsPoint()) return NumberSet::Between(0, 1, true);
    ranks.push_back(known[operand].set.low);
  }
  return NumberSet::Point(graph_.RunCode(node.index, parameters_, ranks) ? 1 : 0);
}

NumberSet Propagation::ReadTerm(const Node& node, const NumberSet& numbers) const {
  if (node.is_shifted) return numbers + NumberSet::Point(node.shift);
  if (numbers.IsPoint()) {
    return NumberSet::Point(graph_.ReadTerm(node.index, parameters_, numbers.low));
  }
  if (!node.is_ordered) return node.all;
  return NumberSet::Between(graph_.ReadTerm(node.index, parameters_, numbers.low),
                            graph_.ReadTerm(node.index, parameters_, numbers.high), false);
}

bool Propagation::NarrowTerm(const Node& node, const NumberSet& values, NumberSet& numbers) const {
  if (node.is_shifted) {
    if (node.shift == 0) return numbers.Intersect(values);
    return numbers.Intersect(values - NumberSet::Point(node.shift));
  }
  if (!node.is_ordered) return true;
  const auto value = [&](double c) { return graph_.ReadTerm(node.index, parameters_, c); };
  while (numbers.low <= numbers.high && value(numbers.low) < values.low) {
    // By halves: the first coordinate whose value is not below.
    double below = numbers.low, above = numbers.high + 1;
    while (above - below > 1) {
      const double middle = std::floor((below + above) / 2);
      (value(middle) < values.low ? below : above) = middle;
    }
    numbers.low = above;
  }
  while (numbers.low <= numbers.high && value(numbers.high) > values.high) {
    double below = numbers.low - 1, above = numbers.high;
    while (above - below > 1) {
      const double middle = std::floor((below + above) / 2);
      (value(middle) > values.high ? above : below) = middle;
    }
    numbers.high = below;
  }
  return numbers.low <= numbers.high;
}

Members Propagation::MembersOf(int member, std::span<const NumberSet> numbers) const {
  const bool is_stepped = std::all_of(nodes_.begin(), nodes_.end(), [&](const Node& node) {
    return node.operation != Operation::kTerm || node.member != member || node.is_shifted;
  });
  Members members(numbers[member]);
  if (is_stepped || members.count() > kMaxTried) return members;
  std::vector<double> left;
  std::vector<NumberSet> tried;
  for (double i = 0; i < members.count(); ++i) {
    tried.assign(numbers.begin(), numbers.end());
    tried[member] = NumberSet::Point(members.At(i));
    if (Narrow(tried)) left.push_back(members.At(i));
  }
  return Members(std::move(left));
}

}  // namespace bayloom::space
