// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/search/python_list.h"

#include <fmt/format.h>

#include <cmath>
#include <span>
#include <string>
#include <utility>

#include "bayloom/base/operator_parser.h"
#include "bayloom/base/token.h"

namespace bayloom::search {
namespace {

constexpr size_t kMaxItems = 100000;

std::vector<base::Token> Split(std::string_view text) {
  static constexpr std::string_view kSymbols[] = {"**", "//", "+", "-", "*", "/",
                                                  "%",  "(",  ")", "[", "]", ","};
  return base::SplitExpression(text, {.symbols = kSymbols});
}

/// Evaluates while it reads.
class PythonListReader : public base::OperatorParser<PythonListReader, double> {
 public:
  static constexpr int kMaxNested = 50;

  explicit PythonListReader(std::string_view text) : OperatorParser(Split(text)) {}

  std::vector<PythonItem> ReadAll() {
    std::vector<PythonItem> items = Sum();
    if (!AtEnd()) Fail("expected the end");
    return items;
  }

 private:
  friend OperatorParser;
  using Token = base::Token;

  enum Power { kSum, kProduct, kSign, kPower, kValue };

  static std::span<const Prefix> Prefixes() {
    static constexpr Prefix kPrefixes[] = {{"-", kSign, &PythonListReader::Negative},
                                           {"(", kValue, &PythonListReader::Group}};
    return kPrefixes;
  }
  static std::span<const Infix> Infixes() {
    constexpr auto kCompute = &PythonListReader::Compute;
    static constexpr Infix kInfixes[] = {
        {"+", kSum, kProduct, kCompute},  {"-", kSum, kProduct, kCompute},
        {"*", kProduct, kSign, kCompute}, {"//", kProduct, kSign, kCompute},
        {"/", kProduct, kSign, kCompute}, {"%", kProduct, kSign, kCompute},
        {"**", kPower, kSign, kCompute},
    };
    return kInfixes;
  }

  [[noreturn]] void Fail(std::string message) const {
    throw base::TextFault{Peek().offset, std::move(message)};
  }
  [[noreturn]] void FailNested() const { Fail("too many parentheses"); }

  void Expect(std::string_view symbol) {
    if (!Accept(symbol)) Fail(fmt::format("expected '{}'", symbol));
  }
  bool SeesName(std::string_view name) const {
    return Peek().kind == Token::Kind::kName && Peek().text == name;
  }
  void ExpectName(std::string_view name, std::string_view written) {
    if (!SeesName(name)) Fail(fmt::format("expected {}", written));
    Take();
  }

  std::vector<PythonItem> Sum() {
    std::vector<PythonItem> items = List();
    while (Accept("+")) {
      for (PythonItem& item : List()) items.push_back(std::move(item));
      CheckCount(items.size());
    }
    return items;
  }
  void CheckCount(size_t count) const {
    if (count > kMaxItems) Fail("more than 100000 values");
  }

  std::vector<PythonItem> List() {
    if (SeesName("list")) {
      if (++nested_lists_ > kMaxNested) FailNested();
      Take();
      Expect("(");
      std::vector<PythonItem> items = Sum();
      Expect(")");
      --nested_lists_;
      return items;
    }
    if (SeesName("range")) {
      const std::vector<double> numbers = Range();
      return {numbers.begin(), numbers.end()};
    }
    const std::string_view close = Accept("[") ? "]" : Accept("(") ? ")" : "";
    if (close.empty()) Fail("expected a list");
    return Items(close);
  }

  std::vector<PythonItem> Items(std::string_view close) {
    std::vector<PythonItem> items;
    const size_t first = place();
    while (!Accept(close)) {
      items.push_back(Item());
      CheckCount(items.size());
      if (items.size() == 1 && SeesName("for")) return Comprehension(first, close);
      if (!Accept(",")) {
        Expect(close);
        break;
      }
    }
    return items;
  }

  /// `EXPRESSION for NAME in range(...)]`; the expression begins at `first`.
  std::vector<PythonItem> Comprehension(size_t first, std::string_view close) {
    Take();
    if (Peek().kind != Token::Kind::kName) Fail("expected a name");
    variable_ = Take().text;
    ExpectName("in", "'in'");
    const std::vector<double> values = Range();
    Expect(close);
    const size_t end = place();
    std::vector<PythonItem> items;
    for (const double value : values) {
      value_ = value;
      GoTo(first);
      items.push_back(Item());
    }
    GoTo(end);
    variable_.clear();
    return items;
  }

  std::vector<double> Range() {
    ExpectName("range", "range(...)");
    Expect("(");
    std::vector<double> bounds = {Whole()};
    while (bounds.size() < 3 && Accept(",")) bounds.push_back(Whole());
    Expect(")");
    const double first = bounds.size() > 1 ? bounds[0] : 0;
    const double last = bounds.size() > 1 ? bounds[1] : bounds[0];
    const double step = bounds.size() > 2 ? bounds[2] : 1;
    if (step == 0) Fail("a step of zero");
    std::vector<double> values;
    for (double value = first; step > 0 ? value < last : value > last; value += step) {
      values.push_back(value);
      CheckCount(values.size());
    }
    return values;
  }
  double Whole() {
    const double number = Number();
    if (number != std::trunc(number) || std::abs(number) > 1e15) Fail("expected a whole number");
    return number;
  }

  PythonItem Item() {
    if (Peek().kind == Token::Kind::kText) return Take().text;
    return Number();
  }
  double Number() {
    const double number = Parse();
    if (!std::isfinite(number)) Fail("a number out of range");
    return number;
  }

  double Negative(const Token&) { return -Parse(kSign); }
  double Group(const Token&) {
    const double number = Number();
    Expect(")");
    return number;
  }
  double Compute(const Infix& infix, const Token& symbol, double left) {
    const double right = Parse(infix.right);
    if (symbol.text == "+") return left + right;
    if (symbol.text == "-") return left - right;
    if (symbol.text == "*") return left * right;
    if (symbol.text == "**") return std::pow(left, right);
    if (right == 0) Fail("a division by zero");
    if (symbol.text == "/") return left / right;
    const double quotient = std::floor(left / right);
    return symbol.text == "//" ? quotient : left - right * quotient;
  }

  double Primary() {
    if (Peek().kind == Token::Kind::kNumber) return Take().number;
    if (Peek().kind != Token::Kind::kName) Fail("expected a number");
    if (SeesName("True") || SeesName("False")) return Take().text == "True" ? 1 : 0;
    return Variable();
  }
  double Variable() {
    if (!variable_.empty()) {
      if (!SeesName(variable_)) Fail(fmt::format("'{}' is not known", Peek().text));
      Take();
      return value_;
    }
    // While a comprehension's name is still unknown, any name will do.
    Take();
    for (size_t ahead = 0; Peek(ahead).kind != Token::Kind::kEnd; ++ahead) {
      if (Peek(ahead).kind == Token::Kind::kName && Peek(ahead).text == "for") return 1.5;
    }
    Fail("expected a number");
  }

  int nested_lists_ = 0;
  std::string variable_;  ///< of the comprehension being evaluated
  double value_ = 0;
};

}  // namespace

Result<std::vector<PythonItem>> EvaluatePythonList(std::string_view text) {
  try {
    return PythonListReader(text).ReadAll();
  } catch (const base::TextFault& fault) {
    return Error{fmt::format("{} at column {}", fault.message, fault.offset + 1)};
  }
}

}  // namespace bayloom::search
