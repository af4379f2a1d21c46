// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "bayloom/codegen/runtime/bayloom_plan.h"
#include "bayloom/tensor/workload.h"

namespace bayloom::graph {

/// A dimension whose length is known when the network runs: smallest, smallest + step, ... largest.
struct Symbol {
  std::string name;
  int64_t smallest = 1;
  int64_t largest = 1;
  int64_t step = 1;
  bool is_found = false;  ///< the network itself finds it (Graph::found)

  int64_t ValueCount() const { return (largest - smallest) / step + 1; }
  bool Has(int64_t length) const {
    return length >= smallest && length <= largest && (length - smallest) % step == 0;
  }
  /// The length nearest to a number.
  int64_t Nearest(double number) const;
  /// "sequence=1..512", "height=32..1280:32"
  std::string ToString() const;
  bool operator==(const Symbol&) const = default;
};

/// Lengths of the symbols that stand for all that they may have: from the smallest ones to the
/// largest in steps of equal ratio, all symbols together; and where there are several, the smallest
/// length of each, or of several, beside the largest ones of the others.
std::vector<std::vector<int64_t>> TypicalLengths(std::span<const Symbol> symbols);

/// Lengths of the symbols that runs had, and how many runs.
struct SeenLengths {
  std::vector<int64_t> lengths;
  double count = 1;
};

/// Lengths that stand for those that were seen: ordered by their product, the largest first, each
/// for the same share of the runs. Those of several shares are there as often.
std::vector<std::vector<int64_t>> TypicalLengths(std::vector<SeenLengths> seen);

/// What follows from the lengths of open dimensions: a polynomial with rational coefficients over
/// symbols, which it names by their positions, quotients that are rounded down, and parts.
class Length {
 public:
  Length(int64_t constant = 0);  // NOLINT: numbers read as lengths
  static Length Of(int symbol);
  /// The largest integer that is at most dividend / divisor, of a dividend that is an integer.
  static Length Floor(const Length& dividend, int64_t divisor);
  /// How much of a part of that length there is: between 0 and `largest`.
  static Length Part(const Length& length, int64_t largest);

  friend Length operator+(const Length& a, const Length& b);
  friend Length operator-(const Length& a, const Length& b);
  friend Length operator*(const Length& a, const Length& b);
  friend Length operator/(const Length& a, int64_t divisor);
  bool operator==(const Length&) const = default;

  /// Its value, if that is one integer for all values of the symbols.
  std::optional<int64_t> AsConstant() const;
  /// Throws std::logic_error where it is no integer.
  int64_t Evaluate(std::span<const int64_t> symbols) const;
  /// What it may be, for all values of the symbols; exact where it only rises, or only falls, with
  /// each of them.
  tensor::SizeRange Range(std::span<const Symbol> symbols) const;
  /// "past + sequence", "height*width/64 - 1"
  std::string ToString(std::span<const Symbol> symbols) const;
  /// As the runtime of compiled networks evaluates it (bayloom_length_value).
  std::vector<bayloom_length_step> Steps() const;
  /// The symbol that it is, or -1.
  int AsSymbol() const;
  /// The symbols that it follows from.
  std::set<int> Symbols() const;

 private:
  struct Function;
  /// A symbol, or what is computed from another length.
  struct Variable {
    int symbol = -1;
    std::shared_ptr<const Function> function;

    std::strong_ordering operator<=>(const Variable& other) const;
    bool operator==(const Variable& other) const { return (*this <=> other) == 0; }
    int64_t Evaluate(std::span<const int64_t> symbols) const;
    tensor::SizeRange Range(std::span<const Symbol> symbols) const;
    std::optional<int> Direction(std::span<const Symbol> symbols, int symbol) const;
    std::string ToString(std::span<const Symbol> symbols) const;
    void AddSteps(std::vector<bayloom_length_step>& steps) const;
  };
  using Monomial = std::vector<Variable>;  // sorted, a variable as often as its power says

  static Length Of(Variable variable);
  static Length Of(Function function);
  Length& Add(const Length& other, int64_t factor);
  void AddSteps(std::vector<bayloom_length_step>& steps) const;
  void Normalize();
  std::set<Variable> Variables() const;
  Length Derivative(const Variable& variable) const;
  /// 1: it rises or stays with the symbol, -1: it falls or stays, 0: it stays; nullopt: neither.
  std::optional<int> Direction(std::span<const Symbol> symbols, int symbol) const;
  /// The sum over the terms, each as large, or as small, as it can be.
  double Extreme(std::span<const Symbol> symbols, bool largest) const;

  std::map<Monomial, int64_t> terms_;  // numerators, none of them 0
  int64_t denominator_ = 1;            // without a factor that all of them have
};

}  // namespace bayloom::graph
