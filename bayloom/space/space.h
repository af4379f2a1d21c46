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
#include "bayloom/space/conditions.h"
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
/// Parameters may be conditional: without effect, inactive, unless a condition on others holds (see
/// Conditions). Configurations that differ in what is inactive are one, with one set of
/// coordinates.
///
/// Immutable; shared by pointer; thread safe.
class Space {
 public:
  class Builder;

  int size() const { return static_cast<int>(parameters_.size()); }
  const Parameter& parameter(int i) const { return *parameters_[i]; }
  /// -1 if no parameter has that name.
  int IndexOf(std::string_view name) const;

  /// Number of feasible configurations: exact below 2^53, rounded above; infinity above 1.8e308,
  /// with a real parameter, or where constraints or conditions bind more values than can be
  /// counted.
  double CountFeasible() const;
  /// Its decimal logarithm, which is finite for any number that can be counted.
  double Log10CountFeasible() const;
  /// Whether each coordinate is in its domain, all known constraints hold and inactive parameters
  /// have their stand-ins.
  bool Contains(const Configuration& configuration) const;
  /// Which parameters are conditional, and on what.
  const Conditions& conditions() const { return conditions_; }
  bool IsActive(const Configuration& configuration, int i) const {
    return conditions_.IsActive(i, configuration.coordinates);
  }
  /// The configuration that these coordinates mean: inactive parameters get their stand-ins.
  Configuration Settled(Configuration configuration) const;

  /// Each feasible configuration with the same probability by SamplingMethod::kUniformLeaves: a
  /// value that makes many parameters active is drawn in proportion to what they allow. Where the
  /// configurations cannot be counted because of conditions (on reals, or of parameters with more
  /// than a million values), they are drawn as if all parameters were active.
  ///
  /// Nullopt where nothing was found within a bounded effort, which says little about whether there
  /// is something: only constraints on real parameters, or on more values than can be enumerated,
  /// can lead to that.
  std::optional<Configuration> Sample(base::RandomStream& random,
                                      SamplingMethod method = SamplingMethod::kUniformLeaves) const;

  /// Feasible configurations that differ in one parameter, by one step. Of integer and ordinal
  /// parameters that is the next feasible value each way. Of a parameter that constraints tie to
  /// others, over more values than can be enumerated, the others change with it. What becomes
  /// active with it has its stand-in in one of them, and random values in another one. Inactive
  /// parameters have no steps.
  std::vector<Configuration> Neighbours(const Configuration& configuration,
                                        base::RandomStream& random) const;
  /// Only those by a step of one of these parameters.
  std::vector<Configuration> Neighbours(const Configuration& configuration,
                                        std::span<const int> parameters,
                                        base::RandomStream& random) const;

  /// Calls back with all feasible configurations, each once, until told to stop by a false. There
  /// must be no real parameter.
  void ForEach(const std::function<bool(const Configuration&)>& visit) const;

  /// Of an inactive parameter, what its stand-in is.
  Value ValueOf(const Configuration& configuration, int i) const {
    return parameters_[i]->ValueAt(configuration.coordinates[i]);
  }
  /// The configuration with these values, defaults where a parameter that has one is left out;
  /// whether constraints hold is not looked at, and values of inactive parameters do not matter.
  /// Fails, naming the parameter, for a value outside of the domain, a missing one or one too many.
  Result<Configuration> Parse(const std::map<std::string, Value>& values) const;
  /// The value as people see it; empty where the parameter is inactive.
  std::string TextOf(const Configuration& configuration, int i) const;
  /// The trees of what is feasible.
  const ChainOfTrees& chain() const { return *chain_; }
  /// Amounts that constraints compare, of several parameters together: threads, where they demand
  /// `block_x * block_y <= 1024`. Each of a configuration's coordinates.
  const std::vector<Constraint>& quantities() const { return quantities_; }
  /// All parameters' defaults; nullopt unless every active parameter has one and they are feasible.
  std::optional<Configuration> Default() const;
  /// "tile=8 unroll=2"; of the active parameters.
  std::string ToString(const Configuration& configuration) const;
  /// The parameters, the constraints given as text and the number of feasible configurations, one a
  /// line.
  std::string Describe() const;
  /// "4362", "1.4e+11", "1e+431", "inf".
  std::string CountText() const;

 private:
  Space() = default;
  Status GrowChain();
  bool IsListed(int parameter) const;
  void AddGoverned(int i, const Configuration& configuration, std::span<const int> inactive,
                   base::RandomStream& random, std::vector<Configuration>& neighbours) const;

  std::vector<std::unique_ptr<Parameter>> parameters_;
  std::map<std::string, int, std::less<>> indices_;
  ExpressionGraph graph_;
  std::vector<int> constraints_;  ///< expressions that must all be true
  std::vector<std::string> constraint_texts_;
  std::vector<Conditions::Given> given_conditions_;
  Conditions conditions_;
  /// Whether the trees know of all conditions, and so have every configuration once.
  bool is_tied_ = true;
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
  /// A condition for a parameter to be active, in the language of constraints. Throws InputError
  /// for a name that is not there or has a condition; fails, pointing at the column, for what is
  /// not in the language.
  Status AddCondition(std::string_view name, std::string_view text);
  /// A constraint in code on the named parameters. Throws InputError for a name that is not there.
  void AddConstraint(std::span<const std::string> names, ConstraintFunction holds);
  /// The builder is empty afterwards. Fails, naming the parameters, if constraints contradict each
  /// other or conditions depend on each other in a circle.
  Result<std::shared_ptr<const Space>> Build();

 private:
  std::shared_ptr<Space> space_;
};

}  // namespace bayloom::space
