// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/yaml/template/expression.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "bayloom/base/one_line.h"
#include "bayloom/base/text_limits.h"

namespace bayloom::yaml {
namespace {

/// Both as doubles, for what is not computed in whole numbers.
double ComputeReal(const std::string& name, double a, double b) {
  if (name == "+") return a + b;
  if (name == "-") return a - b;
  if (name == "*") return a * b;
  if (b == 0) throw ExpressionError("division by zero");
  if (name == "/") return a / b;
  const double quotient = std::floor(a / b);
  return name == "//" ? quotient : a - quotient * b;
}

TemplateValue ComputeWhole(const std::string& name, int64_t a, int64_t b) {
  int64_t result = 0;
  bool overflows = false;
  if (name == "+") {
    overflows = __builtin_add_overflow(a, b, &result);
  } else if (name == "-") {
    overflows = __builtin_sub_overflow(a, b, &result);
  } else if (name == "*") {
    overflows = __builtin_mul_overflow(a, b, &result);
  } else {
    if (b == 0) throw ExpressionError("division by zero");
    overflows = a == INT64_MIN && b == -1;
    if (!overflows) {
      const bool rounds_down = a % b != 0 && (a < 0) != (b < 0);
      const int64_t quotient = a / b - (rounds_down ? 1 : 0);
      result = name == "//" ? quotient : a - quotient * b;
    }
  }
  if (overflows) throw ExpressionError("a whole number exceeds 64 bits");
  return result;
}

TemplateValue Compute(const std::string& name, const TemplateValue& a, const TemplateValue& b) {
  if (name == "~" || (name == "+" && a.is_string() && b.is_string())) {
    std::string joined = PrintTemplateValue(a) + PrintTemplateValue(b);
    if (joined.size() <= base::kMaxTemplateValueBytes) return joined;
    throw ExpressionError(
        fmt::format("the text has more than {} MiB", base::kMaxTemplateValueBytes >> 20));
  }
  for (const TemplateValue* operand : {&a, &b}) {
    if (!operand->is_number()) {
      throw ExpressionError(fmt::format("'{}' is no number, which '{}' needs",
                                        base::InOneLine(PrintTemplateValue(*operand)), name));
    }
  }
  if (name != "/" && a.is_number_integer() && b.is_number_integer()) {
    return ComputeWhole(name, a.get<int64_t>(), b.get<int64_t>());
  }
  return ComputeReal(name, a.get<double>(), b.get<double>());
}

bool Compare(const std::string& name, const TemplateValue& a, const TemplateValue& b) {
  if (name == "==") return a == b;
  if (name == "!=") return a != b;
  const bool is_ordered = (a.is_number() && b.is_number()) || (a.is_string() && b.is_string());
  if (!is_ordered) {
    throw ExpressionError(fmt::format("'{}' compares two numbers or two texts", name));
  }
  if (name == "<") return a < b;
  if (name == "<=") return a <= b;
  if (name == ">") return a > b;
  return a >= b;
}

constexpr std::string_view kComparisons[] = {"==", "!=", "<=", ">=", "<", ">"};

bool IsComparison(std::string_view name) {
  return std::find(std::begin(kComparisons), std::end(kComparisons), name) !=
         std::end(kComparisons);
}

}  // namespace

std::string PrintTemplateValue(const TemplateValue& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_null()) return "None";
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  if (value.is_number_integer()) return std::to_string(value.get<int64_t>());
  const std::string text = fmt::format("{}", value.get<double>());
  const bool looks_whole = text.find_first_not_of("-0123456789") == std::string::npos;
  return looks_whole ? text + ".0" : text;
}

bool IsTrue(const TemplateValue& value) {
  if (value.is_string()) return !value.get_ref<const std::string&>().empty();
  if (value.is_number()) return value.get<double>() != 0;
  return value.is_boolean() && value.get<bool>();
}

TemplateValue ReadTemplateValue(const std::string& text) {
  if (text == "true" || text == "True") return true;
  if (text == "false" || text == "False") return false;
  const char* end = text.data() + text.size();
  int64_t whole = 0;
  if (const auto [used, error] = std::from_chars(text.data(), end, whole);
      error == std::errc() && used == end && std::to_string(whole) == text) {
    return whole;
  }
  double real = 0;
  const auto [used, error] = std::from_chars(text.data(), end, real);
  const bool is_number = error == std::errc() && used == end && std::isfinite(real);
  if (is_number && PrintTemplateValue(real) == text) return real;
  return text;
}

