// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/random_search.h"

#include <utility>
#include <vector>

#include "bayloom/optimizer/fresh_sampler.h"

namespace bayloom::optimizer {
namespace {

class RandomSearch final : public Optimizer {
 public:
  RandomSearch(std::shared_ptr<const space::Space> space, space::SamplingMethod method,
               uint64_t seed)
      : history_(std::move(space)), sampler_(method), random_(seed) {}

  std::vector<space::Configuration> Ask(int n) override {
    std::vector<space::Configuration> asked;
    while (static_cast<int>(asked.size()) < n) {
      std::optional<space::Configuration> drawn = sampler_.Draw(history_, random_);
      if (!drawn) break;
      history_.MarkAsked(*drawn);
      asked.push_back(std::move(*drawn));
    }
    return asked;
  }
  bool gave_up() const override { return sampler_.gave_up(); }

  void Tell(const space::Configuration& configuration, const trial::Outcome& outcome) override {
    history_.Record(configuration, outcome);
  }

 private:
  History history_;
  FreshSampler sampler_;
  base::RandomStream random_;
};

}  // namespace

std::unique_ptr<Optimizer> MakeRandomSearch(std::shared_ptr<const space::Space> space,
                                            space::SamplingMethod method, uint64_t seed) {
  return std::make_unique<RandomSearch>(std::move(space), method, seed);
}

}  // namespace bayloom::optimizer
