// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <vector>

#include "bayloom/optimizer/fresh_sampler.h"
#include "bayloom/optimizer/techniques/energy.h"
#include "bayloom/optimizer/techniques/technique.h"

namespace bayloom::optimizer {
namespace {

/// In units of Energy: at first, twice as slow is taken half of the time.
constexpr double kStartTemperature = 1.0;
constexpr double kEndTemperature = 0.01;
/// Per trial observed: cold after some 150 of them.
constexpr double kCooling = 0.97;
/// Moves over configurations that are known already cost nothing, but must end.
constexpr int kFreeMoves = 64;
/// Own trials without a new best after which the walk starts again, hot, from a random place.
constexpr int kPatience = 50;

class Annealing final : public Technique {
 public:
  std::string_view name() const override { return "annealing"; }

  std::optional<space::Configuration> Propose(const History& history,
                                              base::RandomStream& random) override {
    for (int move = 0; move < kFreeMoves && current_; ++move) {
      std::vector<space::Configuration> neighbours =
          history.space().Neighbours(current_->configuration, random);
      if (neighbours.empty()) break;
      space::Configuration& next = neighbours[random.UniformInt(std::ssize(neighbours))];
      if (!history.Knows(next)) return std::move(next);
      if (const trial::Outcome* outcome = history.OutcomeOf(next)) {
        Consider({std::move(next), *outcome}, history, random);
      }
    }
    return sampler_.Draw(history, random);
  }

  void Observe(const History& history, const Observation& trial, bool own,
               base::RandomStream& random) override {
    // The outcome of the place it is at may be told again.
    if (current_ && trial.outcome.ok() && current_->configuration == trial.configuration) {
      current_ = trial;
    }
    if (!own) return;
    const bool is_best =
        history.best() != nullptr && history.best()->configuration == trial.configuration;
    since_best_ = is_best ? 0 : since_best_ + 1;
    Consider(trial, history, random);
    temperature_ = std::max(kEndTemperature, temperature_ * kCooling);
    if (since_best_ < kPatience) return;
    since_best_ = 0;
    temperature_ = kStartTemperature;
    current_.reset();
  }

 private:
  void Consider(Observation next, const History& history, base::RandomStream& random) {
    if (!next.outcome.ok()) return;
    if (current_) {
      const Energy energy(history);
      const double rise = energy(next.outcome.value) - energy(current_->outcome.value);
      if (rise > 0 && random.Uniform() >= std::exp(-rise / temperature_)) return;
    }
    current_ = std::move(next);
  }

  std::optional<Observation> current_;  ///< feasible
  double temperature_ = kStartTemperature;
  int since_best_ = 0;
  FreshSampler sampler_;
};

}  // namespace

std::unique_ptr<Technique> MakeAnnealing() { return std::make_unique<Annealing>(); }

}  // namespace bayloom::optimizer
