#include "bayloom/record/json_lines.h"

#include <fmt/format.h>

#include <istream>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <stdexcept>
#include <tuple>

#include "bayloom/base/result.h"
#include "bayloom/record/json_text.h"
#include "bayloom/record/search_lines.h"
#include "bayloom/record/search_rows.h"
#include "bayloom/record/target_json.h"
#include "bayloom/tensor/workload_json.h"

namespace bayloom {
namespace {

using Json = nlohmann::json;

constexpr const char* kFormat = "bayloom-records";
constexpr int kVersion = 1;

std::string Hex(uint64_t hash) { return fmt::format("{:016x}", hash); }

uint64_t FromHex(const Json& json) {
  const std::string text = json.get<std::string>();
  size_t used = 0;
  const uint64_t hash = std::stoull(text, &used, 16);
  if (used != text.size()) throw std::invalid_argument("a hash is 16 hexadecimal digits");
  return hash;
}

Json TrialToJson(const Trial& trial, const std::string& session, const std::string& task) {
  const Outcome& outcome = trial.outcome;
  return {{"type", "trial"},
          {"session", session},
          {"task", task},
          {"ordinal", trial.ordinal},
          {"strategy", trial.strategy},
          {"space", trial.space},
          {"trace", EmbedJson(trial.trace)},
          {"program", Hex(trial.program_hash)},
          {"verdict", std::string(ToString(outcome.verdict))},
          {"seconds", outcome.value},
          {"spread", outcome.spread},
          {"cut_short", outcome.cut_short},
          {"drift", outcome.drift},
          {"reason", outcome.reason},
          {"build_seconds", outcome.build_seconds},
          {"measure_seconds", outcome.measure_seconds},
          {"timestamp", trial.timestamp}};
}

Outcome OutcomeFromJson(const Json& json) {
  Outcome outcome;
  const std::string verdict = json.at("verdict").get<std::string>();
  const std::optional<Verdict> parsed = ParseVerdict(verdict);
  if (!parsed) throw std::invalid_argument(fmt::format("unknown verdict '{}'", verdict));
  outcome.verdict = *parsed;
  outcome.value = RealFromJson(json.at("seconds"));
  outcome.spread = RealFromJson(json.at("spread"));
  json.at("cut_short").get_to(outcome.cut_short);
  outcome.drift = RealFromJson(json.at("drift"));
  json.at("reason").get_to(outcome.reason);
  outcome.build_seconds = RealFromJson(json.at("build_seconds"));
  outcome.measure_seconds = RealFromJson(json.at("measure_seconds"));
  return outcome;
}

template <typename Map>
auto Lookup(const Map& known, const std::string& key, const char* what) {
  const auto found = known.find(key);
  if (found == known.end()) {
    throw std::invalid_argument(fmt::format("{} {} is not known from an earlier line", what, key));
  }
  return found->second;
}

}  // namespace

void ExportJsonLines(Store& store, std::ostream& out) {
  const auto write = [&](const Json& json) {
    out << json.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
  };
  write({{"type", "header"}, {"format", kFormat}, {"version", kVersion}});
  std::map<TargetId, std::string> targets;
  for (TargetId id : store.Targets()) {
    const Target target = store.TargetOf(id);
    targets[id] = Hex(HashOf(target));
    write({{"type", "target"}, {"hash", targets[id]}, {"target", TargetToJson(target)}});
  }
  std::map<TaskId, std::string> tasks = {{0, ""}};
  for (const TaskRecord& task : store.Tasks()) {
    tasks[task.id] = Hex(task.workload_hash);
    write({{"type", "task"}, {"hash", tasks[task.id]}, {"workload", EmbedJson(task.workload)}});
  }
  for (const SessionRecord& session : store.Sessions()) {
    write({{"type", "session"},
           {"uuid", session.uuid},
           {"target", targets[session.target]},
           {"model", session.model},
           {"options", EmbedJson(session.options)},
           {"seed", session.seed},
           {"started", session.started},
           {"finished", session.finished},
           {"state", session.state}});
    for (const Trial& trial : store.SessionTrials(session.id)) {
      write(TrialToJson(trial, session.uuid, tasks[trial.task]));
    }
    for (const Metric& metric : store.MetricsOf(session.id)) {
      write({{"type", "metric"},
             {"session", session.uuid},
             {"task", tasks[metric.task]},
             {"batch", metric.batch},
             {"name", metric.name},
             {"value", metric.value}});
    }
  }
  SearchRecords searches(store.path(), Database::Mode::kReadOnly);
  for (const SearchRecord& search : searches.Searches()) {
    write(SearchToJson(search));
    for (const ConfigurationTrial& trial : searches.TrialsOf(search.id)) {
      write(SearchTrialToJson(trial, search.uuid));
    }
  }
}

/// Takes lines one by one; see ImportJsonLines.
class JsonLinesReader {
 public:
  explicit JsonLinesReader(Store& store) : store_(store) {}

