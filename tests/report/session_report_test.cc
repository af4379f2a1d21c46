// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/session_report.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "bayloom/base/result.h"
#include "bayloom/tuning/session_state.h"
#include "tests/record/sample.h"
#include "tests/temporary_folder.h"

namespace bayloom::report {
namespace {

/// Five trials of one task that the whole runs three times: two slots and a cut-off one.
class SessionReportTest : public testing::Test {
 protected:
  SessionReportTest() {
    const double seconds[] = {NAN, 0.008, 0.016, 0.002, 0.004};
    const double ends[] = {9.5, 10.5, 12, 13, 14};
    for (int i = 0; i < 5; ++i) {
      record::StoredTrial trial = record::MakeTrial(context_, i, seconds[i]);
      if (i == 0) trial.outcome = trial::Outcome::Infeasible(trial::Verdict::kCrash, "signal 11");
      trial.elapsed = ends[i];
      EXPECT_TRUE(store_.AddTrial(trial));
    }
    tuning::SessionState state;
    state.seconds = 13;
    state.phases.search = 1;
    state.phases.measure = 3;
    state.slots = {{context_.task, 2, 10.5}, {context_.task, 2, 13}};
    state.weights = {{context_.task, 3}};
    store_.SaveState(context_.run, state.ToText(),
                     std::vector<record::Metric>{{context_.task, 0, "rmse", 0.5},
                                                 {context_.task, 0, "spearman", 0.25},
                                                 {context_.task, 0, "pairwise_accuracy", 0.75},
                                                 {context_.task, 0, "top_recall", 1}});
    report_ = ReportOf(store_, context_.run);
  }

  TemporaryFolder folder_;
  record::Store store_{folder_ / "a.db"};
  const record::Context context_{store_};
  std::optional<SessionReport> report_;
};

TEST_F(SessionReportTest, FollowsTheLatencyOfTheWhole) {
  EXPECT_EQ(report_->digest.trials(), 5);
  EXPECT_DOUBLE_EQ(report_->digest.Latency(), 3 * 0.002);
  EXPECT_TRUE(std::isinf(report_->After(1).latency));
  EXPECT_DOUBLE_EQ(report_->After(2).latency, 3 * 0.008);
  EXPECT_DOUBLE_EQ(report_->After(2).seconds, 10.5);
  EXPECT_DOUBLE_EQ(report_->After(3).latency, 3 * 0.008);
  EXPECT_DOUBLE_EQ(report_->After(4).seconds, 13);
  EXPECT_EQ(report_->digest.tasks().at(context_.task).turns, 3);
  EXPECT_EQ(report_->digest.seconds(), 14);
}

TEST_F(SessionReportTest, TellsWhatTheSchedulerChoseAndWhatItBrought) {
  const std::vector<RunDigest::Turn>& turns = report_->digest.turns();
  ASSERT_EQ(turns.size(), 3u);
  EXPECT_EQ(turns[0].end, 10.5);
  EXPECT_TRUE(std::isinf(turns[0].before));
  EXPECT_EQ(turns[1].before, 0.008);
  EXPECT_EQ(turns[1].best, 0.002);
  EXPECT_EQ(turns[2].before, turns[2].best);
  const nlohmann::json slots = TurnTable(*report_).Json();
  EXPECT_TRUE(slots[0]["gain"].is_null());
  EXPECT_DOUBLE_EQ(slots[1]["gain"], 3 * 0.006);
  EXPECT_DOUBLE_EQ(slots[1]["latency"], 3 * 0.002);
}

TEST_F(SessionReportTest, SharesTheTimeOut) {
  const nlohmann::json json = ToJson(*report_);
  EXPECT_EQ(json["phases"]["measure"], 3);
  EXPECT_EQ(json["cost_model"]["rmse"], nlohmann::json({0.5}));
  EXPECT_EQ(json["latency_after"][0], nlohmann::json({1, 9.5, nullptr}));
  EXPECT_EQ(json["slots"].size(), 3u);
  EXPECT_NE(PhaseTable(*report_).Text().find("75.0 %"), std::string::npos);
  EXPECT_NE(ModelTable(*report_).Text().find("0.750"), std::string::npos);
}

TEST_F(SessionReportTest, UnknownRunsAreRefused) { EXPECT_THROW(ReportOf(store_, 7), InputError); }

}  // namespace
}  // namespace bayloom::report