/// Recursive descent over the precedence levels of Jinja's expressions.
class ExpressionParser {
 public:
  explicit ExpressionParser(std::string_view text) : rest_(text) {}

  Expression ParseAll() {
    Expression all = ParseConditional();
    SkipBlanks();
    if (!rest_.empty()) Unexpected();
    return all;
  }

 private:
  using Kind = Expression::Kind;
  using Level = Expression (ExpressionParser::*)();

  static constexpr int kMaxDepth = 100;
  static constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";

  [[noreturn]] void Unexpected() const {
    if (rest_.empty()) throw ExpressionError("ends too early");
    throw ExpressionError(
        fmt::format("'{}' is not expected here, or not supported", base::InOneLine(rest_, 40)));
  }

  void SkipBlanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
  }

  static bool IsLetterOrDigit(char c) {
    return kLetters.find(c) != std::string_view::npos || (c >= '0' && c <= '9');
  }

  /// The symbol or word, if it is next.
  bool Take(std::string_view token) {
    SkipBlanks();
    if (!rest_.starts_with(token)) return false;
    const bool is_word = kLetters.find(token.front()) != std::string_view::npos;
    if (is_word && rest_.size() > token.size() && IsLetterOrDigit(rest_[token.size()])) {
      return false;
    }
    rest_.remove_prefix(token.size());
    return true;
  }

  void Expect(std::string_view token) {
    if (!Take(token)) Unexpected();
  }

  static Expression Make(Kind kind, std::string name, std::vector<Expression> operands) {
    Expression made;
    made.kind_ = kind;
    made.name_ = std::move(name);
    made.operands_ = std::move(operands);
    return made;
  }

  /// Operands of the next level with these operators between them, from the left.
  Expression ParseBinary(std::initializer_list<std::string_view> operators, Level next) {
    Expression left = (this->*next)();
    for (bool found = true; found;) {
      found = false;
      for (std::string_view name : operators) {
        if (!Take(name)) continue;
        left = Make(Kind::kBinary, std::string(name), {std::move(left), (this->*next)()});
        found = true;
        break;
      }
    }
    return left;
  }

  Expression ParseConditional() {
    if (++depth_ > kMaxDepth) throw ExpressionError("is nested too deep");
    Expression value = ParseOr();
    if (Take("if")) {
      Expression condition = ParseOr();
      Expect("else");
      value = Make(Kind::kConditional, "if",
                   {std::move(condition), std::move(value), ParseConditional()});
    }
    --depth_;
    return value;
  }

  Expression ParseOr() { return ParseBinary({"or"}, &ExpressionParser::ParseAnd); }
  Expression ParseAnd() { return ParseBinary({"and"}, &ExpressionParser::ParseNot); }

  Expression ParseNot() {
    bool negates = false;
    while (Take("not")) negates = !negates;
    Expression value = ParseComparison();
    return negates ? Make(Kind::kNot, "not", {std::move(value)}) : value;
  }

  Expression ParseComparison() {
    return ParseBinary({"==", "!=", "<=", ">=", "<", ">"}, &ExpressionParser::ParseSum);
  }
  Expression ParseSum() { return ParseBinary({"+", "-"}, &ExpressionParser::ParseJoined); }
  Expression ParseJoined() { return ParseBinary({"~"}, &ExpressionParser::ParseProduct); }
  Expression ParseProduct() {
    return ParseBinary({"*", "//", "/", "%"}, &ExpressionParser::ParseUnary);
  }

  Expression ParseUnary() {
    bool negates = false;
    while (Take("-")) negates = !negates;
    Expression value = ParsePrimary();
    while (Take("|")) {
      Expect("default");
      Expect("(");
      value = Make(Kind::kDefault, "default", {std::move(value), ParseConditional()});
      Expect(")");
    }
    return negates ? Make(Kind::kNegative, "-", {std::move(value)}) : value;
  }

  Expression ParsePrimary() {
    SkipBlanks();
    if (rest_.empty()) Unexpected();
    if (Take("(")) {
      Expression inner = ParseConditional();
      Expect(")");
      return inner;
    }
    const char first = rest_.front();
    if (first == '\'' || first == '"') return Constant(TakeText());
    if (first >= '0' && first <= '9') return Constant(TakeNumber());
    if (kLetters.find(first) != std::string_view::npos) return ParseName();
    Unexpected();
  }

  static Expression Constant(TemplateValue value) {
    Expression constant;
    constant.constant_ = std::move(value);
    return constant;
  }

  std::string TakeText() {
    const char quote = rest_.front();
    std::string text;
    size_t i = 1;
    for (; i < rest_.size() && rest_[i] != quote; ++i) {
      if (rest_[i] == '\\' && i + 1 < rest_.size()) ++i;
      text += rest_[i];
    }
    if (i == rest_.size()) throw ExpressionError("a text does not end");
    rest_.remove_prefix(i + 1);
    return text;
  }

  TemplateValue TakeNumber() {
    const char* end = rest_.data() + rest_.size();
    int64_t whole = 0;
    double real = 0;
    const auto [whole_end, whole_error] = std::from_chars(rest_.data(), end, whole);
    const auto [real_end, real_error] = std::from_chars(rest_.data(), end, real);
    if (real_error != std::errc()) Unexpected();
    const bool is_whole = whole_error == std::errc() && whole_end == real_end;
    if (real_end != end && IsLetterOrDigit(*real_end)) Unexpected();
    rest_.remove_prefix(real_end - rest_.data());
    return is_whole ? TemplateValue(whole) : TemplateValue(real);
  }

  Expression ParseName() {
    size_t length = 0;
    while (length < rest_.size() && IsLetterOrDigit(rest_[length])) ++length;
    const std::string name(rest_.substr(0, length));
    rest_.remove_prefix(length);
    if (name == "True" || name == "true") return Constant(true);
    if (name == "False" || name == "false") return Constant(false);
    if (name == "None" || name == "none") return Constant(nullptr);
    if (!Take("(")) return Make(Kind::kVariable, name, {});
    std::vector<Expression> arguments;
    if (!Take(")")) {
      do {
        arguments.push_back(ParseConditional());
      } while (Take(","));
      Expect(")");
    }
    return Make(Kind::kCall, name, std::move(arguments));
  }

  std::string_view rest_;
  int depth_ = 0;
};

