// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/experimental/strategy/decision_space.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "bayloom/strategy/fresh_samples.h"
#include "tests/strategy/search_fixture.h"

namespace bayloom::experimental {
namespace {

class DecisionSpaceTest : public testing::TestWithParam<TilingEncoding> {
 protected:
  const sketch::SpaceGenerator generator_{strategy::ConvolutionWorkload(),
                                          strategy::SimulatedTarget()};

  std::vector<strategy::CandidatePtr> Samples(int count) const {
    base::ThreadPool pool(1);
    base::RandomStream random(5);
    return strategy::DrawFresh(generator_, count, random, pool);
  }
};

TEST_P(DecisionSpaceTest, DecidesAndEncodesBackAndForth) {
  base::RandomStream random(1);
  for (const strategy::CandidatePtr& sample : Samples(20)) {
    const DecisionSpace decisions(sample->trace, GetParam());
    const std::optional<space::Configuration> own = decisions.Encode(sample->trace);
    ASSERT_TRUE(own);
    EXPECT_EQ(decisions.Decide(sample->trace, *own).decisions(), sample->trace.decisions());
    const space::Configuration other = *decisions.space()->Sample(random);
    const tensor::Trace decided = decisions.Decide(sample->trace, other);
    EXPECT_EQ(decisions.Encode(decided), other);
    EXPECT_EQ(DecisionSpace::GroupOf(decided), DecisionSpace::GroupOf(sample->trace));
  }
}

TEST_P(DecisionSpaceTest, GroupsShareTheirTagsAndDifferInUntunableDecisions) {
  std::map<uint64_t, std::vector<strategy::CandidatePtr>> groups;
  for (const strategy::CandidatePtr& sample : Samples(100)) {
    groups[DecisionSpace::GroupOf(sample->trace)].push_back(sample);
  }
  ASSERT_GT(groups.size(), generator_.spaces().size());
  for (const auto& [id, members] : groups) {
    const DecisionSpace first(members.front()->trace, GetParam());
    for (const strategy::CandidatePtr& member : members) {
      EXPECT_EQ(member->space, members.front()->space);
      EXPECT_TRUE(first.Encode(member->trace));
      const DecisionSpace own(member->trace, GetParam());
      ASSERT_EQ(own.space()->size(), first.space()->size());
      for (int i = 0; i < own.space()->size(); ++i) {
        EXPECT_EQ(own.space()->parameter(i).name(), first.space()->parameter(i).name());
      }
    }
  }
}

TEST_P(DecisionSpaceTest, WindowsBoundTheCoordinates) {
  const DecisionSpace decisions(Samples(1)[0]->trace, GetParam());
  std::vector<Window> windows;
  for (int i = 0; i < decisions.space()->size(); ++i) {
    const double last = static_cast<double>(decisions.space()->parameter(i).Cardinality() - 1);
    windows.push_back({std::floor(last / 3), std::floor(last / 2)});
  }
  const std::shared_ptr<const space::Space> part = decisions.Within(windows);
  base::RandomStream random(3);
  for (int draw = 0; draw < 50; ++draw) {
    const space::Configuration configuration = *part->Sample(random);
    for (size_t i = 0; i < windows.size(); ++i) {
      EXPECT_GE(configuration.coordinates[i], windows[i].least);
      EXPECT_LE(configuration.coordinates[i], windows[i].most);
    }
    EXPECT_TRUE(decisions.space()->Contains(configuration));
  }
}

INSTANTIATE_TEST_SUITE_P(Encodings, DecisionSpaceTest,
                         testing::Values(TilingEncoding::kIndex, TilingEncoding::kFactorization));

}  // namespace
}  // namespace bayloom::experimental
