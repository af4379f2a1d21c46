// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/space/constraint_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "bayloom/base/operator_parser.h"
#include "bayloom/base/token.h"
#include "bayloom/space/constraint_meaning.h"

namespace bayloom::space {
namespace {

constexpr size_t kMaxTokens = 2000;

constexpr std::string_view kSymbols[] = {"**", "//", "<=", ">=", "==", "!=", "&&", "||", "->",
                                         "=>", "<<", ">>", "+",  "-",  "*",  "/",  "%",  "<",
                                         ">",  "!",  "&",  "|",  "^",  "~",  "(",  ")",  "[",
                                         "]",  "{",  "}",  ",",  "?",  ":",  "="};
constexpr std::pair<std::string_view, std::string_view> kWords[] = {
    {"and", "&&"}, {"or", "||"},     {"not", "not"},    {"in", "in"},
    {"if", "if"},  {"else", "else"}, {"implies", "->"},
};

/// `not in` is one symbol.
std::vector<Token> Split(std::string_view text, const ExpressionGraph::Parameters& parameters) {
  std::vector<std::string> names;
  for (const auto& parameter : parameters) names.push_back(parameter->name());
  std::vector<Token> tokens =
      base::SplitExpression(text, {.symbols = kSymbols, .words = kWords, .names = names});
  if (tokens.size() > kMaxTokens) {
    throw TextFault{tokens[kMaxTokens].offset, fmt::format("more than {} words", kMaxTokens)};
  }
  const auto is = [](const Token& token, std::string_view symbol) {
    return token.kind == Token::Kind::kSymbol && token.text == symbol;
  };
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (!is(tokens[i], "not") || !is(tokens[i + 1], "in")) continue;
    tokens[i].text = "not in";
    tokens.erase(tokens.begin() + static_cast<int64_t>(i) + 1);
  }
  return tokens;
}

/// What binds tighter has the greater power.
enum Power {
  kChoice,
  kImplication,
  kDisjunction,
  kConjunction,
  kNegation,
  kComparison,
  kBitOr,
  kBitXor,
  kBitAnd,
  kShift,
  kSum,
  kProduct,
  kSign,
  kPower,
  kValue,
};

class Parser : public base::OperatorParser<Parser, Operand> {
 public:
  static constexpr int kMaxNested = 60;

  Parser(std::string_view text, const ExpressionGraph::Parameters& parameters,
         ExpressionGraph& graph)
      : OperatorParser(Split(text, parameters)), meaning_(parameters, graph) {}

  int ParseTruth() {
    const int truth = meaning_.Truth(Parse());
    if (!AtEnd()) Unexpected("the end");
    return truth;
  }

  int ParseNumber() {
    const int number = meaning_.Number(Parse());
    if (!AtEnd()) Unexpected("the end");
    return number;
  }

 private:
  friend OperatorParser;

  static std::span<const Prefix> Prefixes() {
    static constexpr Prefix kPrefixes[] = {
        {"not", kNegation, &Parser::Not}, {"-", kSign, &Parser::Sign},
        {"+", kSign, &Parser::Sign},      {"~", kSign, &Parser::Sign},
        {"!", kSign, &Parser::Sign},      {"(", kValue, &Parser::Group},
    };
    return kPrefixes;
  }

