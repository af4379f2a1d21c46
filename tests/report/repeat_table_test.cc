// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/repeat_table.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/record/sample.h"
#include "tests/temporary_folder.h"

namespace bayloom::report {
namespace {

record::Repeat RepeatOf(record::RunId run, int64_t trial, int round, double value) {
  return {.run = run,
          .after = 3,
          .trial_run = run,
          .trial = trial,
          .round = round,
          .outcome = trial::Outcome::Feasible(value)};
}

TEST(RepeatTable, OrdersByTheMedianAndComparesItWithTheTrial) {
  const TemporaryFolder folder;
  record::Store store(folder / "a.db");
  const record::RunId run = store.BeginRun(record::SampleSearch("flags")).id;  // maximizes
  for (int i = 0; i < 3; ++i) store.AddTrial(record::MakeConfiguration(run, i, 10 + i));
  EXPECT_TRUE(RepeatTable(store, store.RunOf(run)).empty());
  // The trial that looked best was lucky.
  std::vector<record::Repeat> repeats;
  const double lucky[] = {6, 3, 9}, steady[] = {11, 10, 12};
  for (int round = 0; round < 3; ++round) {
    repeats.push_back(RepeatOf(run, 2, round, lucky[round]));
    repeats.push_back(RepeatOf(run, 1, round, steady[round]));
  }
  store.AddRepeats(repeats);
  const nlohmann::json rows = RepeatTable(store, store.RunOf(run)).Json();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["trial"], "1");
  EXPECT_EQ(rows[0]["rounds"], 3);
  EXPECT_EQ(rows[0]["once"], 11);
  EXPECT_EQ(rows[0]["repeated"], 11);
  EXPECT_EQ(rows[1]["trial"], "2");
  EXPECT_EQ(rows[1]["repeated"], 6);
  EXPECT_EQ(rows[1]["ratio"], 0.5);
}

TEST(RepeatTable, AFailedRepeatCountsAsARoundWithoutAValue) {
  const TemporaryFolder folder;
  record::Store store(folder / "a.db");
  const record::RunId run = store.BeginRun(record::SampleSearch("flags")).id;
  store.AddTrial(record::MakeConfiguration(run, 0, 4));
  record::Repeat failed = RepeatOf(run, 0, 0, 0);
  failed.outcome = trial::Outcome::Infeasible(trial::Verdict::kCrash, "exit code 1");
  store.AddRepeats(std::vector<record::Repeat>{failed, RepeatOf(run, 0, 1, 5)});
  const nlohmann::json rows = RepeatTable(store, store.RunOf(run)).Json();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["rounds"], 2);
  EXPECT_EQ(rows[0]["repeated"], 5);
}

}  // namespace
}  // namespace bayloom::report
