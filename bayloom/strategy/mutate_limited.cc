// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/strategy/mutator.h"

namespace bayloom::strategy {
namespace {

class LimitedMutator final : public Mutator {
 public:
  explicit LimitedMutator(const sketch::SpaceGenerator& space) : space_(space) {}

  std::string name() const override { return "limited"; }

  std::optional<tensor::Trace> Mutate(const sketch::Candidate& parent,
                                      base::RandomStream& random) const override {
    return space_.MutateWithinLimits(parent.space, parent.trace, random.Fork());
  }

 private:
  const sketch::SpaceGenerator& space_;
};

}  // namespace

std::unique_ptr<Mutator> MakeLimitedMutator(const sketch::SpaceGenerator& space) {
  return std::make_unique<LimitedMutator>(space);
}

}  // namespace bayloom::strategy
