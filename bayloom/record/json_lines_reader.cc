// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <istream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <unordered_set>
#include <utility>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/base/system_error.h"
#include "bayloom/record/internal/base64.h"
#include "bayloom/record/json_lines.h"
#include "bayloom/record/json_text.h"
#include "bayloom/record/pool_chunk.h"
#include "bayloom/target/target_json.h"
#include "bayloom/tensor/workload_json.h"

namespace bayloom::record {
namespace {

using Json = nlohmann::json;

template <typename Map>
auto Lookup(const Map& known, const std::string& key, const char* what) {
  const auto found = known.find(key);
  if (found == known.end()) {
    throw std::invalid_argument(fmt::format("{} {} is not known from an earlier line", what, key));
  }
  return found->second;
}

template <typename Value>
Value OrThrow(Result<Value> result) {
  if (!result) throw std::invalid_argument(result.error().message);
  return *std::move(result);
}

/// A named value of a line from before there were `details`; left out where it says nothing.
void ReadNamedValue(const Json& json, const char* name, double ordinary, trial::Outcome& outcome) {
  const auto found = json.find(name);
  if (found == json.end() || found->is_null()) return;
  const double value = found->is_boolean() ? (found->get<bool>() ? 1 : 0) : found->get<double>();
  if (value != ordinary) outcome.Set(name, value);
}

trial::Outcome OutcomeFromJson(const Json& json, const char* value) {
  trial::Outcome outcome;
  const std::string verdict = json.at("verdict").get<std::string>();
  const std::optional<trial::Verdict> parsed = trial::ParseVerdict(verdict);
  if (!parsed) throw std::invalid_argument(fmt::format("unknown verdict '{}'", verdict));
  outcome.verdict = *parsed;
  outcome.value = RealFromJson(json.at(value));
  json.at("reason").get_to(outcome.reason);
  if (json.contains("details")) {
    for (const auto& [name, number] : json["details"].items()) outcome.Set(name, number);
    return outcome;
  }
  ReadNamedValue(json, "spread", 0, outcome);
  ReadNamedValue(json, "cut_short", 0, outcome);
  ReadNamedValue(json, "drift", 1, outcome);
  ReadNamedValue(json, "build_seconds", 0, outcome);
  ReadNamedValue(json, "measure_seconds", 0, outcome);
  return outcome;
}

/// Lines from before there were kinds: what is a search's scenario tells mappings from others.
RunKind KindOfScenario(const std::string& scenario) {
  const Json json = Json::parse(scenario, nullptr, /*allow_exceptions=*/false);
  const bool is_map = json.is_object() && json.contains("problem") &&
                      json.contains("architecture") && json.contains("evaluator");
  return is_map ? RunKind::kMap : RunKind::kSearch;
}

}  // namespace

/// Takes lines one by one; see ImportJsonLines.
class JsonLinesReader {
 public:
  explicit JsonLinesReader(Store& store) : store_(store) {}

  ImportSummary ReadAll(std::istream& in, const std::string& source) {
    const std::lock_guard lock(store_.mutex_);
    Transaction transaction(store_.database_);
    std::string line;
    int64_t number = 0;
    while (std::getline(in, line)) {
      ++number;
      try {
        if (!line.empty()) Read(Json::parse(line));
      } catch (const SystemError&) {
        throw;
      } catch (const std::exception& e) {
        throw InputError(fmt::format("{} line {}: {}", source, number, e.what()));
      }
    }
    if (!header_seen_) throw InputError(fmt::format("{} holds no records", source));
    MarkDatasets();
    transaction.Commit();
    return summary_;
  }

 private:
  /// A run of this import.
  struct Run {
    RunId id = 0;
    TargetId target = 0;
    std::string proposer;
    bool has_kind = true;
  };

