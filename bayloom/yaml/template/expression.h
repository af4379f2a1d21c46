// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace bayloom::yaml {

/// What is wrong with an expression, without its place.
class ExpressionError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Of a variable that is not known, which the filter `default` replaces.
class UndefinedVariable final : public ExpressionError {
 public:
  using ExpressionError::ExpressionError;
};

/// A text, a number, true, false or null.
using TemplateValue = nlohmann::json;

/// What an expression may refer to.
struct ExpressionScope {
  using Function = std::function<TemplateValue(const std::vector<TemplateValue>&)>;

  std::map<std::string, TemplateValue> variables;
  std::map<std::string, Function> functions;
};

/// An expression of a template (see template.h), as Jinja 3 reads it.
class Expression {
 public:
  /// Throws ExpressionError for what is not in the language.
  static Expression Parse(std::string_view text);

  /// Throws ExpressionError where there is no value, and what functions throw.
  TemplateValue Evaluate(const ExpressionScope& scope) const;

  /// The arguments, if all of this is a call of that function; null otherwise.
  const std::vector<Expression>* CallOf(std::string_view function) const;

 private:
  enum class Kind { kConstant, kVariable, kCall, kDefault, kNot, kNegative, kBinary, kConditional };
  friend class ExpressionParser;

  TemplateValue Operate(const ExpressionScope& scope) const;

  Kind kind_ = Kind::kConstant;
  std::string name_;  ///< of a variable or function; an operator
  TemplateValue constant_;
  std::vector<Expression> operands_;
};

/// As Python prints it.
std::string PrintTemplateValue(const TemplateValue& value);
bool IsTrue(const TemplateValue& value);

/// A number, true or false if the text is one as it would be printed; else the text.
TemplateValue ReadTemplateValue(const std::string& text);

}  // namespace bayloom::yaml
