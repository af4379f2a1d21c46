#include "bayloom/record/json_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "bayloom/base/result.h"
#include "bayloom/record/search_records.h"
#include "tests/record/sample.h"
#include "tests/temporary_folder.h"

namespace bayloom {
namespace {

std::string Export(Store& store) {
  std::ostringstream out;
  ExportJsonLines(store, out);
  return out.str();
}

ImportSummary Import(Store& store, const std::string& text) {
  std::istringstream in(text);
  return ImportJsonLines(store, in, "r.jsonl");
}

void Fill(Store& store) {
  const Context context(store);
  for (int i = 0; i < 5; ++i) store.AddTrial(MakeTrial(context, i, 0.1 / (i + 3)));
  Trial crash = MakeTrial(context, 5, NAN);
  crash.outcome = Outcome::Infeasible(Verdict::kCrash, "signal 11 (SIGSEGV) \"while\" running\n");
  store.AddTrial(crash);
  store.SaveBatch(context.session, R"({"rng":[1,2]})",
                  std::vector<Metric>{{context.task, 0, "rmse", 0.1}, {0, 0, "drift", NAN}});
  store.FinishSession(context.session);
}

/// A search with a value and a failure in the store's file.
void FillSearch(Store& store) {
  SearchRecords records(store.path());
  SearchRecord search;
  search.name = "flags";
  search.scenario = "parameters:\n  x: {type: integer, range: [1, 3]}\n";
  search.objective = "seconds";
  search.optimizer = "bayesian";
  search.seed = 18446744073709551615u;
  search = records.Begin(search);
  ConfigurationTrial trial;
  trial.search = search.id;
  trial.configuration = R"({"order":[1,0],"x":3})";
  trial.outcome.value = 0.1;
  trial.elapsed = 1.5;
  records.AddTrial(trial);
  trial.ordinal = 1;
  trial.configuration = R"({"order":[0,1],"x":2})";
  trial.outcome = Outcome::Infeasible(Verdict::kTimeout, "took \"too\" long");
  records.AddTrial(trial);
}

TEST(JsonLines, CarriesSearches) {
  TemporaryFolder folder;
  Store source(folder / "a.db"), copy(folder / "b.db");
  Fill(source);
  FillSearch(source);
  FillSearch(copy);
  const std::string text = Export(source);
  EXPECT_EQ(Import(copy, text).added, 8);
  EXPECT_EQ(Import(copy, text).present, 8);
  SearchRecords from(source.path()), to(copy.path());
  ASSERT_EQ(to.Searches().size(), 2u);
  const SearchRecord theirs = from.Searches()[0], ours = to.Searches()[1];
  EXPECT_EQ(ours.uuid, theirs.uuid);
  EXPECT_EQ(ours.scenario, theirs.scenario);
  EXPECT_EQ(ours.seed, theirs.seed);
  EXPECT_EQ(ours.started, theirs.started);
  const std::vector<ConfigurationTrial> trials = to.TrialsOf(ours.id);
  ASSERT_EQ(trials.size(), 2u);
  EXPECT_EQ(trials[0].configuration, R"({"order":[1,0],"x":3})");
  EXPECT_EQ(trials[0].outcome.value, 0.1);
  EXPECT_EQ(trials[0].timestamp, from.TrialsOf(theirs.id)[0].timestamp);
  EXPECT_EQ(trials[1].outcome.verdict, Verdict::kTimeout);
  EXPECT_EQ(trials[1].outcome.reason, "took \"too\" long");
  EXPECT_TRUE(std::isnan(trials[1].outcome.value));
}

TEST(JsonLines, RoundTripIsExact) {
  TemporaryFolder folder;
  Store source(folder / "a.db"), copy(folder / "b.db");
  Fill(source);
  const std::string text = Export(source);
  const ImportSummary summary = Import(copy, text);
  EXPECT_EQ(summary.added, 6);
  EXPECT_EQ(summary.present, 0);
  EXPECT_EQ(Export(copy), text);
  EXPECT_EQ(copy.SessionTrials(1)[2].outcome.value, 0.1 / 5);
  EXPECT_EQ(copy.SessionTrials(1)[2].trace, source.SessionTrials(1)[2].trace);
  EXPECT_EQ(copy.Sessions()[0].state, R"({"rng":[1,2]})");
}

TEST(JsonLines, ImportingTwiceAddsNothing) {
  TemporaryFolder folder;
  Store source(folder / "a.db"), copy(folder / "b.db");
  Fill(source);
  Fill(copy);  // other sessions and tasks are merged with what is there
  Import(copy, Export(source));
  const std::string merged = Export(copy);
  const ImportSummary again = Import(copy, Export(source));
  EXPECT_EQ(again.added, 0);
  EXPECT_EQ(again.present, 6);
  EXPECT_EQ(Export(copy), merged);
  EXPECT_EQ(copy.Sessions().size(), 2u);
  EXPECT_EQ(copy.Tasks().size(), 1u);
}

TEST(JsonLines, ABadLineIsNamedAndNothingIsKept) {
  TemporaryFolder folder;
  Store source(folder / "a.db"), copy(folder / "b.db");
  Fill(source);
  const std::string good = Export(source);
  const auto error = [&](const std::string& text) -> std::string {
    try {
      Import(copy, text);
    } catch (const InputError& e) {
      return e.what();
    }
    return "no error";
  };
  using testing::HasSubstr;
  using testing::StartsWith;
  EXPECT_EQ(error(""), "r.jsonl holds no records");
  EXPECT_THAT(error("{\"type\": \"trial\"}"), StartsWith("r.jsonl line 1: this is not a file of"));
  EXPECT_THAT(error(good.substr(0, good.size() - 5)), StartsWith("r.jsonl line 12: "));
  std::string bad = good;
  bad.replace(bad.find("\"crash\""), 7, "\"crush\"");
  EXPECT_EQ(error(bad), "r.jsonl line 10: unknown verdict 'crush'");
  bad = good;
  bad.erase(0, bad.find('\n') + 1);
  EXPECT_THAT(error(bad), StartsWith("r.jsonl line 1: "));
  bad = good;
  const size_t task = bad.find("{\"hash\"", bad.find("\"target\""));
  bad.erase(task, bad.find('\n', task) - task);
  EXPECT_THAT(error(bad), HasSubstr("is not known from an earlier line"));
  EXPECT_TRUE(copy.Sessions().empty());
  EXPECT_TRUE(copy.Tasks().empty());
}

}  // namespace
}  // namespace bayloom
