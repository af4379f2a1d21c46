// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/base/result.h"
#include "bayloom/space/chain_of_trees.h"
#include "bayloom/space/configuration.h"
#include "bayloom/space/constraint.h"
#include "bayloom/space/expression.h"
#include "bayloom/space/parameter.h"

namespace bayloom::space {

/// What may be tried: parameters, and known constraints on them.
///
///     Space::Builder builder;
///     builder.Add(MakeOrdinal("tile", {1, 2, 4, 8}, Scale::kLog));
///     builder.Add(MakeInteger("unroll", 1, 8));
///     builder.AddConstraint("tile % unroll == 0");
///     std::shared_ptr<const Space> space = *builder.Build();
///
/// Immutable; shared by pointer; thread safe.
class Space {
 public:
  class Builder;

  int size() const { return static_cast<int>(parameters_.size()); }
  const Parameter& parameter(int i) const { return *parameters_[i]; }
  /// -1 if there is none of that name.
  int IndexOf(std::string_view name) const;

  /// Number of feasible configurations: exact below 2^53, rounded above; infinity with a real
  /// parameter, or where constraints bind more values than can be counted.
  double CountFeasible() const;
  /// Whether each coordinate is in its domain and all known constraints hold.
  bool Contains(const Configuration& configuration) const;

  /// Nullopt where nothing was found within a bounded effort, which says little about whether there
  /// is something: only constraints on real parameters, or on more values than can be enumerated,
  /// can lead to that.
  std::optional<Configuration> Sample(base::RandomStream& random,
                                      SamplingMethod method = SamplingMethod::kUniformLeaves) const;

  /// Feasible configurations that differ in one parameter, by one step. Of integer and ordinal
  /// parameters that is the next feasible value each way. Of a parameter that constraints tie to
  /// others, over more values than can be enumerated, the others change with it.
  std::vector<Configuration> Neighbours(const Configuration& configuration,
                                        base::RandomStream& random) const;

  /// Calls back with all feasible configurations, each once, until told to stop by a false. There
  /// must be no real parameter.
  void ForEach(const std::function<bool(const Configuration&)>& visit) const;

  Value ValueOf(const Configuration& configuration, int i) const {
    return parameters_[i]->ValueAt(configuration.coordinates[i]);
  }
  /// The configuration with these values, defaults where a parameter that has one is left out;
  /// whether constraints hold is not looked at. Fails, naming the parameter, for a value outside of
  /// the domain, a missing one or one too many.
  Result<Configuration> Parse(const std::map<std::string, Value>& values) const;
  /// The trees of what is feasible.
  const ChainOfTrees& chain() const { return *chain_; }
  /// Amounts that constraints compare, of several parameters together: threads, where they demand
  /// `block_x * block_y <= 1024`. Each of a configuration's coordinates.
  const std::vector<Constraint>& quantities() const { return quantities_; }
  /// All parameters' defaults; nullopt unless every parameter has one and they are feasible.
  std::optional<Configuration> Default() const;
  /// "tile=8 unroll=2"
  std::string ToString(const Configuration& configuration) const;
  /// The parameters, the constraints given as text and the number of feasible configurations, one a
  /// line.
  std::string Describe() const;

 private:
  Space() = default;

  std::vector<std::unique_ptr<Parameter>> parameters_;
  std::map<std::string, int, std::less<>> indices_;
  ExpressionGraph graph_;
  std::vector<int> constraints_;  ///< expressions that must all be true
  std::vector<std::string> constraint_texts_;
  std::optional<ChainOfTrees> chain_;
  std::vector<Constraint> quantities_;
};

/// Parameters first, then constraints on them.
class Space::Builder {
 public:
  Builder() : space_(new Space) {}

  /// Throws InputError if the name is empty or taken.
  Builder& Add(std::unique_ptr<Parameter> parameter);
  /// A constraint as text, on parameters added before (space/constraint_parser.h has the language).
  /// Fails, pointing at the column, for what is not in the language.
  Status AddConstraint(std::string_view text);
  /// A constraint in code on the named parameters. Throws InputError for a name that is not there.
  void AddConstraint(std::span<const std::string> names, ConstraintFunction holds);
  /// The builder is empty afterwards. Fails, naming the parameters, if constraints contradict each
  /// other.
  Result<std::shared_ptr<const Space>> Build();

 private:
  std::shared_ptr<Space> space_;
};

}  // namespace bayloom::space
