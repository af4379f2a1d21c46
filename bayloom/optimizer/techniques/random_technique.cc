// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/fresh_sampler.h"
#include "bayloom/optimizer/techniques/technique.h"

namespace bayloom::optimizer {
namespace {

class RandomTechnique final : public Technique {
 public:
  std::string_view name() const override { return "random"; }
  std::optional<space::Configuration> Propose(const History& history,
                                              base::RandomStream& random) override {
    return sampler_.Draw(history, random);
  }
  void Observe(const History&, const Observation&, bool, base::RandomStream&) override {}

 private:
  FreshSampler sampler_;
};

}  // namespace

std::unique_ptr<Technique> MakeRandomTechnique() { return std::make_unique<RandomTechnique>(); }

}  // namespace bayloom::optimizer
