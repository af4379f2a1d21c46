// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <istream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <unordered_set>
#include <utility>
#include <vector>

#include "bayloom/base/base64.h"
#include "bayloom/base/hash.h"
#include "bayloom/base/json.h"
#include "bayloom/base/read_line.h"
#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"
#include "bayloom/record/json_lines.h"
#include "bayloom/record/json_text.h"
#include "bayloom/record/pool_chunk.h"
#include "bayloom/record/sample_rows.h"
#include "bayloom/target/target_check.h"
#include "bayloom/tensor/workload_json.h"

namespace bayloom::record {
namespace {

using Json = nlohmann::json;

template <typename Map>
auto Lookup(const Map& known, const std::string& key, const char* what) {
  const auto found = known.find(key);
  if (found == known.end()) {
    throw std::invalid_argument(
        fmt::format("{} {} is not known from an earlier line", what, base::SingleLine(key)));
  }
  return found->second;
}

template <typename Value>
Value OrThrow(Result<Value> result) {
  if (!result) throw std::invalid_argument(result.error().message);
  return *std::move(result);
}

/// The member `name` of a line as a whole number; not what a number with a fraction is cut to.
int64_t IntegerOf(const Json& json, const char* name) {
  const Json& number = json.at(name);
  const bool fits = number.is_number_integer() &&
                    (!number.is_number_unsigned() || number.get<uint64_t>() <= uint64_t{INT64_MAX});
  if (!fits) throw std::invalid_argument(fmt::format("'{}' is no whole number", name));
  return number.get<int64_t>();
}

std::string TextOf(const Json& json, const char* name, const std::string& otherwise) {
  return json.contains(name) ? TextFromJson(json[name]) : otherwise;
}

/// A named value of a line from before there were `details`; left out where it says nothing.
void ReadNamedValue(const Json& json, const char* name, double ordinary, trial::Outcome& outcome) {
  const auto found = json.find(name);
  if (found == json.end() || found->is_null()) return;
  const double value = found->is_boolean() ? (found->get<bool>() ? 1 : 0) : RealFromJson(*found);
  if (value != ordinary) outcome.Set(name, value);
}

trial::Outcome OutcomeFromJson(const Json& json, const char* value) {
  trial::Outcome outcome;
  const std::string verdict = TextFromJson(json.at("verdict"));
  const std::optional<trial::Verdict> parsed = trial::ParseVerdict(verdict);
  if (!parsed) {
    throw std::invalid_argument(fmt::format("unknown verdict '{}'", base::SingleLine(verdict)));
  }
  outcome.verdict = *parsed;
  outcome.value = RealFromJson(json.at(value));
  outcome.reason = TextFromJson(json.at("reason"));
  if (json.contains("details")) {
    for (const auto& [name, number] : json["details"].items()) {
      outcome.Set(name, RealFromJson(number));
    }
    return outcome;
  }
  ReadNamedValue(json, "spread", 0, outcome);
  ReadNamedValue(json, "cut_short", 0, outcome);
  ReadNamedValue(json, "drift", 1, outcome);
  ReadNamedValue(json, "build_seconds", 0, outcome);
  ReadNamedValue(json, "measure_seconds", 0, outcome);
  return outcome;
}

/// Of a program: `is_time`.
void CheckValue(const trial::Outcome& outcome, bool is_time) {
  if (!outcome.ok()) return;
  if (is_time && !trial::IsTime(outcome.value)) {
    throw std::invalid_argument(fmt::format("a program cannot take {} seconds", outcome.value));
  }
  if (!std::isfinite(outcome.value)) {
    throw std::invalid_argument(fmt::format("a value cannot be {}", outcome.value));
  }
}

/// Lines from before there were kinds: what is a search's scenario tells mappings from others.
RunKind KindOfScenario(const std::string& scenario) {
  const Json json = base::ParseJsonOrDiscard(scenario);
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
    for (number_ = 1; true; ++number_) {
      try {
        const std::optional<base::Line> line = base::ReadLine(in);
        if (!line) break;
        if (!line->text.empty()) Read(OrThrow(base::ParseJson(line->text)));
      } catch (const Json::exception& e) {
        Refuse(source, base::JsonErrorText(e.what()));
      } catch (const std::invalid_argument& e) {
        Refuse(source, e.what());
      } catch (const InputError& e) {
        Refuse(source, e.what());
      }
    }
    if (!header_seen_) throw InputError(fmt::format("{} holds no records", source));
    MarkDatasets();
    transaction.Commit();
    return summary_;
  }

 private:
  [[noreturn]] void Refuse(const std::string& source, const std::string& reason) const {
    throw InputError(fmt::format("{} line {}: {}", source, number_, reason));
  }

