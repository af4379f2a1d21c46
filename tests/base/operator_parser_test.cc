// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/operator_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>

namespace bayloom::base {
namespace {

using testing::ElementsAre;

std::vector<Token> Split(std::string_view text) {
  static constexpr std::string_view kSymbols[] = {"**", "*", "+", "-", "==", "(", ")"};
  static constexpr std::pair<std::string_view, std::string_view> kWords[] = {{"is", "=="}};
  static const std::string kNames[] = {"a-b", "a-b-c"};
  return SplitExpression(
      text, {.symbols = kSymbols, .words = kWords, .names = kNames, .has_escapes = true});
}

std::vector<std::string> TextsOf(std::string_view text) {
  std::vector<std::string> texts;
  for (const Token& token : Split(text)) texts.push_back(token.text);
  return texts;
}

/// Writes an expression with all its parentheses.
class Grouping : public OperatorParser<Grouping, std::string> {
 public:
  static constexpr int kMaxNested = 20;
  explicit Grouping(std::string_view text) : OperatorParser(Split(text)) {}

  std::string All() {
    std::string all = Parse();
    if (!AtEnd()) throw TextFault{Peek().offset, "more"};
    return all;
  }

 private:
  friend OperatorParser;
  static std::span<const Prefix> Prefixes() {
    static constexpr Prefix kPrefixes[] = {{"-", 3, &Grouping::Negative},
                                           {"(", 9, &Grouping::Group}};
    return kPrefixes;
  }
  static std::span<const Infix> Infixes() {
    static constexpr Infix kInfixes[] = {{"==", 0, 1, &Grouping::Binary, true},
                                         {"+", 1, 2, &Grouping::Binary},
                                         {"-", 1, 2, &Grouping::Binary},
                                         {"*", 2, 3, &Grouping::Binary},
                                         {"**", 4, 3, &Grouping::Binary}};
    return kInfixes;
  }
  [[noreturn]] void FailNested() const { throw TextFault{Peek().offset, "nested"}; }
  std::string Negative(const Token&) { return "(-" + Parse(3) + ")"; }
  std::string Group(const Token&) {
    std::string inner = Parse();
    if (!Accept(")")) throw TextFault{Peek().offset, "open"};
    return inner;
  }
  std::string Binary(const Infix& infix, const Token& symbol, std::string left) {
    return "(" + left + symbol.text + Parse(infix.right) + ")";
  }
  std::string Primary() {
    if (AtEnd() || Peek().kind == Token::Kind::kSymbol) throw TextFault{Peek().offset, "value"};
    return Take().text;
  }
};

std::string Grouped(std::string_view text) {
  try {
    return Grouping(text).All();
  } catch (const TextFault& fault) {
    return fault.message + " at " + std::to_string(fault.offset);
  }
}

TEST(SplitExpression, TakesTheLongestSymbolsAndNames) {
  EXPECT_THAT(TextsOf("a**2*a-b-c is .5"),
              ElementsAre("a", "**", "2", "*", "a-b-c", "==", ".5", ""));
  EXPECT_THAT(TextsOf("a-bc 'x\\'y' \"\""), ElementsAre("a", "-", "bc", "x'y", "", ""));
}

TEST(SplitExpression, SaysWhereAFaultIs) {
  for (const auto& [text, offset] :
       {std::pair("a $", 2), {"2x", 0}, {"1e999", 0}, {"a 'b", 2}, {"a 'b\\'", 2}}) {
    try {
      (void)Split(text);
      FAIL() << text;
    } catch (const TextFault& fault) {
      EXPECT_EQ(fault.offset, offset) << text;
    }
  }
  EXPECT_EQ(ColumnOf("\u00e4\u00e4b", 4), 3);
}

TEST(OperatorParser, GroupsByPowerAndSide) {
  EXPECT_EQ(Grouped("a+b*c-d"), "((a+(b*c))-d)");
  EXPECT_EQ(Grouped("-a**b**c*d"), "((-(a**(b**c)))*d)");
  EXPECT_EQ(Grouped("a**-b"), "(a**(-b))");
  EXPECT_EQ(Grouped("(a+b)*c==d"), "(((a+b)*c)==d)");
}

TEST(OperatorParser, RefusesWhatDoesNotFollow) {
  EXPECT_EQ(Grouped("a==b==c"), "more at 4");
  EXPECT_EQ(Grouped("a+"), "value at 2");
  EXPECT_EQ(Grouped("a+*b"), "value at 2");
  EXPECT_EQ(Grouped("(a"), "open at 2");
  EXPECT_EQ(Grouped(std::string(100, '(')), "nested at 20");
}

}  // namespace
}  // namespace bayloom::base
