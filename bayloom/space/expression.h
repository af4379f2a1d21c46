// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "bayloom/space/operation.h"
#include "bayloom/space/parameter.h"

namespace bayloom::space {

/// A known constraint in code: whether it holds for the values of its parameters, in the order in
/// which they were named. Must be a function of them, and callable from any thread.
using ConstraintFunction = std::function<bool(std::span<const Value>)>;

/// What an expression reads off a parameter's value.
struct Term {
  enum class Reading : uint8_t {
    kNumber,   ///< Parameter::NumberAt
    kRank,     ///< the coordinate
    kText,     ///< a number that stands for the text, the same for all parameters
    kElement,  ///< element `element` of a permutation or factorization
    kPlace,    ///< where a permutation puts item `element`
  };
  int parameter = 0;
  Reading reading = Reading::kNumber;
  int element = 0;

  auto operator<=>(const Term&) const = default;
};

/// One step of a computation. What is constant is computed when built; a step that is there already
/// is not built twice.
struct Expression {
  Operation operation = Operation::kConstant;
  std::vector<int> operands;  ///< earlier expressions
  double constant = 0;        ///< kConstant
  int index = 0;              ///< kTerm, kIn, kCode: which one
};

/// The expressions of all constraints on a list of parameters, shared where equal: a directed
/// acyclic graph, operands before users.
class ExpressionGraph {
 public:
  using Parameters = std::vector<std::unique_ptr<Parameter>>;

  int Constant(double value);
  int Read(const Term& term);
  /// Computed at once if all operands are constants.
  int Compute(Operation operation, std::vector<int> operands);
  int IsIn(int operand, std::vector<double> values);
  int Call(std::vector<int> parameters, ConstraintFunction function);

  const Expression& operator[](int expression) const { return expressions_[expression]; }
  int size() const { return static_cast<int>(expressions_.size()); }
  const Term& term(int index) const { return terms_[index]; }

  /// The numbers that stand for texts, shared by all parameters.
  int IdOfText(const std::string& text);

  /// What evaluation needs of kTerm, kIn and kCode, by their index.
  double ReadTerm(int index, const Parameters& parameters, double coordinate) const;
  Interval LookUp(int set, const Interval& value) const;
  /// The numbers of a kIn, ascending.
  const std::vector<double>& members(int set) const { return sets_[set]; }
  const std::vector<int>& parameters_of_code(int code) const { return codes_[code].parameters; }
  /// `coordinates` of those parameters.
  bool RunCode(int code, const Parameters& parameters, std::span<const double> coordinates) const;

 private:
  using Key = std::tuple<Operation, std::vector<int>, uint64_t, int>;

  int Intern(Expression expression);

  std::vector<Expression> expressions_;
  std::map<Key, int> known_;
  std::vector<Term> terms_;
  std::map<Term, int> known_terms_;
  std::vector<std::vector<double>> sets_;  ///< sorted
  std::map<std::string, int> text_ids_;
  struct Code {
    std::vector<int> parameters;
    ConstraintFunction function;
  };
  std::vector<Code> codes_;
};

}  // namespace bayloom::space
