// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/bayes/trust_regions.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace bayloom::optimizer {
namespace {

constexpr size_t kRegions = 3;
constexpr int kFirstSteps = 2, kMaxSteps = 4;
/// Random walks from a centre, each of which gives a candidate or none.
constexpr int kWalks = 100;
/// The best trials, among which centres are looked for.
constexpr size_t kIncumbents = 100;
/// Centres that new ones have to be far from.
constexpr size_t kMaxCentres = 50;

int CountDifferences(const space::Configuration& a, const space::Configuration& b) {
  int differences = 0;
  for (size_t i = 0; i < a.coordinates.size(); ++i) {
    differences += a.coordinates[i] != b.coordinates[i];
  }
  return differences;
}

int CountVarying(const space::Space& space) {
  int varying = 0;
  for (int i = 0; i < space.size(); ++i) varying += space.parameter(i).Cardinality() != 1;
  return varying;
}

}  // namespace

TrustRegions::Question TrustRegions::Next(const History& history, base::RandomStream& random) {
  regions_.resize(kRegions);
  turn_ = (turn_ + 1) % kRegions;
  Region& region = regions_[turn_];
  if (region.steps == 0) Open(region, history, random);
  Question question{.region = static_cast<int>(turn_), .candidates = {}, .best = region.value};
  std::unordered_set<space::Configuration> met;
  for (int walk = 0; walk < kWalks; ++walk) {
    space::Configuration at = region.centre;
    const int64_t steps = 1 + random.UniformInt(region.steps);
    for (int64_t step = 0; step < steps; ++step) {
      std::vector<space::Configuration> neighbours = history.space().Neighbours(at, random);
      if (neighbours.empty()) break;
      at = std::move(neighbours[static_cast<size_t>(random.UniformInt(std::ssize(neighbours)))]);
    }
    if (!history.Knows(at) && met.insert(at).second) question.candidates.push_back(std::move(at));
  }
  if (question.candidates.empty()) --region.steps;
  return question;
}

void TrustRegions::Observe(const History& history, const Observation& trial) {
  const auto asked = asked_for_.find(trial.configuration);
  if (asked == asked_for_.end()) return;
  Region& region = regions_[static_cast<size_t>(asked->second)];
  asked_for_.erase(asked);
  if (region.steps == 0) return;
  if (trial.outcome.ok() && trial.outcome.value < region.value) {
    region.centre = trial.configuration;
    region.value = trial.outcome.value;
    region.steps = std::min(kMaxSteps, region.steps + 1);
    region.failures = 0;
    return;
  }
  if (++region.failures < CountVarying(history.space())) return;
  region.failures = 0;
  --region.steps;
}

bool TrustRegions::IsFarFromAll(const space::Configuration& configuration) const {
  return std::ranges::all_of(centres_, [&](const space::Configuration& centre) {
    return CountDifferences(centre, configuration) > kFirstSteps;
  });
}

void TrustRegions::Open(Region& region, const History& history, base::RandomStream& random) {
  const std::vector<int> best = history.Best(kIncumbents);
  const auto far = std::ranges::find_if(best, [&](int place) {
    return IsFarFromAll(history.trials()[static_cast<size_t>(place)].configuration);
  });
  const int place =
      far != best.end() ? *far : best[static_cast<size_t>(random.UniformInt(std::ssize(best)))];
  const Observation& incumbent = history.trials()[static_cast<size_t>(place)];
  region = {.centre = incumbent.configuration,
            .value = incumbent.outcome.value,
            .steps = kFirstSteps,
            .failures = 0};
  const auto index = static_cast<int>(&region - regions_.data());
  std::erase_if(asked_for_, [&](const auto& asked) { return asked.second == index; });
  centres_.push_back(region.centre);
  if (centres_.size() > kMaxCentres) centres_.erase(centres_.begin());
}

}  // namespace bayloom::optimizer
