// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/space/constraint_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "bayloom/space/constraint_lexer.h"
#include "bayloom/space/constraint_meaning.h"

namespace bayloom::space {
namespace {

constexpr int kMaxNested = 60;
constexpr size_t kMaxTokens = 2000;

std::vector<std::string> NamesOf(const ExpressionGraph::Parameters& parameters) {
  std::vector<std::string> names;
  for (const auto& parameter : parameters) names.push_back(parameter->name());
  return names;
}

/// One function for each level of precedence.
class Parser {
 public:
  Parser(std::string_view text, const ExpressionGraph::Parameters& parameters,
         ExpressionGraph& graph)
      : meaning_(parameters, graph), tokens_(SplitConstraint(text, NamesOf(parameters))) {
    if (tokens_.size() > kMaxTokens) {
      throw ConstraintFault{tokens_[kMaxTokens].offset,
                            fmt::format("more than {} words", kMaxTokens)};
    }
  }

  int ParseTruth() {
    const int truth = meaning_.Truth(Whole());
    if (Peek().kind != Token::Kind::kEnd) Unexpected("the end");
    return truth;
  }

  int ParseNumber() {
    const int number = meaning_.Number(Whole());
    if (Peek().kind != Token::Kind::kEnd) Unexpected("the end");
    return number;
  }

 private:
  /// Counts levels of nesting, which are levels of the stack as well.
  class Nested {
   public:
    explicit Nested(Parser& parser) : parser_(parser) {
      if (++parser_.nested_ > kMaxNested) {
        throw ConstraintFault{parser_.Peek().offset,
                              fmt::format("nested more than {} deep", kMaxNested)};
      }
    }
    ~Nested() { --parser_.nested_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

   private:
    Parser& parser_;
  };

  [[noreturn]] void Unexpected(std::string_view expected) const {
    const Token& token = Peek();
    std::string message = fmt::format("'{}' where {} is expected", token.text, expected);
    if (token.text == "=") message = "'=' is no comparison; '==' is";
    if (token.kind == Token::Kind::kEnd) {
      message = fmt::format("the text ends where {} is expected", expected);
    }
    throw ConstraintFault{token.offset, std::move(message)};
  }

