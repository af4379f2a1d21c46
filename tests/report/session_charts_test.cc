// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/session_charts.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bayloom/base/result.h"
#include "tests/record/sample.h"
#include "tests/temporary_folder.h"

namespace bayloom::report {
namespace {

using Points = std::vector<std::pair<double, double>>;

TEST(SessionCharts, ConvergenceRisesToOneAndSkipsWhatFailed) {
  TemporaryFolder folder;
  record::Store store(folder / "a.db");
  const record::Context context(store);
  const double seconds[] = {NAN, 0.008, 0.016, 0.002, 0.004};
  for (int i = 0; i < 5; ++i) {
    record::StoredTrial trial = record::MakeTrial(context, i, seconds[i]);
    if (i == 0) trial.outcome = trial::Outcome::Infeasible(trial::Verdict::kCrash, "signal 11");
    ASSERT_TRUE(store.AddTrial(trial));
  }
  const LineChart chart = ConvergenceChart(store, context.run);
  ASSERT_EQ(chart.series.size(), 1u);
  EXPECT_EQ(chart.series[0].name, "matmul 4x8 over 16");
  EXPECT_EQ(chart.series[0].points, (Points{{2, 0.25}, {4, 1}, {5, 1}}));
  EXPECT_TRUE(chart.series[0].steps);
}

TEST(SessionCharts, ModelQualityFollowsTheRecordedMetrics) {
  TemporaryFolder folder;
  record::Store store(folder / "a.db");
  const record::Context context(store);
  for (int batch = 0; batch < 2; ++batch) {
    store.SaveState(context.run, "state",
                    std::vector<record::Metric>{{context.task, batch, "rmse", 0.4 - 0.1 * batch},
                                                {context.task, batch, "training_samples", 64.0}});
  }
  const LineChart chart = ModelQualityChart(store, context.run);
  ASSERT_EQ(chart.series.size(), 1u);
  EXPECT_EQ(chart.series[0].name, "root mean squared error");
  EXPECT_EQ(chart.series[0].points, (Points{{0, 0.4}, {1, 0.4 - 0.1}}));
}

TEST(SessionCharts, UnknownRunsAreRefused) {
  TemporaryFolder folder;
  record::Store store(folder / "a.db");
  EXPECT_THROW(ConvergenceChart(store, 7), InputError);
  EXPECT_THROW(ModelQualityChart(store, 7), InputError);
}

}  // namespace
}  // namespace bayloom::report