  static std::span<const Infix> Infixes() {
    static constexpr Infix kInfixes[] = {
        {"?", kChoice, kChoice, &Parser::Choose},
        {"if", kChoice, kImplication, &Parser::ChooseIf},
        {"->", kImplication, kImplication, &Parser::Imply},
        {"=>", kImplication, kImplication, &Parser::Imply},
        {"||", kDisjunction, kConjunction, &Parser::Logic<Operation::kOr>},
        {"&&", kConjunction, kNegation, &Parser::Logic<Operation::kAnd>},
        {"==", kComparison, kBitOr, &Parser::Compare, true},
        {"!=", kComparison, kBitOr, &Parser::Compare, true},
        {"<=", kComparison, kBitOr, &Parser::Compare, true},
        {">=", kComparison, kBitOr, &Parser::Compare, true},
        {"<", kComparison, kBitOr, &Parser::Compare, true},
        {">", kComparison, kBitOr, &Parser::Compare, true},
        {"in", kComparison, kBitOr, &Parser::Compare, true},
        {"not in", kComparison, kBitOr, &Parser::Compare, true},
        {"|", kBitOr, kBitXor, &Parser::Bits<Operation::kBitOr, Operation::kOr>},
        {"^", kBitXor, kBitAnd, &Parser::Bits<Operation::kBitXor, Operation::kNotEqual>},
        {"&", kBitAnd, kShift, &Parser::Bits<Operation::kBitAnd, Operation::kAnd>},
        {"<<", kShift, kSum, &Parser::Compute<Operation::kShiftLeft>},
        {">>", kShift, kSum, &Parser::Compute<Operation::kShiftRight>},
        {"+", kSum, kProduct, &Parser::Compute<Operation::kAdd>},
        {"-", kSum, kProduct, &Parser::Compute<Operation::kSubtract>},
        {"*", kProduct, kSign, &Parser::Compute<Operation::kMultiply>},
        {"//", kProduct, kSign, &Parser::Compute<Operation::kFloorDivide>},
        {"/", kProduct, kSign, &Parser::Compute<Operation::kDivide>},
        {"%", kProduct, kSign, &Parser::Compute<Operation::kModulo>},
        {"**", kPower, kSign, &Parser::Compute<Operation::kPower>},
    };
    return kInfixes;
  }

  [[noreturn]] void FailNested() const {
    throw TextFault{Peek().offset, fmt::format("nested more than {} deep", kMaxNested)};
  }

  [[noreturn]] void Unexpected(std::string_view expected) const {
    const Token& token = Peek();
    std::string message = fmt::format("'{}' where {} is expected", token.text, expected);
    if (token.text == "=") message = "'=' is no comparison; '==' is";
    if (AtEnd()) message = fmt::format("the text ends where {} is expected", expected);
    throw TextFault{token.offset, std::move(message)};
  }

  void Expect(std::string_view symbol) {
    if (!Accept(symbol)) Unexpected(fmt::format("'{}'", symbol));
  }

  Operand Not(const Token& symbol) { return meaning_.Not(Parse(kNegation), symbol.offset); }
  Operand Sign(const Token& symbol) {
    return meaning_.Negate(symbol.text, Parse(kSign), symbol.offset);
  }
  Operand Group(const Token&) {
    const Operand inner = Parse();
    Expect(")");
    return inner;
  }

  Operand Choose(const Infix& infix, const Token&, Operand condition) {
    const Operand yes = Parse();
    Expect(":");
    return meaning_.Select(condition, yes, Parse(infix.right));
  }
  Operand ChooseIf(const Infix& infix, const Token&, Operand yes) {
    const Operand condition = Parse(infix.right);
    Expect("else");
    return meaning_.Select(condition, yes, Parse(kChoice));
  }
  Operand Imply(const Infix& infix, const Token&, Operand premise) {
    return meaning_.Logic(Operation::kOr, meaning_.Not(premise, premise.offset),
                          Parse(infix.right));
  }
  template <Operation operation>
  Operand Logic(const Infix& infix, const Token&, Operand left) {
    return meaning_.Logic(operation, left, Parse(infix.right));
  }
  template <Operation bits, Operation logical>
  Operand Bits(const Infix& infix, const Token&, Operand left) {
    return meaning_.Bits(bits, logical, left, Parse(infix.right));
  }
  template <Operation operation>
  Operand Compute(const Infix& infix, const Token&, Operand left) {
    return meaning_.Compute(operation, left, Parse(infix.right));
  }

  /// A chain of comparisons, which a list of members ends.
  Operand Compare(const Infix& infix, const Token& symbol, Operand left) {
    std::optional<Operand> chain;
    for (Token sign = symbol;; sign = Take()) {
      const bool is_last = sign.text == "in" || sign.text == "not in";
      const Operand right = is_last ? Operand() : Parse(infix.right);
      const Operand link = sign.text == "in"       ? meaning_.Member(left, List())
                           : sign.text == "not in" ? meaning_.NoMember(left, List())
                                                   : meaning_.Compare(sign.text, left, right);
      chain = chain ? meaning_.Logic(Operation::kAnd, *chain, link) : link;
      if (is_last || FindInfix(kComparison, kComparison) == nullptr) return *chain;
      left = right;
    }
  }

