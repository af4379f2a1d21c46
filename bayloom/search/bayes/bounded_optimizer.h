#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "bayloom/optimizer/optimizer.h"
#include "bayloom/search/bayes/bayes_options.h"
#include "bayloom/search/bayes/decision_space.h"
#include "bayloom/search/bayes/domain_reduction.h"

namespace bayloom {

/// A bayesian optimizer of scores over the decisions of a group, with a memory that is limited for
/// the sake of time (Rocke 2024, sections 3.3.1 and 3.5).
class BoundedOptimizer {
 public:
  BoundedOptimizer(const DecisionSpace& decisions, const ThesisOptions& options, uint64_t seed);

  /// A configuration whose score is worth knowing; nullopt if there are no more.
  std::optional<Configuration> Suggest();
  /// The score of a configuration; nullopt if it is infeasible.
  void Register(const Configuration& configuration, std::optional<double> score);
  /// As Register, for an input schedule: a reset does not forget it.
  void RegisterInput(const Configuration& configuration, double score);
  /// Ends the work on an input schedule: the domain may shrink.
  void EndInput();

 private:
  struct Entry {
    Configuration configuration;
    std::optional<double> score;
  };

  void Tell(const Entry& entry);
  /// Forgets what the memory does not hold.
  void Restart();

  const DecisionSpace& decisions_;
  const ThesisOptions& options_;
  RandomStream seeds_;
  std::optional<DomainReduction> reduction_;
  std::shared_ptr<const Space> space_;
  std::unique_ptr<Optimizer> optimizer_;
  std::vector<Entry> inputs_;
  std::vector<Entry> memory_;  ///< oldest first
};

}  // namespace bayloom
