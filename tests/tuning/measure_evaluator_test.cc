#include "bayloom/tuning/measure_evaluator.h"

#include <gtest/gtest.h>

#include <vector>

#include "bayloom/codegen/host.h"
#include "bayloom/search/fresh_samples.h"
#include "bayloom/tensor/operators.h"

namespace bayloom {
namespace {

MeasureOptions Options() {
  MeasureOptions options;
  options.runner.executable = BAYLOOM_TEST_RUNNER;
  options.timing.min_total_seconds = 1e-3;
  return options;
}

class MeasureEvaluatorTest : public testing::Test {
 protected:
  void SetUp() override {
    ThreadPool pool(1);
    HashSet known;
    RandomStream random(1);
    for (const CandidatePtr& c : DrawUnknown(space_, 20, known, random, pool)) {
      candidates_.push_back(*c);
    }
  }

  Target target_ = HostTarget(1);
  SpaceGenerator space_{MatmulWorkload(16, 16, 16), target_};
  std::vector<Candidate> candidates_;
  Measurer measurer_{target_, Options()};
  MeasureEvaluator evaluator_{measurer_};
};

TEST_F(MeasureEvaluatorTest, ReportsEveryCandidateInOrderWithItsTime) {
  std::vector<int> reported;
  const double compiling = evaluator_.Evaluate(space_.workload(), candidates_,
                                               {.best = nullptr, .stop = [] { return false; }},
                                               [&](int index, const Outcome& outcome) {
                                                 reported.push_back(index);
                                                 ASSERT_TRUE(outcome.ok()) << outcome.reason;
                                                 EXPECT_GT(outcome.value, 0);
                                                 EXPECT_LT(outcome.value, 1);
                                               });
  std::vector<int> all(candidates_.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
  EXPECT_EQ(reported, all);
  EXPECT_GT(compiling, 0);
}

TEST_F(MeasureEvaluatorTest, BeginsNothingMoreOnceAskedToStop) {
  int reported = 0;
  evaluator_.Evaluate(space_.workload(), candidates_,
                      {.best = nullptr, .stop = [&] { return reported > 0; }},
                      [&](int, const Outcome&) { ++reported; });
  EXPECT_GT(reported, 0);
  EXPECT_LT(reported, static_cast<int>(candidates_.size()));
}

TEST_F(MeasureEvaluatorTest, CutsSlowCandidatesShortByTheBestOfAnEarlierRun) {
  MeasuredCandidate best{candidates_[0], {}};
  best.outcome.value = 1e-9;
  int cut = 0;
  evaluator_.Evaluate(space_.workload(), {candidates_.data() + 1, 3},
                      {.best = &best, .stop = [] { return false; }},
                      [&](int, const Outcome& outcome) { cut += outcome.cut_short; });
  EXPECT_EQ(cut, 3);
}

}  // namespace
}  // namespace bayloom
