// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <vector>

#include "bayloom/optimizer/fresh_sampler.h"
#include "bayloom/optimizer/techniques/technique.h"

namespace bayloom::optimizer {
namespace {

/// Of a parameter's range.
constexpr double kFirstStep = 0.25;

/// One parameter, up or down. Parameters without order step to a random neighbour either way.
struct Direction {
  int parameter;
  int sign;
};

bool HasRanks(const space::Parameter& parameter) {
  return parameter.kind() == space::ParameterKind::kInteger ||
         parameter.kind() == space::ParameterKind::kOrdinal;
}

class PatternSearch final : public Technique {
 public:
  std::string_view name() const override { return "pattern-search"; }

  std::optional<space::Configuration> Propose(const History& history,
                                              base::RandomStream& random) override {
    while (centre_) {
      while (!untried_.empty()) {
        const Direction direction = untried_.back();
        untried_.pop_back();
        std::optional<space::Configuration> next = Step(history.space(), direction, random);
        if (!next || history.Knows(*next)) continue;
        proposed_ = direction;
        return next;
      }
      if (step_ * Longest(history.space()) <= 1) break;
      step_ /= 2;
      ListDirections(history.space(), random);
    }
    centre_.reset();
    step_ = kFirstStep;
    return sampler_.Draw(history, random);
  }

  void Observe(const History& history, const Observation& trial, bool own,
               base::RandomStream& random) override {
    if (!trial.outcome.ok()) return;
    if (centre_ && centre_->configuration == trial.configuration) {  // told again
      centre_ = trial;
      return;
    }
    if (centre_) {
      if (trial.outcome.value >= centre_->outcome.value) return;
      if (own) step_ = std::min(0.5, 2 * step_);
    } else if (!own) {
      return;
    }
    centre_ = trial;
    ListDirections(history.space(), random);
    if (own && proposed_) untried_.push_back(*proposed_);  // what helped once is tried first
  }

 private:
  static double Longest(const space::Space& space) {
    double longest = 1;
    for (int i = 0; i < space.size(); ++i) {
      if (!HasRanks(space.parameter(i))) continue;
      longest = std::max(longest, static_cast<double>(space.parameter(i).Cardinality()));
    }
    return longest;
  }

  void ListDirections(const space::Space& space, base::RandomStream& random) {
    untried_.clear();
    for (int i = 0; i < space.size(); ++i) {
      untried_.push_back({i, 1});
      untried_.push_back({i, -1});
    }
    random.Shuffle(untried_);
  }

  std::optional<space::Configuration> Step(const space::Space& space, Direction direction,
                                           base::RandomStream& random) const {
    const space::Parameter& parameter = space.parameter(direction.parameter);
    space::Configuration next = centre_->configuration;
    double& coordinate = next.coordinates[direction.parameter];
    if (HasRanks(parameter)) {
      const double last = static_cast<double>(parameter.Cardinality() - 1);
      coordinate += direction.sign * std::max(1.0, std::round(step_ * last));
      if (coordinate < 0 || coordinate > last) return std::nullopt;
    } else {
      const std::vector<double> neighbours = parameter.Neighbours(coordinate, random);
      if (neighbours.empty()) return std::nullopt;
      coordinate = neighbours[random.UniformInt(std::ssize(neighbours))];
    }
    next = space.Settled(std::move(next));
    if (!space.Contains(next)) return std::nullopt;
    return next;
  }

  std::optional<Observation> centre_;  ///< feasible
  double step_ = kFirstStep;
  std::vector<Direction> untried_;
  std::optional<Direction> proposed_;
  FreshSampler sampler_;
};

}  // namespace

std::unique_ptr<Technique> MakePatternSearch() { return std::make_unique<PatternSearch>(); }

}  // namespace bayloom::optimizer
