// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Lines of records that are imported.

#include <cstdio>
#include <memory>
#include <sstream>

#include "bayloom/record/json_lines.h"
#include "bayloom/record/program_pool.h"
#include "tests/fuzz/reader.h"
#include "tests/record/sample.h"

namespace bayloom::fuzz {
namespace {

void Remove(const std::string& path) {
  for (const char* end : {"", "-wal", "-shm"}) std::remove((path + end).c_str());
}

}  // namespace

std::vector<std::string> Seeds() {
  const std::string path = ScratchPath() + "/seed.db";
  Remove(path);
  record::Store store(path);
  const record::Context context(store);
  store.SetMachine(context.target, R"({"lanes":8})");
  for (int i = 0; i < 2; ++i) store.AddTrial(record::MakeTrial(context, i, 0.1 / (i + 3)));
  const record::RunId search = store.BeginRun(record::SampleSearch("flags")).id;
  store.AddTrial(record::MakeConfiguration(search, 0, 0.1));
  store.SaveState(context.run, R"({"slots":[[1,2,0]]})",
                  std::vector<record::Metric>{{context.task, 0, "rmse", 0.1}});
  record::PoolProgram program;
  program.hash = 7;
  program.trace = "[1]";
  record::ProgramPool pool(path);
  pool.PutIntoGroup("g", context.task, 2);
  pool.Add(context.task, std::vector<record::PoolProgram>{program});
  std::ostringstream out;
  record::ExportJsonLines(store, out);
  return {out.str()};
}

void Read(const std::string& input) {
  // A refused import leaves the store as it was.
  static std::unique_ptr<record::Store> store;
  const std::string path = ScratchPath() + "/import.db";
  if (!store) {
    Remove(path);
    store = std::make_unique<record::Store>(path);
  }
  std::istringstream in(input);
  record::ImportJsonLines(*store, in, "records.jsonl");
  std::ostringstream out;
  record::ExportJsonLines(*store, out);
  store.reset();
}

std::optional<std::string> MutateStructure(const std::string&, base::RandomStream&) {
  return std::nullopt;
}

}  // namespace bayloom::fuzz
