#include "bayloom/space/constraint_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <optional>

#include "bayloom/space/constraint_lexer.h"

namespace bayloom {
namespace {

constexpr int kMostNested = 60;
constexpr size_t kMostTokens = 2000;

/// A parsed piece.
struct Operand {
  enum class Type : uint8_t {
    kNumber,     ///< `expression`
    kTruth,      ///< `expression`, 0 or 1
    kParameter,  ///< of texts: a text or a number, as whatever it meets would have it
    kText,       ///< a text in quotes
    kList,       ///< a permutation or factorization, of which only elements are numbers
  };
  Type type = Type::kNumber;
  int expression = -1;
  int parameter = -1;
  std::string text;
  size_t offset = 0;
};

using Type = Operand::Type;

struct Function {
  std::string_view name;
  Operation operation;
  int least_arguments;
  int most_arguments;
};

constexpr int kAnyNumber = static_cast<int>(kMostTokens);
constexpr Function kFunctions[] = {
    {"min", Operation::kMin, 1, kAnyNumber}, {"max", Operation::kMax, 1, kAnyNumber},
    {"gcd", Operation::kGcd, 1, kAnyNumber}, {"pow", Operation::kPower, 2, 2},
    {"abs", Operation::kAbs, 1, 1},          {"floor", Operation::kFloor, 1, 1},
    {"ceil", Operation::kCeil, 1, 1},        {"round", Operation::kRound, 1, 1},
    {"int", Operation::kTruncate, 1, 1},     {"sqrt", Operation::kSqrt, 1, 1},
    {"log", Operation::kLog, 1, 1},          {"log2", Operation::kLog2, 1, 1},
    {"exp", Operation::kExp, 1, 1}};

class Parser {
 public:
  Parser(std::string_view text, const ExpressionGraph::Parameters& parameters,
         ExpressionGraph& graph)
      : parameters_(parameters), graph_(graph) {
    std::vector<std::string> names;
    for (const auto& parameter : parameters) names.push_back(parameter->name());
    tokens_ = SplitConstraint(text, names);
    if (tokens_.size() > kMostTokens) {
      Fail(tokens_[kMostTokens].offset, fmt::format("more than {} words", kMostTokens));
    }
  }

  int Parse() {
    const int truth = Truth(Whole());
    if (Peek().kind != Token::Kind::kEnd) Unexpected("the end");
    return truth;
  }

 private:
  /// Counts levels of nesting, which are levels of the stack as well.
  class Nested {
   public:
    explicit Nested(Parser& parser) : parser_(parser) {
      if (++parser_.nested_ > kMostNested) {
        parser_.Fail(parser_.Peek().offset, fmt::format("nested more than {} deep", kMostNested));
      }
    }
    ~Nested() { --parser_.nested_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

   private:
    Parser& parser_;
  };

