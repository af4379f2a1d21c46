// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/record/json_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "bayloom/base/hash.h"
#include "bayloom/base/random.h"
#include "bayloom/base/result.h"
#include "bayloom/base/system_error.h"
#include "bayloom/record/program_pool.h"
#include "bayloom/record/sample_store.h"
#include "tests/record/sample.h"
#include "tests/temporary_folder.h"

namespace bayloom::record {
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
  StoredTrial crash = MakeTrial(context, 5, NAN);
  crash.outcome =
      trial::Outcome::Infeasible(trial::Verdict::kCrash, "signal 11 (SIGSEGV) \"while\" running\n");
  store.AddTrial(crash);
  store.SaveState(context.run, R"({"rng":[1,2]})",
                  std::vector<Metric>{{context.task, 0, "rmse", 0.1}, {0, 0, "drift", NAN}});
  store.SetFinished(context.run, true);
  Repeat untuned = MakeRepeat(context, 0, 0, 9);
  untuned.trial_run = 0;
  store.AddRepeats(std::vector<Repeat>{untuned, MakeRepeat(context, 3, 0, 0.125)});
}

/// A search with a value and a failure in the store.
RunId FillSearch(Store& store) {
  const RunId run = store.BeginRun(SampleSearch("flags")).id;
  store.AddTrial(MakeConfiguration(run, 0, 0.1));
  StoredTrial failed = MakeConfiguration(run, 1, NAN);
  failed.outcome = trial::Outcome::Infeasible(trial::Verdict::kTimeout, "took \"too\" long");
  store.AddTrial(failed);
  return run;
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
  ASSERT_EQ(copy.Runs(RunKind::kSearch).size(), 2u);
  const RunRecord theirs = source.Runs(RunKind::kSearch)[0], ours = copy.Runs(RunKind::kSearch)[1];
  EXPECT_EQ(ours.uuid, theirs.uuid);
  EXPECT_EQ(ours.definition, theirs.definition);
  EXPECT_EQ(ours.seed, theirs.seed);
  EXPECT_EQ(ours.started, theirs.started);
  EXPECT_TRUE(ours.maximize);
  const std::vector<StoredTrial> trials = copy.TrialsOfRun(ours.id);
  ASSERT_EQ(trials.size(), 2u);
  EXPECT_EQ(trials[0].candidate, R"({"order":[1,0],"x":0})");
  EXPECT_EQ(trials[0].outcome.value, 0.1);
  EXPECT_EQ(trials[0].timestamp, source.TrialsOfRun(theirs.id)[0].timestamp);
  EXPECT_EQ(trials[1].outcome.verdict, trial::Verdict::kTimeout);
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
  EXPECT_EQ(copy.TrialsOfRun(1)[2].outcome.value, 0.1 / 5);
  EXPECT_EQ(copy.TrialsOfRun(1)[2].candidate, source.TrialsOfRun(1)[2].candidate);
  ASSERT_EQ(copy.RepeatsOf(1).size(), 2u);
  EXPECT_EQ(copy.RepeatsOf(1)[0].trial_run, 0);
  EXPECT_EQ(copy.RepeatsOf(1)[1].trial_run, 1);
  EXPECT_EQ(copy.RepeatsOf(1)[1].outcome.value, 0.125);
  EXPECT_EQ(copy.Runs()[0].state, R"({"rng":[1,2]})");
}

/// Text that a database can hold: JSON or almost, of any encoding.
std::string RandomText(base::RandomStream& random) {
  static const std::string kTexts[] = {"",
                                       "plain",
                                       "null",
                                       "\"quoted\"",
                                       "[1, 2]",
                                       "[1,2]",
                                       "{\"b\":1,\"a\":2}",
                                       "1e5",
                                       "100000",
                                       "1.50",
                                       "-0.0",
                                       "{\"base64\":\"\"}",
                                       "caf\xe9",
                                       "\x1b[31m\n\r\t",
                                       "true",
                                       "{\"a\":1}",
                                       "[[1],0]",
                                       "\xff\xfe",
                                       "{",
                                       "\xc2\x9b 1",
                                       "123456789012345678901234567890"};
  const std::string& text = kTexts[random.UniformInt(std::size(kTexts))];
  return random.UniformInt(8) == 0 ? text + std::string("\0z", 2) : text;
}

