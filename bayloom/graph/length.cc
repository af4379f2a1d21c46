// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/length.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace bayloom::graph {
namespace {

int64_t Product(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) throw std::logic_error("a length out of range");
  return product;
}

}  // namespace

std::string Symbol::ToString() const {
  return fmt::format("{}={}..{}{}", name, smallest, largest,
                     step == 1 ? "" : fmt::format(":{}", step));
}

int64_t Symbol::Nearest(double number) const {
  const double steps =
      std::round((number - static_cast<double>(smallest)) / static_cast<double>(step));
  return smallest + step * std::clamp<int64_t>(static_cast<int64_t>(steps), 0, ValueCount() - 1);
}

std::vector<std::vector<int64_t>> TypicalLengths(std::span<const Symbol> symbols) {
  constexpr int kSteps = 5;
  std::vector<std::vector<int64_t>> points;
  const auto add = [&](const auto& length_of) {
    std::vector<int64_t> point;
    for (size_t s = 0; s < symbols.size(); ++s) point.push_back(length_of(s));
    if (std::ranges::count(points, point) == 0) points.push_back(std::move(point));
  };
  for (int i = kSteps; i >= 0; --i) {
    add([&](size_t s) {
      const auto least = static_cast<double>(std::max<int64_t>(symbols[s].smallest, 1));
      const double ratio = static_cast<double>(symbols[s].largest) / least;
      return symbols[s].Nearest(least * std::pow(ratio, static_cast<double>(i) / kSteps));
    });
  }
  const size_t groups = std::min<size_t>(symbols.size(), 8);  // of symbols that are small at once
  for (size_t group = 0; symbols.size() > 1 && group < groups; ++group) {
    add([&](size_t s) { return s % groups == group ? symbols[s].smallest : symbols[s].largest; });
  }
  return points;
}

std::vector<std::vector<int64_t>> TypicalLengths(std::vector<SeenLengths> seen) {
  constexpr int kShares = 6;
  const auto elements = [](const SeenLengths& each) {
    double product = 1;
    for (const int64_t length : each.lengths) product *= static_cast<double>(length);
    return product;
  };
  std::ranges::stable_sort(seen, std::ranges::greater(), elements);
  double all = 0;
  for (const SeenLengths& each : seen) all += each.count;
  std::vector<std::vector<int64_t>> points;
  double before = 0;
  for (const SeenLengths& each : seen) {
    before += each.count;
    // The middle of each share.
    while (points.size() < kShares &&
           (static_cast<double>(points.size()) + 0.5) * all <= before * kShares) {
      points.push_back(each.lengths);
    }
  }
  return points;
}

Length::Length(int64_t constant) {
  if (constant != 0) terms_[{}] = constant;
}

struct Length::Function {
  enum class Kind : uint8_t { kQuotient, kPart };

  Kind kind = Kind::kQuotient;
  Length of;           ///< a quotient's coefficients are positive integers below the divisor
  int64_t number = 1;  ///< the divisor, or what is largest

  int64_t operator()(int64_t value) const {
    return kind == Kind::kQuotient ? value / number : std::clamp<int64_t>(value, 0, number);
  }
};

std::strong_ordering Length::Variable::operator<=>(const Variable& other) const {
  const auto by_symbol = symbol <=> other.symbol;
  if (by_symbol != 0 || function == other.function) return by_symbol;
  const Function &a = *function, &b = *other.function;
  const auto by_number = std::tie(a.kind, a.number) <=> std::tie(b.kind, b.number);
  if (by_number != 0) return by_number;
  const auto by_denominator = a.of.denominator_ <=> b.of.denominator_;
  return by_denominator != 0 ? by_denominator : a.of.terms_ <=> b.of.terms_;
}

int64_t Length::Variable::Evaluate(std::span<const int64_t> symbols) const {
  return function ? (*function)(function->of.Evaluate(symbols)) : symbols[symbol];
}

