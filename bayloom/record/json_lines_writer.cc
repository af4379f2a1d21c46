// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <cerrno>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <system_error>

#include "bayloom/base/base64.h"
#include "bayloom/base/json.h"
#include "bayloom/base/system_error.h"
#include "bayloom/record/json_lines.h"
#include "bayloom/record/json_text.h"
#include "bayloom/target/target_json.h"

namespace bayloom::record {
namespace {

using Json = nlohmann::json;

/// {"space": ..., "trace": ...} of a trial of a schedule; null for any other candidate.
Json ScheduleOf(const StoredTrial& trial) {
  if (trial.key == 0 || trial.task == 0) return nullptr;
  Json json = base::ParseJsonOrDiscard(trial.candidate);
  const bool is_schedule = json.is_object() && json.size() == 2 && json.contains("trace") &&
                           json.contains("space") && json["space"].is_number_integer() &&
                           json.dump() == trial.candidate;
  return is_schedule ? json : Json();
}

Json DetailsOf(const trial::Outcome& outcome) {
  Json details = Json::object();
  for (const trial::NamedValue& value : outcome.values) {
    details[value.name] = RealToJson(value.value);
  }
  return details;
}

}  // namespace

/// Writes all that a store holds; see ExportJsonLines.
class JsonLinesWriter {
 public:
  JsonLinesWriter(Store& store, std::ostream& out) : store_(store), out_(out) {}

  void WriteAll() {
    const std::lock_guard lock(store_.mutex_);
    const Transaction snapshot(store_.database_, Transaction::Kind::kRead);
    Write({{"type", "header"}, {"format", kJsonLinesFormat}, {"version", kJsonLinesVersion}});
    WriteTargets();
    WriteTasks();
    WritePools();
    WriteSamples();
    WriteModels();
    const std::vector<RunRecord> runs = store_.Runs();
    for (const RunRecord& run : runs) WriteRun(run);
    for (const RunRecord& run : runs) WriteRepeats(run);
  }

 private:
  void Write(const Json& json) {
    errno = 0;
    out_ << json.dump() << '\n';
    if (out_) return;
    const int error = errno != 0 ? errno : EIO;
    throw SystemError("cannot write the records: " + std::generic_category().message(error));
  }

  void WriteTargets() {
    for (const TargetId id : store_.Targets()) {
      const target::Target target = store_.TargetOf(id);
      targets_[id] = HashToHex(target::HashOf(target));
      Json json = {
          {"type", "target"}, {"hash", targets_[id]}, {"target", target::TargetToJson(target)}};
      if (const std::optional<std::string> machine = store_.MachineOf(id)) {
        json["machine"] = EmbedJson(*machine);
      }
      Write(json);
    }
  }

  void WriteTasks() {
    for (const TaskRecord& task : store_.Tasks()) {
      tasks_[task.id] = HashToHex(task.workload_hash);
      Write({{"type", "task"}, {"hash", tasks_[task.id]}, {"workload", EmbedJson(task.workload)}});
    }
  }

  void WritePools() {
    Rows groups =
        store_.database_.Prepared("SELECT name, task, weight FROM pool_groups ORDER BY name, task")
            .Start();
    while (groups.Step()) {
      Write({{"type", "pool_group"},
             {"name", TextToJson(groups.Text(0))},
             {"task", tasks_[groups.Int(1)]},
             {"weight", RealToJson(groups.Real(2))}});
    }
    Rows chunks = store_.database_
                      .Prepared(
                          "SELECT task, first, count, programs, features FROM pool_chunks"
                          " ORDER BY task, first")
                      .Start();
    while (chunks.Step()) {
      Write({{"type", "pool_chunk"},
             {"task", tasks_[chunks.Int(0)]},
             {"first", chunks.Int(1)},
             {"count", chunks.Int(2)},
             {"programs", base::ToBase64(chunks.Blob(3))},
             {"features", base::ToBase64(chunks.Blob(4))}});
    }
  }

  /// Oldest first, as their order says which are removed first.
  void WriteSamples() {
    Rows rows = store_.database_
                    .Prepared(
                        "SELECT task, target, layout, given, measurements, features FROM samples"
                        " ORDER BY changed, task, target")
                    .Start();
    while (rows.Step()) {
      Write({{"type", "samples"},
             {"task", tasks_[rows.Int(0)]},
             {"target", targets_[rows.Int(1)]},
             {"layout", HashToHex(rows.Hash(2))},
             {"given", rows.Int(3)},
             {"measurements", base::ToBase64(rows.Blob(4))},
             {"features", base::ToBase64(rows.Blob(5))}});
    }
  }

  void WriteModels() {
    Rows rows = store_.database_
                    .Prepared(
                        "SELECT hash, target, layout, given, trials, tasks, bytes FROM models"
                        " ORDER BY added, hash")
                    .Start();
    while (rows.Step()) {
      Write({{"type", "model"},
             {"hash", HashToHex(rows.Hash(0))},
             {"target", targets_[rows.Int(1)]},
             {"layout", HashToHex(rows.Hash(2))},
             {"given", rows.Int(3)},
             {"trials", rows.Int(4)},
             {"tasks", rows.Int(5)},
             {"bytes", base::ToBase64(rows.Blob(6))}});
    }
  }