  void Read(const Json& json) {
    const std::string type = json.at("type").get<std::string>();
    if (!header_seen_ || type == "header") {
      ReadHeader(json, type);
    } else if (type == "target") {
      ReadTarget(json);
    } else if (type == "task") {
      Result<tensor::Workload> workload = tensor::WorkloadFromJson(json.at("workload"));
      tasks_[json.at("hash").get<std::string>()] = store_.AddTask(OrThrow(std::move(workload)));
    } else if (type == "pool_group") {
      store_.database_
          .Prepared("INSERT OR IGNORE INTO pool_groups (name, task, weight) VALUES (?, ?, ?)")
          .Run(json.at("name").get<std::string>(), TaskOf(json), json.at("weight").get<double>());
    } else if (type == "pool_chunk") {
      ReadPoolChunk(json);
    } else if (type == "session") {
      ReadSession(json);
    } else if (type == "search") {
      ReadSearch(json);
    } else if (type == "trial") {
      ReadScheduleTrial(json);
    } else if (type == "search_trial") {
      ReadConfiguration(json);
    } else if (type == "metric") {
      ReadMetric(json);
    } else {
      throw std::invalid_argument(fmt::format("unknown type '{}'", type));
    }
  }

  void ReadHeader(const Json& json, const std::string& type) {
    if (type != "header" || json.at("format") != kJsonLinesFormat) {
      throw std::invalid_argument(fmt::format("this is not a file of {}", kJsonLinesFormat));
    }
    if (json.at("version") != kJsonLinesVersion) {
      throw std::invalid_argument(fmt::format("its version is {}; this program reads version {}",
                                              json.at("version").dump(), kJsonLinesVersion));
    }
    header_seen_ = true;
  }

  void ReadTarget(const Json& json) {
    const TargetId id = store_.AddTarget(target::TargetFromJson(json.at("target")));
    targets_[json.at("hash").get<std::string>()] = id;
    if (json.contains("machine") && !store_.MachineOf(id)) {
      store_.SetMachine(id, ExtractJson(json["machine"]));
    }
  }

  void ReadSession(const Json& json) {
    RunRecord run;
    json.at("model").get_to(run.name);
    run.definition = ExtractJson(json.at("options"));
    run.objective = json.value("objective", "seconds");
    run.maximize = json.value("maximize", false);
    run.proposer = json.value("proposer", "");
    json.at("state").get_to(run.state);
    ReadRun(json, std::move(run));
  }

  void ReadSearch(const Json& json) {
    RunRecord run;
    json.at("name").get_to(run.name);
    json.at("scenario").get_to(run.definition);
    run.kind = KindOfScenario(run.definition);
    json.at("objective").get_to(run.objective);
    json.at("maximize").get_to(run.maximize);
    json.at("optimizer").get_to(run.proposer);
    run.state = json.value("state", "");
    ReadRun(json, std::move(run));
  }

  /// What all kinds of runs have.
  void ReadRun(const Json& json, RunRecord run) {
    json.at("uuid").get_to(run.uuid);
    json.at("seed").get_to(run.seed);
    json.at("started").get_to(run.started);
    json.at("finished").get_to(run.finished);
    if (json.contains("kind")) {
      const std::string text = json["kind"].get<std::string>();
      const std::optional<RunKind> kind = ParseRunKind(text);
      if (!kind) throw std::invalid_argument(fmt::format("unknown kind '{}'", text));
      run.kind = *kind;
    }
    const TargetId target = Lookup(targets_, json.value("target", ""), "target");
    if (target != 0) run.target = target;
    runs_[run.uuid] = {store_.InsertRun(run), target, run.proposer, json.contains("kind")};
  }

  TaskId TaskOf(const Json& json) { return Lookup(tasks_, json.value("task", ""), "task"); }

  void ReadTrial(const Json& json, const Run& run, StoredTrial trial) {
    trial.run = run.id;
    trial.task = TaskOf(json);
    trial.target =
        json.contains("target") ? Lookup(targets_, json["target"], "target") : run.target;
    json.at("ordinal").get_to(trial.ordinal);
    trial.elapsed = json.value("elapsed", 0.0);
    json.at("timestamp").get_to(trial.timestamp);
    ++(store_.AddTrial(trial) ? summary_.added : summary_.present);
  }

  void ReadScheduleTrial(const Json& json) {
    StoredTrial trial;
    json.at("strategy").get_to(trial.proposer);
    trial.candidate =
        Json{{"space", json.at("space").get<int64_t>()}, {"trace", json.at("trace")}}.dump(
            -1, ' ', false, Json::error_handler_t::replace);
    trial.key = HashFromHex(json.at("program"));
    trial.outcome = OutcomeFromJson(json, "seconds");
    ReadTrial(json, Lookup(runs_, json.at("session"), "session"), std::move(trial));
  }

