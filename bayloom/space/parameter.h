// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/base/result.h"
#include "bayloom/space/value.h"

namespace bayloom::space {

enum class ParameterKind : uint8_t {
  kReal,
  kInteger,
  kOrdinal,
  kCategorical,
  kPermutation,
  kFactorization,
};

/// "real", "integer", ...
std::string_view ToString(ParameterKind kind);

/// On which scale a number's steps are alike. kLog is for what is exponential in nature, as tile
/// sizes are (Hellsten et al. 2023, sec. 4.2).
enum class Scale : uint8_t { kLinear, kLog };

/// What makes two permutations similar (Hellsten et al. 2023, sec. 4.1): how far items moved
/// (squared), how many pairs changed order, how many items moved, or being equal.
enum class PermutationMetric : uint8_t { kSpearman, kKendall, kHamming, kNaive };

/// Cardinality of a real parameter.
inline constexpr int64_t kUncountable = -1;
/// Ranks are coordinates, which are doubles.
inline constexpr int64_t kMaxCardinality = int64_t{1} << 53;
/// Elements of a permutation or factorization.
inline constexpr int kMaxElements = 64;

/// One dimension of a space: a domain, a metric, and a way to draw and to step.
///
/// A value travels as its coordinate, one double: the value itself of a real parameter, the rank
/// within the domain of every other kind.
class Parameter {
 public:
  explicit Parameter(std::string name) : name_(std::move(name)) {}
  virtual ~Parameter() = default;
  Parameter(const Parameter&) = delete;
  Parameter& operator=(const Parameter&) = delete;

  const std::string& name() const { return name_; }
  virtual ParameterKind kind() const = 0;
  /// "integer 1..64", "ordinal {1, 2, 4}", ...
  virtual std::string Describe() const = 0;

  /// Number of values; kUncountable for a real parameter.
  virtual int64_t Cardinality() const = 0;
  virtual Value ValueAt(double coordinate) const = 0;
  /// Fails, saying what would be right, if the value is not in the domain.
  virtual Result<double> CoordinateOf(const Value& value) const = 0;
  /// The value as a number: of a category, the number its text spells if all categories spell one,
  /// else its rank; of an ordinal text, a permutation or a factorization its rank.
  virtual double NumberAt(double coordinate) const = 0;
  /// Items of a permutation, factors of a factorization; 0 for all other kinds.
  virtual int ElementCount() const { return 0; }
  /// Writes the ElementCount() elements of a value.
  virtual void ElementsAt(double coordinate, std::span<int64_t> elements) const;

  /// The metric as a point in Euclidean space: distances between points are the parameter's
  /// distances (the square roots of the permutation semimetrics), scaled such that the two values
  /// farthest apart are 1 apart (nearly so for more than 256 categories).
  virtual int EmbeddingSize() const = 0;
  virtual void Embed(double coordinate, std::span<double> point) const = 0;

  /// Uniform over the domain (on its scale if real), independent of prior and constraints.
  virtual double Sample(base::RandomStream& random) const = 0;
  /// Values one step away: the ranks beside, all other categories (of many: random ones), one swap,
  /// one prime factor moved; where values are dense, random ones nearby as well. No duplicates,
  /// never the value itself.
  virtual std::vector<double> Neighbours(double coordinate, base::RandomStream& random) const = 0;

  /// The value to try first, where one is known.
  const std::optional<double>& default_coordinate() const { return default_coordinate_; }
  Status SetDefault(const Value& value);

  /// Prior about where good values are: a weight per value; for a real parameter the density at
  /// evenly spaced knots on its scale, from end to end, linear in between.
  Status SetPrior(std::vector<double> weights);
  bool has_prior() const { return !prior_.empty(); }
  /// How much likelier the prior holds a value than the uniform distribution does; 1 without prior.
  double PriorDensity(double coordinate) const;
  /// From the prior; uniform without one.
  double SamplePrior(base::RandomStream& random) const;

  /// Where on [0, 1] a real coordinate lies on its scale, and back. Only real parameters differ
  /// from these.
  virtual double Position(double coordinate) const { return coordinate; }
  virtual double AtPosition(double position) const { return position; }

 private:
  std::string name_;
  std::optional<double> default_coordinate_;
  std::vector<double> prior_;  ///< mean 1; empty without
};

/// The kinds. Each throws InputError for a domain that is empty, upside down or too large.

/// Real numbers from `lowest` to `highest`.
std::unique_ptr<Parameter> MakeReal(std::string name, double lowest, double highest,
                                    Scale scale = Scale::kLinear);
/// Whole numbers from `lowest` to `highest`.
std::unique_ptr<Parameter> MakeInteger(std::string name, int64_t lowest, int64_t highest,
                                       Scale scale = Scale::kLinear);
/// Numbers, in any order (they are sorted), each once.
std::unique_ptr<Parameter> MakeOrdinal(std::string name, std::vector<double> values,
                                       Scale scale = Scale::kLinear);
/// Texts, from least to most, one step apart.
std::unique_ptr<Parameter> MakeOrdinal(std::string name, std::vector<std::string> values);
/// Texts without order, each once.
std::unique_ptr<Parameter> MakeCategorical(std::string name, std::vector<std::string> values);
/// 18! < 2^53: ranks are exact in a double.
inline constexpr int kMaxPermutationItems = 18;

/// Orders of `count` items, at most kMaxPermutationItems (6 under the naive metric).
std::unique_ptr<Parameter> MakePermutation(std::string name, int count,
                                           PermutationMetric metric = PermutationMetric::kSpearman);
/// Ordered splits of `extent` into `parts` factors, the last at most `max_innermost` (0: any
/// divides).
std::unique_ptr<Parameter> MakeFactorization(std::string name, int64_t extent, int parts,
                                             int64_t max_innermost = 0);

}  // namespace bayloom::space
