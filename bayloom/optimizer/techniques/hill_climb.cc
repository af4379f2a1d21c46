// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "bayloom/optimizer/fresh_sampler.h"
#include "bayloom/optimizer/techniques/technique.h"

namespace bayloom::optimizer {
namespace {

class HillClimb final : public Technique {
 public:
  std::string_view name() const override { return "hill-climb"; }

  std::optional<space::Configuration> Propose(const History& history,
                                              base::RandomStream& random) override {
    if (!centre_) return sampler_.Draw(history, random);
    while (!untried_.empty()) {
      space::Configuration next = std::move(untried_.back());
      untried_.pop_back();
      if (!history.Knows(next)) return next;
    }
    centre_.reset();  // a local optimum: elsewhere
    return sampler_.Draw(history, random);
  }

  void Observe(const History& history, const Observation& trial, bool own,
               base::RandomStream& random) override {
    if (!trial.outcome.ok()) return;
    if (centre_ && centre_->configuration == trial.configuration) {  // told again
      centre_ = trial;
      return;
    }
    const bool is_best = history.best()->configuration == trial.configuration;
    const bool is_downhill = own && (!centre_ || trial.outcome.value < centre_->outcome.value);
    if (!is_best && !is_downhill) return;
    centre_ = trial;
    untried_ = history.space().Neighbours(trial.configuration, random);
    random.Shuffle(untried_);
  }

 private:
  std::optional<Observation> centre_;  ///< feasible
  std::vector<space::Configuration> untried_;
  FreshSampler sampler_;
};

}  // namespace

std::unique_ptr<Technique> MakeHillClimb() { return std::make_unique<HillClimb>(); }

}  // namespace bayloom::optimizer
