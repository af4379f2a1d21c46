// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/yaml/template/expression.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>
#include <utility>

#include "bayloom/base/operator_parser.h"
#include "bayloom/base/single_line.h"
#include "bayloom/base/text_limits.h"
#include "bayloom/base/token.h"

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
                                        base::SingleLine(PrintTemplateValue(*operand)), name));
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

/// Jinja's precedences.
class ExpressionParser : public base::OperatorParser<ExpressionParser, Expression> {
 public:
  static constexpr int kMaxNested = 100;

  explicit ExpressionParser(std::string_view text) : OperatorParser(Split(text)), text_(text) {}

  Expression ParseAll() {
    Expression all = Parse();
    if (!AtEnd()) Unexpected();
    return all;
  }

 private:
  friend OperatorParser;
  using Kind = Expression::Kind;
  using Token = base::Token;

  enum Power {
    kChoice,
    kOr,
    kAnd,
    kNot,
    kComparison,
    kSum,
    kJoin,
    kProduct,
    kSign,
    kFilter,
    kValue
  };

  static std::span<const Prefix> Prefixes() {
    static constexpr Prefix kPrefixes[] = {
        {"not", kNot, &ExpressionParser::Not},
        {"-", kSign, &ExpressionParser::Negative},
        {"(", kValue, &ExpressionParser::Group},
    };
    return kPrefixes;
  }

  static std::span<const Infix> Infixes() {
    constexpr auto kBinary = &ExpressionParser::Binary;
    static constexpr Infix kInfixes[] = {
        {"if", kChoice, kOr, &ExpressionParser::ChooseIf},
        {"or", kOr, kAnd, kBinary},
        {"and", kAnd, kNot, kBinary},
        {"==", kComparison, kSum, kBinary},
        {"!=", kComparison, kSum, kBinary},
        {"<=", kComparison, kSum, kBinary},
        {">=", kComparison, kSum, kBinary},
        {"<", kComparison, kSum, kBinary},
        {">", kComparison, kSum, kBinary},
        {"+", kSum, kJoin, kBinary},
        {"-", kSum, kJoin, kBinary},
        {"~", kJoin, kProduct, kBinary},
        {"*", kProduct, kSign, kBinary},
        {"//", kProduct, kSign, kBinary},
        {"/", kProduct, kSign, kBinary},
        {"%", kProduct, kSign, kBinary},
        {"|", kFilter, kValue, &ExpressionParser::Default},
    };
    return kInfixes;
  }

  [[noreturn]] static void FailAt(std::string_view rest) {
    if (rest.empty()) throw ExpressionError("ends too early");
    throw ExpressionError(
        fmt::format("'{}' is not expected here, or not supported", base::SingleLine(rest, 40)));
  }
  [[noreturn]] void Unexpected() const { FailAt(text_.substr(Peek().offset)); }
  [[noreturn]] static void FailNested() { throw ExpressionError("is nested too deep"); }

  static std::vector<Token> Split(std::string_view text) {
    static constexpr std::string_view kSymbols[] = {
        "==", "!=", "<=", ">=", "//", "<", ">", "+", "-", "~", "*", "/", "%", "(", ")", "|", ","};
    static constexpr std::pair<std::string_view, std::string_view> kWords[] = {
        {"if", "if"}, {"else", "else"}, {"or", "or"}, {"and", "and"}, {"not", "not"}};
    try {
      return base::SplitExpression(text,
                                   {.symbols = kSymbols, .words = kWords, .has_escapes = true});
    } catch (const base::TextFault& fault) {
      const std::string_view rest = text.substr(fault.offset);
      if (rest[0] == '\'' || rest[0] == '"') throw ExpressionError("a text does not end");
      FailAt(rest);
    }
  }

  void Expect(std::string_view symbol) {
    if (!Accept(symbol)) Unexpected();
  }

  static Expression Make(Kind kind, std::string name, std::vector<Expression> operands) {
    Expression made;
    made.kind_ = kind;
    made.name_ = std::move(name);
    made.operands_ = std::move(operands);
    return made;
  }
  static Expression Constant(TemplateValue value) {
    Expression constant;
    constant.constant_ = std::move(value);
    return constant;
  }

  Expression Not(const Token&) { return Make(Kind::kNot, "not", {Parse(kNot)}); }
  Expression Negative(const Token&) { return Make(Kind::kNegative, "-", {Parse(kSign)}); }
  Expression Group(const Token&) {
    Expression inner = Parse();
    Expect(")");
    return inner;
  }
  Expression Binary(const Infix& infix, const Token& symbol, Expression left) {
    return Make(Kind::kBinary, symbol.text, {std::move(left), Parse(infix.right)});
  }
  Expression ChooseIf(const Infix& infix, const Token&, Expression value) {
    Expression condition = Parse(infix.right);
    Expect("else");
    return Make(Kind::kConditional, "if", {std::move(condition), std::move(value), Parse(kChoice)});
  }
  Expression Default(const Infix&, const Token&, Expression value) {
    if (Peek().text != "default") Unexpected();
    Take();
    Expect("(");
    Expression made = Make(Kind::kDefault, "default", {std::move(value), Parse()});
    Expect(")");
    return made;
  }

  Expression Primary() {
    if (AtEnd() || Peek().kind == Token::Kind::kSymbol) Unexpected();
    const Token token = Take();
    if (token.kind == Token::Kind::kText) return Constant(token.text);
    if (token.kind == Token::Kind::kNumber) return Constant(Number(token));
    if (token.text == "True" || token.text == "true") return Constant(true);
    if (token.text == "False" || token.text == "false") return Constant(false);
    if (token.text == "None" || token.text == "none") return Constant(nullptr);
    if (!Accept("(")) return Make(Kind::kVariable, token.text, {});
    std::vector<Expression> arguments;
    if (!Accept(")")) {
      do {
        arguments.push_back(Parse());
      } while (Accept(","));
      Expect(")");
    }
    return Make(Kind::kCall, token.text, std::move(arguments));
  }

  static TemplateValue Number(const Token& token) {
    int64_t whole = 0;
    const char* const end = token.text.data() + token.text.size();
    const auto [used, error] = std::from_chars(token.text.data(), end, whole);
    if (error == std::errc() && used == end) return whole;
    return token.number;
  }

  std::string_view text_;
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
