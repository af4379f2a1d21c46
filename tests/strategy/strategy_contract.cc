// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/strategy/strategy_contract.h"

#include <set>
#include <vector>

#include "bayloom/strategy/fresh_samples.h"

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

}  // namespace

TEST_P(StrategyContract, GivesFullBatchesAndNeverAProgramTwice) {
  base::ThreadPool pool(2);
  const auto strategy = Make(Convolution(), pool);
  EXPECT_EQ(strategy->name(), GetParam().name);
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

TEST_P(StrategyContract, NeverProposesWhatItWasToldOfOrForbidden) {
  base::ThreadPool pool(2);
  const sketch::SpaceGenerator space(tensor::MatmulWorkload(4, 4, 4), SimulatedTarget());
  const std::vector<sketch::Candidate> known =
      CreateStrategy("random", {.space = &space,
                                .pool = &pool,
                                .objectives = {{OracleScores}},
                                .seed = 9,
                                .evolutionary = {}})
          ->GenerateCandidates(200);
  const auto strategy = Make(space, pool);
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

TEST_P(StrategyContract, ChoicesDependOnTheSeedButNotOnTheNumberOfThreads) {
  std::vector<std::vector<uint64_t>> choices;
  for (int threads : {1, 2, 5}) {
    base::ThreadPool pool(threads);
    const auto strategy = Make(Convolution(), pool);
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
  EXPECT_NE(Hashes(Make(Convolution(), pool, 2)->GenerateCandidates(20)),
            std::vector<uint64_t>(choices[0].begin(), choices[0].begin() + 20));
}

TEST_P(StrategyContract, OneThatIsToldEverythingGoesOnAsTheOtherWould) {
  base::ThreadPool pool(2);
  const auto first = Make(Convolution(), pool);
  const auto second = Make(Convolution(), pool);
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

TEST_P(StrategyContract, FindsAllOfASmallSpaceThenGivesNothing) {
  base::ThreadPool pool(2);
  const sketch::SpaceGenerator space(tensor::MatmulWorkload(2, 2, 1), SimulatedTarget());
  HashSet all;
  base::RandomStream random(11);
  DrawUnknown(space, 1 << 20, all, random, pool);
  ASSERT_GT(all.size(), 3u);
  ASSERT_LT(all.size(), 5000u);
  const auto strategy = Make(space, pool);
  std::set<uint64_t> found;
  while (true) {
    const std::vector<sketch::Candidate> batch = strategy->GenerateCandidates(64);
    for (const sketch::Candidate& c : batch) found.insert(c.hash);
    if (batch.size() < 64) break;
  }
  EXPECT_GE(found.size(), all.size() * 99 / 100);
  EXPECT_LE(strategy->GenerateCandidates(64).size(), all.size() / 100);
}

}  // namespace bayloom::strategy
