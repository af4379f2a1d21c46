// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "bayloom/optimizer/bayes/objective_values.h"
#include "bayloom/optimizer/fresh_sampler.h"
#include "bayloom/optimizer/techniques/technique.h"
#include "bayloom/pareto/front.h"

namespace bayloom::optimizer {
namespace {

constexpr size_t kPopulation = 20;
constexpr int kTournament = 2;
/// Children that break a known constraint are bred again, mixed otherwise, this often.
constexpr int kBreedings = 16;
/// Further mutations of a child that is known already.
constexpr int kMutations = 8;
constexpr double kMutationProbability = 0.4;

class Genetic final : public Technique {
 public:
  explicit Genetic(std::vector<std::string> objectives) : objectives_(std::move(objectives)) {}

  std::string_view name() const override { return "genetic"; }

  std::optional<space::Configuration> Propose(const History& history,
                                              base::RandomStream& random) override {
    if (population_.size() < kPopulation) return sampler_.Draw(history, random);
    space::Configuration child = Breed(history.space(), random);
    if (random.Uniform() < kMutationProbability) Mutate(child, history.space(), random);
    for (int i = 0; i < kMutations && history.Knows(child); ++i) {
      Mutate(child, history.space(), random);
    }
    if (history.Knows(child)) return sampler_.Draw(history, random);
    return child;
  }

  /// The newcomer takes the place of the worst if it is better.
  void Observe(const History&, const Observation& trial, bool, base::RandomStream&) override {
    if (!trial.outcome.ok()) return;
    const auto better = [](const Observation& a, const Observation& b) {
      return a.outcome.value < b.outcome.value;
    };
    std::erase_if(population_,
                  [&](const Observation& t) { return t.configuration == trial.configuration; });
    population_.insert(std::upper_bound(population_.begin(), population_.end(), trial, better),
                       trial);
    if (objectives_.size() > 1) SortByFronts();
    if (population_.size() > kPopulation) population_.pop_back();
  }

 private:
  /// By the front that each belongs to; within it, the loneliest first.
  void SortByFronts() {
    std::vector<pareto::Point> points;
    for (const Observation& each : population_) {
      points.push_back(ObjectiveValues(each.outcome, objectives_));
    }
    const std::vector<int> ranks = pareto::RanksOf(points);
    std::vector<double> crowding(points.size());
    for (int rank = 0; rank <= *std::ranges::max_element(ranks); ++rank) {
      std::vector<size_t> members;
      std::vector<pareto::Point> front;
      for (size_t i = 0; i < points.size(); ++i) {
        if (ranks[i] != rank) continue;
        members.push_back(i);
        front.push_back(points[i]);
      }
      const std::vector<double> distances = pareto::CrowdingDistances(front);
      for (size_t i = 0; i < members.size(); ++i) crowding[members[i]] = distances[i];
    }
    std::vector<size_t> order(points.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, {},
                             [&](size_t i) { return std::pair(ranks[i], -crowding[i]); });
    std::vector<Observation> sorted;
    for (size_t i : order) sorted.push_back(std::move(population_[i]));
    population_ = std::move(sorted);
  }

  const space::Configuration& Select(base::RandomStream& random) const {
    int64_t best = random.UniformInt(std::ssize(population_));
    for (int i = 1; i < kTournament; ++i) {
      best = std::min(best, random.UniformInt(std::ssize(population_)));
    }
    return population_[best].configuration;
  }

  /// Uniform crossover; a parent itself where no mixture is feasible.
  space::Configuration Breed(const space::Space& space, base::RandomStream& random) const {
    const space::Configuration& mother = Select(random);
    const space::Configuration& father = Select(random);
    for (int i = 0; i < kBreedings; ++i) {
      space::Configuration child = mother;
      for (size_t p = 0; p < child.coordinates.size(); ++p) {
        if (random.UniformInt(2) == 1) child.coordinates[p] = father.coordinates[p];
      }
      child = space.Settled(std::move(child));
      if (space.Contains(child)) return child;
    }
    return mother;
  }

  static void Mutate(space::Configuration& child, const space::Space& space,
                     base::RandomStream& random) {
    std::vector<space::Configuration> neighbours = space.Neighbours(child, random);
    if (neighbours.empty()) return;
    child = std::move(neighbours[random.UniformInt(std::ssize(neighbours))]);
  }

  std::vector<std::string> objectives_;
  std::vector<Observation> population_;  ///< feasible, best first
  FreshSampler sampler_;
};

}  // namespace

std::unique_ptr<Technique> MakeGenetic(std::vector<std::string> objectives) {
  return std::make_unique<Genetic>(std::move(objectives));
}

}  // namespace bayloom::optimizer
