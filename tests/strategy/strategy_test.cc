// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/strategy/strategy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/strategy/breeding.h"
#include "tests/strategy/search_fixture.h"

namespace bayloom::strategy {
namespace {

std::vector<uint64_t> Hashes(const std::vector<sketch::Candidate>& candidates) {
  std::vector<uint64_t> hashes;
  for (const sketch::Candidate& c : candidates) hashes.push_back(c.hash);
  return hashes;
}

std::vector<trial::Outcome> Simulate(const std::vector<sketch::Candidate>& candidates) {
  std::vector<trial::Outcome> outcomes(candidates.size());
  for (size_t i = 0; i < candidates.size(); ++i) {
    outcomes[i].value = SimulatedMachine::Run(candidates[i].program);
    if (i % 7 == 3) outcomes[i] = trial::Outcome::Infeasible(trial::Verdict::kCrash, "simulated");
  }
  return outcomes;
}

class StrategyTest : public testing::TestWithParam<std::string> {
 protected:
  static const sketch::SpaceGenerator& Convolution() {
    static const sketch::SpaceGenerator generator(ConvolutionWorkload(), SimulatedTarget());
    return generator;
  }
  /// A small population keeps the tests fast.
  static std::unique_ptr<SearchStrategy> Make(const std::string& name,
                                              const sketch::SpaceGenerator& space,
                                              base::ThreadPool& pool, uint64_t seed = 1) {
    return CreateStrategy(name, {.space = &space,
                                 .pool = &pool,
                                 .scorer = OracleScores,
                                 .seed = seed,
                                 .evolutionary = {.population = 96, .min_fresh = 20},
                                 .thesis = {.memory_limit = 30,
                                            .min_inputs = 12,
                                            .fresh_samples = 40,
                                            .suggestions_per_input = 4}});
  }
};

TEST_P(StrategyTest, GivesFullBatchesAndNeverAProgramTwice) {
  base::ThreadPool pool(2);
  const auto strategy = Make(GetParam(), Convolution(), pool);
  EXPECT_EQ(strategy->name(), GetParam());
  std::set<uint64_t> met;
  for (int batch = 0; batch < 5; ++batch) {
    const std::vector<sketch::Candidate> candidates = strategy->GenerateCandidates(30);
    EXPECT_EQ(candidates.size(), 30u);
    for (const sketch::Candidate& c : candidates) {
      EXPECT_TRUE(met.insert(c.hash).second);
      EXPECT_EQ(c.hash, c.program.StructuralHash());
    }
    // Asking again before telling is allowed.
    if (batch % 2 == 0) strategy->Notify(candidates, Simulate(candidates));
  }
}

TEST_P(StrategyTest, NeverProposesWhatItWasToldOfOrForbidden) {
  base::ThreadPool pool(2);
  const sketch::SpaceGenerator space(tensor::MatmulWorkload(4, 4, 4), SimulatedTarget());
  const std::vector<sketch::Candidate> known =
      Make("random", space, pool, 9)->GenerateCandidates(200);
  const auto strategy = Make(GetParam(), space, pool);
  std::set<uint64_t> met;
  for (size_t i = 0; i < known.size(); ++i) {
    met.insert(known[i].hash);
    if (i % 2 == 0) {
      strategy->Notify({&known[i], 1}, Simulate({known[i]}));
    } else {
      strategy->Exclude(known[i].hash);
    }
  }
  for (const sketch::Candidate& c : strategy->GenerateCandidates(100)) {
    EXPECT_FALSE(met.contains(c.hash));
  }
}

TEST_P(StrategyTest, ChoicesDependOnTheSeedButNotOnTheNumberOfThreads) {
  std::vector<std::vector<uint64_t>> choices;
  for (int threads : {1, 2, 5}) {
    base::ThreadPool pool(threads);
    const auto strategy = Make(GetParam(), Convolution(), pool);
    std::vector<uint64_t> chosen;
    for (int batch = 0; batch < 3; ++batch) {
      const std::vector<sketch::Candidate> candidates = strategy->GenerateCandidates(20);
      for (uint64_t hash : Hashes(candidates)) chosen.push_back(hash);
      strategy->Notify(candidates, Simulate(candidates));
    }
    choices.push_back(chosen);
  }
  EXPECT_EQ(choices[1], choices[0]);
  EXPECT_EQ(choices[2], choices[0]);
  base::ThreadPool pool(2);
  EXPECT_NE(Hashes(Make(GetParam(), Convolution(), pool, 2)->GenerateCandidates(20)),
            std::vector<uint64_t>(choices[0].begin(), choices[0].begin() + 20));
}

TEST_P(StrategyTest, OneThatIsToldEverythingGoesOnAsTheOtherWould) {
  base::ThreadPool pool(2);
  const auto first = Make(GetParam(), Convolution(), pool);
  const auto second = Make(GetParam(), Convolution(), pool);
  for (int batch = 0; batch < 2; ++batch) {
    const std::vector<sketch::Candidate> candidates = first->GenerateCandidates(20);
    const std::vector<trial::Outcome> outcomes = Simulate(candidates);
    first->Notify(candidates, outcomes);
    // In another order, and one by one.
    for (size_t i = candidates.size(); i-- > 0;) {
      second->Notify({&candidates[i], 1}, {&outcomes[i], 1});
    }
  }
  EXPECT_EQ(Hashes(second->GenerateCandidates(20)), Hashes(first->GenerateCandidates(20)));
}

TEST_P(StrategyTest, FindsAllOfASmallSpaceThenGivesNothing) {
  base::ThreadPool pool(2);
  const sketch::SpaceGenerator space(tensor::MatmulWorkload(2, 2, 1), SimulatedTarget());
  HashSet all;
  base::RandomStream random(11);
  DrawUnknown(space, 1 << 20, all, random, pool);
  ASSERT_GT(all.size(), 3u);
  ASSERT_LT(all.size(), 5000u);
  const auto strategy = Make(GetParam(), space, pool);
  std::set<uint64_t> found;
  while (true) {
    const std::vector<sketch::Candidate> batch = strategy->GenerateCandidates(64);
    for (const sketch::Candidate& c : batch) found.insert(c.hash);
    if (batch.size() < 64) break;
  }
  EXPECT_GE(found.size(), all.size() * 99 / 100);
  EXPECT_LE(strategy->GenerateCandidates(64).size(), all.size() / 100);
}

std::vector<std::string> TestedNames() {
  std::vector<std::string> names = StrategyNames();
  names.push_back("bayes:heap+factors+sdr+ei");
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, StrategyTest, testing::ValuesIn(TestedNames()));

TEST(CreateStrategyTest, UnderstandsWordsOfTheThesis) {
  for (const std::string& name : StrategyNames()) EXPECT_TRUE(CheckStrategyName(name)) << name;
  EXPECT_TRUE(CheckStrategyName("bayes:lru+heap+factors+sdr+poi"));
  EXPECT_FALSE(CheckStrategyName("bayes:"));
  EXPECT_FALSE(CheckStrategyName("bayes:heap+"));
  EXPECT_FALSE(CheckStrategyName("bayes:pile"));
}

TEST(CreateStrategyTest, RefusesUnknownNames) {
  try {
    CreateStrategy("luck", {});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "unknown search strategy 'luck': choose one of evolutionary, random, bayes, "
                 "bayes:naive, bayes:heap, bayes:lru, bayes:heap+lru");
  }
}

/// Of programs drawn at random, the fastest first.
std::vector<double> RandomTimes(const StrategyOptions& options, int count) {
  std::vector<double> times;
  for (const sketch::Candidate& c : MakeRandomSearch(options)->GenerateCandidates(count)) {
    times.push_back(SimulatedMachine::Run(c.program));
  }
  std::sort(times.begin(), times.end());
  return times;
}

TEST(EvolutionarySearchTest, FollowsTheScores) {
  base::ThreadPool pool(2);
  const sketch::SpaceGenerator space(ConvolutionWorkload(), SimulatedTarget());
  const StrategyOptions options = {.space = &space,
                                   .pool = &pool,
                                   .scorer = OracleScores,
                                   .seed = 4,
                                   .evolutionary = {.population = 256}};
  const std::vector<double> drawn = RandomTimes(options, 400);
  // All but the 5 % taken blindly are as good as the best hundredth of random programs.
  const std::vector<sketch::Candidate> evolved =
      MakeEvolutionarySearch(options)->GenerateCandidates(40);
  for (size_t i = 0; i < 38; ++i) EXPECT_LT(SimulatedMachine::Run(evolved[i].program), drawn[4]);
}

TEST(ControlsTest, ArePartOfEveryBatchThatHasRoom) {
  base::ThreadPool pool(2);
  const sketch::SpaceGenerator space(ConvolutionWorkload(), SimulatedTarget());
  StrategyOptions options = {.space = &space,
                             .pool = &pool,
                             .scorer = OracleScores,
                             .seed = 4,
                             .evolutionary = {.population = 256}};
  const std::vector<double> drawn = RandomTimes(options, 200);
  options.controls_wanted = [] { return 4; };
  for (const char* name : {"evolutionary", "bayes"}) {
    const auto strategy = CreateStrategy(name, options);
    const std::vector<sketch::Candidate> batch = strategy->GenerateCandidates(8);
    int slow = 0;
    for (const sketch::Candidate& c : batch) slow += SimulatedMachine::Run(c.program) > drawn[20];
    EXPECT_GE(slow, 2) << name;  // of four that are drawn, one in ten is not
    EXPECT_LE(slow, 4) << name;
  }
  EXPECT_EQ(BlindCount(0.05, 1, 1), 0);
  EXPECT_EQ(BlindCount(0.05, 1, 5), 1);
  EXPECT_EQ(BlindCount(0.05, 1, 64), 3);
}

TEST(BayesSearchTest, BeginsWellWhileScoresAreRandom) {
  base::ThreadPool pool(2);
  const sketch::SpaceGenerator space(ConvolutionWorkload(), SimulatedTarget());
  base::RandomStream chance(3);
  const Scorer random_scores = [&](std::span<const sketch::Candidate* const> candidates) {
    std::vector<double> scores(candidates.size());
    for (double& score : scores) score = chance.Uniform();
    return scores;
  };
  const StrategyOptions options = {.space = &space,
                                   .pool = &pool,
                                   .scorer = random_scores,
                                   .seed = 4,
                                   .evolutionary = {.population = 256}};
  const std::vector<double> drawn = RandomTimes(options, 200);
  // A quarter is taken blindly. Most of the others are as good as the best tenth of random
  // programs.
  const std::vector<sketch::Candidate> first =
      CreateStrategy("bayes", options)->GenerateCandidates(16);
  int good = 0;
  for (size_t i = 0; i < 12; ++i) good += SimulatedMachine::Run(first[i].program) < drawn[20];
  EXPECT_GE(good, 8);
}

TEST(EvolutionarySearchTest, ScoresEveryProgramOnceABatch) {
  base::ThreadPool pool(2);
  const sketch::SpaceGenerator space(ConvolutionWorkload(), SimulatedTarget());
  std::set<uint64_t> scored;
  const Scorer scorer = [&](std::span<const sketch::Candidate* const> candidates) {
    for (const sketch::Candidate* c : candidates) EXPECT_TRUE(scored.insert(c->hash).second);
    return OracleScores(candidates);
  };
  const auto strategy = CreateStrategy(
      "evolutionary",
      {.space = &space, .pool = &pool, .scorer = scorer, .evolutionary = {.population = 64}});
  strategy->GenerateCandidates(16);
  EXPECT_GT(scored.size(), 64u);
}

TEST(BreedTest, DrawsParentsByScoreAndCopiesThemSeldom) {
  base::ThreadPool pool(2);
  const sketch::SpaceGenerator space(ConvolutionWorkload(), SimulatedTarget());
  base::RandomStream random(2);
  HashSet known;
  const std::vector<CandidatePtr> parents = DrawUnknown(space, 8, known, random, pool);
  ASSERT_EQ(parents.size(), 8u);
  const std::vector<double> scores = {0, 1, 0, 2, 0, 0, 3, 0};
  const std::vector<CandidatePtr> children =
      Breed(space, CpuMutators(space.workload()), parents, scores, 200, {}, random, pool);
  ASSERT_EQ(children.size(), 200u);
  for (size_t i = 0; i < parents.size(); ++i) {
    EXPECT_LE(std::count(children.begin(), children.end(), parents[i]), scores[i] > 0 ? 1 : 0);
  }
}

TEST(BreedTest, WithoutMutationChildrenAreTheirParents) {
  base::ThreadPool pool(2);
  const sketch::SpaceGenerator space(ConvolutionWorkload(), SimulatedTarget());
  base::RandomStream random(2);
  HashSet known;
  const std::vector<CandidatePtr> parents = DrawUnknown(space, 4, known, random, pool);
  EvolutionaryOptions options;
  options.mutation_probability = 0;
  const std::vector<double> scores = {1, 3, 0, 0};
  const std::vector<CandidatePtr> children =
      Breed(space, CpuMutators(space.workload()), parents, scores, 400, options, random, pool);
  const auto count = [&](int i) {
    return std::count(children.begin(), children.end(), parents[i]);
  };
  EXPECT_EQ(count(0) + count(1), 400);
  EXPECT_NEAR(static_cast<double>(count(1)), 300, 45);
}

}  // namespace
}  // namespace bayloom::strategy
