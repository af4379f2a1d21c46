// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/page/page_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "bayloom/base/single_line.h"
#include "bayloom/mapspace/mapping_json.h"
#include "bayloom/mapspace/timeloop_yaml.h"
#include "bayloom/record/machine_failures.h"
#include "bayloom/sketch/design_space.h"
#include "bayloom/tuning/restore.h"
#include "bayloom/tuning/session_state.h"
#include "bayloom/tuning/zero_trial_program.h"
#include "tests/page/page_sample.h"
#include "tests/temporary_folder.h"

namespace bayloom::page {
namespace {

using Json = nlohmann::json;

class PageReaderTest : public testing::Test {
 protected:
  Json Whole() {
    PageReader reader(store_, "a.db");
    EXPECT_TRUE(reader.Refresh());
    return reader.Since({});
  }

  /// A program of the design spaces of the task, as a trial.
  record::StoredTrial ProgramTrial(const record::Context& context,
                                   const sketch::SpaceGenerator& space, int64_t ordinal,
                                   double seconds) {
    Result<sketch::Candidate> candidate = Error{""};
    for (uint64_t seed = 0; !candidate; ++seed) {
      candidate = space.Sample(0, base::RandomStream(100 * seed + static_cast<uint64_t>(ordinal)));
    }
    record::StoredTrial trial = record::MakeTrial(context, ordinal, seconds);
    trial.candidate = tuning::CandidateText(*candidate);
    trial.key = candidate->hash;
    return trial;
  }

