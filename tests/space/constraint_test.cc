// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/space/constraint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bayloom/space/constraint_parser.h"
#include "bayloom/space/space.h"

namespace bayloom::space {
namespace {

using ::testing::HasSubstr;

ExpressionGraph::Parameters MakeParameters() {
  ExpressionGraph::Parameters parameters;
  parameters.push_back(MakeInteger("a", -20, 20));
  parameters.push_back(MakeOrdinal("b", {0.5, 1, 2, 4}));
  parameters.push_back(MakeCategorical("layout", {"row", "column"}));
  parameters.push_back(MakeCategorical("other", {"tile", "row"}));
  parameters.push_back(MakeCategorical("flag", {"True", "False"}));
  parameters.push_back(MakeOrdinal("level", std::vector<std::string>{"low", "middle", "high"}));
  parameters.push_back(MakePermutation("p", 3));
  parameters.push_back(MakeFactorization("t", 12, 3));
  parameters.push_back(MakeInteger("loop-count", 1, 9));
  return parameters;
}

/// a = 7, b = 2, layout = column, other = tile, flag = True, level = middle, p = [2, 0, 1],
/// t = [2, 3, 2], loop-count = 5.
std::vector<double> MakeCoordinates(const ExpressionGraph::Parameters& parameters) {
  const Value values[] = {int64_t{7},
                          2.0,
                          "column",
                          "tile",
                          "True",
                          "middle",
                          std::vector<int64_t>{2, 0, 1},
                          std::vector<int64_t>{2, 3, 2},
                          int64_t{5}};
  std::vector<double> coordinates;
  for (size_t i = 0; i < parameters.size(); ++i) {
    coordinates.push_back(*parameters[i]->CoordinateOf(values[i]));
  }
  return coordinates;
}

/// "true", "false", or why it could not be read.
std::string Answer(std::string_view text) {
  const ExpressionGraph::Parameters parameters = MakeParameters();
  const std::vector<double> coordinates = MakeCoordinates(parameters);
  ExpressionGraph graph;
  const Result<std::vector<int>> parsed = ParseConstraint(text, parameters, graph);
  if (!parsed) return parsed.error().message;
  bool holds = true;
  for (int expression : *parsed) {
    holds = holds && Constraint(graph, parameters, expression).Holds(coordinates);
  }
  return holds ? "true" : "false";
}

TEST(Constraint, HoldsOrNot) {
  const char* const hold[] = {"a == 7",
                              "a != 8",
                              "a",
                              "7 == a == 7",
                              "0 < a <= 7 < 8",
                              "a > b",
                              "a >= 7",
                              "-a == -7",
                              "a + 1 == 8",
                              "1 - a - 1 == -7",
                              "a * 2 + 1 == 15",
                              "2 * (a + 1) == 16",
                              "a / 2 == 3.5",
                              "a // 2 == 3",
                              "-a // 2 == -4",
                              "a % 4 == 3",
                              "-a % 4 == 1",
                              "a % -4 == -1",
                              "2 ** 3 ** 2 == 512",
                              "-2 ** 2 == -4",
                              "2 ** -1 == .5",
                              "a == 7.0e0",
                              "1e1 == 10",
                              "b == 2 and a == 7",
                              "b == 2 && a == 7",
                              "b == 3 or a == 7",
                              "b == 3 || a == 7",
                              "not b == 3",
                              "!(b == 3)",
                              "not not a",
                              "!0",
                              "!a == 0",
                              "a == 1 or b == 1 or 1",
                              "(a == 7) & (b == 2)",
                              "(a == 8) | (b == 2)",
                              "~(a == 8)",
                              "(a == 7) ^ (b == 3)",
                              "a & 3 == 3",
                              "(a & 3) == 3",
                              "a | 8 == 15",
                              "a ^ 2 == 5",
                              "~a == -8",
                              "1 << 3 == 8",
                              "a >> 1 == 3",
                              "(b & (b - 1)) == 0",
                              "a == 8 -> b == 3",
                              "a == 7 -> b == 2",
                              "a == 7 implies b == 2",
                              "a == 8 => 0",
                              "0 -> 0 -> 0",
                              "a in [1, 7]",
                              "a in (7,)",
                              "a in {b, 7}",
                              "a not in [1, 2]",
                              "not a in [1, 2]",
                              "a in [b + 5]",
                              "a not in []",
                              "b if a == 8 else 1",
                              "(a == 7 ? b : 9) == 2",
                              "(1 if a == 8 else 2 if a == 7 else 3) == 2",
                              "min(a, b, 3) == 2",
                              "max(a, b) == 7",
                              "abs(-a) == 7",
                              "floor(3.5) == 3",
                              "ceil(3.5) == 4",
                              "round(2.5) == 2",
                              "int(-2.5) == -2",
                              "sqrt(a + 2) == 3",
                              "log2(8) == 3",
                              "log(exp(1)) == 1",
                              "pow(b, 3) == 8",
                              "gcd(12, 18, 8) == 2",
                              "layout == \"column\"",
                              "layout == 'column'",
                              "'column' == layout",
                              "layout != \"row\"",
                              "layout in ['row', 'column']",
                              "layout not in (\"row\",)",
                              "layout != other",
                              "layout == 1",
                              "layout + 1 == 2",
                              "flag",
                              "flag == True",
                              "flag == 'True'",
                              "flag != false",
                              "flag and a",
                              "level < 'high'",
                              "'low' < level",
                              "level == 'middle'",
                              "level >= 'middle'",
                              "level == 1",
                              "p[0] == 2",
                              "p_0 == 2",
                              "p_i0 == 1",
                              "p_i2 < p_i0",
                              "p[-1] == 1",
                              "p_2 == p[2]",
                              "t[0] == 2",
                              "t[1] * t[2] == 6",
                              "t[0] * t[1] * t[2] == 12",
                              "loop-count == 5",
                              "a-loop-count == 2",
                              "(a == 7) + (b == 2) == 2",
                              "true",
                              "True and not False",
                              "  a\t==\n7  ",
                              "((((a))))==7",
                              "a % 0 == 0 or 1",
                              "not (a % 0 == 0)",
                              "a / b not in (4, 8)",
                              "a not in (b, 3)",
                              "1 not in (a % b, 7) or a % b == 1",
                              "not (a / 0 != 1)"};
  for (const char* text : hold) EXPECT_EQ(Answer(text), "true") << text;
  const char* const fail[] = {"a == 8",
                              "0",
                              "a < b < 9",
                              "8 > a > 7",
                              "a // 2 == 3.5",
                              "a and b == 3",
                              "1 -> 0",
                              "a == 7 -> b == 3",
                              "a in [1, 2]",
                              "a in []",
                              "layout == 'row'",
                              "layout == other",
                              "not flag",
                              "level > 'middle'",
                              "p[0] == p[1]",
                              "t[0] > 2",
                              "a % 0 == 0",
                              "a % 0 != 0",
                              "a / 0 > 0",
                              "log(-a) < 0",
                              "sqrt(-a) <= 0",
                              "min(a, a % 0) < 100",
                              "a % 0",
                              "a / 0 not in (4, 8)",
                              "a % 0 not in [1]",
                              "min(a % 0, 2) not in (1,)",
                              "1 not in (a % 0, 7)",
                              "7 not in (a, 3)",
                              "b & 0.5 == 0",
                              "gcd(b, .5) > 0",
                              "1 << -1 > 0",
                              "a - loop-count == 3"};
  for (const char* text : fail) EXPECT_EQ(Answer(text), "false") << text;
}

TEST(Constraint, ErrorsPointAtTheColumn) {
  const std::pair<const char*, const char*> wrong[] = {
      {"", "column 1: the text ends where a value is expected"},
      {"a ==", "column 5: the text ends where a value is expected"},
      {"a % (b * 2 == 0", "column 16: the text ends where ')' is expected"},
      {"a == 7)", "column 7: ')' where the end is expected"},
      {"a = 7", "column 3: '=' is no comparison; '==' is"},
      {"a == MWG", "column 6: there is no parameter 'MWG'"},
      {"a $ 7", "column 3: unexpected character '$'"},
      {"a == 7;", "column 7: unexpected character ';'"},
      {"\u00e4\u00e4 == 7", "column 1: unexpected character"},
      {"'\u00e4\u00e4' == a $", "column 11: unexpected character '$'"},
      {"a == 7 b", "column 8: 'b' where the end is expected"},
      {"a == 7x", "column 6: this is no number"},
      {"a == 1e999", "column 6: this is no number"},
      {"a == 'x", "column 6: this text has no closing quote"},
      {"a == 'x'", "column 6: a text in quotes only compares"},
      {"layout == 'rows'", "column 11: 'layout': 'rows' is not one of {row, column}"},
      {"layout < 'row'", "column 1: the values of 'layout' have no order"},
      {"p == 2", "column 1: 'p' is a permutation; its elements are 'p[0]' to 'p[2]'"},
      {"t * 2 == 2", "column 1: 't' is a factorization"},
      {"p[3] == 2", "column 3: indices of 'p' go from 0 to 2"},
      {"p[a] == 2", "column 3: 'a' where a number as index is expected"},
      {"p[1.5] == 2", "column 3: indices of 'p'"},
      {"p_3 == 2", "column 1: indices of 'p' go from 0 to 2"},
      {"p_99999999999 == 2", "column 1: indices of 'p' go from 0 to 2"},
      {"a[0] == 2", "column 2: '[' where the end is expected"},
      {"t_0 == 2", "column 1: there is no parameter 't_0'"},
      {"foo(a) == 2", "column 1: there is no function 'foo'"},
      {"abs(a, b) == 2", "column 1: 'abs' of 2 values"},
      {"min() == 2", "column 1: 'min' of 0 values"},
      {"a in 7", "column 6: '7' where a list as [1, 2] is expected"},
      {"a in [1, 2", "column 11: the text ends where ',' is expected"},
      {"a not 7", "column 3: 'not' where the end is expected"},
      {"a ? b", "column 6: the text ends where ':' is expected"},
      {"b if a", "column 7: the text ends where 'else' is expected"},
      {"a and", "column 6: the text ends"},
      {"'x\ny' == a", "a text in quotes"},
  };
  for (const auto& [text, message] : wrong) {
    EXPECT_THAT(Answer(text), HasSubstr(message)) << text;
    EXPECT_EQ(Answer(text).find('\n'), std::string::npos) << text;
  }
  EXPECT_THAT(Answer(std::string(1000, '(')), HasSubstr("nested more than"));
  EXPECT_THAT(Answer(std::string(100'000, '-')), HasSubstr("more than 2000 words"));
  std::string sum = "a";
  for (int i = 0; i < 5000; ++i) sum += " + a";
  EXPECT_THAT(Answer(sum), HasSubstr("more than 2000 words"));
  EXPECT_EQ(Answer(sum.substr(0, 3901) + " < 0"), "false");
}

/// For any text, an answer or one line that names a column, and never a crash.
TEST(Constraint, SurvivesHostileTexts) {
  const char* const pieces[] = {
      "a",      "b",    "layout", "p",  "p[",   "p_1",  "t[0]", "'row'", "\"",       "'",
      "(",      ")",    "[",      "]",  "{",    "}",    ",",    "==",    "=",        "<",
      ">=",     "<<",   "->",     "+",  "-",    "*",    "**",   "/",     "//",       "%",
      "&",      "&&",   "|",      "||", "!",    "~",    "and",  "or",    "not",      "in",
      "if",     "else", "?",      ":",  "min(", "abs(", "1",    "0",     "1e9",      ".5",
      "1e-300", "1e",   "0x10",   "..", "$",    "\n",   "\x01", "\xff",  "\xc3\xa4", " "};
  base::RandomStream random(7);
  int read = 0;
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    const int64_t count = 1 + random.UniformInt(12);
    for (int64_t k = 0; k < count; ++k) {
      text += pieces[random.UniformInt(std::size(pieces))];
      if (random.UniformInt(2) == 0) text += ' ';
    }
    const std::string answer = Answer(text);
    if (answer == "true" || answer == "false") {
      ++read;
    } else {
      ++refused;
      ASSERT_THAT(answer, HasSubstr("': column ")) << text;
      ASSERT_LT(answer.size(), 400);
      for (char c : answer) ASSERT_TRUE(c >= ' ' && c <= '~') << text;
    }
  }
  EXPECT_GT(read, 100);
  EXPECT_GT(refused, 10000);
}

/// Valid texts with a character changed, left out or doubled.
TEST(Constraint, SurvivesTypingErrors) {
  const std::string right[] = {
      "a % (b * 2) == 0 and p_i0 < p_i1", "layout == \"row\" -> 1 < t[0] <= 4",
      "min(a, b) in [1, 2, 4] || !(a ? b : 0)", "(a & (a - 1)) == 0 if a > 0 else level == 'low'"};
  base::RandomStream random(8);
  for (int i = 0; i < 5000; ++i) {
    std::string text = right[random.UniformInt(std::size(right))];
    const auto at = static_cast<size_t>(random.UniformInt(static_cast<int64_t>(text.size())));
    switch (random.UniformInt(3)) {
      case 0:
        text[at] = static_cast<char>(1 + random.UniformInt(255));
        break;
      case 1:
        text.erase(at, 1);
        break;
      default:
        text.insert(at, 1, text[at]);
    }
    const std::string answer = Answer(text);
    if (answer != "true" && answer != "false") {
      ASSERT_THAT(answer, HasSubstr("': column "));
    }
  }
}

TEST(Constraint, NamesItsParameters) {
  const ExpressionGraph::Parameters parameters = MakeParameters();
  ExpressionGraph graph;
  const auto parsed = *ParseConstraint("t[0] * a > 3 and loop-count == 2", parameters, graph);
  ASSERT_EQ(parsed.size(), 2);
  EXPECT_THAT(Constraint(graph, parameters, parsed[0]).parameters(), ::testing::ElementsAre(0, 7));
  EXPECT_THAT(Constraint(graph, parameters, parsed[1]).parameters(), ::testing::ElementsAre(8));
}

}  // namespace
}  // namespace bayloom::space
