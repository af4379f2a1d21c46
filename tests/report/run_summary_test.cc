// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/run_summary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "bayloom/base/result.h"
#include "tests/record/sample.h"
#include "tests/temporary_folder.h"

namespace bayloom::report {
namespace {

/// A run that looks for large values, with one failure.
class RunSummaryTest : public testing::Test {
 protected:
  RunSummaryTest() {
    const double values[] = {2, 1, 0, 5, 4};
    for (int i = 0; i < 5; ++i) {
      record::StoredTrial trial = record::MakeConfiguration(run_, i, values[i]);
      trial.elapsed = i + 1;
      if (i == 2) trial.outcome = trial::Outcome::Infeasible(trial::Verdict::kCrash, "exit code 1");
      EXPECT_TRUE(store_.AddTrial(trial));
    }
    summary_ = SummaryOf(store_, run_);
  }

  TemporaryFolder folder_;
  record::Store store_{folder_ / "a.db"};
  const record::RunId run_ = store_.BeginRun(record::SampleSearch("flags")).id;
  RunSummary summary_;
};

TEST_F(RunSummaryTest, KeepsWhatWasBetterThanAllBefore) {
  EXPECT_EQ(summary_.trials, 5);
  EXPECT_EQ(summary_.seconds, 5);
  EXPECT_EQ(FailureText(summary_), "1 crash");
  ASSERT_EQ(summary_.improvements.size(), 2u);
  EXPECT_EQ(summary_.improvements[1].trial, 3);
  EXPECT_EQ(summary_.improvements[1].value, 5);
  EXPECT_EQ(summary_.improvements[1].candidate, R"({"order":[1,0],"x":3})");
}

TEST_F(RunSummaryTest, TilesOfFusedLayersHaveNoBest) {
  record::RunRecord record = record::SampleSearch("network fused on chip");
  record.kind = record::RunKind::kMap;
  record.definition = R"({"operators": "conv2d\n", "architecture": "arch:"})";
  const record::RunId run = store_.BeginRun(record).id;
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(store_.AddTrial(record::MakeConfiguration(run, i, 1.0 + i)));
  }
  const RunSummary summary = SummaryOf(store_, run);
  EXPECT_TRUE(summary.improvements.empty());
  EXPECT_EQ(CountText(summary), "3 tiles of fused layers");
  EXPECT_EQ(ToJson(summary).at("tiles"), 3);
  EXPECT_TRUE(ToJson(summary).at("best").is_null());
  EXPECT_EQ(CountText(summary_), "5 trials");
  EXPECT_FALSE(ToJson(summary_).contains("tiles"));
}

TEST_F(RunSummaryTest, JsonHasTheBestCandidate) {
  const nlohmann::json json = ToJson(summary_);
  EXPECT_EQ(json["kind"], "search");
  EXPECT_EQ(json["goal"], "maximize");
  EXPECT_EQ(json["best"]["candidate"]["x"], 3);
  EXPECT_EQ(json["failures"]["crash"], 1);
}

TEST_F(RunSummaryTest, OfARunWithoutTrialsThereIsNothingToShow) {
  const RunSummary summary = SummaryOf(store_, store_.BeginRun(record::SampleSearch("none")).id);
  EXPECT_TRUE(ToJson(summary)["best"].is_null());
  EXPECT_TRUE(ImprovementTable(summary).empty());
  EXPECT_THROW(SummaryOf(store_, 7), InputError);
}

}  // namespace
}  // namespace bayloom::report
