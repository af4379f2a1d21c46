// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "bayloom/experimental/strategy/decision_space.h"
#include "bayloom/experimental/strategy/domain_reduction.h"
#include "bayloom/experimental/strategy/rocke2024_options.h"
#include "bayloom/optimizer/optimizer.h"

namespace bayloom::experimental {

/// A bayesian optimizer of scores over the decisions of a group, with a memory that is limited for
/// the sake of time (Rocke 2024, sections 3.3.1 and 3.5).
class BoundedOptimizer {
 public:
  BoundedOptimizer(const DecisionSpace& decisions, const Rocke2024Options& options, uint64_t seed);

  /// A configuration whose score is worth knowing; nullopt if there are no more.
  std::optional<space::Configuration> Suggest();
  /// The score of a configuration; nullopt if it is infeasible.
  void Register(const space::Configuration& configuration, std::optional<double> score);
  /// As Register, for an input schedule: a reset does not forget it.
  void RegisterInput(const space::Configuration& configuration, double score);
  /// Ends the work on an input schedule: the domain may shrink.
  void EndInput();

 private:
  struct Entry {
    space::Configuration configuration;
    std::optional<double> score;
  };

  void Tell(const Entry& entry);
  /// Forgets what the memory does not hold.
  void Restart();

  const DecisionSpace& decisions_;
  const Rocke2024Options& options_;
  base::RandomStream seeds_;
  std::optional<DomainReduction> reduction_;
  std::shared_ptr<const space::Space> space_;
  std::unique_ptr<optimizer::Optimizer> optimizer_;
  std::vector<Entry> inputs_;
  std::vector<Entry> memory_;  ///< oldest first
};

}  // namespace bayloom::experimental
