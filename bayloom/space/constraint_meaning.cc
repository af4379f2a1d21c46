// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/space/constraint_meaning.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace bayloom::space {
namespace {

using Type = Operand::Type;

struct Function {
  std::string_view name;
  Operation operation;
  int min_arguments;
  int max_arguments;
};

constexpr int kAnyNumber = std::numeric_limits<int>::max();
constexpr Function kFunctions[] = {
    {"min", Operation::kMin, 1, kAnyNumber}, {"max", Operation::kMax, 1, kAnyNumber},
    {"gcd", Operation::kGcd, 1, kAnyNumber}, {"pow", Operation::kPower, 2, 2},
    {"abs", Operation::kAbs, 1, 1},          {"floor", Operation::kFloor, 1, 1},
    {"ceil", Operation::kCeil, 1, 1},        {"round", Operation::kRound, 1, 1},
    {"int", Operation::kTruncate, 1, 1},     {"sqrt", Operation::kSqrt, 1, 1},
    {"log", Operation::kLog, 1, 1},          {"log2", Operation::kLog2, 1, 1},
    {"exp", Operation::kExp, 1, 1}};

[[noreturn]] void Fail(size_t offset, std::string message) {
  throw TextFault{offset, std::move(message)};
}

bool IsEquality(Operation operation) {
  return operation == Operation::kEqual || operation == Operation::kNotEqual;
}

}  // namespace

Operand ConstraintMeaning::Constant(double value, size_t offset) const {
  return {.type = Type::kNumber, .expression = graph_.Constant(value), .offset = offset};
}

Operand ConstraintMeaning::MakeTruth(Operation operation, std::vector<int> operands,
                                     size_t offset) const {
  return {.type = Type::kTruth,
          .expression = graph_.Compute(operation, std::move(operands)),
          .offset = offset};
}

Operand ConstraintMeaning::MakeNumber(Operation operation, std::vector<int> operands,
                                      size_t offset) const {
  return {.type = Type::kNumber,
          .expression = graph_.Compute(operation, std::move(operands)),
          .offset = offset};
}

Operand ConstraintMeaning::Read(const Term& term, size_t offset) const {
  return {.type = Type::kNumber, .expression = graph_.Read(term), .offset = offset};
}

int ConstraintMeaning::IndexOf(std::string_view name) const {
  const auto found = std::find_if(parameters_.begin(), parameters_.end(),
                                  [&](const auto& p) { return p->name() == name; });
  return found == parameters_.end() ? -1 : static_cast<int>(found - parameters_.begin());
}

Operand ConstraintMeaning::Name(const Token& name) const {
  const int index = IndexOf(name.text);
  if (index >= 0) {
    Operand operand{.parameter = index, .offset = name.offset};
    if (parameters_[index]->ElementCount() > 0) {
      operand.type = Type::kList;
    } else if (std::holds_alternative<std::string>(parameters_[index]->ValueAt(0))) {
      operand.type = Type::kParameter;
    } else {
      return Read({index, Term::Reading::kNumber}, name.offset);
    }
    return operand;
  }
  if (std::optional<Operand> element = PermutationElement(name)) return *element;
  double truth = 0;
  if (ParseNumber(name.text, truth)) {
    return {.type = Type::kTruth, .expression = graph_.Constant(truth), .offset = name.offset};
  }
  Fail(name.offset, fmt::format("there is no parameter '{}'", name.text));
}

void ConstraintMeaning::FailIndex(int parameter, size_t offset) const {
  Fail(offset, fmt::format("indices of '{}' go from 0 to {}", parameters_[parameter]->name(),
                           parameters_[parameter]->ElementCount() - 1));
}

/// p_k, p_ik
std::optional<Operand> ConstraintMeaning::PermutationElement(const Token& name) const {
  const size_t bar = name.text.rfind('_');
  if (bar == std::string::npos) return std::nullopt;
  const int index = IndexOf(std::string_view(name.text).substr(0, bar));
  if (index < 0 || parameters_[index]->kind() != ParameterKind::kPermutation) return std::nullopt;
  std::string_view digits = std::string_view(name.text).substr(bar + 1);
  const bool place = digits.starts_with('i');
  if (place) digits.remove_prefix(1);
  int element = -1;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), element);
  if (fault == std::errc::result_out_of_range) FailIndex(index, name.offset);
  if (fault != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  if (element < 0 || element >= parameters_[index]->ElementCount()) FailIndex(index, name.offset);
  return Read({index, place ? Term::Reading::kPlace : Term::Reading::kElement, element},
              name.offset);
}