  void WriteRun(const RunRecord& run) {
    runs_[run.id] = run.uuid;
    Write(RunToJson(run));
    for (const StoredTrial& trial : store_.TrialsOfRun(run.id)) {
      const Json schedule = ScheduleOf(trial);
      Json json = schedule.is_null() ? ConfigurationToJson(trial, run)
                                     : ScheduleTrialToJson(trial, schedule, run);
      if (trial.target != run.target.value_or(0)) json["target"] = targets_[trial.target];
      Write(json);
    }
    for (const Metric& metric : store_.MetricsOf(run.id)) {
      Write({{"type", "metric"},
             {"session", TextToJson(run.uuid)},
             {"task", tasks_[metric.task]},
             {"batch", metric.batch},
             {"name", TextToJson(metric.name)},
             {"value", RealToJson(metric.value)}});
    }
  }

  void WriteRepeats(const RunRecord& run) {
    for (const Repeat& repeat : store_.RepeatsOf(run.id)) {
      const trial::Outcome& outcome = repeat.outcome;
      Json json = {{"type", "repeat"},
                   {"run", TextToJson(run.uuid)},
                   {"after", repeat.after},
                   {"ordinal", repeat.trial},
                   {"round", repeat.round},
                   {"verdict", std::string(trial::ToString(outcome.verdict))},
                   {"value", RealToJson(outcome.value)},
                   {"reason", TextToJson(outcome.reason)},
                   {"details", DetailsOf(outcome)},
                   {"timestamp", repeat.timestamp}};
      if (repeat.task != 0) json["task"] = tasks_[repeat.task];
      if (repeat.target != 0) json["target"] = targets_[repeat.target];
      if (repeat.trial_run != 0) json["of"] = TextToJson(runs_[repeat.trial_run]);
      Write(json);
    }
  }

  /// A session or a search, which call some of what they have by other names.
  Json RunToJson(const RunRecord& run) {
    const bool is_session = HasTasks(run);
    Json json = {{"type", is_session ? "session" : "search"},
                 {"kind", std::string(ToString(run.kind))},
                 {"uuid", TextToJson(run.uuid)},
                 {"target", targets_[run.target.value_or(0)]},
                 {"objective", TextToJson(run.objective)},
                 {"maximize", run.maximize},
                 {"seed", run.seed},
                 {"started", run.started},
                 {"finished", run.finished},
                 {"state", TextToJson(run.state)}};
    json[is_session ? "model" : "name"] = TextToJson(run.name);
    json[is_session ? "proposer" : "optimizer"] = TextToJson(run.proposer);
    json[is_session ? "options" : "scenario"] =
        is_session ? EmbedJson(run.definition) : TextToJson(run.definition);
    return json;
  }

  Json ScheduleTrialToJson(const StoredTrial& trial, const Json& schedule, const RunRecord& run) {
    const trial::Outcome& outcome = trial.outcome;
    return {{"type", "trial"},
            {"session", TextToJson(run.uuid)},
            {"task", tasks_[trial.task]},
            {"ordinal", trial.ordinal},
            {"strategy", TextToJson(trial.proposer)},
            {"space", schedule["space"]},
            {"trace", schedule["trace"]},
            {"program", HashToHex(trial.key)},
            {"verdict", std::string(trial::ToString(outcome.verdict))},
            {"seconds", RealToJson(outcome.value)},
            {"spread", RealToJson(outcome.Get("spread", 0))},
            {"cut_short", outcome.Get("cut_short", 0) != 0},
            {"drift", RealToJson(outcome.Get("drift", 1))},
            {"reason", TextToJson(outcome.reason)},
            {"build_seconds", RealToJson(outcome.Get("build_seconds", 0))},
            {"measure_seconds", RealToJson(outcome.Get("measure_seconds", 0))},
            {"details", DetailsOf(outcome)},
            {"elapsed", RealToJson(trial.elapsed)},
            {"timestamp", trial.timestamp}};
  }

  Json ConfigurationToJson(const StoredTrial& trial, const RunRecord& run) {
    const trial::Outcome& outcome = trial.outcome;
    Json json = {{"type", "search_trial"},
                 {"search", TextToJson(run.uuid)},
                 {"ordinal", trial.ordinal},
                 {"configuration", EmbedJson(trial.candidate)},
                 {"proposer", TextToJson(trial.proposer)},
                 {"verdict", std::string(trial::ToString(outcome.verdict))},
                 {"value", RealToJson(outcome.value)},
                 {"reason", TextToJson(outcome.reason)},
                 {"build_seconds", RealToJson(outcome.Get("build_seconds", 0))},
                 {"measure_seconds", RealToJson(outcome.Get("measure_seconds", 0))},
                 {"details", DetailsOf(outcome)},
                 {"elapsed", RealToJson(trial.elapsed)},
                 {"timestamp", trial.timestamp}};
    if (trial.key != 0) json["key"] = HashToHex(trial.key);
    if (trial.task != 0) json["task"] = tasks_[trial.task];
    return json;
  }

  Store& store_;
  std::ostream& out_;
  std::map<TargetId, std::string> targets_;  ///< hashes; empty for 0
  std::map<TaskId, std::string> tasks_;
  std::map<RunId, std::string> runs_;
};

void ExportJsonLines(Store& store, std::ostream& out) { JsonLinesWriter(store, out).WriteAll(); }

}  // namespace bayloom::record
