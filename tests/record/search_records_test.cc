#include "bayloom/record/search_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "bayloom/base/result.h"
#include "bayloom/record/store.h"
#include "tests/temporary_folder.h"

namespace bayloom {
namespace {

SearchRecord Example(const std::string& name) {
  SearchRecord search;
  search.name = name;
  search.scenario = "parameters: {x: {type: integer, range: [1, 4]}}";
  search.objective = "speed";
  search.maximize = true;
  search.optimizer = "bayesian";
  search.seed = ~uint64_t{0};
  return search;
}

ConfigurationTrial Example(SearchId search, int64_t ordinal, double value) {
  ConfigurationTrial trial;
  trial.search = search;
  trial.ordinal = ordinal;
  trial.configuration = "{\"x\":" + std::to_string(ordinal + 1) + "}";
  trial.outcome.value = value;
  trial.elapsed = 0.5 * static_cast<double>(ordinal + 1);
  return trial;
}

TEST(SearchRecords, KeepsSearchesAndTrialsBesideTuningSessions) {
  TemporaryFolder folder;
  const std::string path = folder / "a.db";
  SearchId id = 0;
  {
    SearchRecords records(path);
    id = records.Begin(Example("kernel")).id;
    records.AddTrial(Example(id, 0, 2.5));
    ConfigurationTrial failed = Example(id, 1, 0);
    failed.outcome = Outcome::Infeasible(Verdict::kTimeout, "no answer after 2 s");
    records.AddTrial(failed);
    records.Begin(Example("other"));
    records.SetFinished(id, true);
  }
  EXPECT_TRUE(Store(path).Sessions().empty());
  SearchRecords records(path, Database::Mode::kReadOnly);
  ASSERT_EQ(records.Searches().size(), 2u);
  const std::optional<SearchRecord> last = records.Last("kernel");
  ASSERT_TRUE(last);
  EXPECT_EQ(last->id, id);
  EXPECT_TRUE(last->maximize);
  EXPECT_TRUE(last->finished);
  EXPECT_EQ(last->seed, ~uint64_t{0});
  EXPECT_FALSE(records.Last("nothing"));
  const std::vector<ConfigurationTrial> trials = records.TrialsOf(id);
  ASSERT_EQ(trials.size(), 2u);
  EXPECT_EQ(trials[0].outcome.value, 2.5);
  EXPECT_EQ(trials[0].configuration, "{\"x\":1}");
  EXPECT_EQ(trials[1].outcome.verdict, Verdict::kTimeout);
  EXPECT_TRUE(std::isnan(trials[1].outcome.value));
  EXPECT_EQ(trials[1].outcome.reason, "no answer after 2 s");
  EXPECT_EQ(trials[1].elapsed, 1);
}

TEST(SearchRecords, RefusesASecondTrialOfTheSameNumberOrConfiguration) {
  TemporaryFolder folder;
  SearchRecords records(folder / "a.db");
  const SearchId id = records.Begin(Example("kernel")).id;
  records.AddTrial(Example(id, 0, 1));
  EXPECT_THROW(records.AddTrial(Example(id, 0, 2)), InputError);
  ConfigurationTrial again = Example(id, 0, 2);
  again.ordinal = 1;
  EXPECT_THROW(records.AddTrial(again), InputError);
  EXPECT_EQ(records.TrialsOf(id).size(), 1u);
}

}  // namespace
}  // namespace bayloom