bool ConstraintMeaning::HasElements(const Operand& operand) const {
  return operand.type == Type::kList;
}

Operand ConstraintMeaning::Element(const Operand& list, double index, size_t offset) const {
  const int count = Owner(list).ElementCount();
  if (index < 0) index += count;
  if (!(index >= 0 && index < count && index == std::floor(index))) {
    FailIndex(list.parameter, offset);
  }
  return Read({list.parameter, Term::Reading::kElement, static_cast<int>(index)}, list.offset);
}

int ConstraintMeaning::Number(const Operand& operand) const {
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
  Fail(operand.offset,
       fmt::format("'{0}' is a {1}; its elements are '{0}[0]' to '{0}[{2}]'", Owner(operand).name(),
                   ToString(Owner(operand).kind()), Owner(operand).ElementCount() - 1));
}

int ConstraintMeaning::Truth(const Operand& operand) const {
  if (operand.type == Type::kTruth) return operand.expression;
  return graph_.Compute(Operation::kNotEqual, {Number(operand), graph_.Constant(0)});
}

Operand ConstraintMeaning::Compute(Operation operation, const Operand& a, const Operand& b) const {
  const int first = Number(a);
  return MakeNumber(operation, {first, Number(b)}, a.offset);
}

Operand ConstraintMeaning::Negate(std::string_view sign, const Operand& operand,
                                  size_t offset) const {
  if (sign == "!" || (sign == "~" && operand.type == Type::kTruth)) return Not(operand, offset);
  const int number = Number(operand);
  if (sign == "+") return {.type = Type::kNumber, .expression = number, .offset = offset};
  return MakeNumber(sign == "-" ? Operation::kNegate : Operation::kBitNot, {number}, offset);
}

Operand ConstraintMeaning::Bits(Operation bits, Operation logical, const Operand& a,
                                const Operand& b) const {
  if (a.type != Type::kTruth || b.type != Type::kTruth) return Compute(bits, a, b);
  return MakeTruth(logical, {a.expression, b.expression}, a.offset);
}

Operand ConstraintMeaning::Logic(Operation operation, const Operand& a, const Operand& b) const {
  const int first = Truth(a);
  return MakeTruth(operation, {first, Truth(b)}, a.offset);
}

Operand ConstraintMeaning::Not(const Operand& operand, size_t offset) const {
  return MakeTruth(Operation::kNot, {Truth(operand)}, offset);
}

Operand ConstraintMeaning::Compare(std::string_view symbol, const Operand& a,
                                   const Operand& b) const {
  if (symbol == "==") return CompareAs(Operation::kEqual, a, b);
  if (symbol == "!=") return CompareAs(Operation::kNotEqual, a, b);
  if (symbol == "<") return CompareAs(Operation::kLess, a, b);
  if (symbol == "<=") return CompareAs(Operation::kLessEqual, a, b);
  return CompareAs(symbol == ">" ? Operation::kLess : Operation::kLessEqual, b, a);
}

Operand ConstraintMeaning::CompareAs(Operation operation, const Operand& a,
                                     const Operand& b) const {
  if ((a.type == Type::kText && b.type == Type::kParameter) ||
      (a.type == Type::kParameter && b.type == Type::kText)) {
    return CompareText(operation, a, b);
  }
  if (IsEquality(operation) && a.type == Type::kParameter && b.type == Type::kParameter) {
    return CompareParameters(operation, a, b);
  }
  const int first = Number(a);
  return MakeTruth(operation, {first, Number(b)}, a.offset);
}

/// A parameter of texts and a text in quotes, in any order: by rank.
Operand ConstraintMeaning::CompareText(Operation operation, const Operand& a,
                                       const Operand& b) const {
  const Operand& text = a.type == Type::kText ? a : b;
  const Operand& parameter = a.type == Type::kText ? b : a;
  const Parameter& owner = Owner(parameter);
  if (!IsEquality(operation) && owner.kind() != ParameterKind::kOrdinal) {
    Fail(a.offset, fmt::format("the values of '{}' have no order", owner.name()));
  }
  const Result<double> rank_of_text = owner.CoordinateOf(text.text);
  if (!rank_of_text) {
    Fail(text.offset, fmt::format("'{}': {}", owner.name(), rank_of_text.error().message));
  }
  const int literal = graph_.Constant(*rank_of_text);
  const int rank = graph_.Read({parameter.parameter, Term::Reading::kRank});
  return a.type == Type::kText ? MakeTruth(operation, {literal, rank}, a.offset)
                               : MakeTruth(operation, {rank, literal}, a.offset);
}