  TemporaryFolder folder_;
  record::Store store_{folder_ / "a.db"};
};

TEST_F(PageReaderTest, AnEmptyDatabaseHasEmptyLists) {
  const Json document = Whole();
  for (const char* list : {"targets", "tasks", "runs", "learning", "programs", "searches",
                           "mappings", "pools", "trials"}) {
    EXPECT_EQ(document.at(list), Json::array()) << list;
  }
  EXPECT_EQ(document.at("database"), "a.db");
}

TEST_F(PageReaderTest, HasEveryTrialOfASearchAndItsBest) {
  const record::RunId run = store_.BeginRun(record::SampleSearch("flags")).id;
  for (int i = 0; i < 9; ++i) {
    record::StoredTrial trial = record::MakeConfiguration(run, i, i == 4 ? 8.5 : i);
    trial.candidate = R"({"x":)" + std::to_string(i + 1) + "}";
    if (i % 3 == 0) trial.outcome = trial::Outcome::Infeasible(trial::Verdict::kTimeout, "10 s");
    trial.outcome.Set("energy", 1234567.0 + i);
    store_.AddTrial(trial);
  }
  const Json document = Whole();
  const std::vector<Json> rows = RowsOf(document);
  ASSERT_EQ(rows.size(), 9u);
  const std::vector<record::StoredTrial> stored = store_.TrialsOfRun(run);
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i]["trial"], stored[i].ordinal);
    EXPECT_EQ(rows[i]["value"], stored[i].outcome.ok() ? Json(stored[i].outcome.value) : Json());
    EXPECT_EQ(rows[i]["verdict"], std::string(trial::ToString(stored[i].outcome.verdict)));
    EXPECT_EQ(rows[i]["reason"], stored[i].outcome.reason);
    EXPECT_EQ(rows[i]["parameters"], Json::parse(stored[i].candidate));
    EXPECT_EQ(rows[i]["details"]["energy"], 1235000);  // four digits
  }
  const Json shown = ItemOf(document, "runs", run);
  EXPECT_EQ(shown["best"]["trial"], 4);  // it maximizes
  EXPECT_EQ(shown["best"]["value"], 8.5);
  EXPECT_EQ(shown["best"]["candidate"], (Json{{"x", 5}}));
  EXPECT_EQ(shown["first"]["trial"], 1);
  EXPECT_EQ(shown["failures"], (Json{{"timeout", 3}}));
  EXPECT_EQ(shown["seed"], "18446744073709551615");
  const Json search = ItemOf(document, "searches", run);
  EXPECT_EQ(search["parameters"][0]["name"], "x");
  EXPECT_EQ(search["parameters"][0]["values"], Json({1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(search["objectives"], Json::parse(R"([{"name":"value","goal":"minimize"}])"));
  EXPECT_EQ(search["ranked_trials"], 6);
  EXPECT_EQ(search["importance"][0]["parameter"], "x");
}

TEST_F(PageReaderTest, ASearchOfADamagedScenarioSaysSo) {
  record::RunRecord run = record::SampleSearch("flags");
  run.definition = "parameters: 7";
  const record::RunId id = store_.BeginRun(run).id;
  store_.AddTrial(record::MakeConfiguration(id, 0, 1));
  const Json document = Whole();
  EXPECT_NE(ItemOf(document, "searches", id)["note"], Json());
  EXPECT_EQ(RowsOf(document).size(), 1u);
}

TEST_F(PageReaderTest, ATuningHasItsTasksAndProgramsOfBothKinds) {
  const record::Context context(store_);
  const sketch::SpaceGenerator space(store_.WorkloadOf(context.task),
                                     store_.TargetOf(context.target));
  const double seconds[] = {4e-6, 1e-6, 2e-6, 3e-6};
  for (int i = 0; i < 4; ++i) {
    store_.AddTrial(ProgramTrial(context, space, i, seconds[i]));
  }
  record::StoredTrial rough = ProgramTrial(context, space, 4, 1e-9);
  rough.outcome.Set("cut_short", 1);
  store_.AddTrial(rough);
  tuning::SessionState state;
  state.slots = {{context.task, 5, 1}};
  state.weights = {{context.task, 3}};
  state.phases.measure = 2;
  store_.SaveState(context.run, state.ToText(),
                   std::vector<record::Metric>{{context.task, 0, "rmse", 0.5}});

  Json document = Whole();
  Json run = ItemOf(document, "runs", context.run);
  EXPECT_EQ(run["latency"], 3e-6);
  ASSERT_EQ(run["tasks"].size(), 1u);
  EXPECT_EQ(run["tasks"][0]["best"], 1e-6);
  EXPECT_EQ(run["tasks"][0]["best_trial"], 1);
  EXPECT_EQ(run["tasks"][0]["trials"], 5);
  EXPECT_EQ(run["tasks"][0]["slots"], 1);
  EXPECT_EQ(run["phases"]["measure"], 2);
  EXPECT_EQ(run["gain"]["tasks"], 0);  // nothing was compared
  EXPECT_EQ(ItemOf(document, "learning", context.run)["metrics"]["rmse"], Json({{0, 0.5}}));
  Json program = ItemOf(document, "programs", "1@1");
  EXPECT_EQ(program["measured"]["seconds"], 1e-6);
  EXPECT_EQ(program["measured"]["trial"], 1);
  EXPECT_EQ(program["by_default"]["text"], tensor::Print(tuning::DefaultCandidate(space).program));
  EXPECT_EQ(program["best"]["text"],
            tensor::Print(tuning::RestoreBest(store_, space)->candidate.program));
  EXPECT_GT(program["best"]["code_estimate"].get<double>(), 0);
  EXPECT_EQ(program["best"]["features"]["iterations"], 4 * 8 * 16);
  for (const Json& decision : program["why"]["decisions"]) {
    const Json& redraws = decision["estimated"];
    EXPECT_LE(redraws["least"].get<double>(), redraws["median"].get<double>());
    EXPECT_LE(redraws["median"].get<double>(), redraws["greatest"].get<double>());
  }
  EXPECT_FALSE(program["why"]["sentences"].empty());
  EXPECT_FALSE(program["why"]["decisions"].empty());

  // The best beside the default program, measured again in turns.
  std::vector<record::Repeat> repeats;
  for (int round = 0; round < 3; ++round) {
    repeats.push_back(record::MakeRepeat(context, 1, round, 2e-6));
  }
  repeats.push_back(record::MakeRepeat(context, 0, 0, 8e-6));
  repeats.back().trial_run = 0;
  store_.AddRepeats(repeats);
  document = Whole();
  program = ItemOf(document, "programs", "1@1");
  EXPECT_EQ(program["measured"]["repeats"], 3);
  EXPECT_EQ(program["measured"]["beside_default"], 2e-6);
  EXPECT_EQ(program["measured"]["default_seconds"], 8e-6);
  run = ItemOf(document, "runs", context.run);
  EXPECT_DOUBLE_EQ(run["gain"]["by_default"], 3 * 8e-6);
  EXPECT_DOUBLE_EQ(run["gain"]["tuned"], 3 * 2e-6);
}

TEST_F(PageReaderTest, TilesOfFusedLayersAreCounted) {
  record::RunRecord record;
  record.kind = record::RunKind::kMap;
  record.name = "network fused on chip";
  record.objective = "energy";
  record.definition = Json{{"operators", "conv2d"}, {"architecture", "arch:"}}.dump();
  const record::RunId run = store_.BeginRun(record).id;
  for (int i = 0; i < 3; ++i) store_.AddTrial(record::MakeConfiguration(run, i, 1.0 + i));
  const Json document = Whole();
  const Json shown = ItemOf(document, "runs", run);
  EXPECT_EQ(shown["parts"], "3 tiles of fused layers");
  EXPECT_TRUE(shown["best"].is_null());
  EXPECT_TRUE(document["mappings"].empty());
}

TEST_F(PageReaderTest, AMappingIsLoopsWhoseEnergiesAddUp) {
  const mapspace::Problem problem = mapspace::ParseProblem("matmul:16,16,16");
  const mapspace::Architecture architecture = mapspace::ShippedArchitecture("gemmini");
  const mapspace::Mapping mapping = mapspace::OutermostMapping(problem, architecture);
  record::RunRecord record;
  record.kind = record::RunKind::kMap;
  record.name = "matmul";
  record.objective = "energy";
  record.definition = Json{
      {"problem", mapspace::PrintProblemYaml(problem)},
      {"architecture", mapspace::PrintArchitectureYaml(architecture)},
      {"evaluator",
       "model"}}.dump();
  const record::RunId run = store_.BeginRun(record).id;
  record::StoredTrial trial = record::MakeConfiguration(run, 0, 2.5);
  trial.candidate = mapspace::ToJson(mapping, problem, architecture)["levels"].dump();
  store_.AddTrial(trial);
  const Json document = Whole();
  const Json shown = ItemOf(document, "mappings", run);
  EXPECT_EQ(shown["nest"], mapspace::PrintLoopNest(mapping, problem, architecture));
  const mapspace::Evaluation evaluation =
      mapspace::AnalyticalModel(problem, architecture).Evaluate(mapping);
  EXPECT_EQ(shown["energy_pj"], evaluation.energy_pj);
  double sum = 0;
  for (const Json& level : shown["levels"]) {
    for (const Json& tensor : level["tensors"]) sum += tensor["energy_pj"].get<double>();
  }
  EXPECT_NEAR(sum, evaluation.energy_pj, 1e-6 * evaluation.energy_pj);
  // Outermost first: memory without an end, then buffers that hold at most what they can.
  EXPECT_TRUE(shown["levels"][0]["occupancy"].is_null());
  for (size_t l = 1; l + 1 < shown["levels"].size(); ++l) {
    const Json& level = shown["levels"][l];
    EXPECT_GE(level["occupancy"], 0);
    EXPECT_LE(level["occupancy"], 1);
    // No memory is faster than the roofline says.
    if (!level["words_per_cycle"].is_number()) continue;
    EXPECT_LE(level["words_moved"].get<double>(),
              level["words_per_cycle"].get<double>() * shown["cycles"].get<double>() * (1 + 1e-9));
  }
  EXPECT_EQ(ItemOf(document, "runs", run)["best"]["value"], 2.5);
}

TEST_F(PageReaderTest, IncrementsPutTogetherAreTheWhole) {
  const record::Context context(store_);
  PageReader reader(store_, "a.db", /*id=*/7);
  Json known = Json::object();
  Cursor cursor;
  std::vector<record::RunId> searches;
  size_t chunks = 0;
  for (int step = 0; step < 6; ++step) {
    if (step % 2 == 0) searches.push_back(store_.BeginRun(record::SampleSearch("s")).id);
    for (const record::RunId run : searches) {
      const int64_t next = store_.CountTrials(run);
      record::StoredTrial trial = record::MakeConfiguration(run, next, static_cast<double>(step));
      trial.outcome.Set("of_step_" + std::to_string(step), step);
      if (step == 3) {
        trial.outcome = trial::Outcome::Infeasible(trial::Verdict::kCrash, std::to_string(run));
      }
      store_.AddTrial(trial);
    }
    store_.AddTrial(record::MakeTrial(context, step, 1.0 / (step + 1)));
    if (step == 4) store_.SetFinished(context.run, true);
    const bool with_details = step % 2 == 0;
    ASSERT_TRUE(reader.Refresh(with_details ? std::numeric_limits<double>::infinity() : 0));
    EXPECT_EQ(reader.details_are_current(), with_details);
    ASSERT_TRUE(reader.Knows(cursor) || step == 0);
    const Json news = reader.Since(cursor);
    EXPECT_EQ(RowsOf(news).size(), searches.size() + 1) << "only what is new";
    chunks += news["trials"].size();
    Merge(known, news);
    const auto parsed = Cursor::Parse(news["cursor"].get<std::string>());
    ASSERT_TRUE(parsed);
    EXPECT_EQ(*parsed, reader.Now());
    cursor = *parsed;
  }
  ASSERT_TRUE(reader.Refresh());
  Merge(known, reader.Since(cursor));
  Json whole = Whole();
  EXPECT_GT(chunks, whole["trials"].size());
  const auto in_order = [](std::vector<Json> rows) {
    std::ranges::stable_sort(rows, {}, [](const Json& row) {
      return std::pair(row["run"].get<int64_t>(), row["trial"].get<int64_t>());
    });
    return rows;
  };
  EXPECT_EQ(in_order(RowsOf(known)), in_order(RowsOf(whole)));
  for (Json* document : {&known, &whole}) {
    for (const char* other : {"trials", "written", "cursor"}) document->erase(other);
    // Rankings are of the trials of the time when they were made.
    document->erase("searches");
  }
  EXPECT_EQ(known, whole);
}

/// In the least time, and with a program that changes all the time.
TEST_F(PageReaderTest, ProgramsAreMadeInTurns) {
  record::Context context(store_);
  const record::TaskId tasks[] = {context.task, store_.AddTask(record::Matmul(4, 8, 32)),
                                  store_.AddTask(record::Matmul(4, 8, 64))};
  PageReader reader(store_, "a.db");
  const auto add = [&](record::TaskId task, int64_t ordinal, double seconds) {
    const sketch::SpaceGenerator space(store_.WorkloadOf(task), store_.TargetOf(context.target));
    context.task = task;
    store_.AddTrial(ProgramTrial(context, space, ordinal, seconds));
  };
  for (int i = 0; i < 3; ++i) add(tasks[i], i, 1e-6);
  for (int step = 0; step < 3; ++step) {
    EXPECT_FALSE(reader.details_are_current());
    add(tasks[0], 3 + step, 1e-7 / (step + 1));  // a better program of the first task
    ASSERT_TRUE(reader.Refresh(1e-9));
    const Json programs = reader.Since({})["programs"];
    EXPECT_EQ(programs.size(), step + 1);
  }
  EXPECT_FALSE(reader.details_are_current());  // the first one is old
  ASSERT_TRUE(reader.Refresh(1e-9));
  EXPECT_TRUE(reader.details_are_current());
  EXPECT_EQ(reader.Since({})["programs"], Whole()["programs"]);
}

TEST_F(PageReaderTest, NothingNewIsNothing) {
  const record::RunId run = store_.BeginRun(record::SampleSearch("s")).id;
  store_.AddTrial(record::MakeConfiguration(run, 0, 1));
  PageReader reader(store_, "a.db", 7);
  ASSERT_TRUE(reader.Refresh());
  const Cursor cursor = reader.Now();
  ASSERT_TRUE(reader.Refresh());
  EXPECT_EQ(reader.Now(), cursor);
  const Json news = reader.Since(cursor);
  EXPECT_TRUE(news["runs"].empty());
  EXPECT_TRUE(news["trials"].empty());
  EXPECT_FALSE(PageReader(store_, "a.db", 8).Knows(cursor));
}

TEST_F(PageReaderTest, TellsThatTrialsAreGone) {
  const record::RunId run = store_.BeginRun(record::SampleSearch("s")).id;
  for (int i = 0; i < 3; ++i) {
    record::StoredTrial trial = record::MakeConfiguration(run, i, i);
    if (i == 1) {
      trial.outcome = trial::Outcome::Infeasible(trial::Verdict::kCrash, "Too many open files");
    }
    store_.AddTrial(trial);
  }
  PageReader reader(store_, "a.db");
  ASSERT_TRUE(reader.Refresh());
  ASSERT_EQ(record::RemoveMachineFailures(store_, tuning::StateWithoutTrials), 1);
  EXPECT_FALSE(reader.Refresh());
}

TEST_F(PageReaderTest, TextOfStrangersIsOneLineOfUtf8) {
  const record::RunId run = store_.BeginRun(HostileSearch()).id;
  for (int i = 0; i < 3; ++i) store_.AddTrial(HostileTrial(run, i));
  const Json document = Whole();
  EXPECT_NO_THROW(document.dump());  // it would for what is no UTF-8
  int texts = 0;
  const std::function<void(const Json&)> look = [&](const Json& json) {
    if (json.is_structured()) {
      for (const auto& [name, value] : json.items()) look(value);
    } else if (json.is_string()) {
      const auto& text = json.get_ref<const std::string&>();
      ++texts;
      EXPECT_EQ(text, base::SingleLine(text, 500));
    }
  };
  for (Json item : document["runs"]) {
    item.erase("best");  // candidates are JSON as it was recorded
    item.erase("first");
    look(item);
  }
  look(document["trials"]);
  look(document["searches"]);
  EXPECT_GT(texts, 10);
  EXPECT_THAT(RowsOf(document).at(0)["reason"].get<std::string>(),
              testing::StartsWith("</script><script>alert(1)"));
}

TEST(Cursor, ReadsWhatItWrites) {
  Cursor cursor = {.reader = ~uint64_t{0}, .revision = 12, .next = {{1, 5}, {30, 100000}}};
  EXPECT_EQ(cursor.ToText(), "18446744073709551615.12_1.5_30.100000");
  EXPECT_EQ(Cursor::Parse(cursor.ToText()), cursor);
  EXPECT_EQ(Cursor::Parse(Cursor().ToText()), Cursor());
  for (const char* text : {"", "1", "1.", ".1", "1.2_", "1.2_3", "1.2_3.x", "1.2.3", "x.1", "-1.2",
                           "1.2__3.4", "1.2 ", "99999999999999999999.1"}) {
    EXPECT_FALSE(Cursor::Parse(text)) << text;
  }
  EXPECT_FALSE(Cursor::Parse("1.2" + std::string(100'000, '_')));
}

}  // namespace
}  // namespace bayloom::page
