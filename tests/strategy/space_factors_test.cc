// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/strategy/bayes/space_factors.h"

#include <gtest/gtest.h>

#include <memory>

namespace bayloom::strategy {
namespace {

ScoredCandidate Rated(double rating, int space) {
  auto program = std::make_shared<sketch::Candidate>();
  program->space = space;
  return {rating, program};
}

TEST(SpaceFactorsTest, AreOneWhereNothingWasTried) {
  const SpaceFactors unknown(2, {}, {});
  EXPECT_EQ(unknown.Of(0), 1);
  EXPECT_EQ(unknown.Of(1), 1);
  const std::vector<ScoredCandidate> tried = {Rated(5, 0)};
  EXPECT_EQ(SpaceFactors(2, tried, std::vector<double>{0.5}).Of(1), 1);
}

TEST(SpaceFactorsTest, CompareTheBestThatWasFoundWithTheBestExpected) {
  const std::vector<ScoredCandidate> tried = {Rated(100, 0), Rated(80, 1), Rated(50, 1),
                                              Rated(20, 2)};
  const SpaceFactors factors(3, tried, std::vector<double>{1, 0.5, 0.8, 1.1});
  EXPECT_EQ(factors.Of(0), 1);
  EXPECT_EQ(factors.Of(1), 1);  // as good as expected, though not with the program expected
  EXPECT_NEAR(factors.Of(2), (2 + 0.2 / 1.1) / 3, 1e-12);
}

TEST(SpaceFactorsTest, FallWithEveryFailureWhileNothingSucceeds) {
  std::vector<ScoredCandidate> tried;
  double before = 1;
  for (int failures = 1; failures <= 8; ++failures) {
    tried.push_back(Rated(0, 0));
    const SpaceFactors factors(2, tried, std::vector<double>(tried.size(), 0.9));
    EXPECT_LT(factors.Of(0), before);
    EXPECT_EQ(factors.Of(1), 1);
    before = factors.Of(0);
  }
  EXPECT_LT(before, 0.25);
}

}  // namespace
}  // namespace bayloom::strategy