  std::vector<Operand> List() {
    for (const std::string_view brackets : {"[]", "()", "{}"}) {
      if (Accept(brackets.substr(0, 1))) return ItemsUpTo(brackets.substr(1));
    }
    Unexpected("a list as [1, 2]");
  }

  std::vector<Operand> ItemsUpTo(std::string_view close) {
    std::vector<Operand> items;
    while (!Accept(close)) {
      items.push_back(Parse());
      if (!Sees(close)) Expect(",");
    }
    return items;
  }

  Operand Primary() {
    if (AtEnd() || Peek().kind == Token::Kind::kSymbol) Unexpected("a value");
    const Token token = Take();
    if (token.kind == Token::Kind::kNumber) return meaning_.Constant(token.number, token.offset);
    if (token.kind == Token::Kind::kText) {
      return {.type = Operand::Type::kText, .text = token.text, .offset = token.offset};
    }
    if (Accept("(")) return meaning_.Call(token, ItemsUpTo(")"));
    const Operand named = meaning_.Name(token);
    return meaning_.HasElements(named) && Accept("[") ? Element(named) : named;
  }

  /// p[k], from behind the bracket.
  Operand Element(const Operand& list) {
    const bool from_end = Accept("-");
    if (Peek().kind != Token::Kind::kNumber) Unexpected("a number as index");
    const Token index = Take();
    Expect("]");
    return meaning_.Element(list, from_end ? -index.number : index.number, index.offset);
  }

  ConstraintMeaning meaning_;
};

/// The operands of nested `and`s.
void SplitConjunction(int expression, const ExpressionGraph& graph, std::vector<int>& parts) {
  const Expression& e = graph[expression];
  if (e.operation != Operation::kAnd) {
    parts.push_back(expression);
    return;
  }
  for (int operand : std::vector<int>(e.operands)) SplitConjunction(operand, graph, parts);
}

/// At most some 100 characters around a place, without what would break or garble a line.
std::string Excerpt(std::string_view text, size_t offset = 0) {
  constexpr size_t kAround = 50;
  const size_t first = offset > kAround ? offset - kAround : 0;
  std::string excerpt(text.substr(first, 2 * kAround));
  for (char& c : excerpt) {
    if (static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) > '~') c = ' ';
  }
  return (first > 0 ? "..." : "") + excerpt + (first + 2 * kAround < text.size() ? "..." : "");
}

Error Explain(std::string_view what, std::string_view text, const TextFault& fault) {
  return Error{fmt::format("{} '{}': column {}: {}", what, Excerpt(text, fault.offset),
                           base::ColumnOf(text, fault.offset), Excerpt(fault.message))};
}

/// `what`: what the text is called in messages.
Result<std::vector<int>> ParseParts(std::string_view what, std::string_view text,
                                    const ExpressionGraph::Parameters& parameters,
                                    ExpressionGraph& graph) {
  try {
    std::vector<int> parts;
    SplitConjunction(Parser(text, parameters, graph).ParseTruth(), graph, parts);
    return parts;
  } catch (const TextFault& fault) {
    return Explain(what, text, fault);
  }
}

}  // namespace

Result<std::vector<int>> ParseConstraint(std::string_view text,
                                         const ExpressionGraph::Parameters& parameters,
                                         ExpressionGraph& graph) {
  return ParseParts("constraint", text, parameters, graph);
}

Result<std::vector<int>> ParseCondition(std::string_view text,
                                        const ExpressionGraph::Parameters& parameters,
                                        ExpressionGraph& graph) {
  return ParseParts("condition", text, parameters, graph);
}

Result<int> ParseArithmetic(std::string_view text, const ExpressionGraph::Parameters& parameters,
                            ExpressionGraph& graph) {
  try {
    return Parser(text, parameters, graph).ParseNumber();
  } catch (const TextFault& fault) {
    return Explain("expression", text, fault);
  }
}

}  // namespace bayloom::space