double RandomReal(base::RandomStream& random) {
  static const double kReals[] = {NAN, INFINITY, -INFINITY, -0.0, 5e-324, 1.7976931348623157e308};
  return random.UniformInt(2) == 0 ? random.Normal() : kReals[random.UniformInt(std::size(kReals))];
}

trial::Outcome RandomOutcome(base::RandomStream& random) {
  if (random.UniformInt(4) == 0) {
    return trial::Outcome::Infeasible(static_cast<trial::Verdict>(1 + random.UniformInt(6)),
                                      RandomText(random));
  }
  trial::Outcome outcome = trial::Outcome::Feasible(std::exp(20 * random.Normal()));
  // By name, as they are read.
  for (const char* name : {"an energy / pJ", "build_seconds", "cut_short", "drift", "zebra"}) {
    if (random.UniformInt(2) == 0) outcome.Set(name, random.Normal());
  }
  return outcome;
}

std::vector<PoolProgram> RandomPrograms(base::RandomStream& random) {
  std::vector<PoolProgram> programs(1 + random.UniformInt(4));
  for (PoolProgram& program : programs) {
    program.hash = random.Next();
    program.space = static_cast<int>(random.UniformInt(3));
    program.origin = "evolved";
    program.trace = "[" + std::to_string(random.UniformInt(100)) + "]";
    program.features.rows = static_cast<int>(random.UniformInt(3));
    program.features.values.resize(program.features.rows * feature::kFeatureColumns, 0.25f);
  }
  return programs;
}

std::vector<MeasuredSample> RandomSamples(base::RandomStream& random) {
  std::vector<MeasuredSample> samples;
  for (PoolProgram& program : RandomPrograms(random)) {
    samples.push_back(
        {.hash = program.hash,
         .seconds = random.UniformInt(4) == 0 ? std::nullopt : std::optional(random.Uniform() + 1),
         .features = std::move(program.features)});
  }
  return samples;
}

StoredModel RandomModel(base::RandomStream& random) {
  StoredModel model = {.given = 5, .trials = 4, .tasks = 1, .bytes = RandomText(random)};
  model.bytes += std::to_string(random.Next());
  model.hash = base::Hasher().Add(model.bytes).Digest();
  return model;
}

/// Everything a store can hold, drawn at random.
void FillAtRandom(Store& store, base::RandomStream& random) {
  std::vector<TargetId> targets;
  std::vector<TaskId> tasks;
  for (int i = 1; i <= 3; ++i) {
    targets.push_back(store.AddTarget(SampleTarget(i)));
    tasks.push_back(store.AddTask(Matmul(i, 8, 16)));
    if (random.UniformInt(2) == 0) store.SetMachine(targets.back(), R"({"lanes":8,"l1":[1,0.5]})");
  }
  ProgramPool pool(store.path());
  for (int i = 0; i < 6; ++i) {
    pool.PutIntoGroup(RandomText(random), tasks[random.UniformInt(3)], 0.1 * i);
    pool.Add(tasks[random.UniformInt(3)], RandomPrograms(random));
  }
  SampleStore samples(store.path());
  for (const TaskId task : tasks) {
    samples.Update(task, targets[random.UniformInt(3)], [&](TaskSamples& kept) {
      kept.samples = RandomSamples(random);
      kept.given = std::ssize(kept.samples) + static_cast<int64_t>(random.UniformInt(9));
    });
    samples.AddModel(targets[random.UniformInt(3)], RandomModel(random));
  }
  for (int i = 0; i < 8; ++i) {
    RunRecord run = SampleSearch(RandomText(random));
    run.objective = RandomText(random);
    run.proposer = RandomText(random);
    run.kind = static_cast<RunKind>(i % 4);
    run.maximize = random.UniformInt(2) == 0;
    run.seed = random.Next();
    run.state = random.UniformInt(2) == 0 ? R"({"slots":[[1,2]]})" : RandomText(random);
    if (random.UniformInt(2) == 0) run.definition = RandomText(random);
    if (i % 4 < 2 || random.UniformInt(4) == 0) run.target = targets[random.UniformInt(3)];
    run = store.BeginRun(run);
    store.SetFinished(run.id, random.UniformInt(2) == 0);
    const bool is_schedule = i % 4 < 2;
    for (int64_t j = random.UniformInt(6); j > 0; --j) {
      StoredTrial trial = MakeConfiguration(run.id, store.CountTrials(run.id), 1);
      if (is_schedule || random.UniformInt(4) == 0) trial.task = tasks[random.UniformInt(3)];
      if (random.UniformInt(2) == 0) trial.target = targets[random.UniformInt(3)];
      if (is_schedule) trial.candidate = R"({"space":2,"trace":[[0,1],{"x":"y"}]})";
      if (random.UniformInt(3) == 0) trial.candidate = RandomText(random);
      if (is_schedule || random.UniformInt(4) == 0) trial.key = random.Next() | 1;
      trial.proposer = RandomText(random);
      trial.outcome = RandomOutcome(random);
      if (!is_schedule && trial.outcome.ok()) trial.outcome.value = RandomReal(random);
      trial.elapsed = random.Uniform();
      if (trial.key == 0) trial.candidate += std::string(static_cast<size_t>(j), ' ');
      ASSERT_TRUE(store.AddTrial(trial));
    }
    const Repeat repeat = {.run = run.id,
                           .after = store.CountTrials(run.id),
                           .trial_run = run.id,
                           .trial = 0,
                           .round = 1,
                           .outcome = RandomOutcome(random)};
    if (store.CountTrials(run.id) > 0) store.AddRepeats(std::span(&repeat, 1));
    store.SaveState(run.id, run.state,
                    std::vector<Metric>{{tasks[0], i, "rmse", RandomReal(random)},
                                        {0, 1, RandomText(random), RandomReal(random)}});
  }
}