  [[noreturn]] static void Fail(size_t offset, std::string message) {
    throw ConstraintFault{offset, std::move(message)};
  }
  [[noreturn]] void Unexpected(std::string_view expected) const {
    const Token& token = Peek();
    if (token.kind == Token::Kind::kEnd) {
      Fail(token.offset, fmt::format("the text ends where {} is expected", expected));
    }
    if (token.text == "=") Fail(token.offset, "'=' is no comparison; '==' is");
    Fail(token.offset, fmt::format("'{}' where {} is expected", token.text, expected));
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
  std::optional<std::string> AcceptOneOf(std::initializer_list<std::string_view> symbols) {
    for (std::string_view symbol : symbols) {
      if (Accept(symbol)) return std::string(symbol);
    }
    return std::nullopt;
  }
  void Expect(std::string_view symbol) {
    if (!Accept(symbol)) Unexpected(fmt::format("'{}'", symbol));
  }

  // What pieces mean where.

  int Number(const Operand& operand) {
    switch (operand.type) {
      case Type::kNumber:
      case Type::kTruth:
        return operand.expression;
      case Type::kParameter:
        return graph_.Read({operand.parameter, Term::Reading::kNumber});
      case Type::kText:
        Fail(operand.offset,
             "a text in quotes only compares with a parameter whose values are texts");
      case Type::kList:
        break;
    }
    const Parameter& parameter = *parameters_[operand.parameter];
    Fail(operand.offset,
         fmt::format("'{0}' is a {1}; its elements are '{0}[0]' to '{0}[{2}]'", parameter.name(),
                     ToString(parameter.kind()), parameter.ElementCount() - 1));
  }

  int Truth(const Operand& operand) {
    if (operand.type == Type::kTruth) return operand.expression;
    return graph_.Compute(Operation::kNotEqual, {Number(operand), graph_.Constant(0)});
  }

  static Operand Make(Type type, int expression, size_t offset) {
    return {.type = type, .expression = expression, .parameter = -1, .text = {}, .offset = offset};
  }
  Operand MakeTruth(Operation operation, std::vector<int> operands, size_t offset) {
    return Make(Type::kTruth, graph_.Compute(operation, std::move(operands)), offset);
  }
  Operand MakeNumber(Operation operation, std::vector<int> operands, size_t offset) {
    return Make(Type::kNumber, graph_.Compute(operation, std::move(operands)), offset);
  }

  /// The rank of a text in quotes among a parameter's values.
  double RankOf(const Operand& text, const Operand& parameter) {
    const Parameter& owner = *parameters_[parameter.parameter];
    const Result<double> rank = owner.CoordinateOf(text.text);
    if (!rank) {
      Fail(text.offset, fmt::format("'{}': {}", owner.name(), rank.error().message));
    }
    return *rank;
  }

  bool IsOrdinal(const Operand& operand) const {
    return parameters_[operand.parameter]->kind() == ParameterKind::kOrdinal;
  }

  /// A parameter of texts compared with another one: by text if only equality matters.
  Operand CompareParameters(Operation operation, const Operand& a, const Operand& b) {
    std::vector<int> operands;
    for (const Operand* side : {&a, &b}) {
      const Parameter& parameter = *parameters_[side->parameter];
      for (double rank = 0; rank < static_cast<double>(parameter.Cardinality()); ++rank) {
        graph_.IdOfText(std::get<std::string>(parameter.ValueAt(rank)));
      }
      operands.push_back(graph_.Read({side->parameter, Term::Reading::kText}));
    }
    return MakeTruth(operation, std::move(operands), a.offset);
  }

  Operand Compare(Operation operation, const Operand& a, const Operand& b) {
    const bool equality = operation == Operation::kEqual || operation == Operation::kNotEqual;
    const bool text_first = a.type == Type::kText && b.type == Type::kParameter;
    if (text_first || (a.type == Type::kParameter && b.type == Type::kText)) {
      const Operand& parameter = text_first ? b : a;
      if (!equality && !IsOrdinal(parameter)) {
        Fail(a.offset, fmt::format("the values of '{}' have no order",
                                   parameters_[parameter.parameter]->name()));
      }
      const int literal = graph_.Constant(RankOf(text_first ? a : b, parameter));
      const int rank = graph_.Read({parameter.parameter, Term::Reading::kRank});
      return text_first ? MakeTruth(operation, {literal, rank}, a.offset)
                        : MakeTruth(operation, {rank, literal}, a.offset);
    }
    if (equality && a.type == Type::kParameter && b.type == Type::kParameter) {
      return CompareParameters(operation, a, b);
    }
    return MakeTruth(operation, {Number(a), Number(b)}, a.offset);
  }

  // The grammar, from what binds loosest.

  Operand Whole() {
    const Nested nested(*this);
    Operand first = Implication();
    if (Accept("?")) {
      const Operand yes = Whole();
      Expect(":");
      return Select(first, yes, Whole());
    }
    if (Accept("if")) {
      const Operand condition = Implication();
      Expect("else");
      return Select(condition, first, Whole());
    }
    return first;
  }

  Operand Select(const Operand& condition, const Operand& yes, const Operand& no) {
    const int truth = Truth(condition);
    const bool truths = yes.type == Type::kTruth && no.type == Type::kTruth;
    return Make(truths ? Type::kTruth : Type::kNumber,
                graph_.Compute(Operation::kSelect, {truth, Number(yes), Number(no)}),
                condition.offset);
  }

  Operand Implication() {
    const Nested nested(*this);
    const Operand premise = Disjunction();
    if (!AcceptOneOf({"->", "=>"})) return premise;
    const int denied = graph_.Compute(Operation::kNot, {Truth(premise)});
    return MakeTruth(Operation::kOr, {denied, Truth(Implication())}, premise.offset);
  }

  Operand Disjunction() {
    Operand left = Conjunction();
    while (Accept("||")) {
      const int first = Truth(left);
      left = MakeTruth(Operation::kOr, {first, Truth(Conjunction())}, left.offset);
    }
    return left;
  }

  Operand Conjunction() {
    Operand left = Negation();
    while (Accept("&&")) {
      const int first = Truth(left);
      left = MakeTruth(Operation::kAnd, {first, Truth(Negation())}, left.offset);
    }
    return left;
  }

  Operand Negation() {
    const Nested nested(*this);
    const size_t offset = Peek().offset;
    if (!Accept("not")) return Comparison();
    return MakeTruth(Operation::kNot, {Truth(Negation())}, offset);
  }

  Operand Comparison() {
    Operand left = BitOr();
    std::optional<Operand> chain;
    for (;;) {
      std::optional<Operand> link;
      if (Sees("in") || (Sees("not") && Sees("in", 1))) {
        const bool negated = Accept("not");
        Expect("in");
        link = Member(left);
        if (negated) link = MakeTruth(Operation::kNot, {link->expression}, link->offset);
        return Chained(chain, *link);
      }
      const std::optional<std::string> symbol = AcceptOneOf({"==", "!=", "<=", ">=", "<", ">"});
      if (!symbol) return chain ? *chain : left;
      const Operand right = BitOr();
      chain = Chained(chain, ComparedBy(*symbol, left, right));
      left = right;
    }
  }

  Operand Chained(const std::optional<Operand>& chain, const Operand& link) {
    if (!chain) return link;
    return MakeTruth(Operation::kAnd, {chain->expression, link.expression}, chain->offset);
  }

  Operand ComparedBy(std::string_view symbol, const Operand& a, const Operand& b) {
    if (symbol == "==") return Compare(Operation::kEqual, a, b);
    if (symbol == "!=") return Compare(Operation::kNotEqual, a, b);
    if (symbol == "<") return Compare(Operation::kLess, a, b);
    if (symbol == "<=") return Compare(Operation::kLessEqual, a, b);
    return Compare(symbol == ">" ? Operation::kLess : Operation::kLessEqual, b, a);
  }

  Operand Member(const Operand& left) {
    const std::optional<std::string> open = AcceptOneOf({"[", "(", "{"});
    if (!open) Unexpected("a list as [1, 2]");
    const std::string_view close = *open == "[" ? "]" : *open == "(" ? ")" : "}";
    std::vector<double> constants;
    int truth = graph_.Constant(0);
    while (!Accept(close)) {
      const Operand member = Whole();
      if (member.type == Type::kNumber && left.type != Type::kParameter &&
          graph_[member.expression].operation == Operation::kConstant) {
        constants.push_back(graph_[member.expression].constant);
      } else {
        const int equal = Compare(Operation::kEqual, left, member).expression;
        truth = graph_.Compute(Operation::kOr, {truth, equal});
      }
      if (!Sees(close)) Expect(",");
    }
    if (!constants.empty()) {
      const int in = graph_.IsIn(Number(left), std::move(constants));
      truth = graph_.Compute(Operation::kOr, {truth, in});
    }
    return Make(Type::kTruth, truth, left.offset);
  }

  /// On truth values, logical.
  Operand Bits(Operation bits, Operation logical, const Operand& a, const Operand& b) {
    if (a.type == Type::kTruth && b.type == Type::kTruth) {
      return MakeTruth(logical, {a.expression, b.expression}, a.offset);
    }
    return MakeNumber(bits, {Number(a), Number(b)}, a.offset);
  }

  Operand BitOr() {
    Operand left = BitXor();
    while (Accept("|")) left = Bits(Operation::kBitOr, Operation::kOr, left, BitXor());
    return left;
  }

  Operand BitXor() {
    Operand left = BitAnd();
    while (Accept("^")) left = Bits(Operation::kBitXor, Operation::kNotEqual, left, BitAnd());
    return left;
  }

  Operand BitAnd() {
    Operand left = Shift();
    while (Accept("&")) left = Bits(Operation::kBitAnd, Operation::kAnd, left, Shift());
    return left;
  }

  Operand Shift() {
    Operand left = Sum();
    while (const std::optional<std::string> symbol = AcceptOneOf({"<<", ">>"})) {
      const int first = Number(left);
      left = MakeNumber(*symbol == "<<" ? Operation::kShiftLeft : Operation::kShiftRight,
                        {first, Number(Sum())}, left.offset);
    }
    return left;
  }

  Operand Sum() {
    Operand left = Product();
    while (const std::optional<std::string> symbol = AcceptOneOf({"+", "-"})) {
      const int first = Number(left);
      left = MakeNumber(*symbol == "+" ? Operation::kAdd : Operation::kSubtract,
                        {first, Number(Product())}, left.offset);
    }
    return left;
  }

  Operand Product() {
    Operand left = Unary();
    while (const std::optional<std::string> symbol = AcceptOneOf({"*", "//", "/", "%"})) {
      const Operation operation = *symbol == "*"    ? Operation::kMultiply
                                  : *symbol == "//" ? Operation::kFloorDivide
                                  : *symbol == "/"  ? Operation::kDivide
                                                    : Operation::kModulo;
      const int first = Number(left);
      left = MakeNumber(operation, {first, Number(Unary())}, left.offset);
    }
    return left;
  }

  Operand Unary() {
    const Nested nested(*this);
    const size_t offset = Peek().offset;
    const std::optional<std::string> symbol = AcceptOneOf({"-", "+", "~", "!"});
    if (!symbol) return Power();
    const Operand operand = Unary();
    if (*symbol == "!" || (*symbol == "~" && operand.type == Type::kTruth)) {
      return MakeTruth(Operation::kNot, {Truth(operand)}, offset);
    }
    if (*symbol == "+") return Make(Type::kNumber, Number(operand), offset);
    return MakeNumber(*symbol == "-" ? Operation::kNegate : Operation::kBitNot, {Number(operand)},
                      offset);
  }

  Operand Power() {
    const Operand base = Primary();
    if (!Accept("**")) return base;
    const int first = Number(base);
    return MakeNumber(Operation::kPower, {first, Number(Unary())}, base.offset);
  }

  Operand Primary() {
    const Token token = Peek();
    if (Accept("(")) {
      Operand inner = Whole();
      Expect(")");
      return inner;
    }
    if (token.kind == Token::Kind::kSymbol || token.kind == Token::Kind::kEnd) {
      Unexpected("a value");
    }
    ++at_;
    if (token.kind == Token::Kind::kNumber) {
      return Make(Type::kNumber, graph_.Constant(token.number), token.offset);
    }
    if (token.kind == Token::Kind::kText) {
      Operand text = Make(Type::kText, -1, token.offset);
      text.text = token.text;
      return text;
    }
    return Named(token);
  }

  int IndexOf(std::string_view name) const {
    const auto found = std::find_if(parameters_.begin(), parameters_.end(),
                                    [&](const auto& p) { return p->name() == name; });
    return found == parameters_.end() ? -1 : static_cast<int>(found - parameters_.begin());
  }

  Operand Named(const Token& name) {
    if (Sees("(")) return Call(name);
    const int parameter = IndexOf(name.text);
    if (parameter >= 0) return OfParameter(parameter, name);
    if (std::optional<Operand> element = PermutationElement(name)) return *element;
    if (name.text == "true" || name.text == "True") {
      return Make(Type::kTruth, graph_.Constant(1), name.offset);
    }
    if (name.text == "false" || name.text == "False") {
      return Make(Type::kTruth, graph_.Constant(0), name.offset);
    }
    Fail(name.offset, fmt::format("there is no parameter '{}'", name.text));
  }

  Operand OfParameter(int index, const Token& name) {
    const Parameter& parameter = *parameters_[index];
    Operand operand = Make(Type::kNumber, -1, name.offset);
    operand.parameter = index;
    if (parameter.ElementCount() > 0) {
      if (Sees("[")) return Element(index, name.offset);
      operand.type = Type::kList;
    } else if (std::holds_alternative<std::string>(parameter.ValueAt(0))) {
      operand.type = Type::kParameter;
    } else {
      operand.expression = graph_.Read({index, Term::Reading::kNumber});
    }
    return operand;
  }

  /// p[k]
  Operand Element(int index, size_t offset) {
    Expect("[");
    const bool from_end = Accept("-");
    const Token token = Peek();
    const int count = parameters_[index]->ElementCount();
    if (token.kind != Token::Kind::kNumber) Unexpected("a number as index");
    ++at_;
    const double k = from_end ? count - token.number : token.number;
    if (!(k >= 0 && k < count && k == std::floor(k))) FailIndex(index, token.offset);
    Expect("]");
    return ReadElement(index, Term::Reading::kElement, static_cast<int>(k), offset);
  }

  [[noreturn]] void FailIndex(int index, size_t offset) const {
    Fail(offset, fmt::format("indices of '{}' go from 0 to {}", parameters_[index]->name(),
                             parameters_[index]->ElementCount() - 1));
  }

  Operand ReadElement(int index, Term::Reading reading, int element, size_t offset) {
    return Make(Type::kNumber, graph_.Read({index, reading, element}), offset);
  }

  /// p_k, p_ik
  std::optional<Operand> PermutationElement(const Token& name) {
    const size_t bar = name.text.rfind('_');
    if (bar == std::string::npos) return std::nullopt;
    const int index = IndexOf(std::string_view(name.text).substr(0, bar));
    if (index < 0 || parameters_[index]->kind() != ParameterKind::kPermutation) return std::nullopt;
    std::string_view digits = std::string_view(name.text).substr(bar + 1);
    const bool place = digits.starts_with('i');
    if (place) digits.remove_prefix(1);
    int element = -1;
    const auto [end, fault] =
        std::from_chars(digits.data(), digits.data() + digits.size(), element);
    if (fault == std::errc::result_out_of_range) FailIndex(index, name.offset);
    if (fault != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    if (element < 0 || element >= parameters_[index]->ElementCount()) FailIndex(index, name.offset);
    return ReadElement(index, place ? Term::Reading::kPlace : Term::Reading::kElement, element,
                       name.offset);
  }

  Operand Call(const Token& name) {
    const auto* function = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                        [&](const Function& f) { return f.name == name.text; });
    if (function == std::end(kFunctions)) {
      Fail(name.offset, fmt::format("there is no function '{}'", name.text));
    }
    Expect("(");
    std::vector<int> arguments;
    while (!Accept(")")) {
      arguments.push_back(Number(Whole()));
      if (!Sees(")")) Expect(",");
    }
    const auto count = static_cast<int>(arguments.size());
    if (count < function->least_arguments || count > function->most_arguments) {
      Fail(name.offset, fmt::format("'{}' of {} values", name.text, count));
    }
    if (function->most_arguments < kAnyNumber) {
      return MakeNumber(function->operation, std::move(arguments), name.offset);
    }
    int folded = arguments[0];
    for (int i = 1; i < count; ++i) {
      folded = graph_.Compute(function->operation, {folded, arguments[i]});
    }
    return Make(Type::kNumber, folded, name.offset);
  }

  const ExpressionGraph::Parameters& parameters_;
  ExpressionGraph& graph_;
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

}  // namespace

Result<std::vector<int>> ParseConstraint(std::string_view text,
                                         const ExpressionGraph::Parameters& parameters,
                                         ExpressionGraph& graph) {
  try {
    std::vector<int> parts;
    SplitConjunction(Parser(text, parameters, graph).Parse(), graph, parts);
    return parts;
  } catch (const ConstraintFault& fault) {
    return Error{fmt::format("constraint '{}': column {}: {}", Excerpt(text, fault.offset),
                             ColumnOf(text, fault.offset), Excerpt(fault.message))};
  }
}

}  // namespace bayloom
