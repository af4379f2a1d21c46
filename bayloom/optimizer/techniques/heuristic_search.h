// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "bayloom/optimizer/fresh_sampler.h"
#include "bayloom/optimizer/optimizer.h"
#include "bayloom/optimizer/techniques/bandit.h"
#include "bayloom/optimizer/techniques/technique.h"

namespace bayloom::optimizer {

/// Asks one technique, or the one a bandit chooses among several, and stands in with random
/// configurations where it has none to propose.
class HeuristicSearch final : public Optimizer {
 public:
  HeuristicSearch(std::shared_ptr<const space::Space> space,
                  std::vector<std::unique_ptr<Technique>> techniques, uint64_t seed);

  std::vector<space::Configuration> Ask(int n) override;
  bool gave_up() const override { return sampler_.gave_up(); }
  void Tell(const space::Configuration& configuration, const trial::Outcome& outcome) override;

 private:
  std::optional<space::Configuration> Propose();

  History history_;
  std::vector<std::unique_ptr<Technique>> techniques_;
  AucBandit bandit_;
  base::RandomStream random_;
  FreshSampler sampler_;
  std::unordered_map<space::Configuration, int> asked_by_;
};

}  // namespace bayloom::optimizer
