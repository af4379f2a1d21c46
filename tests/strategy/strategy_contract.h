// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "bayloom/strategy/strategy.h"
#include "tests/strategy/search_fixture.h"

namespace bayloom::strategy {

struct StrategyCase {
  std::string name;
  std::function<std::unique_ptr<SearchStrategy>(StrategyOptions)> make;

  friend std::ostream& operator<<(std::ostream& out, const StrategyCase& c) {
    return out << c.name;
  }
};

/// By CreateStrategy.
inline StrategyCase NamedStrategy(const std::string& name) {
  return {name, [name](StrategyOptions options) { return CreateStrategy(name, options); }};
}

/// What every strategy promises; instantiated for those of each module.
class StrategyContract : public ::testing::TestWithParam<StrategyCase> {
 protected:
  static const sketch::SpaceGenerator& Convolution() {
    static const sketch::SpaceGenerator generator(ConvolutionWorkload(), SimulatedTarget());
    return generator;
  }
  /// A small population keeps the tests fast.
  static std::unique_ptr<SearchStrategy> Make(const sketch::SpaceGenerator& space,
                                              base::ThreadPool& pool, uint64_t seed = 1) {
    return GetParam().make({.space = &space,
                            .pool = &pool,
                            .objectives = {{OracleScores}},
                            .seed = seed,
                            .evolutionary = {.population = 96, .min_fresh = 20}});
  }
};

}  // namespace bayloom::strategy
