// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bayloom/graph/open/sample_points.h"

namespace bayloom::graph {

/// Finds lengths by their values at some points.
class LengthFit {
 public:
  /// `points` begin with SamplePoints(symbols). If there are others, they tell whether what was
  /// found at these holds, and lengths need not be polynomials. With symbols that are not sampled,
  /// there have to be others.
  LengthFit(std::vector<Symbol> symbols, std::vector<SymbolValues> points);

  /// The length with these values: a polynomial of at most the second degree, or what follows from
  /// lengths that were found before, as a convolution's extent follows from that of its input: a
  /// quotient rounded down, a multiple, a part, a sum, a difference, a product or an extreme.
  std::optional<Length> Find(std::span<const int64_t> values);

  const std::vector<SymbolValues>& points() const { return points_; }
  /// Whether there are points at which polynomials may not hold.
  bool is_general() const { return points_.size() > samples_; }
  /// Further points, at which other lengths differ from those that were found, whose values at the
  /// present points are the same ones.
  const std::vector<SymbolValues>& undecided() const { return undecided_; }

 private:
  using Values = std::vector<int64_t>;
  struct Known {
    Length length;
    Values values;
  };

  void AddKnown(const Length& length, std::span<const int64_t> values);
  /// Whether the length has these values.
  bool Has(const Length& length, std::span<const int64_t> values) const;
  std::optional<Length> Fit(std::span<const int64_t> values);
  /// As much as there is of a length, up to a constant.
  std::optional<Length> PartOf(const Values& values) const;
  /// A constant, or the sum of one and a known length.
  std::optional<Length> Shifted(const Values& values) const;
  std::optional<Length> Multiple(const Known& of, const Values& values) const;
  std::optional<Length> Quotient(const Known& of, const Values& values);
  /// A multiple of a quotient, as of a length that is rounded up to a multiple.
  std::optional<Length> Rounded(const Values& values);
  /// The nearest point to the largest one, of all that differ from it in one symbol, at which the
  /// lengths differ.
  std::optional<SymbolValues> Difference(const Length& a, const Length& b) const;
  std::optional<Length> Combination(const Values& values) const;
  /// The larger or the smaller one of two known lengths.
  std::optional<Length> Extreme(const Values& values) const;

  const std::vector<Symbol> symbols_;
  const std::vector<SymbolValues> points_;
  const size_t samples_;  // the first ones of the points, which make a polynomial
  std::vector<Known> known_;
  std::vector<SymbolValues> undecided_;
  std::map<Values, size_t> failed_;  // what was not found, with how many known lengths
  std::map<Values, size_t> places_;  // of known lengths, by the differences from the first value
};

}  // namespace bayloom::graph
