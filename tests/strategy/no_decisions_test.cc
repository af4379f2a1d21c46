// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "bayloom/strategy/strategy.h"
#include "tests/strategy/search_fixture.h"
#include "tests/tensor/library_calls.h"

namespace bayloom::strategy {
namespace {

/// A call of the library is one program; every strategy proposes it once.
TEST(NoDecisions, OneCandidateIsAllThereIs) {
  base::RandomStream random(1);
  const sketch::SpaceGenerator space(testing::RandomCall(random).workload, SimulatedTarget());
  base::ThreadPool pool(1);
  for (const char* name : {"evolutionary", "random", "bayes"}) {
    StrategyOptions options;
    options.space = &space;
    options.pool = &pool;
    options.objectives = {{OracleScores}};
    const std::unique_ptr<SearchStrategy> strategy = CreateStrategy(name, options);
    const std::vector<sketch::Candidate> first = strategy->GenerateCandidates(4);
    ASSERT_EQ(first.size(), 1u) << name;
    const trial::Outcome outcome = trial::Outcome::Feasible(1e-3);
    strategy->Notify(first, {&outcome, 1});
    EXPECT_TRUE(strategy->GenerateCandidates(4).empty()) << name;
  }
}

}  // namespace
}  // namespace bayloom::strategy
