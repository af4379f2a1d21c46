// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/explain/explanation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "bayloom/explain/decision_text.h"
#include "bayloom/tuning/restore.h"
#include "bayloom/tuning/zero_trial_program.h"
#include "tests/record/sample.h"
#include "tests/temporary_folder.h"

namespace bayloom::explain {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// The first decision that is a tile of a loop.
int FirstTile(const tensor::Trace& trace) {
  for (int step : trace.SamplingSteps()) {
    if (trace.instructions()[static_cast<size_t>(step)].kind ==
        tensor::InstructionKind::kSamplePerfectTile) {
      return step;
    }
  }
  return -1;
}

double InnermostFactor(const tensor::Trace& trace) {
  const auto& decision = trace.decisions()[static_cast<size_t>(FirstTile(trace))];
  return static_cast<double>(decision->values.back());
}

class ExplanationTest : public testing::Test {
 protected:
  /// The space with most decisions.
  int Space() const {
    int space = 0;
    for (size_t i = 0; i < space_.spaces().size(); ++i) {
      if (space_.spaces()[i].SamplingSteps().size() >
          space_.spaces()[static_cast<size_t>(space)].SamplingSteps().size()) {
        space = static_cast<int>(i);
      }
    }
    return space;
  }

  /// Trials of drawn programs whose times are these.
  void AddTrials(int count, const std::function<double(const sketch::Candidate&, int)>& seconds) {
    for (uint64_t seed = 0; added_ < count; ++seed) {
      ASSERT_LT(seed, 100'000u);
      const Result<sketch::Candidate> drawn = space_.Sample(Space(), base::RandomStream(seed));
      if (!drawn) continue;
      record::StoredTrial trial = record::MakeTrial(context_, added_, seconds(*drawn, added_));
      trial.candidate = tuning::CandidateText(*drawn);
      trial.key = drawn->hash;
      added_ += store_.AddTrial(trial) ? 1 : 0;  // not what was drawn before
    }
  }

  Explanation Explained() {
    const std::optional<tuning::MeasuredCandidate> best = tuning::RestoreBest(store_, space_);
    EXPECT_TRUE(best);
    return Explain(store_, context_.task, context_.target, space_, *best);
  }

  TemporaryFolder folder_;
  record::Store store_{folder_ / "a.db"};
  record::Context context_{store_};
  sketch::SpaceGenerator space_{store_.WorkloadOf(context_.task), store_.TargetOf(context_.target)};
  int added_ = 0;
};

TEST_F(ExplanationTest, FindsTheOneDecisionThatTimeDependsOn) {
  AddTrials(200, [](const sketch::Candidate& candidate, int) {
    return 1e-6 * std::pow(2.0, InnermostFactor(candidate.trace));
  });
  const Explanation explanation = Explained();
  EXPECT_EQ(explanation.influences.trials, 200);
  EXPECT_GT(explanation.influences.rank_correlation.value(), 0.8);
  const std::vector<DecisionInfluence>& decisions = explanation.influences.decisions;
  ASSERT_GE(decisions.size(), 2u);
  ASSERT_TRUE(decisions[0].index);
  EXPECT_EQ(decisions[0].step, FirstTile(tuning::RestoreBest(store_, space_)->candidate.trace));
  EXPECT_GT(decisions[0].index->total.value, 0.8);
  EXPECT_GT(decisions[0].learnt->greatest, 1.5);
  for (size_t i = 1; i < decisions.size(); ++i) {
    EXPECT_LT(decisions[i].index->total.value, 0.2) << decisions[i].decision;
  }
  EXPECT_THAT(Sentences(explanation), Contains(HasSubstr(decisions[0].decision)));
}

TEST_F(ExplanationTest, OfTheDefaultProgramItSaysThatItIsThat) {
  AddTrials(60, [](const sketch::Candidate&, int trial) { return 1e-3 + 1e-5 * trial; });
  const sketch::Candidate plain = tuning::DefaultCandidate(space_);
  record::StoredTrial trial = record::MakeTrial(context_, added_, 5e-4);
  trial.candidate = tuning::CandidateText(plain);
  trial.key = plain.hash;
  ASSERT_TRUE(store_.AddTrial(trial));
  const Explanation explanation = Explained();
  EXPECT_TRUE(explanation.is_plain);
  EXPECT_TRUE(explanation.influences.decisions.empty());
  EXPECT_NEAR(*explanation.runner_up->ratio, 2, 1e-9);
  const std::vector<std::string> sentences = Sentences(explanation);
  EXPECT_THAT(sentences, Contains(HasSubstr("It is the default program")));
  EXPECT_THAT(sentences, Not(Contains(HasSubstr("design space"))));
}

TEST_F(ExplanationTest, TimesThatNothingExplainsAreNotExplained) {
  base::RandomStream random(7);
  AddTrials(200, [&](const sketch::Candidate&, int) { return 1e-6 * (1 + random.Uniform()); });
  const Explanation explanation = Explained();
  EXPECT_LT(std::abs(explanation.influences.rank_correlation.value()), 0.3);
  EXPECT_THAT(Sentences(explanation), Contains(HasSubstr("cannot be said: a model of 200 trials")));
}

TEST_F(ExplanationTest, AFewTrialsTeachNothingButTheEstimateIsThere) {
  AddTrials(5, [](const sketch::Candidate&, int i) { return 1e-6 * (i + 1); });
  const Explanation explanation = Explained();
  for (const DecisionInfluence& decision : explanation.influences.decisions) {
    EXPECT_FALSE(decision.index);
    EXPECT_LE(decision.estimated.least, decision.estimated.median);
    EXPECT_LE(decision.estimated.median, decision.estimated.greatest);
  }
  EXPECT_THAT(Sentences(explanation), Contains(HasSubstr("cannot be said from 5 trials")));
}

TEST(Sentences, OfASpaceWithoutDecisionsSayNothingOfAModel) {
  Explanation explanation;
  explanation.influences.trials = 100;
  EXPECT_THAT(Sentences(explanation), Contains("Its design space leaves nothing to decide."));
  EXPECT_THAT(Sentences(explanation), Not(Contains(HasSubstr("cannot be said"))));
}

TEST_F(ExplanationTest, TheRunnerUpDiffersInTheDecisionsThatDiffer) {
  AddTrials(30, [](const sketch::Candidate&, int i) { return 1e-6 * (10 + i); });
  const Explanation explanation = Explained();
  const tensor::Trace best = tuning::RestoreBest(store_, space_)->candidate.trace;
  const std::vector<record::StoredTrial> trials = store_.TrialsOfRun(context_.run);
  size_t second = 1;
  while (trials[second].key == trials[0].key) ++second;
  const tensor::Trace other = tuning::RestoreCandidate(space_, trials[second])->trace;
  size_t differing = 0;
  for (int step : best.SamplingSteps()) {
    const auto place = static_cast<size_t>(step);
    if (best.decisions()[place] == other.decisions()[place]) continue;
    ++differing;
    EXPECT_THAT(explanation.runner_up->differences,
                Contains(HasSubstr(DecisionText(best, step, space_.workload()))));
  }
  EXPECT_GT(differing, 0u);
  EXPECT_EQ(explanation.runner_up->differences.size(), differing);
  EXPECT_DOUBLE_EQ(*explanation.runner_up->ratio,
                   trials[second].outcome.value / trials[0].outcome.value);
}

TEST_F(ExplanationTest, OneMeasuredBesideTheDefaultProgramSaysHowMuchFasterItIs) {
  AddTrials(3, [](const sketch::Candidate&, int i) { return 1e-6 * (i + 1); });
  EXPECT_FALSE(Explained().beside_default.ratio);
  std::vector<record::Repeat> repeats = {record::MakeRepeat(context_, 0, 0, 2e-6),
                                         record::MakeRepeat(context_, 0, 0, 8e-6)};
  repeats[1].trial_run = 0;
  store_.AddRepeats(repeats);
  const Explanation explanation = Explained();
  EXPECT_DOUBLE_EQ(*explanation.beside_default.ratio, 4);
  EXPECT_THAT(Sentences(explanation), Contains(HasSubstr("takes 4.00 times as long")));
}

TEST_F(ExplanationTest, JsonHoldsWhatTheWordsSay) {
  AddTrials(60, [](const sketch::Candidate& candidate, int) {
    return 1e-6 * InnermostFactor(candidate.trace);
  });
  const Explanation explanation = Explained();
  const nlohmann::json json = ToJson(explanation);
  EXPECT_EQ(json["sentences"].get<std::vector<std::string>>(), Sentences(explanation));
  ASSERT_EQ(json["decisions"].size(), explanation.influences.decisions.size());
  for (size_t i = 0; i < json["decisions"].size(); ++i) {
    EXPECT_EQ(json["decisions"][i]["share_with_interactions"],
              explanation.influences.decisions[i].index->total.value);
  }
  EXPECT_EQ(json["trials"], 60);
}

TEST(Differences, NameWhatDiffersByMuchAndNothingElse) {
  const ProgramFacts same{.parallel = 4, .vectorized = 16, .cache_lines = 100};
  EXPECT_THAT(Differences(same, same), ElementsAre());
  ProgramFacts other = same;
  other.vectorized = 0;
  other.cache_lines = 310;
  EXPECT_THAT(Differences(same, other),
              ElementsAre("computes 16 elements in vectors (the other: none)",
                          "touches 3.1 times fewer cache lines"));
  EXPECT_THAT(Differences(other, same), Contains("uses no vectors (the other: 16)"));
  other.vectorized = 16;
  other.cache_lines = 105;
  EXPECT_THAT(Differences(same, other), Not(Contains(HasSubstr("cache"))));
}

}  // namespace
}  // namespace bayloom::explain
