// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/strategy/strategy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/feature/time_estimate.h"
#include "bayloom/pareto/hypervolume.h"
#include "bayloom/strategy/breeding.h"
#include "tests/strategy/search_fixture.h"
#include "tests/strategy/strategy_contract.h"

namespace bayloom::strategy {
namespace {

std::vector<StrategyCase> StableStrategies() {
  std::vector<StrategyCase> cases;
  for (const std::string& name : Strategies().Names()) cases.push_back(NamedStrategy(name));
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, StrategyContract, ::testing::ValuesIn(StableStrategies()));

TEST(CreateStrategyTest, RefusesUnknownNamesAndWords) {
  const auto refusal = [](const std::string& name) -> std::string {
    EXPECT_FALSE(CheckStrategyName(name)) << name;
    try {
      CreateStrategy(name, {});
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refusal("luck"), "unknown strategy 'luck'; known are bayes, evolutionary, random");
  // The experimental ones are not registered here.
  EXPECT_EQ(refusal("rocke2024"),
            "unknown strategy 'rocke2024'; known are bayes, evolutionary, random");
  EXPECT_EQ(refusal("bayes:heap"), "the strategy 'bayes' takes no words, found ':heap'");
  EXPECT_EQ(refusal("random:"), "the strategy 'random' takes no words, found ':'");
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
                                   .objectives = {{OracleScores}},
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
                             .objectives = {{OracleScores}},
                             .seed = 4,
                             .evolutionary = {.population = 256}};
  const std::vector<double> drawn = RandomTimes(options, 200);
  options.exploration_count = [] { return 4; };
  for (const char* name : {"evolutionary", "bayes"}) {
    const auto strategy = CreateStrategy(name, options);
    const std::vector<sketch::Candidate> batch = strategy->GenerateCandidates(8);
    int slow = 0;
    for (const sketch::Candidate& c : batch) slow += SimulatedMachine::Run(c.program) > drawn[20];
    EXPECT_GE(slow, 2) << name;  // of four that are drawn, one in ten is not
    EXPECT_LE(slow, 4) << name;
  }
  EXPECT_EQ(UnscoredCount(0.05, 1, 1), 0);
  EXPECT_EQ(UnscoredCount(0.05, 1, 5), 1);
  EXPECT_EQ(UnscoredCount(0.05, 1, 64), 3);
}

TEST(BayesSearchTest, BeginsWellWhileScoresAreRandom) {
  base::ThreadPool pool(2);
  // With too few channels for derivations, whose gain the simulated machine does not have.
  const sketch::SpaceGenerator space(ConvolutionWorkload(12), SimulatedTarget());
  base::RandomStream chance(3);
  const Scorer random_scores = [&](std::span<const sketch::Candidate* const> candidates) {
    std::vector<double> scores(candidates.size());
    for (double& score : scores) score = chance.Uniform();
    return scores;
  };
  const StrategyOptions options = {.space = &space,
                                   .pool = &pool,
                                   .objectives = {{random_scores}},
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

/// Programs of a batch from each design space.
std::vector<int> CountBySpace(const sketch::SpaceGenerator& space,
                              std::span<const sketch::Candidate> batch) {
  std::vector<int> count(space.spaces().size(), 0);
  for (const sketch::Candidate& program : batch) ++count[static_cast<size_t>(program.space)];
  return count;
}

TEST(BayesSearchTest, TheFirstBatchHasProgramsOfSeveralDesignSpaces) {
  base::ThreadPool pool(2);
  const sketch::SpaceGenerator space(ConvolutionWorkload(), SimulatedTarget());
  ASSERT_GE(space.spaces().size(), 4U);
  const Scorer equal_scores = [](std::span<const sketch::Candidate* const> programs) {
    return std::vector<double>(programs.size(), 1.0);
  };
  const auto strategy = CreateStrategy("bayes", {.space = &space,
                                                 .pool = &pool,
                                                 .objectives = {{equal_scores}},
                                                 .evolutionary = {.population = 256}});
  // The last tenth is drawn blindly.
  const std::vector<sketch::Candidate> first = strategy->GenerateCandidates(24);
  const std::vector<int> count = CountBySpace(space, std::span(first).first(21));
  EXPECT_GE(std::ranges::count_if(count, [](int programs) { return programs >= 2; }), 3);
}

/// Where the design space that looks best has no program that passes, a batch tells.
TEST(BayesSearchTest, LeavesADesignSpaceWhoseProgramsFail) {
  base::ThreadPool pool(2);
  const sketch::SpaceGenerator space(ConvolutionWorkload(), SimulatedTarget());
  const Scorer equal_scores = [](std::span<const sketch::Candidate* const> programs) {
    return std::vector<double>(programs.size(), 1.0);
  };
  for (uint64_t seed : {1, 2, 3}) {
    const auto strategy = CreateStrategy("bayes", {.space = &space,
                                                   .pool = &pool,
                                                   .objectives = {{equal_scores}},
                                                   .seed = seed,
                                                   .evolutionary = {.population = 256}});
    std::vector<sketch::Candidate> batch = strategy->GenerateCandidates(24);
    const std::vector<int> count = CountBySpace(space, batch);
    const auto favourite = std::ranges::max_element(count) - count.begin();
    EXPECT_GE(count[favourite], 6);
    std::vector<trial::Outcome> outcomes;
    for (const sketch::Candidate& program : batch) {
      outcomes.push_back(program.space == favourite
                             ? trial::Outcome::Infeasible(trial::Verdict::kWrongOutput, "wrong")
                             : trial::Outcome::Feasible(SimulatedMachine::Run(program.program)));
    }
    strategy->Notify(batch, outcomes);
    EXPECT_LE(CountBySpace(space, strategy->GenerateCandidates(24))[favourite], 2);
  }
}

TEST(BayesSearchTest, InformedScoresCountEvenWhereTheyDisagreeWithTheEstimate) {
  base::ThreadPool pool(2);
  const sketch::SpaceGenerator space(ConvolutionWorkload(), SimulatedTarget());
  const auto scores = [&](std::span<const sketch::Candidate* const> programs) {
    std::vector<double> against;  // the estimate
    for (const sketch::Candidate* program : programs) {
      against.push_back(1e6 * feature::EstimateTime(program->program, space.target()));
    }
    return against;
  };
  const auto mean_score = [&](bool informed) {
    StrategyOptions options = {.space = &space,
                               .pool = &pool,
                               .objectives = {{scores}},
                               .seed = 4,
                               .evolutionary = {.population = 128}};
    options.scores_are_informed = [informed] { return informed; };
    double sum = 0;
    for (const sketch::Candidate& c : CreateStrategy("bayes", options)->GenerateCandidates(16)) {
      const sketch::Candidate* const program = &c;
      sum += scores({&program, 1})[0];
    }
    return sum;
  };
  EXPECT_GT(mean_score(true), 2 * mean_score(false));
}

/// The part that 80 programs dominate, in times and sizes, of the box up to the median time and the
/// largest size of random programs.
double HypervolumeOf(StrategyOptions options) {
  pareto::Point reference = {RandomTimes(options, 200)[100], 0};
  for (const sketch::Candidate& c : MakeRandomSearch(options)->GenerateCandidates(400)) {
    reference[1] = std::max(reference[1], SimulatedMachine::CodeBytes(c.program));
  }
  const auto strategy = CreateStrategy("bayes", std::move(options));
  std::vector<pareto::Point> points;
  for (int batch = 0; batch < 5; ++batch) {
    const std::vector<sketch::Candidate> candidates = strategy->GenerateCandidates(16);
    EXPECT_EQ(candidates.size(), 16u);
    std::vector<trial::Outcome> outcomes;
    for (const sketch::Candidate& c : candidates) {
      outcomes.push_back(trial::Outcome::Feasible(SimulatedMachine::Run(c.program)));
      outcomes.back().Set("code_bytes", SimulatedMachine::CodeBytes(c.program));
      points.push_back({outcomes.back().value, SimulatedMachine::CodeBytes(c.program)});
    }
    strategy->Notify(candidates, outcomes);
  }
  return pareto::Hypervolume(points, reference) / (reference[0] * reference[1]);
}

TEST(BayesSearchTest, ObjectivesBesidesTheTimeExtendTheFront) {
  base::ThreadPool pool(2);
  // With too few channels for derivations: programs of several algorithms are a front of their own.
  const sketch::SpaceGenerator space(ConvolutionWorkload(12), SimulatedTarget());
  const Objective size = {
      .scorer =
          [](std::span<const sketch::Candidate* const> candidates) {
            std::vector<double> shares;
            for (const sketch::Candidate* c : candidates) {
              shares.push_back(1e4 / SimulatedMachine::CodeBytes(c->program));
            }
            return shares;
          },
      .value = [](const trial::Outcome& outcome) { return outcome.Get("code_bytes", 0); }};
  double with = 0, without = 0;
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    StrategyOptions options = {.space = &space,
                               .pool = &pool,
                               .objectives = {{OracleScores}},
                               .seed = seed,
                               .evolutionary = {.population = 64, .min_fresh = 16}};
    without += HypervolumeOf(options) / 2;
    options.objectives.push_back(size);
    with += HypervolumeOf(options) / 2;
  }
  EXPECT_GT(with, 1.02 * without) << with << " " << without;
}

TEST(EvolutionarySearchTest, ScoresEveryProgramOnceABatch) {
  base::ThreadPool pool(2);
  const sketch::SpaceGenerator space(ConvolutionWorkload(), SimulatedTarget());
  std::set<uint64_t> scored;
  const Scorer scorer = [&](std::span<const sketch::Candidate* const> candidates) {
    for (const sketch::Candidate* c : candidates) EXPECT_TRUE(scored.insert(c->hash).second);
    return OracleScores(candidates);
  };
  const auto strategy = CreateStrategy("evolutionary", {.space = &space,
                                                        .pool = &pool,
                                                        .objectives = {{scorer}},
                                                        .evolutionary = {.population = 64}});
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