tensor::SizeRange Length::Variable::Range(std::span<const Symbol> symbols) const {
  if (!function) return {symbols[symbol].smallest, symbols[symbol].largest};
  const tensor::SizeRange range = function->of.Range(symbols);
  return {(*function)(range.smallest), (*function)(range.largest)};
}

std::optional<int> Length::Variable::Direction(std::span<const Symbol> symbols, int of) const {
  return function ? function->of.Direction(symbols, of) : std::optional(symbol == of ? 1 : 0);
}

std::string Length::Variable::ToString(std::span<const Symbol> symbols) const {
  if (!function) return symbols[symbol].name;
  const std::string of = function->of.ToString(symbols);
  if (function->kind == Function::Kind::kPart) {
    return fmt::format("part({}, {})", of, function->number);
  }
  const bool is_sum = function->of.terms_.size() > 1;
  return fmt::format("floor({}/{})", is_sum ? "(" + of + ")" : of, function->number);
}

void Length::Variable::AddSteps(std::vector<bayloom_length_step>& steps) const {
  if (!function) {
    steps.push_back({BAYLOOM_LENGTH_SYMBOL, symbol});
    return;
  }
  function->of.AddSteps(steps);
  const bool is_quotient = function->kind == Function::Kind::kQuotient;
  steps.push_back({is_quotient ? BAYLOOM_LENGTH_DIVIDE : BAYLOOM_LENGTH_PART, function->number});
}

Length Length::Of(int symbol) { return Of(Variable{symbol, nullptr}); }

Length Length::Of(Function function) {
  return Of(Variable{-1, std::make_shared<const Function>(std::move(function))});
}

Length Length::Of(Variable variable) {
  Length length;
  length.terms_[{std::move(variable)}] = 1;
  return length;
}

Length Length::Floor(const Length& dividend, int64_t divisor) {
  divisor = Product(divisor, dividend.denominator_);
  Length whole, rest;  // of the quotient; of the dividend
  int64_t common = divisor, constant = 0;
  for (const auto& [monomial, numerator] : dividend.terms_) {
    const int64_t below = ((numerator % divisor) + divisor) % divisor;
    if (numerator != below) whole.terms_[monomial] = (numerator - below) / divisor;
    if (below == 0) continue;
    if (monomial.empty()) {
      constant = below;
    } else {
      rest.terms_[monomial] = below;
      common = std::gcd(common, below);
    }
  }
  if (rest.terms_.empty()) return whole;
  for (auto& [monomial, numerator] : rest.terms_) numerator /= common;
  divisor /= common;
  if (divisor == 1) return whole + rest + constant / common;
  // A quotient in the dividend: floor((floor(a/p) + b)/q) = floor((a + p*b)/(p*q)).
  for (const auto& [monomial, numerator] : rest.terms_) {
    const auto inner = monomial[0].function;
    const bool is_quotient = inner && inner->kind == Function::Kind::kQuotient;
    if (monomial.size() != 1 || numerator != 1 || !is_quotient) continue;
    const Length others = rest - Of(monomial[0]) + constant / common;
    return whole + Floor(inner->of + others * inner->number, Product(inner->number, divisor));
  }
  return whole + Of(Function{Function::Kind::kQuotient, rest + constant / common, divisor});
}

Length Length::Part(const Length& length, int64_t largest) {
  if (const auto constant = length.AsConstant()) return std::clamp<int64_t>(*constant, 0, largest);
  return Of(Function{Function::Kind::kPart, length, largest});
}

void Length::Normalize() {
  std::erase_if(terms_, [](const auto& term) { return term.second == 0; });
  int64_t common = denominator_;
  for (const auto& [monomial, numerator] : terms_) common = std::gcd(common, numerator);
  for (auto& [monomial, numerator] : terms_) numerator /= common;
  denominator_ /= common;
}

