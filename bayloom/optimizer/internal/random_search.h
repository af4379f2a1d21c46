// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <vector>

#include "bayloom/optimizer/internal/fresh_sampler.h"
#include "bayloom/optimizer/optimizer.h"

namespace bayloom::optimizer {

/// Draws without replacement: uniformly over the feasible configurations ("random"), or down the
/// chain of trees by even choices at each level ("chain-of-trees"), which favours sparse branches
/// (Hellsten et al. 2023, sec. 4.2).
class RandomSearch final : public Optimizer {
 public:
  RandomSearch(std::shared_ptr<const space::Space> space, space::SamplingMethod method,
               uint64_t seed)
      : memory_(std::move(space)), sampler_(method), random_(seed) {}

  std::vector<space::Configuration> Ask(int n) override;
  void Tell(const space::Configuration& configuration, const trial::Outcome& outcome) override {
    memory_.Record(configuration, outcome);
  }

 private:
  Memory memory_;
  FreshSampler sampler_;
  base::RandomStream random_;
};

}  // namespace bayloom::optimizer
