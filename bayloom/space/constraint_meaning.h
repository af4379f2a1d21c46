// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bayloom/base/token.h"
#include "bayloom/space/expression.h"

namespace bayloom::space {

using base::TextFault;
using base::Token;

/// A piece of a constraint's text that means something.
struct Operand {
  enum class Type : uint8_t {
    kNumber,     ///< `expression`
    kTruth,      ///< `expression`, 0 or 1
    kParameter,  ///< of texts: a text or a number, as the other operand requires
    kText,       ///< a text in quotes
    kList,       ///< a permutation or factorization, of which only elements are numbers
  };
  Type type = Type::kNumber;
  int expression = -1;
  int parameter = -1;
  std::string text = {};
  size_t offset = 0;  ///< where it starts
};

/// What names and symbols mean, on given parameters. All functions throw TextFault for what
/// has no meaning.
class ConstraintMeaning {
 public:
  ConstraintMeaning(const ExpressionGraph::Parameters& parameters, ExpressionGraph& graph)
      : parameters_(parameters), graph_(graph) {}

  Operand Constant(double value, size_t offset) const;
  /// A parameter, an element of a permutation (`p_k`, `p_ik`), or a truth value.
  Operand Name(const Token& name) const;
  /// Whether elements of it may be asked for.
  bool HasElements(const Operand& operand) const;
  Operand Element(const Operand& list, double index, size_t offset) const;

  /// Expressions for what is needed as a number or as a truth value.
  int Number(const Operand& operand) const;
  int Truth(const Operand& operand) const;

  Operand Compute(Operation operation, const Operand& a, const Operand& b) const;
  Operand Negate(std::string_view sign, const Operand& operand, size_t offset) const;
  /// `logical` if both are truth values, else on bits.
  Operand Bits(Operation bits, Operation logical, const Operand& a, const Operand& b) const;
  Operand Logic(Operation operation, const Operand& a, const Operand& b) const;
  Operand Not(const Operand& operand, size_t offset) const;
  Operand Compare(std::string_view symbol, const Operand& a, const Operand& b) const;
  Operand Member(const Operand& item, std::span<const Operand> members) const;
  /// Whether the item has a value, as all members have, and is not one of them.
  Operand NoMember(const Operand& item, std::span<const Operand> members) const;
  Operand Select(const Operand& condition, const Operand& yes, const Operand& no) const;
  Operand Call(const Token& name, std::span<const Operand> arguments) const;

 private:
  const Parameter& Owner(const Operand& operand) const { return *parameters_[operand.parameter]; }
  int IndexOf(std::string_view name) const;
  [[noreturn]] void FailIndex(int parameter, size_t offset) const;
  std::optional<Operand> PermutationElement(const Token& name) const;
  Operand Read(const Term& term, size_t offset) const;
  Operand MakeTruth(Operation operation, std::vector<int> operands, size_t offset) const;
  Operand MakeNumber(Operation operation, std::vector<int> operands, size_t offset) const;
  Operand CompareText(Operation operation, const Operand& a, const Operand& b) const;
  Operand CompareParameters(Operation operation, const Operand& a, const Operand& b) const;
  Operand CompareAs(Operation operation, const Operand& a, const Operand& b) const;

  const ExpressionGraph::Parameters& parameters_;
  ExpressionGraph& graph_;
};

}  // namespace bayloom::space