/// An SQL expression of all columns of a row, exact for numbers and bytes, by table.
std::map<std::string, std::string> ColumnsOf(Database& database) {
  std::map<std::string, std::string> tables;
  Rows rows =
      database
          .Prepared(
              "SELECT t.name, group_concat(format('quote(\"%w\")||hex(\"%w\")', c.name, c.name),"
              " '||char(9)||')"
              " FROM sqlite_master AS t, pragma_table_info(t.name) AS c"
              " WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%' GROUP BY t.name")
          .Start();
  while (rows.Step()) tables[rows.Text(0)] = rows.Text(1);
  return tables;
}

/// Every value of every table, by table, so that nothing depends on what an export knows of.
std::map<std::string, std::multiset<std::string>> Contents(const std::string& path) {
  Database database(path, Database::Mode::kReadOnly);
  std::map<std::string, std::multiset<std::string>> contents;
  for (const auto& [table, columns] : ColumnsOf(database)) {
    Rows rows = database.Prepared("SELECT " + columns + " FROM \"" + table + "\"").Start();
    while (rows.Step()) contents[table].insert(rows.Text(0));
  }
  return contents;
}

TEST(JsonLines, EverythingAStoreHoldsMakesTheRoundTrip) {
  base::RandomStream random(5);
  for (int round = 0; round < 20; ++round) {
    TemporaryFolder folder;
    Store source(folder / "a.db"), copy(folder / "b.db");
    FillAtRandom(source, random);
    const std::string text = Export(source);
    Import(copy, text);
    EXPECT_EQ(Export(copy), text);
    const auto contents = Contents(source.path());
    EXPECT_GE(contents.size(), 9u);  // repeats need a trial
    EXPECT_EQ(Contents(copy.path()), contents);
    const ImportSummary again = Import(copy, text);
    EXPECT_EQ(again.added + again.pool_programs + again.samples, 0);
    EXPECT_EQ(Export(copy), text);
  }
}

