#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "bayloom/optimizer/bandit.h"
#include "bayloom/optimizer/fresh_sampler.h"
#include "bayloom/optimizer/optimizer.h"
#include "bayloom/optimizer/technique.h"

namespace bayloom {

/// Asks one technique, or the one a bandit chooses among several, and stands in with random
/// configurations where it has none to propose.
class HeuristicSearch final : public Optimizer {
 public:
  HeuristicSearch(std::shared_ptr<const Space> space,
                  std::vector<std::unique_ptr<Technique>> techniques, uint64_t seed);

  std::vector<Configuration> Ask(int n) override;
  void Tell(const Configuration& configuration, const Outcome& outcome) override;

 private:
  std::optional<Configuration> Propose();

  Memory memory_;
  std::vector<std::unique_ptr<Technique>> techniques_;
  AucBandit bandit_;
  RandomStream random_;
  FreshSampler sampler_;
  std::unordered_map<Configuration, int> asked_by_;
};

}  // namespace bayloom