  /// A run of this import.
  struct Run {
    RunId id = 0;
    TargetId target = 0;
    std::string proposer;
    bool has_kind = true;
  };

  void Read(const Json& json) {
    const std::string type = TextFromJson(json.at("type"));
    if (!header_seen_ || type == "header") {
      ReadHeader(json, type);
    } else if (type == "target") {
      ReadTarget(json);
    } else if (type == "task") {
      const Json& workload = json.at("workload");
      tasks_[TextFromJson(json.at("hash"))] = store_.AddTask(OrThrow(tensor::WorkloadFromJson(
          workload.is_string() ? base::ParseJsonOrDiscard(workload.get_ref<const std::string&>())
                               : workload)));
    } else if (type == "pool_group") {
      store_.database_
          .Prepared("INSERT OR IGNORE INTO pool_groups (name, task, weight) VALUES (?, ?, ?)")
          .Run(TextFromJson(json.at("name")), TaskOf(json), RealFromJson(json.at("weight")));
    } else if (type == "pool_chunk") {
      ReadPoolChunk(json);
    } else if (type == "samples") {
      ReadSampleSet(json);
    } else if (type == "model") {
      ReadModel(json);
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
    } else if (type == "repeat") {
      ReadRepeat(json);
    } else {
      throw std::invalid_argument(fmt::format("unknown type '{}'", base::SingleLine(type)));
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
    const target::Target target = OrThrow(target::CheckedTarget(json.at("target")));
    const TargetId id = store_.AddTarget(target);
    targets_[TextFromJson(json.at("hash"))] = id;
    if (json.contains("machine") && !store_.MachineOf(id)) {
      store_.SetMachine(id, ExtractJson(json["machine"]));
    }
  }

  void ReadSession(const Json& json) {
    RunRecord run;
    run.name = TextFromJson(json.at("model"));
    run.definition = ExtractJson(json.at("options"));
    run.objective = TextOf(json, "objective", "seconds");
    run.maximize = json.value("maximize", false);
    run.proposer = TextOf(json, "proposer", "");
    run.state = TextFromJson(json.at("state"));
    ReadRun(json, std::move(run));
  }

  void ReadSearch(const Json& json) {
    RunRecord run;
    run.name = TextFromJson(json.at("name"));
    run.definition = TextFromJson(json.at("scenario"));
    run.kind = KindOfScenario(run.definition);
    run.objective = TextFromJson(json.at("objective"));
    json.at("maximize").get_to(run.maximize);
    run.proposer = TextFromJson(json.at("optimizer"));
    run.state = TextOf(json, "state", "");
    ReadRun(json, std::move(run));
  }

  /// What all kinds of runs have.
  void ReadRun(const Json& json, RunRecord run) {
    run.uuid = TextFromJson(json.at("uuid"));
    if (run.uuid.empty()) throw std::invalid_argument("'uuid' is empty");
    if (!json.at("seed").is_number_unsigned()) {
      throw std::invalid_argument("'seed' is no whole number from 0 on");
    }
    json["seed"].get_to(run.seed);
    run.started = IntegerOf(json, "started");
    json.at("finished").get_to(run.finished);
    if (json.contains("kind")) {
      const std::string text = TextFromJson(json["kind"]);
      const std::optional<RunKind> kind = ParseRunKind(text);
      if (!kind) {
        throw std::invalid_argument(fmt::format("unknown kind '{}'", base::SingleLine(text)));
      }
      run.kind = *kind;
    }
    const TargetId target = Lookup(targets_, TextOf(json, "target", ""), "target");
    if (target != 0) run.target = target;
    runs_[run.uuid] = {store_.InsertRun(run), target, run.proposer, json.contains("kind")};
  }

  TaskId TaskOf(const Json& json) { return Lookup(tasks_, TextOf(json, "task", ""), "task"); }

  Run RunOf(const Json& json, const char* name) {
    return Lookup(runs_, TextFromJson(json.at(name)), name);
  }

  void ReadTrial(const Json& json, const Run& run, StoredTrial trial) {
    trial.run = run.id;
    trial.task = TaskOf(json);
    trial.target = json.contains("target")
                       ? Lookup(targets_, TextFromJson(json["target"]), "target")
                       : run.target;
    trial.ordinal = IntegerOf(json, "ordinal");
    if (trial.ordinal < 0) throw std::invalid_argument("'ordinal' is negative");
    if (json.contains("elapsed")) trial.elapsed = RealFromJson(json["elapsed"]);
    trial.timestamp = IntegerOf(json, "timestamp");
    ++(store_.AddTrial(trial) ? summary_.added : summary_.present);
  }

  void ReadScheduleTrial(const Json& json) {
    StoredTrial trial;
    trial.proposer = TextFromJson(json.at("strategy"));
    trial.candidate = Json{{"space", IntegerOf(json, "space")}, {"trace", json.at("trace")}}.dump();
    trial.key = HashFromHex(json.at("program"));
    trial.outcome = OutcomeFromJson(json, "seconds");
    CheckValue(trial.outcome, /*is_time=*/true);
    ReadTrial(json, RunOf(json, "session"), std::move(trial));
  }

  void ReadConfiguration(const Json& json) {
    const Run run = RunOf(json, "search");
    StoredTrial trial;
    trial.candidate = ExtractJson(json.at("configuration"));
    trial.proposer = TextOf(json, "proposer", run.proposer);
    if (json.contains("key")) trial.key = HashFromHex(json["key"]);
    trial.outcome = OutcomeFromJson(json, "value");
    CheckValue(trial.outcome, /*is_time=*/run.target != 0);
    ReadTrial(json, run, std::move(trial));
  }

  void ReadMetric(const Json& json) {
    Metric metric;
    const Run run = RunOf(json, "session");
    metric.task = TaskOf(json);
    metric.batch = IntegerOf(json, "batch");
    metric.name = TextFromJson(json.at("name"));
    metric.value = RealFromJson(json.at("value"));
    store_.InsertMetric(run.id, metric);
  }

  void ReadRepeat(const Json& json) {
    Repeat repeat;
    repeat.run = RunOf(json, "run").id;
    json.at("after").get_to(repeat.after);
    repeat.task = TaskOf(json);
    repeat.target = Lookup(targets_, TextOf(json, "target", ""), "target");
    if (json.contains("of")) repeat.trial_run = RunOf(json, "of").id;
    json.at("ordinal").get_to(repeat.trial);
    json.at("round").get_to(repeat.round);
    repeat.outcome = OutcomeFromJson(json, "value");
    CheckValue(repeat.outcome, /*is_time=*/repeat.target != 0);
    json.at("timestamp").get_to(repeat.timestamp);
    store_.InsertRepeat(repeat);
  }

  /// Adds those programs that the task's pool does not have.
  void ReadPoolChunk(const Json& json) {
    const TaskId task = TaskOf(json);
    std::string packed = OrThrow(base::FromBase64(TextFromJson(json.at("programs"))));
    std::string packed_features = OrThrow(base::FromBase64(TextFromJson(json.at("features"))));
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

  TargetId TargetOf(const Json& json) {
    return Lookup(targets_, TextFromJson(json.at("target")), "target");
  }

  /// Whether samples or a model are of the features that this version extracts; others are of no
  /// use.
  static bool HasLayout(const Json& json) {
    return HashFromHex(json.at("layout")) == static_cast<uint64_t>(FeatureLayout());
  }

  /// Adds those programs whose samples the task does not have, even if that makes more than a
  /// tuning would keep.
  void ReadSampleSet(const Json& json) {
    if (!HasLayout(json)) return;
    const TaskId task = TaskOf(json);
    const TargetId target = TargetOf(json);
    std::vector<MeasuredSample> samples =
        OrThrow(UnpackSamples({OrThrow(base::FromBase64(TextFromJson(json.at("measurements")))),
                               OrThrow(base::FromBase64(TextFromJson(json.at("features"))))}));
    const int64_t given = IntegerOf(json, "given");
    if (given < std::ssize(samples)) {
      throw std::invalid_argument("'given' is less than the number of samples");
    }
    TaskSamples kept = ReadSamples(store_.database_, task, target);
    std::unordered_set<uint64_t> known;
    for (const MeasuredSample& sample : kept.samples) known.insert(sample.hash);
    const size_t before = kept.samples.size();
    for (MeasuredSample& sample : samples) {
      if (known.insert(sample.hash).second) kept.samples.push_back(std::move(sample));
    }
    const int64_t added = static_cast<int64_t>(kept.samples.size() - before);
    if (added == 0) return;
    kept.given = std::max(kept.given + added, given);
    WriteSamples(store_.database_, target, kept);
    summary_.samples += added;
  }

  void ReadModel(const Json& json) {
    if (!HasLayout(json)) return;
    StoredModel model;
    model.hash = HashFromHex(json.at("hash"));
    model.given = IntegerOf(json, "given");
    model.trials = IntegerOf(json, "trials");
    model.tasks = IntegerOf(json, "tasks");
    model.bytes = OrThrow(base::FromBase64(TextFromJson(json.at("bytes"))));
    if (base::Hasher().Add(model.bytes).Digest() != model.hash) {
      throw std::invalid_argument("a model has another hash than its bytes");
    }
    const TargetId target = TargetOf(json);
    if (!HasModel(store_.database_, model.hash)) WriteModel(store_.database_, target, model);
  }

  /// Sessions from before there were kinds that hold only measurements of a pool.
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
  int64_t number_ = 0;  ///< of the line
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