TEST(JsonLines, PoolsAreMergedProgramByProgram) {
  TemporaryFolder folder;
  base::RandomStream random(6);
  Store source(folder / "a.db"), copy(folder / "b.db");
  std::vector<PoolProgram> programs = RandomPrograms(random);
  while (programs.size() < 3) programs = RandomPrograms(random);
  ProgramPool theirs(source.path()), ours(copy.path());
  copy.AddTask(Matmul(1, 2, 3));
  const TaskId task = source.AddTask(Matmul(4, 8, 16)), same = copy.AddTask(Matmul(4, 8, 16));
  theirs.Add(task, programs);
  theirs.PutIntoGroup("g", task, 2);
  ours.Add(same, std::vector<PoolProgram>{programs[1]});
  ours.PutIntoGroup("g", same, 3);
  EXPECT_EQ(Import(copy, Export(source)).pool_programs, std::ssize(programs) - 1);
  EXPECT_EQ(Import(copy, Export(source)).pool_programs, 0);
  ASSERT_EQ(ours.Count(same), std::ssize(programs));
  const std::vector<PoolProgram> merged = ours.At(same, std::vector<int64_t>{0, 1, 2});
  EXPECT_EQ(merged[0].hash, programs[1].hash);
  EXPECT_EQ(merged[1].hash, programs[0].hash);
  EXPECT_EQ(merged[1].features, programs[0].features);
  EXPECT_EQ(merged[2].trace, programs[2].trace);
  EXPECT_EQ(ours.Groups().at(0).members.at(0).weight, 3);  // what is there stays
}

TEST(JsonLines, SamplesAreMergedProgramByProgram) {
  TemporaryFolder folder;
  base::RandomStream random(6);
  Store source(folder / "a.db"), copy(folder / "b.db");
  std::vector<MeasuredSample> measured = RandomSamples(random);
  while (measured.size() < 3) measured = RandomSamples(random);
  SampleStore theirs(source.path()), ours(copy.path());
  copy.AddTask(Matmul(1, 2, 3));
  copy.AddTarget(SampleTarget(7));
  const TaskId task = source.AddTask(Matmul(4, 8, 16)), same = copy.AddTask(Matmul(4, 8, 16));
  const TargetId target = source.AddTarget(SampleTarget()), here = copy.AddTarget(SampleTarget());
  theirs.Update(task, target, [&](TaskSamples& kept) {
    kept.samples = measured;
    kept.given = 100;
  });
  ours.Update(same, here, [&](TaskSamples& kept) {
    kept.samples = {measured[1]};
    kept.samples[0].seconds = 77;
    kept.given = 1;
  });
  EXPECT_EQ(Import(copy, Export(source)).samples, std::ssize(measured) - 1);
  EXPECT_EQ(Import(copy, Export(source)).samples, 0);
  const TaskSamples merged = ours.Of(same, here);
  EXPECT_EQ(merged.given, 100);
  ASSERT_EQ(merged.samples.size(), measured.size());
  EXPECT_EQ(merged.samples[0].seconds, 77) << "what is there stays";
  EXPECT_EQ(merged.samples[1].hash, measured[0].hash);
  EXPECT_EQ(merged.samples[1].seconds, measured[0].seconds);
  EXPECT_EQ(merged.samples[1].features, measured[0].features);
}

TEST(JsonLines, DamagedSamplesAndModelsAreRefusedAndThoseOfOtherFeaturesLeftOut) {
  TemporaryFolder folder;
  base::RandomStream random(8);
  Store source(folder / "a.db");
  SampleStore samples(source.path());
  samples.Update(source.AddTask(Matmul(4, 8, 16)), source.AddTarget(SampleTarget()),
                 [&](TaskSamples& kept) {
                   kept.samples = RandomSamples(random);
                   kept.given = std::ssize(kept.samples);
                 });
  samples.AddModel(source.AddTarget(SampleTarget()), RandomModel(random));
  const std::string text = Export(source);
  const auto changed = [&](const std::string& member, const std::string& value) {
    return std::regex_replace(text, std::regex("\"" + member + "\":(\"[^\"]*\"|[0-9]+)"),
                              "\"" + member + "\":" + value);
  };
  for (const auto& [member, value] :
       {std::pair{"measurements", "\"AAAA\""}, {"features", "\"AAAA\""}, {"bytes", "\"AAAA\""}}) {
    Store copy(folder / (std::string(member) + ".db"));
    EXPECT_THROW(Import(copy, changed(member, value)), InputError) << member;
    EXPECT_TRUE(copy.Tasks().empty());
  }
  Store other(folder / "other.db");
  EXPECT_EQ(Import(other, changed("layout", "\"0123456789abcdef\"")).samples, 0);
  EXPECT_EQ(SampleStore(other.path()).Bytes(), 0);
  EXPECT_EQ(other.Tasks().size(), 1u);
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
  EXPECT_EQ(copy.Runs().size(), 2u);
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
  EXPECT_THAT(error(good.substr(0, good.size() - 5)), StartsWith("r.jsonl line 14: "));
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
  EXPECT_TRUE(copy.Runs().empty());
  EXPECT_TRUE(copy.Tasks().empty());
}

