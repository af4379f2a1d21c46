// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "bayloom/optimizer/optimizer.h"
#include "tests/optimizer/spaces.h"

namespace bayloom::optimizer {

/// An optimizer's name, and a space.
using OptimizerCase = std::tuple<std::string, SpaceCase>;

/// What every optimizer promises, on every kind of space; instantiated with the names of each
/// module's.
class OptimizerContract : public testing::TestWithParam<OptimizerCase> {
 protected:
  std::unique_ptr<Optimizer> Make(uint64_t seed = 1) const {
    return MakeOptimizer(std::get<0>(GetParam()), space_, {.seed = seed, .initial_samples = 6});
  }
  /// Asks, checks and marks as asked.
  std::vector<space::Configuration> Ask(Optimizer& optimizer, int n) {
    std::vector<space::Configuration> asked = optimizer.Ask(n);
    EXPECT_LE(std::ssize(asked), n);
    for (const space::Configuration& c : asked) {
      EXPECT_TRUE(space_->Contains(c));
      EXPECT_TRUE(met_.insert(c).second) << "asked before";
    }
    return asked;
  }
  /// How many trials the slower optimizers can do in a test.
  int Enough() const { return static_cast<int>(std::min(40.0, space_->CountFeasible())); }

  const std::shared_ptr<const space::Space> space_ = std::get<1>(GetParam()).make();
  std::unordered_set<space::Configuration> met_;
};

inline std::string OptimizerCaseName(const testing::TestParamInfo<OptimizerCase>& info) {
  std::string name = std::get<0>(info.param) + "_" + std::get<1>(info.param).name;
  for (char& c : name) {
    if (c == '-') c = '_';
  }
  return name;
}

}  // namespace bayloom::optimizer