  void Read(const Json& json) {
    const std::string type = json.at("type").get<std::string>();
    if (!header_seen_ || type == "header") {
      ReadHeader(json, type);
    } else if (type == "target") {
      targets_[json.at("hash").get<std::string>()] =
          store_.AddTarget(TargetFromJson(json.at("target")));
    } else if (type == "task") {
      Result<Workload> workload = WorkloadFromJson(json.at("workload"));
      if (!workload) throw std::invalid_argument(workload.error().message);
      tasks_[json.at("hash").get<std::string>()] = store_.AddTask(*workload);
    } else if (type == "session") {
      ReadSession(json);
    } else if (type == "trial") {
      ReadTrial(json);
    } else if (type == "metric") {
      ReadMetric(json);
    } else if (type == "search") {
      const SearchRecord search = SearchFromJson(json);
      searches_[search.uuid] = InsertSearch(store_.database_, search);
    } else if (type == "search_trial") {
      ReadSearchTrial(json);
    } else {
      throw std::invalid_argument(fmt::format("unknown type '{}'", type));
    }
  }

  ImportSummary ReadAll(std::istream& in, const std::string& source) {
    std::lock_guard lock(store_.mutex_);
    Transaction transaction(store_.database_);
    std::string line;
    int64_t number = 0;
    while (std::getline(in, line)) {
      ++number;
      try {
        if (!line.empty()) Read(Json::parse(line));
      } catch (const std::exception& e) {
        throw InputError(fmt::format("{} line {}: {}", source, number, e.what()));
      }
    }
    if (!header_seen_) throw InputError(fmt::format("{} holds no records", source));
    transaction.Commit();
    return summary_;
  }

 private:
  void ReadHeader(const Json& json, const std::string& type) {
    if (type != "header" || json.at("format") != kFormat) {
      throw std::invalid_argument(fmt::format("this is not a file of {}", kFormat));
    }
    if (json.at("version") != kVersion) {
      throw std::invalid_argument(fmt::format("its version is {}; this program reads version {}",
                                              json.at("version").dump(), kVersion));
    }
    header_seen_ = true;
  }

  void ReadSession(const Json& json) {
    SessionRecord session;
    json.at("uuid").get_to(session.uuid);
    session.target = Lookup(targets_, json.at("target"), "target");
    json.at("model").get_to(session.model);
    session.options = ExtractJson(json.at("options"));
    json.at("seed").get_to(session.seed);
    json.at("started").get_to(session.started);
    json.at("finished").get_to(session.finished);
    json.at("state").get_to(session.state);
    sessions_[session.uuid] = {store_.InsertSession(session), session.target};
  }

  void ReadTrial(const Json& json) {
    Trial trial;
    std::tie(trial.session, trial.target) = Lookup(sessions_, json.at("session"), "session");
    trial.task = Lookup(tasks_, json.at("task"), "task");
    json.at("ordinal").get_to(trial.ordinal);
    json.at("strategy").get_to(trial.strategy);
    json.at("space").get_to(trial.space);
    trial.trace = ExtractJson(json.at("trace"));
    trial.program_hash = FromHex(json.at("program"));
    trial.outcome = OutcomeFromJson(json);
    json.at("timestamp").get_to(trial.timestamp);
    ++(store_.AddTrial(trial) ? summary_.added : summary_.present);
  }

  void ReadMetric(const Json& json) {
    Metric metric;
    const SessionId session = Lookup(sessions_, json.at("session"), "session").first;
    metric.task = Lookup(tasks_, json.at("task"), "task");
    json.at("batch").get_to(metric.batch);
    json.at("name").get_to(metric.name);
    metric.value = RealFromJson(json.at("value"));
    store_.InsertMetric(session, metric);
  }

  void ReadSearchTrial(const Json& json) {
    ConfigurationTrial trial = SearchTrialFromJson(json);
    trial.search = Lookup(searches_, json.at("search"), "search");
    ++(InsertSearchTrial(store_.database_, trial) ? summary_.added : summary_.present);
  }

  Store& store_;
  bool header_seen_ = false;
  std::map<std::string, TargetId> targets_;
  std::map<std::string, TaskId> tasks_ = {{"", 0}};
  std::map<std::string, std::pair<SessionId, TargetId>> sessions_;
  std::map<std::string, SearchId> searches_;
  ImportSummary summary_;
};

ImportSummary ImportJsonLines(Store& store, std::istream& in, const std::string& source) {
  return JsonLinesReader(store).ReadAll(in, source);
}

}  // namespace bayloom