Expression Expression::Parse(std::string_view text) { return ExpressionParser(text).ParseAll(); }

const std::vector<Expression>* Expression::CallOf(std::string_view function) const {
  return kind_ == Kind::kCall && name_ == function ? &operands_ : nullptr;
}

TemplateValue Expression::Operate(const ExpressionScope& scope) const {
  const TemplateValue left = operands_[0].Evaluate(scope);
  if (name_ == "or") return IsTrue(left) ? left : operands_[1].Evaluate(scope);
  if (name_ == "and") return IsTrue(left) ? operands_[1].Evaluate(scope) : left;
  const TemplateValue right = operands_[1].Evaluate(scope);
  return IsComparison(name_) ? TemplateValue(Compare(name_, left, right))
                             : Compute(name_, left, right);
}

TemplateValue Expression::Evaluate(const ExpressionScope& scope) const {
  switch (kind_) {
    case Kind::kConstant:
      return constant_;
    case Kind::kVariable: {
      const auto found = scope.variables.find(name_);
      if (found != scope.variables.end()) return found->second;
      throw UndefinedVariable(
          fmt::format("there is no variable '{}'; define it, {}=VALUE", name_, name_));
    }
    case Kind::kCall: {
      const auto found = scope.functions.find(name_);
      if (found == scope.functions.end()) {
        std::vector<std::string> names;
        for (const auto& [name, function] : scope.functions) names.push_back(name);
        throw ExpressionError(
            fmt::format("there is no function '{}'; there are {}", name_, fmt::join(names, ", ")));
      }
      std::vector<TemplateValue> arguments;
      for (const Expression& operand : operands_) arguments.push_back(operand.Evaluate(scope));
      return found->second(arguments);
    }
    case Kind::kDefault:
      try {
        return operands_[0].Evaluate(scope);
      } catch (const UndefinedVariable&) {
        return operands_[1].Evaluate(scope);
      }
    case Kind::kNot:
      return !IsTrue(operands_[0].Evaluate(scope));
    case Kind::kNegative:
      return Compute("-", 0, operands_[0].Evaluate(scope));
    case Kind::kBinary:
      return Operate(scope);
    case Kind::kConditional:
      return operands_[IsTrue(operands_[0].Evaluate(scope)) ? 1 : 2].Evaluate(scope);
  }
  return nullptr;
}

}  // namespace bayloom::yaml