  void ReadConfiguration(const Json& json) {
    const Run run = Lookup(runs_, json.at("search"), "search");
    StoredTrial trial;
    trial.candidate = ExtractJson(json.at("configuration"));
    trial.proposer = json.value("proposer", run.proposer);
    if (json.contains("key")) trial.key = HashFromHex(json["key"]);
    trial.outcome = OutcomeFromJson(json, "value");
    ReadTrial(json, run, std::move(trial));
  }

  void ReadMetric(const Json& json) {
    Metric metric;
    const Run run = Lookup(runs_, json.at("session"), "session");
    metric.task = TaskOf(json);
    json.at("batch").get_to(metric.batch);
    json.at("name").get_to(metric.name);
    metric.value = RealFromJson(json.at("value"));
    store_.InsertMetric(run.id, metric);
  }

  /// Adds those programs that the task's pool does not have.
  void ReadPoolChunk(const Json& json) {
    const TaskId task = TaskOf(json);
    std::string packed = OrThrow(FromBase64(json.at("programs").get<std::string>()));
    std::string packed_features = OrThrow(FromBase64(json.at("features").get<std::string>()));
    std::vector<PoolProgram> programs = OrThrow(UnpackPrograms(packed));
    std::vector<feature::FeatureMatrix> features = OrThrow(UnpackFeatures(packed_features));
    if (features.size() != programs.size()) {
      throw std::invalid_argument("a chunk has features of other programs");
    }
    std::unordered_set<uint64_t>& known = PoolOf(task);
    const size_t count = programs.size();
    for (size_t i = 0; i < count; ++i) programs[i].features = std::move(features[i]);
    std::erase_if(programs,
                  [&](const PoolProgram& program) { return !known.insert(program.hash).second; });
    if (programs.empty()) return;
    if (programs.size() < count) {
      packed = PackPrograms(programs);
      packed_features = PackFeatures(programs);
    }
    store_.database_
        .Prepared(
            "INSERT INTO pool_chunks (task, first, count, programs, features) VALUES (?1,"
            " (SELECT IFNULL(SUM(count), 0) FROM pool_chunks WHERE task = ?1), ?2, ?3, ?4)")
        .Run(task, std::ssize(programs), BlobView{packed}, BlobView{packed_features});
    summary_.pool_programs += std::ssize(programs);
  }

  /// The programs of a task's pool, by hash.
  std::unordered_set<uint64_t>& PoolOf(TaskId task) {
    const auto [place, is_new] = pools_.try_emplace(task);
    if (!is_new) return place->second;
    Rows rows =
        store_.database_.Prepared("SELECT programs FROM pool_chunks WHERE task = ?").Start(task);
    while (rows.Step()) {
      for (const PoolProgram& program : OrThrow(UnpackPrograms(rows.Blob(0)))) {
        place->second.insert(program.hash);
      }
    }
    return place->second;
  }

  /// Sessions from before there were kinds that hold nothing but measurements of a pool.
  void MarkDatasets() {
    for (const auto& [uuid, run] : runs_) {
      if (run.has_kind) continue;
      store_.database_
          .Prepared(
              "UPDATE runs SET kind = 'dataset' WHERE id = ?1 AND kind = 'tune'"
              " AND EXISTS (SELECT 1 FROM trials WHERE run = ?1)"
              " AND NOT EXISTS (SELECT 1 FROM trials WHERE run = ?1 AND proposer <> 'pool')")
          .Run(run.id);
    }
  }

  Store& store_;
  bool header_seen_ = false;
  std::map<std::string, TargetId> targets_ = {{"", 0}};
  std::map<std::string, TaskId> tasks_ = {{"", 0}};
  std::map<std::string, Run> runs_;
  std::map<TaskId, std::unordered_set<uint64_t>> pools_;
  ImportSummary summary_;
};

ImportSummary ImportJsonLines(Store& store, std::istream& in, const std::string& source) {
  return JsonLinesReader(store).ReadAll(in, source);
}

}  // namespace bayloom::record
