// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bayloom/space/configuration.h"
#include "bayloom/space/space.h"
#include "bayloom/trial/outcome.h"

namespace bayloom::optimizer {

/// A configuration and what came of it.
struct Observation {
  space::Configuration configuration;
  trial::Outcome outcome;
};

/// What an optimizer has asked for and been told: every configuration once.
class History {
 public:
  explicit History(std::shared_ptr<const space::Space> space) : space_(std::move(space)) {}

  const space::Space& space() const { return *space_; }
  const std::shared_ptr<const space::Space>& shared_space() const { return space_; }

  /// Whether it was asked or told.
  bool Knows(const space::Configuration& configuration) const {
    return states_.contains(configuration);
  }
  size_t known() const { return states_.size(); }
  /// Null when it was not told.
  const trial::Outcome* OutcomeOf(const space::Configuration& configuration) const;

  void MarkAsked(const space::Configuration& configuration);
  /// Forgets that it was asked, unless it was told.
  void Withdraw(const space::Configuration& configuration);
  /// As Optimizer::Tell, errors included.
  void Record(const space::Configuration& configuration, const trial::Outcome& outcome);

  /// In the order in which they were first told.
  const std::vector<Observation>& trials() const { return trials_; }
  /// Asked and not told, in the order in which they were asked.
  const std::vector<space::Configuration>& pending() const { return asked_; }
  /// The feasible trial of least value; null if there is none.
  const Observation* best() const {
    return ranking_.empty() ? nullptr : &trials_[ranking_.begin()->second];
  }
  /// The places in trials() of up to `count` feasible trials, the best first.
  std::vector<int> Best(size_t count) const;
  size_t feasible() const { return ranking_.size(); }
  size_t failures() const { return trials_.size() - ranking_.size(); }
  /// By value, then in the order in which they were told: every feasible value and its place in
  /// trials().
  const std::set<std::pair<double, int>>& ranking() const { return ranking_; }
  /// The mean of the feasible values of ordinary magnitude (model::ValueRange); 0 if there is none.
  double MeanValue() const { return ordinary_ > 0 ? mean_ : 0; }

 private:
  static constexpr int kPending = -1;

  void AddValue(double value, int place);
  void RemoveValue(double value, int place);

  std::shared_ptr<const space::Space> space_;
  /// kPending, or the place in trials_.
  std::unordered_map<space::Configuration, int> states_;
  std::vector<Observation> trials_;
  std::vector<space::Configuration> asked_;  ///< in order, not told yet
  std::set<std::pair<double, int>> ranking_;
  double mean_ = 0;  ///< of `ordinary_` values
  size_t ordinary_ = 0;
};

}  // namespace bayloom::optimizer