/// Two parameters of texts: by text.
Operand ConstraintMeaning::CompareParameters(Operation operation, const Operand& a,
                                             const Operand& b) const {
  std::vector<int> operands;
  for (const Operand* side : {&a, &b}) {
    const Parameter& owner = Owner(*side);
    for (double rank = 0; rank < static_cast<double>(owner.Cardinality()); ++rank) {
      graph_.IdOfText(std::get<std::string>(owner.ValueAt(rank)));
    }
    operands.push_back(graph_.Read({side->parameter, Term::Reading::kText}));
  }
  return MakeTruth(operation, std::move(operands), a.offset);
}

/// Numbers known beforehand are looked up in a set; with others the item is compared.
Operand ConstraintMeaning::Member(const Operand& item, std::span<const Operand> members) const {
  std::vector<double> constants;
  int truth = graph_.Constant(0);
  for (const Operand& member : members) {
    if (member.type == Type::kNumber && item.type != Type::kParameter &&
        graph_[member.expression].operation == Operation::kConstant) {
      constants.push_back(graph_[member.expression].constant);
    } else {
      const int equal = CompareAs(Operation::kEqual, item, member).expression;
      truth = graph_.Compute(Operation::kOr, {truth, equal});
    }
  }
  if (!constants.empty()) {
    const int in = graph_.IsIn(Number(item), std::move(constants));
    truth = graph_.Compute(Operation::kOr, {truth, in});
  }
  return {.type = Type::kTruth, .expression = truth, .offset = item.offset};
}

Operand ConstraintMeaning::NoMember(const Operand& item, std::span<const Operand> members) const {
  std::vector<Operand> constants;
  int truth = graph_.Constant(1);
  const auto require = [&](int condition) {
    truth = graph_.Compute(Operation::kAnd, {truth, condition});
  };
  for (const Operand& member : members) {
    if (member.type == Type::kNumber && item.type != Type::kParameter &&
        graph_[member.expression].operation == Operation::kConstant) {
      constants.push_back(member);
    } else {
      require(CompareAs(Operation::kNotEqual, item, member).expression);
    }
  }
  if (!constants.empty()) {
    require(Not(Member(item, constants), item.offset).expression);
    // What has no value does not equal itself; parameters have one.
    const int number = Number(item);
    if (graph_[number].operation != Operation::kTerm) {
      require(graph_.Compute(Operation::kEqual, {number, number}));
    }
  }
  return {.type = Type::kTruth, .expression = truth, .offset = item.offset};
}

Operand ConstraintMeaning::Select(const Operand& condition, const Operand& yes,
                                  const Operand& no) const {
  const int truth = Truth(condition);
  const int first = Number(yes);
  Operand selected = MakeNumber(Operation::kSelect, {truth, first, Number(no)}, condition.offset);
  if (yes.type == Type::kTruth && no.type == Type::kTruth) selected.type = Type::kTruth;
  return selected;
}

Operand ConstraintMeaning::Call(const Token& name, std::span<const Operand> arguments) const {
  const auto* function = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                      [&](const Function& f) { return f.name == name.text; });
  if (function == std::end(kFunctions)) {
    Fail(name.offset, fmt::format("there is no function '{}'", name.text));
  }
  const auto count = static_cast<int>(arguments.size());
  if (count < function->min_arguments || count > function->max_arguments) {
    Fail(name.offset, fmt::format("'{}' of {} values", name.text, count));
  }
  if (function->max_arguments == 1) {
    return MakeNumber(function->operation, {Number(arguments[0])}, name.offset);
  }
  int folded = Number(arguments[0]);
  for (const Operand& argument : arguments.subspan(1)) {
    folded = graph_.Compute(function->operation, {folded, Number(argument)});
  }
  return {.type = Type::kNumber, .expression = folded, .offset = name.offset};
}

}  // namespace bayloom::space