/// `text` with this member of all lines of this type replaced.
std::string WithMember(const std::string& text, const std::string& type, const std::string& member,
                       const std::string& value) {
  std::string changed;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const size_t at = line.find("\"" + member + "\":");
    if (line.find("\"type\":\"" + type + "\"") != std::string::npos && at != std::string::npos) {
      const size_t begin = at + member.size() + 3;
      line.replace(begin, line.find_first_of(",}", begin) - begin, value);
    }
    changed += line + "\n";
  }
  return changed;
}

TEST(JsonLines, ValuesThatCannotBeAreRefused) {
  TemporaryFolder folder;
  Store source(folder / "a.db"), copy(folder / "b.db");
  Fill(source);
  FillSearch(source);
  const std::string good = Export(source);
  const struct {
    const char *type, *member, *value, *message;
  } kCases[] = {
      {"trial", "seconds", "-1", "a program cannot take -1 seconds"},
      {"trial", "seconds", "0", "a program cannot take 0 seconds"},
      {"trial", "seconds", "null", "a program cannot take nan seconds"},
      {"trial", "ordinal", "-1", "'ordinal' is negative"},
      {"trial", "ordinal", "1e300", "'ordinal' is no whole number"},
      {"trial", "timestamp", "18446744073709551615", "'timestamp' is no whole number"},
      {"trial", "program", "\"xyz\"", "a hash is 16 hexadecimal digits"},
      {"trial", "verdict", "7", "a text is expected"},
      {"session", "seed", "-1", "'seed' is no whole number from 0 on"},
      {"session", "uuid", "\"\"", "'uuid' is empty"},
      {"search", "kind", "\"\\u001b[2J\"", "unknown kind '\\x1b[2J'"},
      {"target", "cores", "0", "a target cannot have a number of threads of 0"},
      {"target", "vector_bytes", "0", "a target cannot have a vector size in bytes of 0"},
  };
  for (const auto& [type, member, value, message] : kCases) {
    const std::string bad = WithMember(good, type, member, value);
    ASSERT_NE(bad, good) << member;
    try {
      Import(copy, bad);
      ADD_FAILURE() << type << " " << member << " " << value;
    } catch (const InputError& e) {
      EXPECT_THAT(e.what(), testing::HasSubstr(message));
      EXPECT_THAT(e.what(), testing::StartsWith("r.jsonl line "));
      EXPECT_THAT(e.what(), testing::Not(testing::HasSubstr("exception")));
    }
  }
}

TEST(JsonLines, DepthIsBounded) {
  TemporaryFolder folder;
  Store copy(folder / "b.db");
  const std::string deep(200'000, '[');
  for (const std::string& text :
       {deep, "{\"type\":\"header\",\"x\":" + deep + std::string(200'000, ']') + "}"}) {
    try {
      Import(copy, text);
      ADD_FAILURE();
    } catch (const InputError& e) {
      EXPECT_STREQ(e.what(), "r.jsonl line 1: it is nested more than 500 deep");
    }
  }
}

/// A stream whose disk is full after so many bytes.
class FullDisk final : public std::streambuf {
 public:
  explicit FullDisk(int64_t bytes) : left_(bytes) {}

 protected:
  int_type overflow(int_type next) override {
    return --left_ < 0 ? traits_type::eof() : traits_type::not_eof(next);
  }

 private:
  int64_t left_;
};

TEST(JsonLines, AnExportThatCannotBeWrittenSaysSo) {
  TemporaryFolder folder;
  Store source(folder / "a.db");
  Fill(source);
  const auto size = std::ssize(Export(source));
  for (const int64_t room : {int64_t{0}, int64_t{100}, size / 2, size - 1}) {
    FullDisk disk(room);
    std::ostream out(&disk);
    EXPECT_THROW(ExportJsonLines(source, out), SystemError);
  }
  FullDisk disk(size);
  std::ostream out(&disk);
  EXPECT_NO_THROW(ExportJsonLines(source, out));
}

}  // namespace
}  // namespace bayloom::record
