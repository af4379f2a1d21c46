// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/run_summary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

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
    digest_ = DigestOf(store_, run_);
  }

  TemporaryFolder folder_;
  record::Store store_{folder_ / "a.db"};
  const record::RunId run_ = store_.BeginRun(record::SampleSearch("flags")).id;
  std::optional<RunDigest> digest_;
};

TEST_F(RunSummaryTest, KeepsWhatWasBetterThanAllBefore) {
  EXPECT_EQ(digest_->trials(), 5);
  EXPECT_EQ(digest_->seconds(), 5);
  EXPECT_EQ(FailureText(*digest_), "1 crash");
  ASSERT_EQ(digest_->improvements().size(), 2u);
  EXPECT_EQ(digest_->improvements()[1].trial, 3);
  EXPECT_EQ(digest_->improvements()[1].value, 5);
  EXPECT_EQ(digest_->improvements()[1].candidate, R"({"order":[1,0],"x":3})");
}

TEST_F(RunSummaryTest, TilesOfFusedLayersHaveNoBest) {
  record::RunRecord record = record::SampleSearch("network fused on chip");
  record.kind = record::RunKind::kMap;
  record.definition = R"({"operators": "conv2d\n", "architecture": "arch:"})";
  const record::RunId run = store_.BeginRun(record).id;
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(store_.AddTrial(record::MakeConfiguration(run, i, 1.0 + i)));
  }
  const RunDigest digest = DigestOf(store_, run);
  EXPECT_TRUE(digest.improvements().empty());
  EXPECT_EQ(CountText(digest), "3 tiles of fused layers");
  EXPECT_EQ(ToJson(digest).at("tiles"), 3);
  EXPECT_TRUE(ToJson(digest).at("best").is_null());
  EXPECT_EQ(CountText(*digest_), "5 trials");
  EXPECT_FALSE(ToJson(*digest_).contains("tiles"));
}

TEST_F(RunSummaryTest, JsonHasTheBestCandidate) {
  const nlohmann::json json = ToJson(*digest_);
  EXPECT_EQ(json["kind"], "search");
  EXPECT_EQ(json["goal"], "maximize");
  EXPECT_EQ(json["best"]["candidate"]["x"], 3);
  EXPECT_EQ(json["failures"]["crash"], 1);
}

TEST_F(RunSummaryTest, OfARunWithoutTrialsThereIsNothingToShow) {
  const RunDigest digest = DigestOf(store_, store_.BeginRun(record::SampleSearch("none")).id);
  EXPECT_TRUE(ToJson(digest)["best"].is_null());
  EXPECT_TRUE(ImprovementTable(digest).empty());
  EXPECT_THROW(DigestOf(store_, 7), InputError);
}

}  // namespace
}  // namespace bayloom::report