  const Token& Peek(size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  bool Sees(std::string_view symbol, size_t ahead = 0) const {
    return Peek(ahead).kind == Token::Kind::kSymbol && Peek(ahead).text == symbol;
  }
  bool Accept(std::string_view symbol) {
    if (!Sees(symbol)) return false;
    ++at_;
    return true;
  }
  /// Empty if there are no such ones.
  std::string_view AcceptOneOf(std::initializer_list<std::string_view> symbols) {
    for (std::string_view symbol : symbols) {
      if (Accept(symbol)) return symbol;
    }
    return {};
  }
  void Expect(std::string_view symbol) {
    if (!Accept(symbol)) Unexpected(fmt::format("'{}'", symbol));
  }

  Operand Whole() {
    const Nested nested(*this);
    const Operand first = Implication();
    if (Accept("?")) {
      const Operand yes = Whole();
      Expect(":");
      return meaning_.Select(first, yes, Whole());
    }
    if (Accept("if")) {
      const Operand condition = Implication();
      Expect("else");
      return meaning_.Select(condition, first, Whole());
    }
    return first;
  }

  Operand Implication() {
    const Nested nested(*this);
    const Operand premise = Disjunction();
    if (AcceptOneOf({"->", "=>"}).empty()) return premise;
    return meaning_.Logic(Operation::kOr, meaning_.Not(premise, premise.offset), Implication());
  }

  Operand Disjunction() {
    Operand left = Conjunction();
    while (Accept("||")) left = meaning_.Logic(Operation::kOr, left, Conjunction());
    return left;
  }

  Operand Conjunction() {
    Operand left = Negation();
    while (Accept("&&")) left = meaning_.Logic(Operation::kAnd, left, Negation());
    return left;
  }

  Operand Negation() {
    const Nested nested(*this);
    const size_t offset = Peek().offset;
    return Accept("not") ? meaning_.Not(Negation(), offset) : Comparison();
  }

  Operand Comparison() {
    Operand left = BitOr();
    std::optional<Operand> chain;
    const auto add_link = [&](const Operand& link) {
      chain = chain ? meaning_.Logic(Operation::kAnd, *chain, link) : link;
    };
    for (;;) {
      if (Sees("in") || (Sees("not") && Sees("in", 1))) {
        const bool negated = Accept("not");
        Expect("in");
        const std::vector<Operand> list = List();
        add_link(negated ? meaning_.NoMember(left, list) : meaning_.Member(left, list));
        return *chain;
      }
      const std::string_view symbol = AcceptOneOf({"==", "!=", "<=", ">=", "<", ">"});
      if (symbol.empty()) return chain ? *chain : left;
      const Operand right = BitOr();
      add_link(meaning_.Compare(symbol, left, right));
      left = right;
    }
  }

  std::vector<Operand> List() {
    const std::string_view open = AcceptOneOf({"[", "(", "{"});
    if (open.empty()) Unexpected("a list as [1, 2]");
    return ItemsUpTo(open == "[" ? "]" : open == "(" ? ")" : "}");
  }

  std::vector<Operand> ItemsUpTo(std::string_view close) {
    std::vector<Operand> items;
    while (!Accept(close)) {
      items.push_back(Whole());
      if (!Sees(close)) Expect(",");
    }
    return items;
  }

  Operand BitOr() {
    Operand left = BitXor();
    while (Accept("|")) left = meaning_.Bits(Operation::kBitOr, Operation::kOr, left, BitXor());
    return left;
  }

  Operand BitXor() {
    Operand left = BitAnd();
    while (Accept("^")) {
      left = meaning_.Bits(Operation::kBitXor, Operation::kNotEqual, left, BitAnd());
    }
    return left;
  }

  Operand BitAnd() {
    Operand left = Shift();
    while (Accept("&")) left = meaning_.Bits(Operation::kBitAnd, Operation::kAnd, left, Shift());
    return left;
  }

  Operand Shift() {
    Operand left = Sum();
    for (;;) {
      const std::string_view symbol = AcceptOneOf({"<<", ">>"});
      if (symbol.empty()) return left;
      left = meaning_.Compute(symbol == "<<" ? Operation::kShiftLeft : Operation::kShiftRight, left,
                              Sum());
    }
  }

  Operand Sum() {
    Operand left = Product();
    for (;;) {
      const std::string_view symbol = AcceptOneOf({"+", "-"});
      if (symbol.empty()) return left;
      left =
          meaning_.Compute(symbol == "+" ? Operation::kAdd : Operation::kSubtract, left, Product());
    }
  }

  Operand Product() {
    Operand left = Unary();
    for (;;) {
      const std::string_view symbol = AcceptOneOf({"*", "//", "/", "%"});
      if (symbol.empty()) return left;
      const Operation operation = symbol == "*"    ? Operation::kMultiply
                                  : symbol == "//" ? Operation::kFloorDivide
                                  : symbol == "/"  ? Operation::kDivide
                                                   : Operation::kModulo;
      left = meaning_.Compute(operation, left, Unary());
    }
  }

  Operand Unary() {
    const Nested nested(*this);
    const size_t offset = Peek().offset;
    const std::string_view sign = AcceptOneOf({"-", "+", "~", "!"});
    return sign.empty() ? Power() : meaning_.Negate(sign, Unary(), offset);
  }

  Operand Power() {
    const Operand base = Primary();
    return Accept("**") ? meaning_.Compute(Operation::kPower, base, Unary()) : base;
  }

  Operand Primary() {
    if (Accept("(")) {
      const Operand inner = Whole();
      Expect(")");
      return inner;
    }
    const Token token = Peek();
    if (token.kind == Token::Kind::kSymbol || token.kind == Token::Kind::kEnd) {
      Unexpected("a value");
    }
    ++at_;
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
    const Token index = Peek();
    if (index.kind != Token::Kind::kNumber) Unexpected("a number as index");
    ++at_;
    Expect("]");
    return meaning_.Element(list, from_end ? -index.number : index.number, index.offset);
  }

  ConstraintMeaning meaning_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  int nested_ = 0;
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

/// Characters, not bytes, from 1.
size_t ColumnOf(std::string_view text, size_t offset) {
  const std::string_view before = text.substr(0, offset);
  return 1 + static_cast<size_t>(std::count_if(before.begin(), before.end(), [](char c) {
           return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
         }));
}

Error Explain(std::string_view what, std::string_view text, const ConstraintFault& fault) {
  return Error{fmt::format("{} '{}': column {}: {}", what, Excerpt(text, fault.offset),
                           ColumnOf(text, fault.offset), Excerpt(fault.message))};
}

/// `what`: what the text is called in messages.
Result<std::vector<int>> ParseParts(std::string_view what, std::string_view text,
                                    const ExpressionGraph::Parameters& parameters,
                                    ExpressionGraph& graph) {
  try {
    std::vector<int> parts;
    SplitConjunction(Parser(text, parameters, graph).ParseTruth(), graph, parts);
    return parts;
  } catch (const ConstraintFault& fault) {
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
  } catch (const ConstraintFault& fault) {
    return Explain("expression", text, fault);
  }
}

}  // namespace bayloom::space
