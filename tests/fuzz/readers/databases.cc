// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Databases of records: pages, and rows as another program may have written them.

#include <sqlite3.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <span>
#include <sstream>
#include <stdexcept>

#include "bayloom/record/json_lines.h"
#include "bayloom/record/program_pool.h"
#include "bayloom/record/sample_store.h"
#include "tests/fuzz/reader.h"
#include "tests/record/random_records.h"
#include "tests/record/sample.h"

namespace bayloom::fuzz {
namespace {

std::string ContentOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void Remove(const std::string& path) {
  for (const char* end : {"", "-wal", "-shm", "-journal"}) std::remove((path + end).c_str());
}

/// Executes SQL on a file, of any content.
void Execute(const std::string& path, const std::string& sql) {
  sqlite3* handle = nullptr;
  sqlite3_open(path.c_str(), &handle);
  sqlite3_exec(handle, "PRAGMA writable_schema = ON; PRAGMA foreign_keys = OFF", nullptr, nullptr,
               nullptr);
  sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr);
  sqlite3_exec(handle, "PRAGMA wal_checkpoint(TRUNCATE)", nullptr, nullptr, nullptr);
  sqlite3_close(handle);
}

constexpr std::array<const char*, 2> kTargets = {"json", "machine"};
constexpr std::array<const char*, 4> kTasks = {"hash", "name", "text", "workload"};
constexpr std::array<const char*, 9> kRuns = {
    "kind", "name", "definition", "target", "objective", "maximize", "seed", "started", "state"};
constexpr std::array<const char*, 10> kTrials = {"ordinal", "task",    "target", "candidate",
                                                 "key",     "verdict", "value",  "reason",
                                                 "details", "elapsed"};
constexpr std::array<const char*, 9> kRepeats = {"after", "task",    "target", "trial_run", "trial",
                                                 "round", "verdict", "value",  "details"};
constexpr std::array<const char*, 3> kSamples = {"given", "measurements", "features"};
constexpr std::array<const char*, 3> kModels = {"given", "trials", "bytes"};
constexpr std::array<const char*, 2> kGroups = {"name", "weight"};
constexpr std::array<const char*, 4> kChunks = {"first", "count", "programs", "features"};

struct Table {
  const char* name;
  std::span<const char* const> columns;
};
const Table kTables[] = {{"targets", kTargets}, {"tasks", kTasks},        {"runs", kRuns},
                         {"trials", kTrials},   {"repeats", kRepeats},    {"samples", kSamples},
                         {"models", kModels},   {"pool_groups", kGroups}, {"pool_chunks", kChunks}};

constexpr const char* kValues[] = {"NULL",
                                   "-1",
                                   "0",
                                   "1e999",
                                   "5e-324",
                                   "9223372036854775807",
                                   "'x'",
                                   "''",
                                   "x'ff00'",
                                   "'{}'",
                                   "'[]'",
                                   "'{\"slots\":[[1,-5,0],[]]}'",
                                   "'[[[[[[[[[['",
                                   "printf('%.*c', 100000, '[')",
                                   "char(27) || '[31m'",
                                   "zeroblob(100)",
                                   "randomblob(20)",
                                   "'{\"space\":\"x\",\"trace\":7}'",
                                   "'{\"name\":1,\"buffers\":{},\"stages\":[1]}'",
                                   "'tune'",
                                   "'search'",
                                   "'ok'",
                                   "3.5"};

template <typename Items>
const auto& OneOf(const Items& items, base::RandomStream& random) {
  return items[static_cast<size_t>(random.UniformInt(static_cast<int64_t>(std::size(items))))];
}

std::vector<record::PoolProgram> Programs() {
  record::PoolProgram program;
  program.hash = 7;
  program.origin = "evolved";
  program.trace = "[1]";
  program.features.rows = 1;
  program.features.values.resize(feature::kFeatureColumns, 0.25f);
  return {program};
}

/// What models learn from: values are finite, and times of programs.
void CheckValue(const trial::Outcome& outcome, record::TargetId target) {
  if (!outcome.ok()) return;
  if (!std::isfinite(outcome.value) || (target != 0 && !trial::IsTime(outcome.value))) {
    throw std::logic_error("a value that cannot be was read");
  }
}

}  // namespace

std::vector<std::string> Seeds() {
  const std::string path = ScratchPath() + "/seed.db";
  {
    record::Store store(path);
    const record::Context context(store);
    store.SetMachine(context.target, R"({"lanes":8})");
    for (int i = 0; i < 3; ++i) store.AddTrial(record::MakeTrial(context, i, 0.1 / (i + 3)));
    const record::RunId search = store.BeginRun(record::SampleSearch("flags")).id;
    store.AddTrial(record::MakeConfiguration(search, 0, 0.1));
    store.SaveState(context.run, R"({"slots":[[1,2,0]]})",
                    std::vector<record::Metric>{{context.task, 0, "rmse", 0.1}});
    store.AddRepeats(std::vector<record::Repeat>{record::MakeRepeat(context, 0, 0, 0.125),
                                                 record::MakeRepeat(context, 1, 0, 0.25)});
    base::RandomStream random(1);
    record::SampleStore samples(path);
    samples.Update(context.task, context.target, [&](record::TaskSamples& kept) {
      kept.samples = record::RandomSamples(random);
      kept.given = std::ssize(kept.samples);
    });
    samples.AddModel(context.target, record::RandomModel(random));
    record::ProgramPool pool(path);
    pool.PutIntoGroup("g", context.task, 2);
    pool.Add(context.task, Programs());
  }
  Execute(path, "PRAGMA journal_mode = DELETE");
  return {ContentOf(path)};
}

void Read(const std::string& input) {
  const std::string path = ScratchPath() + "/read.db";
  Remove(path);
  WriteScratch("read.db", input);
  record::Store store(path);
  for (const record::RunRecord& run : store.Runs()) {
    for (const record::StoredTrial& trial : store.TrialsOfRun(run.id)) {
      CheckValue(trial.outcome, trial.target);
    }
    for (const record::Repeat& repeat : store.RepeatsOf(run.id)) {
      CheckValue(repeat.outcome, repeat.target);
    }
    (void)store.MetricsOf(run.id);
  }
  const std::vector<record::TargetId> targets = store.Targets();
  for (const record::TargetId target : targets) {
    (void)store.TargetOf(target);
    (void)store.MachineOf(target);
  }
  record::SampleStore samples(path);
  record::ProgramPool pool(path);
  (void)pool.Groups();
  for (const record::TaskRecord& task : store.Tasks()) {
    (void)store.WorkloadOf(task.id);
    for (const record::TargetId target : targets) {
      (void)samples.Of(task.id, target);
      (void)samples.LastModel(target);
      for (const record::StoredTrial& best : store.BestOf(task.id, target, 5)) {
        CheckValue(best.outcome, target);
      }
    }
    pool.Visit(task.id, record::ProgramPool::Part::kAll, [](int64_t, auto) {});
  }
  std::ostringstream out;
  record::ExportJsonLines(store, out);
}

std::optional<std::string> MutateStructure(const std::string& input, base::RandomStream& random) {
  const std::string path = ScratchPath() + "/mutate.db";
  Remove(path);
  WriteScratch("mutate.db", input);
  const Table& table = OneOf(kTables, random);
  const std::string column = OneOf(table.columns, random);
  const std::string set = std::string("UPDATE ") + table.name + " SET " + column + " = ";
  Execute(path, set + OneOf(kValues, random) + " WHERE rowid % 2 = 1");
  return ContentOf(path);
}

}  // namespace bayloom::fuzz