Length& Length::Add(const Length& other, int64_t factor) {
  const int64_t denominator = std::lcm(denominator_, other.denominator_);
  for (auto& [monomial, numerator] : terms_) {
    numerator = Product(numerator, denominator / denominator_);
  }
  for (const auto& [monomial, numerator] : other.terms_) {
    terms_[monomial] += Product(numerator, Product(factor, denominator / other.denominator_));
  }
  denominator_ = denominator;
  Normalize();
  return *this;
}

Length operator+(const Length& a, const Length& b) { return Length(a).Add(b, 1); }
Length operator-(const Length& a, const Length& b) { return Length(a).Add(b, -1); }

Length operator*(const Length& a, const Length& b) {
  Length product;
  product.denominator_ = Product(a.denominator_, b.denominator_);
  for (const auto& [left, x] : a.terms_) {
    for (const auto& [right, y] : b.terms_) {
      Length::Monomial both;
      std::ranges::merge(left, right, std::back_inserter(both));
      product.terms_[both] += Product(x, y);
    }
  }
  product.Normalize();
  return product;
}

Length operator/(const Length& a, int64_t divisor) {
  Length quotient = a * Length(divisor < 0 ? -1 : 1);
  quotient.denominator_ = Product(quotient.denominator_, std::abs(divisor));
  quotient.Normalize();
  return quotient;
}

std::optional<int64_t> Length::AsConstant() const {
  if (terms_.empty()) return 0;
  const bool is_constant = terms_.size() == 1 && terms_.begin()->first.empty();
  return is_constant && denominator_ == 1 ? std::optional(terms_.begin()->second) : std::nullopt;
}

int64_t Length::Evaluate(std::span<const int64_t> symbols) const {
  int64_t sum = 0;
  for (const auto& [monomial, numerator] : terms_) {
    int64_t term = numerator;
    for (const Variable& variable : monomial) term = Product(term, variable.Evaluate(symbols));
    sum += term;
  }
  if (sum % denominator_ != 0) throw std::logic_error("a length that is no integer");
  return sum / denominator_;
}

std::set<Length::Variable> Length::Variables() const {
  std::set<Variable> variables;
  for (const auto& [monomial, numerator] : terms_) {
    variables.insert(monomial.begin(), monomial.end());
  }
  return variables;
}

Length Length::Derivative(const Variable& variable) const {
  Length derivative;
  derivative.denominator_ = denominator_;
  for (const auto& [monomial, numerator] : terms_) {
    const auto power = std::ranges::count(monomial, variable);
    if (power == 0) continue;
    Monomial less = monomial;
    less.erase(std::ranges::find(less, variable));
    derivative.terms_[less] = Product(numerator, power);
  }
  derivative.Normalize();
  return derivative;
}

std::optional<int> Length::Direction(std::span<const Symbol> symbols, int symbol) const {
  int direction = 0;
  for (const Variable& variable : Variables()) {
    const std::optional<int> of_variable = variable.Direction(symbols, symbol);
    if (of_variable == 0) continue;
    const Length slope = Derivative(variable);
    const bool rises = slope.Extreme(symbols, false) >= 0;
    if (!of_variable || (!rises && slope.Extreme(symbols, true) > 0)) return std::nullopt;
    const int with_it = rises ? *of_variable : -*of_variable;
    if (direction == -with_it) return std::nullopt;
    direction = with_it;
  }
  return direction;
}

double Length::Extreme(std::span<const Symbol> symbols, bool largest) const {
  double sum = 0;
  for (const auto& [monomial, numerator] : terms_) {
    double term = static_cast<double>(numerator);
    for (const Variable& variable : monomial) {
      const tensor::SizeRange range = variable.Range(symbols);
      term *= static_cast<double>(largest == (numerator > 0) ? range.largest : range.smallest);
    }
    sum += term;
  }
  return sum / static_cast<double>(denominator_);
}

