// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "database.h"

#include <nanobind/stl/string.h>

#include <string>
#include <vector>

#include "bayloom/record/store.h"
#include "outcome.h"

namespace bayloom::python {
namespace {

namespace nb = nanobind;

nb::dict Describe(const record::RunRecord& run) {
  nb::dict shown;
  shown["run"] = run.id;
  shown["kind"] = std::string(record::ToString(run.kind));
  shown["name"] = run.name;
  shown["objective"] = run.objective;
  shown["maximize"] = run.maximize;
  shown["proposer"] = run.proposer;
  shown["seed"] = run.seed;
  shown["started"] = run.started;
  shown["finished"] = run.finished;
  shown["uuid"] = run.uuid;
  shown["definition"] = run.definition;
  return shown;
}

nb::dict Describe(const record::StoredTrial& trial) {
  nb::dict shown = ToPython(trial.outcome);
  shown["run"] = trial.run;
  shown["number"] = trial.ordinal;
  shown["task"] = trial.task;
  shown["candidate"] = trial.candidate;
  shown["proposer"] = trial.proposer;
  shown["elapsed"] = trial.elapsed;
  shown["timestamp"] = trial.timestamp;
  return shown;
}

/// A database as it is on disk, which is not changed.
class Database {
 public:
  explicit Database(const std::string& path) : store_(path, record::Store::Mode::kReadOnly) {}

  nb::list Runs() {
    std::vector<record::RunRecord> runs;
    {
      const nb::gil_scoped_release release;
      runs = store_.Runs();
    }
    nb::list shown;
    for (const record::RunRecord& run : runs) shown.append(Describe(run));
    return shown;
  }

  nb::list Trials(record::RunId run, int64_t first) {
    std::vector<record::StoredTrial> trials;
    {
      const nb::gil_scoped_release release;
      trials = store_.TrialsOfRun(run, first);
    }
    nb::list shown;
    for (const record::StoredTrial& trial : trials) shown.append(Describe(trial));
    return shown;
  }

  nb::dict Tasks() {
    nb::dict names;
    for (const record::TaskRecord& task : store_.Tasks()) names[nb::int_(task.id)] = task.name;
    return names;
  }

 private:
  record::Store store_;
};

}  // namespace

void BindDatabase(nb::module_& module) {
  nb::class_<Database>(module, "Database", "A database, to be read.")
      .def(nb::init<const std::string&>(), nb::arg("path"),
           nb::call_guard<nb::gil_scoped_release>())
      .def("runs", &Database::Runs, "All runs, oldest first.")
      .def("trials", &Database::Trials, nb::arg("run"), nb::arg("first") = 0,
           "The trials of a run in their order.")
      .def("tasks", &Database::Tasks, "The names of the tasks of networks, by number.");
}

}  // namespace bayloom::python
