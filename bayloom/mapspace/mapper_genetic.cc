// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "bayloom/mapspace/mapper_context.h"
#include "bayloom/mapspace/rounded_rank.h"

namespace bayloom::mapspace {
namespace {

constexpr int kPopulation = 40;
constexpr int kElite = 10;
constexpr double kCrossover = 0.5;
constexpr int kMaxSteps = 3;
/// Generations without a better mapping before the population, all alike by then, is drawn again.
constexpr int kMaxStaleGenerations = 15;
/// Children in a row that do not fit before a fresh mapping takes the place.
constexpr int kMaxChildDraws = 100;

struct Member {
  Mapping mapping;
  double value = std::numeric_limits<double>::infinity();
  double tie_break = std::numeric_limits<double>::infinity();

  std::pair<int64_t, double> Rank() const { return {RoundedRank(value), tie_break}; }
};

/// Takes whole dimensions (their factors at all levels) and whole levels (orders, kept tensors)
/// from the other parent: GAMMA's exchange of genes.
void Cross(Mapping& child, const Mapping& other, int dimensions, base::RandomStream& random) {
  for (int d = 0; d < dimensions; ++d) {
    if (random.UniformInt(2) == 0) continue;
    for (size_t l = 0; l < child.levels.size(); ++l) {
      child.levels[l].temporal[d] = other.levels[l].temporal[d];
      child.levels[l].spatial[d] = other.levels[l].spatial[d];
    }
  }
  for (size_t l = 0; l < child.levels.size(); ++l) {
    if (random.UniformInt(2) == 0) continue;
    child.levels[l].order = other.levels[l].order;
    child.levels[l].keep = other.levels[l].keep;
  }
}

/// A child of two of the elite that can be repaired and fits.
std::optional<Mapping> Breed(MapperContext& context, const std::vector<Member>& elite) {
  const auto pick = [&]() -> const Mapping& {
    return elite[context.random().UniformInt(static_cast<int64_t>(elite.size()))].mapping;
  };
  for (int i = 0; i < kMaxChildDraws && !context.Done(); ++i) {
    Mapping child = pick();
    bool settled = true;
    if (context.random().Uniform() < kCrossover) {
      Cross(child, pick(), context.mapspace().problem().DimensionCount(), context.random());
      settled = context.mapspace().Repair(child);
    }
    const int64_t steps = 1 + context.random().UniformInt(kMaxSteps);
    for (int64_t s = 0; s < steps && settled; ++s) {
      settled = context.mapspace().Step(context.random(), child);
    }
    if (settled && context.Fits(child)) return child;
  }
  return context.DrawFitting();
}

class GeneticMapper final : public Mapper {
 public:
  std::optional<Mapping> Next(MapperContext& context) override {
    if (offered_.empty()) return elite_.empty() ? context.DrawFitting() : Breed(context, elite_);
    Mapping offered = std::move(offered_.back());
    offered_.pop_back();
    return offered;
  }

  void Tell(Mapping mapping, const trial::Outcome& outcome, MapperContext& context) override {
    Member& member = population_.emplace_back();
    member.mapping = std::move(mapping);
    if (outcome.ok()) {
      member.value = outcome.value;
      member.tie_break = context.TieBreak(outcome);
    }
    if (std::ssize(population_) == kPopulation) Select();
  }

  void Suggest(const Mapping& mapping) override { offered_.push_back(mapping); }

 private:
  /// The best survive; a population that has not improved for long does not.
  void Select() {
    std::ranges::stable_sort(population_, {}, &Member::Rank);
    if (population_.front().value < best_) {
      best_ = population_.front().value;
      stale_ = 0;
    } else if (++stale_ > kMaxStaleGenerations) {
      population_.clear();
      best_ = std::numeric_limits<double>::infinity();
      stale_ = 0;
    }
    if (!population_.empty()) population_.resize(kElite);
    elite_ = population_;
  }

  std::vector<Mapping> offered_;
  std::vector<Member> population_;
  std::vector<Member> elite_;
  double best_ = std::numeric_limits<double>::infinity();  ///< of this population
  int stale_ = 0;                                          ///< generations
};

}  // namespace

std::unique_ptr<Mapper> MakeGeneticMapper(const MapperContext&) {
  return std::make_unique<GeneticMapper>();
}

}  // namespace bayloom::mapspace