tensor::SizeRange Length::Range(std::span<const Symbol> symbols) const {
  std::vector<int64_t> smallest, largest;  // where it is that
  for (size_t s = 0; s < symbols.size(); ++s) {
    const std::optional<int> direction = Direction(symbols, static_cast<int>(s));
    if (!direction) {
      return {static_cast<int64_t>(std::floor(Extreme(symbols, false))),
              static_cast<int64_t>(std::ceil(Extreme(symbols, true)))};
    }
    smallest.push_back(*direction >= 0 ? symbols[s].smallest : symbols[s].largest);
    largest.push_back(*direction >= 0 ? symbols[s].largest : symbols[s].smallest);
  }
  return {Evaluate(smallest), Evaluate(largest)};
}

void Length::AddSteps(std::vector<bayloom_length_step>& steps) const {
  bool is_first = true;
  for (const auto& [monomial, numerator] : terms_) {
    steps.push_back({BAYLOOM_LENGTH_NUMBER, numerator});
    for (const Variable& variable : monomial) {
      variable.AddSteps(steps);
      steps.push_back({BAYLOOM_LENGTH_MULTIPLY, 0});
    }
    if (!std::exchange(is_first, false)) steps.push_back({BAYLOOM_LENGTH_ADD, 0});
  }
  if (is_first) steps.push_back({BAYLOOM_LENGTH_NUMBER, 0});
  if (denominator_ != 1) steps.push_back({BAYLOOM_LENGTH_DIVIDE, denominator_});
}

std::vector<bayloom_length_step> Length::Steps() const {
  std::vector<bayloom_length_step> steps;
  AddSteps(steps);
  int depth = 0, deepest = 0;
  for (const bayloom_length_step& step : steps) {
    const bool adds =
        step.operation == BAYLOOM_LENGTH_NUMBER || step.operation == BAYLOOM_LENGTH_SYMBOL;
    const bool takes =
        step.operation == BAYLOOM_LENGTH_ADD || step.operation == BAYLOOM_LENGTH_MULTIPLY;
    depth += adds ? 1 : takes ? -1 : 0;
    deepest = std::max(deepest, depth);
  }
  if (deepest > BAYLOOM_LENGTH_DEPTH) throw std::logic_error("a length nested too deeply");
  steps.push_back({BAYLOOM_LENGTH_END, 0});
  return steps;
}

int Length::AsSymbol() const {
  if (terms_.size() != 1 || denominator_ != 1) return -1;
  const auto& [monomial, numerator] = *terms_.begin();
  return monomial.size() == 1 && numerator == 1 ? monomial[0].symbol : -1;
}

std::set<int> Length::Symbols() const {
  std::set<int> symbols;
  for (const Variable& variable : Variables()) {
    if (variable.function) {
      symbols.merge(variable.function->of.Symbols());
    } else {
      symbols.insert(variable.symbol);
    }
  }
  return symbols;
}

std::string Length::ToString(std::span<const Symbol> symbols) const {
  std::string text;
  const auto add = [&](const Monomial& monomial, int64_t numerator) {
    const int64_t common = std::gcd(numerator, denominator_);
    const int64_t factor = std::abs(numerator) / common, divisor = denominator_ / common;
    std::vector<std::string> factors;
    if (factor != 1 || monomial.empty()) factors.push_back(fmt::format("{}", factor));
    for (const Variable& variable : monomial) factors.push_back(variable.ToString(symbols));
    text += text.empty() ? (numerator < 0 ? "-" : "") : (numerator < 0 ? " - " : " + ");
    text += fmt::format("{}", fmt::join(factors, "*"));
    if (divisor != 1) text += fmt::format("/{}", divisor);
  };
  for (const auto& [monomial, numerator] : terms_) {
    if (!monomial.empty()) add(monomial, numerator);
  }
  if (const auto constant = terms_.find({}); constant != terms_.end()) add({}, constant->second);
  return text.empty() ? "0" : text;
}

}  // namespace bayloom::graph
