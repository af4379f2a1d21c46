// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "bayloom/experimental/register.h"
#include "bayloom/experimental/strategy/rocke2024_search.h"
#include "tests/strategy/strategy_contract.h"

namespace bayloom::experimental {

/// Small enough for tests.
strategy::StrategyCase Rocke2024Case(const std::string& words) {
  return {
      "rocke2024:" + words, [words](strategy::StrategyOptions options) {
        const Rocke2024Options small = {
            .memory_limit = 30, .min_inputs = 12, .fresh_samples = 40, .suggestions_per_input = 4};
        return MakeRocke2024Search("rocke2024:" + words, std::move(options),
                                   *ParseRocke2024Words(words, small));
      }};
}

}  // namespace bayloom::experimental

namespace bayloom::strategy {

using experimental::Rocke2024Case;

/// The configurations of table 3.1, and one of everything else.
INSTANTIATE_TEST_SUITE_P(Rocke2024, StrategyContract,
                         testing::Values(Rocke2024Case("naive"), Rocke2024Case("heap"),
                                         Rocke2024Case("lru"), Rocke2024Case("heap+lru"),
                                         Rocke2024Case("heap+factors+sdr+ei")));

}  // namespace bayloom::strategy

namespace bayloom::experimental {
namespace {

TEST(Rocke2024, IsMadeByNameAndWords) {
  Register();
  base::ThreadPool pool(1);
  const sketch::SpaceGenerator space(tensor::MatmulWorkload(8, 8, 8), strategy::SimulatedTarget());
  for (const char* name : {"rocke2024", "rocke2024:naive", "rocke2024:lru+heap+factors+sdr+poi"}) {
    EXPECT_TRUE(strategy::CheckStrategyName(name)) << name;
    const auto made = strategy::CreateStrategy(name, {.space = &space,
                                                      .pool = &pool,
                                                      .objectives = {{strategy::OracleScores}},
                                                      .evolutionary = {}});
    EXPECT_EQ(made->name(), name);
  }
}

TEST(Rocke2024, RefusesUnknownWords) {
  Register();
  for (const char* name : {"rocke2024:", "rocke2024:heap+", "rocke2024:pile"}) {
    EXPECT_FALSE(strategy::CheckStrategyName(name)) << name;
  }
  EXPECT_EQ(strategy::CheckStrategyName("rocke2024:pile").error().message,
            "unknown word 'pile' of rocke2024; known are naive, heap, lru, factors, sdr, ei, poi");
}

}  // namespace
}  // namespace bayloom::experimental
